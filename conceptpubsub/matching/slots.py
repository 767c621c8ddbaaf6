"""What there is to a slot besides its cubes: whether it is alive, the columns it needs, the interfaces it serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.cubes import Growing

_BITS: Final = [np.uint64(1 << bit) for bit in range(64)]


class Slots:
    """What there is to slots besides their cubes: alive or not, columns that must be bound, interfaces."""

    def __init__(self) -> None:
        self.alive = Growing(np.uint64)
        self.bound_sets = Growing(np.uint32)
        self.interface_sets = Growing(np.uint32)
        self.bounds: dict[tuple[int, ...], int] = {(): 0}
        self.interfaces: dict[tuple[int, ...], int] = {(): 0}
        self.width = 0
        """One more than the last slot."""
        self.left: NDArray[np.int64] = np.zeros(1, np.int64)
        """How many have left, for kernels to read: what was made of those alive may no longer be right."""
        self._columns: tuple[int, NDArray[np.int64], NDArray[np.uint32]] | None = None

    def enter(self, slot: int, bound: tuple[int, ...], interfaces: tuple[int, ...]) -> None:
        """A new slot."""
        word = slot >> 6
        if word >= self.alive.count:
            more = word + 1 - self.alive.count
            self.alive.extend(np.zeros(more, np.uint64))
            self.bound_sets.extend(np.zeros(64 * more, np.uint32))
            self.interface_sets.extend(np.zeros(64 * more, np.uint32))
        self.alive.array[word] |= _BITS[slot & 63]
        self.width = slot + 1
        if bound:
            self.bound_sets.array[slot] = self.bounds.setdefault(bound, len(self.bounds))
        if interfaces:
            self.interface_sets.array[slot] = self.interfaces.setdefault(interfaces, len(self.interfaces))

    def leave(self, slot: int) -> None:
        """A slot is no more."""
        self.alive.array[slot >> 6] &= ~_BITS[slot & 63]
        self.left[0] += 1  # last: whoever reads the same number twice has seen no more than half of one leave

    def is_alive(self, slot: int) -> bool:
        """Whether a slot holds a filter."""
        return bool(int(self.alive.array[slot >> 6]) >> (slot & 63) & 1)

    def bound_columns(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The sets of columns that must be bound: set i has those from ``ends[i]`` to ``ends[i + 1]``."""
        if self._columns is None or self._columns[0] != len(self.bounds):
            ends = np.zeros(len(self.bounds) + 1, np.int64)
            np.cumsum([len(each) for each in self.bounds], out=ends[1:])
            columns = [column for each in self.bounds for column in each]
            self._columns = (len(self.bounds), ends, np.array(columns or [0], np.uint32))
        return self._columns[1], self._columns[2]

    def renumbered(self, slots: Mapping[int, int]) -> Slots:
        """The same under other numbers, of those that remain."""
        made = Slots()
        made.bounds, made.interfaces = self.bounds, self.interfaces
        made.width = len(slots)
        words = (len(slots) + 63) >> 6
        bits = np.zeros(64 * words, np.uint8)
        bits[: len(slots)] = 1
        made.alive.extend(np.packbits(bits, bitorder="little").view(np.uint64))
        new, old = list(slots.values()), list(slots)
        for mine, theirs in ((self.bound_sets, made.bound_sets), (self.interface_sets, made.interface_sets)):
            theirs.extend(np.zeros(64 * words, np.uint32))
            theirs.array[new] = mine.array[old]
        return made

    def nbytes(self) -> int:
        """The memory it holds."""
        return self.alive.array.nbytes + self.bound_sets.array.nbytes + self.interface_sets.array.nbytes
