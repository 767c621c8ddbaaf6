"""One constraint index: conjunctions that were compiled together.

Conjunctions stand in the order of their slots. A segment is replaced, never changed, but for conjunctions that die.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import counting_kernels as kernels
from conceptpubsub.matching.counting_kernels import ABOVE, BELOW, DEAD, EQUAL

Ints = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Arrays of one constraint index; `counting_kernels` says how they hang together.

    ``ways`` has the interface of each conjunction, ``beside`` that of each member.
    """

    cells: Ints
    labels: Ints
    starts: Ints
    members: Ints
    sizes: Ints
    slots: Ints
    checked: Ints
    ways: Ints
    beside: Ints
    several: Ints
    lists: Ints
    free: Ints
    """Conjunctions without a counted constraint: every event satisfies them."""
    counters: Ints
    epoch: Ints
    out: Ints
    sure: bool
    """Whether none of the conjunctions needs a second look."""

    @property
    def size(self) -> int:
        """The number of conjunctions, the dead included."""
        return len(self.sizes)

    @property
    def dead(self) -> int:
        """The number of conjunctions that are no more."""
        return int(np.count_nonzero(self.sizes == DEAD))

    @property
    def bytes(self) -> int:
        """What the arrays hold."""
        return sum(getattr(self, name).nbytes for name in self.__slots__ if name != "sure")

    def kill(self, slot: int) -> bool:
        """Let the conjunctions of a slot die; whether there were any."""
        low, high = np.searchsorted(self.slots, [slot, slot + 1])
        self.sizes[low:high] = DEAD
        return bool(low < high)

    # ------------------------------------------------------------------ events

    def count(self, entries: Ints) -> Ints:
        """The conjunctions that an event's entries satisfy."""
        found: Ints = kernels.count(
            self.cells, self.labels, self.starts, self.members, self.sizes, self.counters, self.epoch, self.out,
            entries,
        )  # fmt: skip
        return np.concatenate([found, self._alive()]) if len(self.free) else found

    def count_many(self, entries: Ints, events: Ints) -> tuple[Ints, Ints]:
        """As `count`, for many events: offsets and conjunctions, those without a constraint left out."""
        offsets, found = kernels.count_many(
            self.cells, self.labels, self.starts, self.members, self.sizes, self.counters, self.epoch, entries, events
        )
        return offsets, found

    def forward(
        self, entries: Ints, mask: Ints, found: Ints, matched: int, wanted: int, check_all: bool
    ) -> tuple[int, Ints]:
        """Mark an event's interfaces; how many are matched by now, and conjunctions that need a second look."""
        matched, unsure = kernels.forward(
            self.cells, self.labels, self.starts, self.members, self.sizes, self.counters, self.epoch, self.out,
            entries, 0, len(entries), self.beside, self.several, self.lists, self.checked, check_all, mask, found,
            matched, wanted,
        )  # fmt: skip
        return matched, np.concatenate([unsure, self._alive()]) if len(self.free) else unsure

    def forward_many(self, entries: Ints, events: Ints, interfaces: int, wanted: int) -> tuple[Ints, Ints]:
        """As `forward`, for many events; only where nothing is checked and nothing free."""
        offsets, found = kernels.forward_many(
            self.cells, self.labels, self.starts, self.members, self.sizes, self.counters, self.epoch, self.out,
            entries, events, self.beside, self.several, self.lists, self.checked, interfaces, wanted,
        )  # fmt: skip
        return offsets, found

    def _alive(self) -> Ints:
        alive: Ints = self.free[self.sizes[self.free] != DEAD]
        return alive

    # ------------------------------------------------------------------ changes

    def constraints(self) -> tuple[Ints, Ints, Ints]:
        """Cell, label and conjunction of every counted constraint."""
        descriptors = np.diff(self.starts)
        cell = np.repeat(np.arange(len(self.cells) - 1), np.diff(self.cells))
        return np.repeat(cell, descriptors), np.repeat(self.labels, descriptors), self.members

    def moved(self, column: int, old: Ints, new: Ints) -> Segment:
        """The same with other labels for the constants of a column."""
        labels = self.labels.copy()
        for operator in (EQUAL, BELOW, ABOVE):
            cell = 3 * column + operator
            if cell + 1 >= len(self.cells):
                break
            run = slice(self.cells[cell], self.cells[cell + 1])
            exact = labels[run] & ~1  # a bound stands at its constant or one beside it
            if operator == ABOVE:
                exact = (labels[run] + 1) & ~1
            labels[run] += new[np.searchsorted(old, exact)] - exact
        values = {name: getattr(self, name) for name in self.__slots__}
        return Segment(**{**values, "labels": labels})


def build(
    columns: int,
    cell: Ints,
    label: Ints,
    conjunction: Ints,
    sizes: Ints,
    slots: Ints,
    checked: Ints,
    ways: Ints,
    several: Ints,
    lists: Ints,
) -> Segment:
    """A segment of constraints in any order: ``cell`` is 3 * column + operator."""
    order = np.lexsort((label, cell))
    cell, label, members = cell[order], label[order], conjunction[order].astype(np.int32)
    first = np.ones(len(cell), bool)
    first[1:] = (cell[1:] != cell[:-1]) | (label[1:] != label[:-1])
    starts = np.flatnonzero(first)
    cells = np.searchsorted(cell[starts], np.arange(3 * columns + 1))
    return Segment(
        cells=cells.astype(np.int64),
        labels=label[starts].astype(np.int64),
        starts=np.append(starts, len(cell)).astype(np.int64),
        members=members,
        sizes=sizes.astype(np.uint8),
        slots=slots.astype(np.int64),
        checked=checked.astype(np.bool_),
        ways=ways.astype(np.int32),
        beside=ways.astype(np.int32)[members],
        several=several.astype(np.int64),
        lists=lists.astype(np.int32),
        free=np.flatnonzero(sizes == 0).astype(np.int32),
        counters=np.zeros(len(sizes), np.int32),
        epoch=np.zeros(1, np.int64),
        out=np.empty(max(1, len(sizes)), np.int32),
        sure=not checked.any(),
    )


def merge(one: Segment, other: Segment, columns: int) -> Segment:
    """Both segments in one, the dead left behind."""
    parts = [_living(one), _living(other)]
    shift, lists = len(parts[0]["sizes"]), len(parts[0]["lists"])
    second = parts[1]
    second["conjunction"] = second["conjunction"] + shift
    second["ways"] = np.where(second["ways"] < -1, second["ways"] - (len(parts[0]["several"]) - 1), second["ways"])
    several = np.concatenate([parts[0]["several"][:-1], second["several"] + lists])
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "several"}
    return build(columns, several=several, **joined)


def compacted(segment: Segment, columns: int) -> Segment:
    """The segment without its dead."""
    return build(columns, **_living(segment))


def _living(segment: Segment) -> dict[str, Ints]:
    """What `build` needs for the conjunctions that are not dead."""
    alive = segment.sizes != DEAD
    number = np.cumsum(alive) - 1
    cell, label, member = segment.constraints()
    kept = alive[member]
    return {
        "cell": cell[kept],
        "label": label[kept],
        "conjunction": number[member[kept]],
        "sizes": segment.sizes[alive],
        "slots": segment.slots[alive],
        "checked": segment.checked[alive],
        "ways": segment.ways[alive].astype(np.int64),
        "several": segment.several,
        "lists": segment.lists,
    }
