"""Arithmetic and comparison on canonical values: exact, and unknown (None) rather than wrong.

A number is an int or Fraction; a Quantity stands in its coherent SI unit; Money needs a rate to meet other Money;
instant minus instant is a duration. Booleans are not numbers and have no order. A sum may hold at most one absolute
temperature more than it subtracts: two thermometers do not add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from conceptpubsub.converters import Dimension, Money, Quantity, resolve
from conceptpubsub.model import Exact, Instant
from conceptpubsub.model.values import simplest

Rate = Callable[[str, str], "Exact | None"]
"""Units of the second currency for one of the first, at the event's time; None where there is no rate."""

MAX_BITS = 1 << 16


def no_rate(source: str, target: str) -> Exact | None:
    """The rate where no table is at hand: a currency against itself."""
    return 1 if source == target else None


@lru_cache(maxsize=1)
def time_dimension() -> Dimension:
    """The dimension of a duration."""
    return resolve("second").dimension


@lru_cache(maxsize=1)
def _temperatures() -> tuple[Dimension, Dimension]:
    return resolve("kelvin").dimension, resolve("delta_degC").dimension


@lru_cache(maxsize=4096)
def product_dimension(one: Dimension, other: Dimension) -> Dimension:
    """The dimension of a product."""
    return one * other


@lru_cache(maxsize=4096)
def inverse_dimension(one: Dimension) -> Dimension:
    """The dimension of a reciprocal."""
    return one**-1


def is_absolute(dimension: Dimension) -> bool:
    """Whether values of this dimension have a zero that is not nothing: temperatures."""
    return dimension == _temperatures()[0]


def is_number(value: Any) -> bool:
    """A plain number; a Boolean is not one."""
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def sum_dimension(signed: Sequence[tuple[int, Dimension]]) -> Dimension | None:
    """The dimension of a sum of quantities, in whatever order, or None where they do not add up."""
    absolute, difference = _temperatures()
    first = signed[0][1]
    if any(d.exponents != first.exponents for _, d in signed):
        return None
    if any(d == absolute for _, d in signed):
        if any(d not in (absolute, difference) and not d.derived for _, d in signed):
            return None
        count = sum(sign for sign, d in signed if d == absolute)
        return {0: difference, 1: absolute}.get(count)
    named = {d for _, d in signed if not d.derived}
    return None if len(named) > 1 else next(iter(named), first)


def add(args: Sequence[Any], signs: Sequence[int], rate: Rate = no_rate) -> Any:
    """The signed sum of canonical values, or None."""
    if all(is_number(a) for a in args):
        return _bounded(sum(a * s for a, s in zip(args, signs, strict=True)))
    if all(isinstance(a, Quantity) for a in args):
        dimension = sum_dimension([(s, a.dimension) for a, s in zip(args, signs, strict=True)])
        if dimension is None:
            return None
        return _quantity(sum(a.value * s for a, s in zip(args, signs, strict=True)), dimension)
    if all(isinstance(a, Money) for a in args):
        currency, total = args[0].currency, Fraction(0)
        for a, s in zip(args, signs, strict=True):
            factor = _met(a.currency, currency, rate)
            if factor is None:
                return None
            total += a.value * factor * s
        return Money(simplest(total), currency)
    if all(isinstance(a, Instant | Quantity) for a in args):
        return _add_instants(args, signs)
    return None


def _add_instants(args: Sequence[Any], signs: Sequence[int]) -> Any:
    count, total = 0, Fraction(0)
    for a, s in zip(args, signs, strict=True):
        if isinstance(a, Instant):
            count += s
            total += s * a.ns
        elif a.dimension.comparable(time_dimension()):
            total += s * a.value * 1_000_000_000
        else:
            return None
    if count == 0:
        return Quantity(simplest(total / 1_000_000_000), time_dimension())
    if count == 1 and total.denominator == 1:
        return Instant(int(total))
    return None


