"""Exact constants as machine numbers: rounded so that comparing machine numbers gives the exact answer.

A float in an event means its shortest decimal, a float32 its own; both keep the order of the floats. So for every
rational there is a least float that means as much or more: the constant's threshold. A value is at least the constant
exactly when it is at least the threshold, and equals it only where the threshold means just the constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from conceptpubsub.model.values import Exact, exact, to_float

_WHOLE = 1 << 53
_INT64 = 1 << 63
_MAX_STEPS = 8
_TENS = [10**power for power in range(21)]


class Threshold(NamedTuple):
    """The least machine number that means at least a constant, and whether it means just that."""

    value: Any
    is_exact: bool


Rounding = Callable[[Exact], Threshold]


def least_float(constant: Exact) -> Threshold:
    """The least float that means at least a rational.

    >>> from fractions import Fraction
    >>> least_float(Fraction(3, 100)), least_float(Fraction(1, 3))
    (Threshold(value=0.03, is_exact=True), Threshold(value=0.33333333333333337, is_exact=False))
    """
    if type(constant) is int and -_WHOLE <= constant <= _WHOLE:
        return Threshold(float(constant), True)
    near = to_float(constant)
    if math.isinf(near):
        return _least(constant, near, math.inf, exact, math.nextafter)
    top, bottom = Decimal(repr(near)).as_integer_ratio()  # what it means, sooner than `exact`
    above = top * constant.denominator - constant.numerator * bottom
    if above >= 0:  # what the float below means is less: it rounds to that one, and the constant does not
        return Threshold(near, above == 0)
    return Threshold(math.nextafter(near, math.inf), False)


def least_floats(constants: Iterable[Exact], affine: Affine) -> Iterator[Threshold]:
    """`least_float` of what is read as each of some constants, without a Fraction for any of them.

    >>> from fractions import Fraction
    >>> list(least_floats([Fraction(3, 100), 7], Affine(10, 0, 1)))
    [Threshold(value=0.003, is_exact=True), Threshold(value=0.7, is_exact=True)]
    """
    times, plus, over = affine
    for constant in constants:
        bottom = constant.denominator
        top, bottom = constant.numerator * over - plus * bottom, bottom * times
        try:
            near = top / bottom
        except OverflowError:
            yield least_float(affine.before(constant))
            continue
        whole, _, part = repr(near).partition(".")
        if len(part) > 20 or "e" in part or not part:  # very large or very small
            yield least_float(affine.before(constant))
            continue
        above = int(whole + part) * bottom - top * _TENS[len(part)]
        if above >= 0:
            yield Threshold(near, above == 0)
        else:
            yield Threshold(math.nextafter(near, math.inf), False)


def least_float32(constant: Exact) -> Threshold:
    """The least float32 that means at least a rational; such as 0.1f for 1/10.

    >>> from fractions import Fraction
    >>> least_float32(Fraction(1, 10)).is_exact, least_float(Fraction(1, 10)).value
    (True, 0.1)
    """
    with np.errstate(over="ignore"):
        return _least(constant, np.float32(to_float(constant)), np.float32(np.inf), exact, np.nextafter)


def _least(constant: Exact, near: Any, infinity: Any, meaning: Callable[[Any], Exact], after: Any) -> Threshold:
    if near == infinity:
        below = after(infinity, -infinity)
        return Threshold(below, False) if meaning(below) >= constant else Threshold(infinity, False)
    if near == -infinity:
        near = after(-infinity, infinity)
    for _ in range(_MAX_STEPS):
        means = meaning(near)
        if means == constant:
            return Threshold(near, True)
        if means < constant:
            near = after(near, infinity)
            if near == infinity or meaning(near) >= constant:
                return Threshold(near, near != infinity and meaning(near) == constant)
        else:
            below = after(near, -infinity)
            if below == -infinity or meaning(below) < constant:
                return Threshold(near, False)
            near = below
    raise AssertionError(f"no float near {constant}")


def least_int(constant: Exact) -> Threshold:
    """The least 64-bit integer that is at least a rational; None where there is none.

    >>> from fractions import Fraction
    >>> least_int(Fraction(5, 2)), least_int(7)
    (Threshold(value=3, is_exact=False), Threshold(value=7, is_exact=True))
    """
    least = -((-constant.numerator) // constant.denominator)
    if least <= -_INT64:
        return Threshold(-_INT64, least == constant == -_INT64)
    if least >= _INT64:
        return Threshold(None, False)
    return Threshold(least, least == constant)


class Affine(NamedTuple):
    """A reading ``(value * times + plus) / over`` in whole numbers, times and over above zero."""

    times: int
    plus: int
    over: int

    def before(self, constant: Exact) -> Exact:
        """The value that is read as a constant."""
        if self == PLAIN:
            return constant
        top, bottom = constant.numerator, constant.denominator
        made = Fraction(top * self.over - self.plus * bottom, bottom * self.times)
        return made.numerator if made.denominator == 1 else made


PLAIN = Affine(1, 0, 1)
