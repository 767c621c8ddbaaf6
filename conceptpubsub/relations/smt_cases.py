"""Values whose sort is not fixed: guarded cases, one a sort, and arithmetic on them as the evaluator does it.

Rule 1  Where no case's guard holds, the value is unknown; the guards of one value exclude one another.
Rule 2  Which sorts may be added, multiplied and compared is asked of `conceptpubsub.filters.arithmetic`, not repeated.
Rule 3  Amounts of money stand in one pivot currency: a constant is multiplied by its currency's unknown, positive rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import z3

from conceptpubsub.converters import Dimension
from conceptpubsub.filters import arithmetic
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.smt_logic import aligned, as_real, conj

MOST_CASES = 64


class Sort(NamedTuple):
    """``name`` is number, quantity, money, text, concept, bool, instant, object or strange.

    ``of`` is the dimension of a quantity; of money, what it is a price for, and 1 (-1 below the line).
    """

    name: str
    of: Any = None


NUMBER, TEXT, CONCEPT, BOOL = Sort("number"), Sort("text"), Sort("concept"), Sort("bool")
INSTANT, OBJECT, STRANGE = Sort("instant"), Sort("object"), Sort("strange")
"""STRANGE: a quantity of a dimension that the filters do not name. Its number is known, and it compares with nothing;
but products of such quantities may have any dimension, so that what they compare with is left open."""


class Case(NamedTuple):
    """What a value is where the guard holds."""

    guard: Any
    sort: Sort
    value: Any


Cases = tuple[Case, ...]


def added(parts: Sequence[tuple[int, Cases]], free: Any) -> Cases:
    """The signed sum; ``free`` says whether quantities and amounts add up of which that is not known."""
    made: list[Case] = []
    for chosen in _combined([cases for _, cases in parts]):
        signs = [sign for sign, _ in parts]
        if any(case.sort is STRANGE for case in chosen):
            total = _strange_sum(signs, chosen, free)
        else:
            total = _sum(signs, chosen, free)
        if total is not None:
            made.append(total)
    return tuple(made)


def _combined(parts: Sequence[Cases]) -> list[tuple[Case, ...]]:
    size = 1
    for cases in parts:
        size *= len(cases)
        if size > MOST_CASES**2:
            raise GaveUp("too many sorts in one term")
    return list(product(*parts))


def _sum(signs: Sequence[int], chosen: tuple[Case, ...], free: Any) -> Case | None:
    names = {case.sort.name for case in chosen}
    if names <= {"instant", "quantity"} and "instant" in names:
        return _instants(signs, chosen)
    sort: Sort | None = None
    if names == {"number"}:
        sort = NUMBER
    elif names == {"quantity"}:
        dimension = arithmetic.sum_dimension([(s, c.sort.of) for s, c in zip(signs, chosen, strict=True)])
        sort = None if dimension is None else Sort("quantity", dimension)
    elif names == {"money"}:
        sort = chosen[0].sort if len({case.sort for case in chosen}) == 1 else None
    if sort is None:
        return None
    guard = _guard(chosen)
    if sort.name == "money" and sort.of[1] < 0 and len(chosen) > 1:  # one over an amount: only in one currency
        guard = conj(guard, free)
    return Case(guard, sort, _signed(signs, chosen))


def _strange_sum(signs: Sequence[int], chosen: tuple[Case, ...], free: Any) -> Case | None:
    if {case.sort.name for case in chosen} <= {"strange", "quantity"}:
        return Case(conj(_guard(chosen), free), STRANGE, _signed(signs, chosen))
    return None


def _guard(chosen: tuple[Case, ...]) -> Any:
    return conj(*[case.guard for case in chosen])


def _signed(signs: Sequence[int], chosen: tuple[Case, ...]) -> Any:
    total = chosen[0].value if signs[0] > 0 else -chosen[0].value
    for sign, case in zip(signs[1:], chosen[1:], strict=True):
        total, value = aligned(total, case.value)
        total = total + value if sign > 0 else total - value
    return total


def _instants(signs: Sequence[int], chosen: tuple[Case, ...]) -> Case | None:
    """In seconds; an instant must fall on a whole nanosecond."""
    seconds = arithmetic.time_dimension()
    if any(case.sort.name == "quantity" and not case.sort.of.comparable(seconds) for case in chosen):
        return None
    count = sum(sign for sign, case in zip(signs, chosen, strict=True) if case.sort is INSTANT)
    if count not in (0, 1):
        return None
    total, guard = _signed(signs, chosen), _guard(chosen)
    if count == 0:
        return Case(guard, Sort("quantity", seconds), total)
    return Case(conj(guard, z3.IsInt(total * 1_000_000_000)), INSTANT, total)


def multiplied(parts: Sequence[Cases]) -> Cases:
    """The product."""
    made: list[Case] = []
    for chosen in _combined(parts):
        sort = _product_sort([case.sort for case in chosen])
        if sort is not None:
            value = chosen[0].value
            for case in chosen[1:]:
                value, factor = aligned(value, case.value)
                value = value * factor
            made.append(Case(_guard(chosen), sort, value))
    return tuple(made)


def _product_sort(sorts: Sequence[Sort]) -> Sort | None:
    if STRANGE in sorts:
        return STRANGE if {sort.name for sort in sorts} <= {"strange", "quantity", "number"} else None
    dimension: Dimension | None = None
    money: list[Sort] = []
    for sort in sorts:
        if sort.name == "quantity":
            dimension = sort.of if dimension is None else dimension * sort.of
        elif sort.name == "money":
            money.append(sort)
        elif sort is not NUMBER:
            return None
    if not money:
        return NUMBER if dimension is None else Sort("quantity", dimension)
    if dimension is not None or len(money) > 2:
        return None
    if len(money) == 1:
        return money[0]
    (unit, power), (other, opposite) = money[0].of, money[1].of
    return NUMBER if unit == other and power + opposite == 0 else None


def reciprocal(cases: Cases) -> Cases:
    """One over a value, where it is not zero."""
    made: list[Case] = []
    for guard, sort, value in cases:
        if sort.name == "quantity":
            sort = Sort("quantity", sort.of**-1)
        elif sort.name == "money":
            if sort.of[1] < 0:
                continue
            sort = Sort("money", (sort.of[0], -1))
        elif sort not in (NUMBER, STRANGE):
            continue
        made.append(Case(conj(guard, value != 0), sort, 1 / as_real(value)))
    return tuple(made)


def comparable(one: Sort, other: Sort, op: str) -> bool:
    """Whether two sorts compare."""
    if one.name == other.name == "quantity":
        return bool(one.of.comparable(other.of))
    if {one.name, other.name} == {"text", "concept"}:
        return True
    if one.name == "bool":
        return other.name == "bool" and op in ("=", "<>")
    return one == other and one is not OBJECT
