"""From a skeleton of axioms to indexes: equivalence classes, an order in which supers come first, what is empty.

Rule 1  A cycle of subclasses is an equivalence: its members share one index.
Rule 2  Every index is larger than those of its supers, so one pass in order sees supers first.
Rule 3  The same axioms give the same indexes, whatever the order they were read in.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conceptpubsub.errors import LimitExceeded
from conceptpubsub.model.owl_axioms import Axioms

MAX_PAIRS = 10_000_000


@dataclass(frozen=True, slots=True)
class Closure:
    """Indexes and what hangs on them."""

    index: dict[str, int]
    members: list[list[str]]
    parents: list[list[int]]
    apart: list[list[int]]
    empty: list[int]


def close(axioms: Axioms) -> Closure:
    """Number the equivalence classes, supers first.

    >>> made = close(Axioms({"a": "class", "b": "class", "c": "class"}, {"a": {"b"}, "b": {"a"}, "c": {"a"}}))
    >>> made.members, made.parents
    ([['a', 'b'], ['c']], [[], [0]])
    """
    names = sorted(axioms.sorts)
    groups = components(names, axioms.above)
    group_of = {name: i for i, group in enumerate(groups) for name in group}
    supers: list[set[int]] = [set() for _ in groups]
    for name in names:
        mine = group_of[name]
        supers[mine].update(group_of[upper] for upper in axioms.above.get(name, ()) if group_of[upper] != mine)
    order = _supers_first(groups, supers)
    place = {group: i for i, group in enumerate(order)}
    parents = [sorted(place[p] for p in supers[group]) for group in order]
    index = {name: place[group] for name, group in group_of.items()}
    apart, empty = _excluded(axioms, index)
    return Closure(index, [groups[group] for group in order], parents, apart, _all_empty(parents, apart, empty))


def components(names: Iterable[str], above: Mapping[str, set[str]]) -> list[list[str]]:
    """Strongly connected components, each sorted, in order of their first name (Tarjan, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    found: list[list[str]] = []
    for start in names:
        if start in number:
            continue
        work = [(start, iter(sorted(above.get(start, ()))))]
        number[start] = low[start] = len(number)
        stack.append(start)
        waiting.add(start)
        while work:
            node, rest = work[-1]
            for upper in rest:
                if upper not in number:
                    number[upper] = low[upper] = len(number)
                    stack.append(upper)
                    waiting.add(upper)
                    work.append((upper, iter(sorted(above.get(upper, ())))))
                    break
                if upper in waiting:
                    low[node] = min(low[node], number[upper])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group = [stack.pop()]
                    while group[-1] != node:
                        group.append(stack.pop())
                    waiting.difference_update(group)
                    found.append(sorted(group))
    return sorted(found)


def unstated(axioms: Axioms) -> list[str]:
    """The first name of every cycle whose members were not all stated to be the same.

    >>> unstated(Axioms({"a": "class", "b": "class"}, {"a": {"b"}, "b": {"a"}}))
    ['a']
    """
    said: dict[str, set[str]] = {}
    for one, two in axioms.same:
        said.setdefault(one, set()).add(two)
        said.setdefault(two, set()).add(one)
    stated = {name: group[0] for group in components(sorted(said), said) for name in group}
    groups = components(sorted(axioms.sorts), axioms.above)
    return [group[0] for group in groups if len(group) > 1 and len({stated.get(name, name) for name in group}) > 1]


def _supers_first(groups: list[list[str]], supers: list[set[int]]) -> list[int]:
    below: list[list[int]] = [[] for _ in groups]
    missing = [len(above) for above in supers]
    for i, above in enumerate(supers):
        for upper in above:
            below[upper].append(i)
    ready = [i for i, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for lower in below[i]:
            missing[lower] -= 1
            if not missing[lower]:
                heapq.heappush(ready, lower)
    return order


def _excluded(axioms: Axioms, index: dict[str, int]) -> tuple[list[list[int]], set[int]]:
    apart: set[tuple[int, ...]] = set()
    empty = {index[name] for name in axioms.empty if name in index}
    for group in axioms.apart:
        places = [index[name] for name in dict.fromkeys(group) if name in index]
        distinct = sorted(set(places))
        if len(distinct) < len(places):  # two names for one thing are said to exclude each other
            empty.update(i for i, count in Counter(places).items() if count > 1)
        if len(distinct) > 1:
            apart.add(tuple(distinct))
    return [list(group) for group in sorted(apart)], empty


def _all_empty(parents: list[list[int]], apart: list[list[int]], empty: set[int]) -> list[int]:
    """What lies below two disjoint classes, or below something empty; refuses a hierarchy too dense to work with."""
    groups: dict[int, list[int]] = {}
    for number, group in enumerate(apart):
        for member in group:
            groups.setdefault(member, []).append(number)
    found: list[int] = []
    steps = 0
    for i in range(len(parents)):
        above, work = {i}, [i]
        while work:
            for p in parents[work.pop()]:
                if p not in above:
                    above.add(p)
                    work.append(p)
        seen: dict[int, int] = {}
        clash = not above.isdisjoint(empty)
        for upper in above:
            mine = groups.get(upper, ())
            steps += len(mine)
            for number in mine:
                clash |= seen.setdefault(number, upper) != upper
        if clash:
            found.append(i)
        steps += len(above)
        if steps > MAX_PAIRS:
            raise LimitExceeded(
                f"the hierarchy is too deep or too dense: more than {MAX_PAIRS:,} pairs of a concept and one above it",
                limit=MAX_PAIRS,
            )
    return found
