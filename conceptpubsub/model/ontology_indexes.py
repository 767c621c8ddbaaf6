"""Arithmetic on indexes: what lies above and below, masks, what excludes what. Worked out on first use and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_Reached = dict[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Indexes:
    """The order of equivalence classes, by number; supers come before what lies below them.

    >>> order = Indexes([[], [0], [0], [1]], [[1, 2]], [])
    >>> sorted(order.above(3)), sorted(order.below(0)), bin(order.mask(1)), order.disjoint(3, 2)
    ([0, 1, 3], [0, 1, 2, 3], '0b1010', True)
    """

    parents: Sequence[Sequence[int]]
    groups: Sequence[Sequence[int]]
    """Groups whose members are pairwise disjoint."""
    empty: Sequence[int]
    """Those that nothing can be."""
    children: list[list[int]] = field(init=False)
    _apart: dict[int, list[int]] = field(init=False, default_factory=dict)
    _above: _Reached = field(init=False, default_factory=dict)
    _below: _Reached = field(init=False, default_factory=dict)
    _masks: dict[int, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        children: list[list[int]] = [[] for _ in self.parents]
        for i, supers in enumerate(self.parents):
            for p in supers:
                children[p].append(i)
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "empty", frozenset(self.empty))
        for number, group in enumerate(self.groups):
            for member in group:
                self._apart.setdefault(member, []).append(number)

    def above(self, index: int) -> frozenset[int]:
        """The index and all above it."""
        return _reach(index, self.parents, self._above)

    def below(self, index: int) -> frozenset[int]:
        """The index and all below it."""
        return _reach(index, self.children, self._below)

    def mask(self, index: int) -> int:
        """The bits of ``below(index)``."""
        found = self._masks.get(index)
        if found is None:
            reached = self.below(index)
            bits = bytearray(max(reached) // 8 + 1)
            for i in reached:
                bits[i >> 3] |= 1 << (i & 7)
            found = self._masks[index] = int.from_bytes(bits, "little")
        return found

    def disjoint(self, one: int, other: int) -> bool:
        """Whether nothing can lie below both."""
        if one in self.empty or other in self.empty:
            return True
        mine = {number: i for i in self.above(one) for number in self._apart.get(i, ())}
        return bool(mine) and any(
            mine.get(number, i) != i for i in self.above(other) for number in self._apart.get(i, ())
        )

    def direct_parents(self, index: int) -> list[int]:
        """The supers, without those that another of them lies below."""
        supers = self.parents[index]
        return [p for p in supers if not any(q != p and p in self.above(q) for q in supers)]

    def direct_children(self, index: int) -> list[int]:
        """What lies below with nothing between."""
        return [i for i in self.children[index] if index in self.direct_parents(i)]


def _reach(start: int, steps: Sequence[Sequence[int]], known: _Reached) -> frozenset[int]:
    found = known.get(start)
    if found is None:
        seen, work = {start}, [start]
        while work:
            for i in steps[work.pop()]:
                if i not in seen:
                    seen.add(i)
                    work.append(i)
        found = known[start] = frozenset(seen)
    return found
