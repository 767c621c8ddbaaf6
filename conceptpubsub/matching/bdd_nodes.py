"""The nodes of a shared BDD as arrays, and the filters at its roots.

Rule 1  Children come before parents: 0 is false, 1 is true. New nodes are appended; none ever changes.
Rule 2  `Nodes.compacted` keeps what live roots need, sorted by level. It is done when it has paid for itself.
Rule 3  Each filter's names stand beside its root: reduction may drop a name from the diagram, never from the filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import bdd_kernels as kernels
from conceptpubsub.matching.bdd_diagram import Diagram, Function

Ints = NDArray[Any]


class Nodes:
    """Label, low and high child of each node; ``index`` knows the place of each function."""

    def __init__(self, diagram: Diagram) -> None:
        self.index: dict[Function, int] = {diagram.false: 0, diagram.true: 1}
        self.count = 2
        self.base = 2
        self.levels: Ints = np.full(1, 2, np.int64)
        self.label: Ints = np.full(1024, -1, np.int32)
        self.low: Ints = np.zeros(1024, np.int32)
        self.high: Ints = np.zeros(1024, np.int32)
        self.value: Ints = np.zeros(1024, np.uint8)

    def place(self, function: Function) -> int:
        """The node of a function, appended with whatever it stands on."""
        index = self.index
        found = index.get(function)
        if found is not None:
            return found
        stack = [function]
        while stack:
            top = stack[-1]
            if top in index:
                stack.pop()
                continue
            high, low = top.cofactors()
            wanted = [child for child in (low, high) if child not in index]
            if wanted:
                stack.extend(wanted)
                continue
            stack.pop()
            index[top] = self._append(top.node_level(), index[low], index[high])
        return index[function]

    def _append(self, label: int, low: int, high: int) -> int:
        at = self.count
        if at == len(self.label):
            self.label, self.low, self.high = (
                np.concatenate([part, np.zeros_like(part)]) for part in (self.label, self.low, self.high)
            )
            self.value = np.zeros(2 * at, np.uint8)
        self.label[at], self.low[at], self.high[at] = label, low, high
        self.count = at + 1
        return at

    def compacted(self, roots: Ints, variables: int) -> tuple[Nodes, Ints]:
        """The nodes that the roots need, deepest level first, and the new place of each old one (-1: gone)."""
        kept = np.zeros(self.count, bool)
        kept[:2] = True
        kept[roots] = True
        kernels.reachable(self.low, self.high, self.count, kept)
        inner = np.flatnonzero(kept)[2:]
        order = inner[np.argsort(-self.label[inner], kind="stable")]
        moved = np.full(self.count, -1, np.int64)
        moved[:2] = (0, 1)
        moved[order] = np.arange(2, len(order) + 2)
        made = object.__new__(Nodes)
        made.count = made.base = len(order) + 2
        room = max(1024, made.count + made.count // 4)
        made.label, made.low, made.high = (np.zeros(room, np.int32) for _ in range(3))
        made.label[2 : made.count] = self.label[order]
        made.low[2 : made.count] = moved[self.low[order]]
        made.high[2 : made.count] = moved[self.high[order]]
        made.value = np.zeros(room, np.uint8)
        labels = made.label[2 : made.count]
        made.levels = 2 + np.searchsorted(-labels, -np.arange(variables + 1), side="right")
        made.levels[variables] = 2
        made.index = {function: int(moved[at]) for function, at in self.index.items() if moved[at] >= 0}
        return made, moved


class Roots:
    """Filters in groups: group g has ``names[starts[g]:starts[g + 1]]`` and filters ``members[g]:members[g + 1]``."""

    def __init__(self, filters: Iterable[tuple[int, int, tuple[int, ...]]] = (), grouped: bool = False) -> None:
        groups: dict[Any, list[tuple[int, int]]] = {}
        names: list[tuple[int, ...]] = []
        for slot, root, mine in filters:
            key = mine if grouped else len(groups)
            if key not in groups:
                groups[key] = []
                names.append(mine)
            groups[key].append((slot, root))
        self.names: Ints = np.array([n for mine in names for n in mine], np.int32)
        self.starts: Ints = np.cumsum([0, *map(len, names)], dtype=np.int64)
        self.members: Ints = np.cumsum([0, *map(len, groups.values())], dtype=np.int64)
        self.slots: Ints = np.array([slot for group in groups.values() for slot, _ in group], np.int64)
        self.roots: Ints = np.array([root for group in groups.values() for _, root in group], np.int32)
        self.verdicts: Ints = np.zeros(len(groups), np.uint8)

    def __len__(self) -> int:
        return len(self.slots)

    def joined(self, other: Roots) -> Roots:
        """These and then others."""
        made = object.__new__(Roots)
        made.names = np.concatenate([self.names, other.names])
        made.starts = np.concatenate([self.starts[:-1], other.starts + self.starts[-1]])
        made.members = np.concatenate([self.members[:-1], other.members + self.members[-1]])
        made.slots = np.concatenate([self.slots, other.slots])
        made.roots = np.concatenate([self.roots, other.roots])
        made.verdicts = np.zeros(len(made.starts) - 1, np.uint8)
        return made

    def living(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Slot, root and names of every filter that is not removed."""
        found: list[tuple[int, int, tuple[int, ...]]] = []
        for g in range(len(self.starts) - 1):
            names = tuple(self.names[self.starts[g] : self.starts[g + 1]].tolist())
            run = slice(self.members[g], self.members[g + 1])
            pairs = zip(self.slots[run].tolist(), self.roots[run].tolist(), strict=True)
            found.extend((slot, root, names) for slot, root in pairs if slot >= 0)
        return found

    def remove(self, slot: int) -> bool:
        """Forget a filter; whether it was here."""
        at = np.flatnonzero(self.slots == slot)
        self.slots[at] = -1
        return bool(len(at))
