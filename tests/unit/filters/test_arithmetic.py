"""Arithmetic on canonical values: exact, in any order, unknown rather than wrong."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

from conceptpubsub.converters import Money, Quantity, resolve
from conceptpubsub.filters.arithmetic import add, compare, multiply, reciprocal
from conceptpubsub.model import Instant


def q(value: Any, unit: str) -> Quantity:
    known = resolve(unit)
    return Quantity(known.to_base(value), known.dimension)


def test_sums_do_not_depend_on_the_order_of_their_parts() -> None:
    derived = multiply([q(1, "N"), q(1, "m")])
    parts: list[tuple[Any, int]] = [
        (q(20, "degC"), 1),
        (q(10, "degC"), -1),
        (q(5, "delta_degC"), 1),
        (q(30, "degC"), 1),
    ]
    for whole in (parts, [(derived, 1), (q(2, "J"), 1)], [(derived, 1), (q(2, "N*m"), -1)]):
        results = {add([v for v, _ in order], [s for _, s in order]) for order in itertools.permutations(whole)}
        assert len(results) == 1
        assert results != {None}


@pytest.mark.parametrize(
    ("parts", "signs", "expected"),
    [
        ([q(20, "degC"), q(10, "degC")], [1, -1], q(10, "delta_degC")),
        ([q(20, "degC"), q(10, "degC")], [1, 1], None),
        ([q(20, "degC")], [-1], None),
        ([q(20, "degC"), q(18, "delta_degF")], [1, 1], q(30, "degC")),
        ([q(1, "km"), q(1, "kg")], [1, 1], None),
        ([q(1, "N*m"), q(1, "J")], [1, 1], None),
        ([1, q(1, "km")], [1, 1], None),
        ([1, "a"], [1, 1], None),
        ([True, 1], [1, 1], None),
        ([Instant(10**9), Instant(0)], [1, -1], q(1, "s")),
        ([Instant(0), q(1, "s")], [1, 1], Instant(10**9)),
        ([Instant(0), q(Fraction(1, 3), "ns")], [1, 1], None),
        ([Instant(0), Instant(0)], [1, 1], None),
        ([Instant(0), q(1, "m")], [1, 1], None),
        ([Money(1, "EUR"), Money(2, "EUR")], [1, -1], Money(-1, "EUR")),
        ([Money(1, "EUR"), Money(2, "USD")], [1, 1], None),
        ([Money(1, "EUR"), 1], [1, 1], None),
    ],
)
def test_sums(parts: list[Any], signs: list[int], expected: Any) -> None:
    assert add(parts, signs) == expected


def test_products_and_quotients() -> None:
    speed = multiply([q(100, "km"), reciprocal(q(2, "h"))])
    assert compare("=", speed, q(50, "km/h")) is True
    assert compare("=", multiply([q(2, "N"), q(3, "m")]), q(6, "J")) is True
    assert compare("=", multiply([q(2, "N"), q(3, "m")]), q(6, "N*m")) is True
    assert multiply([Money(2, "EUR"), 3]) == Money(6, "EUR")
    assert multiply([Money(6, "EUR"), reciprocal(Money(2, "EUR"))]) == 3
    assert multiply([Money(6, "EUR"), Money(2, "EUR")]) is None
    assert multiply([Money(6, "EUR"), q(2, "kg")]) is None
    assert multiply(["a", 2]) is None
    assert reciprocal(0) is None
    assert reciprocal(Money(0, "EUR")) is None
    assert reciprocal("a") is None


def test_currencies_meet_by_their_rate() -> None:
    def rate(source: str, target: str) -> Any:
        return {("USD", "EUR"): Fraction(1, 2), ("EUR", "USD"): 2}.get((source, target))

    assert compare("=", Money(2, "USD"), Money(1, "EUR"), rate) is True
    assert compare("<", Money(1, "GBP"), Money(1, "EUR"), rate) is None
    assert add([Money(2, "USD"), Money(1, "EUR")], [1, 1], rate) == Money(4, "USD")
    assert multiply([Money(2, "USD"), reciprocal(Money(1, "EUR"))], rate) == 1
    assert compare("=", reciprocal(Money(2, "EUR")), reciprocal(Money(2, "USD")), rate) is None


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (1, True), (1, q(1, "m")), (Money(1, "EUR"), 1), (Instant(0), 0), ("a", True)]
)
def test_types_do_not_meet(one: Any, other: Any) -> None:
    for op in ("=", "<>", "<", ">="):
        assert compare(op, one, other) is None
        assert compare(op, other, one) is None


def test_absurd_sizes_are_unknown() -> None:
    assert multiply([1 << 40_000, 1 << 40_000]) is None
    assert add([1 << 70_000, 1], [1, 1]) is None
    assert multiply([1 << 30_000, 1 << 30_000]) == 1 << 60_000