def _met(source: str, target: str, rate: Rate) -> Exact | None:
    """The rate between two currencies; none between what is left of a division, such as ``1/EUR``."""
    if source == target:
        return 1
    return None if source.startswith("1/") or target.startswith("1/") else rate(source, target)


def multiply(args: Sequence[Any], rate: Rate = no_rate) -> Any:
    """The product of canonical values, or None."""
    factor: Exact = 1
    dimension: Dimension | None = None
    money: list[Money] = []
    for a in args:
        if is_number(a):
            factor = factor * a
        elif isinstance(a, Quantity):
            factor = factor * a.value
            dimension = a.dimension if dimension is None else product_dimension(dimension, a.dimension)
        elif isinstance(a, Money):
            money.append(a)
        else:
            return None
    if not money:
        return _bounded(factor) if dimension is None else _quantity(factor, dimension)
    if dimension is not None:
        return None
    return _multiply_money(factor, money, rate)


def _multiply_money(factor: Exact, money: list[Money], rate: Rate) -> Any:
    """Money times a number is money; money over money (written ``1/EUR``) is a number."""
    above = [m for m in money if not m.currency.startswith("1/")]
    below = [m for m in money if m.currency.startswith("1/")]
    if len(above) - len(below) not in (0, 1, -1) or len(money) > 2:
        return None
    for m in money:
        factor = factor * m.value
    if len(money) == 1:
        return Money(simplest(factor), money[0].currency)
    met = rate(above[0].currency, below[0].currency[2:]) if above and below else None
    return None if met is None else _bounded(factor * met)


def reciprocal(value: Any) -> Any:
    """One over a canonical value, or None where it is zero or has no reciprocal."""
    if is_number(value):
        return None if value == 0 else simplest(1 / Fraction(value))
    if isinstance(value, Quantity) and value.value != 0:
        return _quantity(1 / Fraction(value.value), inverse_dimension(value.dimension))
    if isinstance(value, Money) and value.value != 0 and not value.currency.startswith("1/"):
        return Money(simplest(1 / Fraction(value.value)), "1/" + value.currency)
    return None


def compare(op: str, left: Any, right: Any, rate: Rate = no_rate) -> bool | None:
    """Whether ``left op right`` holds; None between types, dimensions, or currencies without a rate."""
    if isinstance(left, bool) or isinstance(right, bool):
        if not (isinstance(left, bool) and isinstance(right, bool)) or op not in ("=", "<>"):
            return None
    elif isinstance(left, str):
        if not isinstance(right, str):
            return None
    elif is_number(left):
        if not is_number(right):
            return None
    elif isinstance(left, Instant):
        if not isinstance(right, Instant):
            return None
        left, right = left.ns, right.ns
    elif isinstance(left, Quantity):
        if not isinstance(right, Quantity) or not left.dimension.comparable(right.dimension):
            return None
        left, right = left.value, right.value
    elif isinstance(left, Money):
        if not isinstance(right, Money):
            return None
        factor = _met(right.currency, left.currency, rate)
        if factor is None:
            return None
        left, right = left.value, right.value * factor
    else:
        return None
    return ordered(op, left, right)


def ordered(op: str, left: Any, right: Any) -> bool:
    """Compare two values of one ordered type."""
    if op == "=":
        return bool(left == right)
    if op == "<>":
        return bool(left != right)
    if op == "<":
        return bool(left < right)
    if op == "<=":
        return bool(left <= right)
    if op == ">":
        return bool(left > right)
    return bool(left >= right)


def _quantity(value: Exact, dimension: Dimension) -> Quantity | None:
    bounded = _bounded(value)
    return None if bounded is None else Quantity(bounded, dimension)


def _bounded(value: Exact) -> Exact | None:
    """A result of absurd size is unknown: a product of hostile numbers must not eat the machine."""
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        return None
    return simplest(value)
