"""Expand: the shortest event sequence that takes a start row to a goal row under a collapse rule.

The search is A* over rows. Its estimate is the exact answer of an easier problem, as in Gryphon: the rule freed of its
constraints, in which every event may set as many columns as the widest rule, to anything. That is never above the
truth, so the first sequence found is a shortest one among those whose values were tried.

Which values are tried: those of start and goal and the constants of the conditions; and, where the estimate leaves
room for something shorter, one more in every gap between them and beyond, because conditions only compare.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from conceptpubsub.errors import FlowError
from conceptpubsub.filters.arithmetic import is_number
from conceptpubsub.flow.collapse import CollapseRule, Row
from conceptpubsub.flow.expressions import Attribute
from conceptpubsub.flow.functions import Failed
from conceptpubsub.model.values import simplest

BUDGET = 100_000
Event = dict[str, Any]
Cost = Callable[[Event], float]


class Unreachable(FlowError):
    """No event sequence takes the start to the goal, or none was found within the budget."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A shortest sequence for one key, its cost, and how many rows the search looked at."""

    events: tuple[Event, ...]
    cost: float
    explored: int


def form(rule: CollapseRule) -> str:
    """Which estimator fits: uniform unconstrained, unconstrained, constrained, or general."""
    if not rule.replacement_form:
        return "general"
    rows = [tuple(expr.name for expr in r.replaces.values() if isinstance(expr, Attribute)) for r in rule.rules]
    if any(len(set(row)) < len(row) for row in rows):
        return "constrained"
    sets = {frozenset(r.replaces) for r in rule.rules}
    sizes = {len(s) for s in sets if s}
    if len(sizes) == 1:
        k = sizes.pop()
        if all(frozenset(c) in sets for c in itertools.combinations(rule.columns, k)):
            return "uniform unconstrained"
    return "unconstrained"


def estimator(rule: CollapseRule) -> Callable[[Row, Row], int]:
    """A lower bound on the number of events between two rows: each event replaces at most so many columns.

    >>> from conceptpubsub.flow.collapse import CollapseRule, Rule
    >>> rule = Rule.of({"set": {"a": "p", "b": "q"}}, ("a", "b", "c"), "")
    >>> estimator(CollapseRule("k", ("a", "b", "c"), (0, 0, 0), (rule,)))((1, 2, 3), (1, 0, 0))
    1
    """
    most = max((len(r.replaces) for r in rule.rules), default=1) or 1

    def estimate(start: Row, goal: Row) -> int:
        differing = sum(1 for a, b in zip(start, goal, strict=True) if a != b)
        return ceil(differing / most)

    return estimate


def expand_row(
    rule: CollapseRule, key: Any, start: Row, goal: Row, cost: Cost | None = None, budget: int = BUDGET
) -> Expansion:
    """The cheapest events for one key from start to goal; costs are at least 1 and default to 1 each."""
    if start == goal:
        return Expansion((), 0.0, 0)
    few = _values(rule, start, goal)
    try:
        found = _search(rule, key, start, goal, few, cost, budget)
    except Unreachable:
        return _search(rule, key, start, goal, _between(few), cost, budget)
    if found.cost <= estimator(rule)(start, goal) + _forced(rule, goal):
        return found
    try:
        wider = _search(rule, key, start, goal, _between(few), cost, budget)
    except Unreachable:
        return found
    return min(found, wider, key=lambda each: each.cost)


def _forced(rule: CollapseRule, goal: Row) -> int:
    """One event more than the estimate cannot be saved where no rule can set all columns of the goal at once."""
    if form(rule) != "constrained":
        return 0
    equal = [tuple(rule.columns.index(c) for c in each.replaces) for each in rule.rules]
    return 0 if any(len({goal[i] for i in columns}) == 1 and len(columns) == len(goal) for columns in equal) else 1


def _between(values: Sequence[Any]) -> Sequence[Any]:
    """The values with one more in every gap, and one below and above all."""
    numbers = sorted(v for v in values if is_number(v))
    more: list[Any] = [simplest(Fraction(a + b) / 2) for a, b in itertools.pairwise(numbers) if a != b]
    ends = [numbers[0] - 1, numbers[-1] + 1] if numbers else []
    return tuple(dict.fromkeys([*values, *more, *ends]))


def _search(
    rule: CollapseRule, key: Any, start: Row, goal: Row, values: Sequence[Any], cost: Cost | None, budget: int
) -> Expansion:
    price: Cost = cost or (lambda event: 1.0)
    names = rule.parameters()
    estimate = estimator(rule)
    counter = itertools.count()
    heap: list[tuple[float, int, float, Row, tuple[Event, ...]]] = [(estimate(start, goal), 0, 0.0, start, ())]
    best = {start: 0.0}
    explored = 0
    count = len(values) ** len(names)
    if count > budget:
        raise Unreachable(f"{count:,} possible events a step, beyond the budget of {budget:,}", key=key)
    moves = [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(values, repeat=len(names))]
    while heap:
        _, _, spent, row, events = heapq.heappop(heap)
        if row == goal:
            return Expansion(events, spent, explored)
        if spent > best.get(row, spent):
            continue
        for move in moves:
            explored += 1
            if explored > budget:
                raise Unreachable(f"no sequence to {goal} found within {budget:,} steps", key=key, goal=goal)
            event = {rule.key: key, **move}
            try:
                after = rule.apply(event, row)
            except Failed:
                continue
            total = spent + max(1.0, price(event))
            if after != row and total < best.get(after, float("inf")):
                best[after] = total
                heapq.heappush(heap, (total + estimate(after, goal), next(counter), total, after, (*events, event)))
    raise Unreachable(f"no event sequence takes {key} from {start} to {goal}", key=key, start=start, goal=goal)


def _values(rule: CollapseRule, start: Row, goal: Row) -> Sequence[Any]:
    """The values worth trying: those of goal and start, and the constants that conditions compare with."""
    found: dict[Any, None] = {}
    for value in (*goal, *start, *_constants(rule)):
        if value is not None:
            found.setdefault(value)
    return tuple(found)


def _constants(rule: CollapseRule) -> Iterable[Any]:
    from conceptpubsub.filters.normal import Compare, Lit, atoms
    from conceptpubsub.filters.normalise import value_of

    for each in rule.rules:
        if each.condition is not None:
            for atom in atoms(each.condition.normal):
                if isinstance(atom, Compare) and isinstance(atom.right, Lit):
                    yield value_of(atom.right)


def expand(rule: CollapseRule, start: dict[Any, Row], goal: dict[Any, Row], cost: Cost | None = None) -> list[Event]:
    """The shortest sequence from one state to another, key by key: rows are independent under a keyed rule.

    Equal row changes are searched for once.
    """
    known: dict[tuple[Row, Row], Expansion] = {}
    found: list[Event] = []
    for key, wanted in goal.items():
        have = start.get(key, rule.initial)
        if have == wanted:
            continue
        done = known.get((have, wanted)) if cost is None else None
        if done is None:
            done = known[(have, wanted)] = expand_row(rule, key, have, wanted, cost)
        found += [{**event, rule.key: key} for event in done.events]
    lost = [key for key in start if key not in goal and start[key] != rule.initial]
    if lost:
        raise Unreachable(f"the goal has no row for {lost[0]!r}, and no event removes one", key=lost[0])
    return found
