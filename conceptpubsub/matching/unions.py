"""The unions of a segment's interfaces, made for the filters that are there at one moment.

They are right until the next filter is removed; then they are made anew, once events have come that would have used
them. See ``union_kernels`` for what they hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import layout_kernels as layout
from conceptpubsub.matching import union_kernels as uk
from conceptpubsub.matching.records import open_table

if TYPE_CHECKING:
    from conceptpubsub.matching.segment import Segment
    from conceptpubsub.matching.slots import Slots

MOST_INTERFACES: Final = 1024
"""With more of them, rows would be too long."""


class Sets:
    """The sets of interfaces there are: set i has the members from ``ends[i]`` to ``ends[i + 1]``."""

    def __init__(self, sets: list[tuple[int, ...]]) -> None:
        self.count = len(sets)
        self.members = np.array([number for each in sets for number in each] or [0], np.uint32)
        self.ends: NDArray[np.uint32] = np.zeros(len(sets) + 1, np.uint32)
        np.cumsum([len(each) for each in sets], out=self.ends[1:])
        self.total = len({number for each in sets for number in each})
        """How many interfaces some filter has had."""
        self.interfaces = int(self.members.max()) + 1 if self.total else 0
        """One more than the greatest."""
        self.words = max(1, (self.interfaces + 63) >> 6)
        """Words for a bit an interface."""


class Unions:
    """Of one segment. Nobody removes a filter while they are made."""

    def __init__(self, segment: Segment, slots: Slots, sets: Sets, least: int) -> None:
        self._left = int(slots.left[0])
        axes, bounds, table = (segment.arrays[name] for name in ("axes", "bounds", "keys"))
        most = _most_rows(axes) + int(((table[:, 1] & np.uint64((1 << layout.COUNT_BITS) - 1)) >= max(1, least)).sum())
        alive, given = slots.alive.view, (sets.ends, sets.members, least)
        rows = np.zeros((most + 1, sets.words), np.uint64)
        places = np.zeros((len(axes), 4), np.int64)
        made = uk.unite_runs(axes, bounds[1], bounds[2], alive, *given, places, rows)
        listed = np.zeros((most - made, 2), np.uint64)
        made = uk.unite_keys(table, segment.arrays["stream"], alive, *given, places, listed, rows, made)
        listed = listed[listed[:, 0] != 0]
        keys = open_table(len(listed))
        layout.refill(listed, keys)
        self._arrays: tuple[NDArray[Any], ...] = (rows[: made + 1].copy(), places, keys)
        self.row: NDArray[np.int64] = np.zeros(uk.UNIONS_SIZE, np.int64)
        for place, held in zip((uk.ROWS, uk.AXES, uk.KEYS), self._arrays, strict=True):
            self.row[place] = held.ctypes.data
        self.row[uk.ROW_WORDS], self.row[uk.KEY_MASK] = sets.words, len(keys) - 1

    def fits(self, left: int, sets: Sets) -> bool:
        """Whether they are right when so many filters have been removed, and their rows no longer than those of sets,
        which another thread may know less of."""
        return self._left == left and int(self.row[uk.ROW_WORDS]) <= sets.words

    def nbytes(self) -> int:
        """The memory they hold."""
        return sum(array.nbytes for array in self._arrays)


def _most_rows(axes: NDArray[np.uint64]) -> int:
    """The rows that all runs may have."""
    runs = axes[:, [layout.UP_RUN, layout.DOWN_RUN]]
    lengths = (runs & np.uint64(0xFFFFFFFF)) - (runs >> np.uint64(32))
    return int(((lengths + np.uint64(uk.BLOCK - 1)) // np.uint64(uk.BLOCK)).sum())
