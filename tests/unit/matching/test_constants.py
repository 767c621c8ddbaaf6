"""Constants in bulk: thresholds and order as one by one."""

from __future__ import annotations

import random
from fractions import Fraction

from conceptpubsub.matching.codes import in_order
from conceptpubsub.matching.thresholds import Affine, least_float, least_floats
from conceptpubsub.model.values import Exact, exact


def _constants(make: random.Random, count: int) -> list[Exact]:
    found: list[Exact] = [0, 1, -1, 10**400, -(10**400), Fraction(1, 10**400), 2**53 + 1, -(2**63), Fraction(1, 3)]
    for _ in range(count):
        digits = make.randrange(1, 22)
        found.append(exact(str(make.randrange(-(10**digits), 10**digits)) + f"e{make.randrange(-30, 12)}"))
        found.append(exact(round(make.uniform(-1000, 1000), make.randrange(0, 6))))
        found.append(exact(make.uniform(-1, 1) * 10.0 ** make.randrange(-300, 300)))
    return found


def test_thresholds_of_many_are_those_of_each() -> None:
    make = random.Random(8)
    constants = _constants(make, 400)
    maps = [Affine(1, 0, 1), Affine(5, 45967, 9), Affine(254, 0, 10000), Affine(1, 27315, 100), Affine(7, -3, 10**30)]
    for affine in maps:
        expected = [least_float(affine.before(constant)) for constant in constants]
        assert list(least_floats(constants, affine)) == expected


def test_rationals_that_floats_do_not_tell_apart_are_in_order() -> None:
    make = random.Random(9)
    for huge in (False, True):
        values = [one for one in _constants(make, 100) if huge or abs(one) < 10**300]
        close = [Fraction(1, 3) + Fraction(make.randrange(-5, 5), 10**40) for _ in range(40)]
        pairs = [(value, number) for number, value in enumerate(dict.fromkeys([*values, *close]))]
        assert in_order(pairs) == sorted(pairs)
    assert in_order([("b", 1), ("a", 2)]) == [("a", 2), ("b", 1)]
    assert in_order([]) == []
