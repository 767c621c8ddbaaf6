"""Unions of intervals over any ordered set of cuts: exact, closed under intersection, union and complement.

Rule 1  A set is a flat tuple (low, high, low, high, …) of strictly rising cuts; each pair holds what lies between them.
Rule 2  A cut lies between values, never on one, so open and closed ends are the same thing and a set has one spelling.
Rule 3  A cut of numbers is (nearest float, exact value, 0 before it or 1 after it). Rounding is monotone, so the float
        decides almost every comparison and the exact value only ties.
Rule 4  On a grid (integers; instants; whole kilometres) a cut moves up to the next point, so neighbours meet.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from conceptpubsub.model.values import Exact, simplest, to_float

Cut: TypeAlias = tuple[Any, ...]
Intervals: TypeAlias = tuple[Cut, ...]

BELOW: Cut = (-math.inf, -math.inf, 0)
ABOVE: Cut = (math.inf, math.inf, 1)
LINE: Intervals = (BELOW, ABOVE)


class Grid(NamedTuple):
    """The values phase + n * step for whole n."""

    step: Exact
    phase: Exact


INTEGERS = Grid(1, 0)


def cut(value: Exact, after: bool = False) -> Cut:
    """The cut just before a number, or just after it."""
    return (to_float(value), value, 1 if after else 0)


def compared(op: str, value: Exact) -> Intervals:
    """The numbers x with ``x op value``.

    >>> compared("<", 5) == intersection(compared("<=", 5), compared("<>", 5))
    True
    """
    before, after = cut(value), cut(value, True)
    match op:
        case "=":
            return (before, after)
        case "<>":
            return (BELOW, before, after, ABOVE)
        case "<":
            return (BELOW, before)
        case "<=":
            return (BELOW, after)
        case ">":
            return (after, ABOVE)
        case _:
            return (before, ABOVE)


def intersection(a: Intervals, b: Intervals) -> Intervals:
    """What lies in both."""
    if len(a) == 2 and len(b) == 2:
        low = a[0] if a[0] >= b[0] else b[0]
        high = a[1] if a[1] <= b[1] else b[1]
        return (low, high) if low < high else ()
    made: list[Cut] = []
    i = j = 0
    while i < len(a) and j < len(b):
        low = a[i] if a[i] >= b[j] else b[j]
        ends = a[i + 1] <= b[j + 1]
        high = a[i + 1] if ends else b[j + 1]
        if low < high:
            made += (low, high)
        if ends:
            i += 2
        else:
            j += 2
    return tuple(made)


def union(a: Intervals, b: Intervals) -> Intervals:
    """What lies in one or the other."""
    if not a or not b:
        return a or b
    pairs = sorted([a[i : i + 2] for i in range(0, len(a), 2)] + [b[i : i + 2] for i in range(0, len(b), 2)])
    made = list(pairs[0])
    for low, high in pairs[1:]:
        if low <= made[-1]:
            if high > made[-1]:
                made[-1] = high
        else:
            made += (low, high)
    return tuple(made)


def difference(a: Intervals, b: Intervals, whole: Intervals = LINE) -> Intervals:
    """What lies in the first only; ``whole`` is everything there is."""
    if not b:
        return a
    gaps = [whole[0], *b, whole[-1]]
    start = 2 if gaps[0] == gaps[1] else 0
    stop = len(gaps) - 2 if gaps[-1] == gaps[-2] else len(gaps)
    return intersection(a, tuple(gaps[start:stop]))


def includes(a: Intervals, b: Intervals) -> bool:
    """Whether the first holds all of the second."""
    if len(a) == 2:
        return not b or (a[0] <= b[0] and b[-1] <= a[1])
    j = 0
    for i in range(0, len(b), 2):
        while j < len(a) and a[j + 1] < b[i + 1]:
            j += 2
        if j >= len(a) or a[j] > b[i]:
            return False
    return True


def holds(a: Intervals, value: Exact) -> bool:
    """Whether a number lies inside."""
    return includes(a, compared("=", value))


def snapped(a: Intervals, grid: Grid) -> Intervals:
    """The same points of a grid, with cuts moved up to its next point."""
    made: Intervals = ()
    for i in range(0, len(a), 2):
        low, high = _up(a[i], grid), _up(a[i + 1], grid)
        if low < high:
            made = union(made, (low, high))
    return made


def _up(place: Cut, grid: Grid) -> Cut:
    if place in (BELOW, ABOVE):
        return place
    if grid is INTEGERS and type(place[1]) is int:
        return cut(place[1] + place[2])
    steps = (Fraction(place[1]) - grid.phase) / grid.step
    number = math.ceil(steps)
    if place[2] and steps == number:
        number += 1
    return cut(simplest(Fraction(number * grid.step + grid.phase)))


def point(a: Intervals, grid: Grid | None = None) -> Exact | None:
    """A number inside, as plain a one as is easily found; None where there is none.

    >>> point(compared(">", 3)), point(intersection(compared(">", 0), compared("<", 1))), point(())
    (4, Fraction(1, 2), None)
    """
    best: Exact | None = None
    for i in range(0, len(a), 2):
        found = _inside(a[i], a[i + 1], grid)
        if found is not None and (best is None or _plainness(found) < _plainness(best)):
            best = found
        if i > 64 and best is not None:
            break
    return best


def _plainness(value: Exact) -> tuple[int, Any, bool]:
    return (value.denominator.bit_length(), abs(value), value < 0)


def _inside(low: Cut, high: Cut, grid: Grid | None) -> Exact | None:
    if grid is not None and grid != INTEGERS:
        if low == BELOW and high == ABOVE:
            return grid.phase
        if low != BELOW:
            return simplest(Fraction(_up(low, grid)[1]))
        return simplest(Fraction(_up(high, grid)[1] - grid.step))
    if (low < cut(0) and cut(0, True) <= high) or low == cut(0):
        return 0
    if high <= cut(0):
        mirrored = _inside(_mirrored(high), _mirrored(low), grid)
        return None if mirrored is None else -mirrored
    whole: int = math.floor(low[1])
    if low[2] or low[1] != whole:
        whole += 1
    if cut(whole, True) <= high:
        return whole
    if low[1] == high[1]:
        return simplest(Fraction(low[1]))
    step = Fraction(1)
    while True:  # ever finer decimals; the width is positive, so one fits
        step /= 10 if step < Fraction(1, 4) else 2
        number = simplest((math.floor(Fraction(low[1]) / step) + 1) * step)
        if cut(number, True) <= high:
            return number


def _mirrored(place: Cut) -> Cut:
    if place == BELOW:
        return ABOVE
    if place == ABOVE:
        return BELOW
    return cut(-place[1], not place[2])
