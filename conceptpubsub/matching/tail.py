"""The tail: the newest cubes, few enough to be verified one by one at every event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import layout_kernels as layout
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching.cubes import CubeStore
from conceptpubsub.matching.records import Records
from conceptpubsub.matching.slots import Slots
from conceptpubsub.matching.vocabulary import Vocabulary

_EMPTY_TABLE = np.zeros((4, 2), np.uint64)


class Tail:
    """Cubes from ``first`` to ``last`` of the store, in a stream without keys."""

    def __init__(self, first: int) -> None:
        self.first = self.last = first
        self._stream: NDArray[np.uint32] = np.zeros(1024, np.uint32)
        self._end = 0
        self.cubes = 0
        self.row: NDArray[np.int64] = np.zeros(mk.SEGMENT_SIZE, np.int64)

    def extend(self, store: CubeStore, vocabulary: Vocabulary, slots: Slots) -> None:
        """Take in the cubes that have come to the store since."""
        made = Records(store, vocabulary, slots, self.last, store.count)
        need = self._end + layout.written_length(made.bounds, made.count)
        if need > len(self._stream):
            self._stream = np.concatenate([self._stream[: self._end], np.zeros(2 * need - self._end, np.uint32)])
        # Written after what older snapshots read, so they see no change.
        self._end = layout.append_plain(
            made.records, made.bounds, made.owners, made.count, slots.interface_sets.view, vocabulary.column_of,
            self._stream, self._end,
        )  # fmt: skip
        self.last = store.count
        self.cubes += made.count
        row = np.zeros(mk.SEGMENT_SIZE, np.int64)
        row[mk.STREAM], row[mk.ALWAYS_COUNT] = self._stream.ctypes.data, self.cubes
        row[mk.KEY_TABLE] = row[mk.PAIR_TABLE] = _EMPTY_TABLE.ctypes.data
        row[mk.KEY_MASK] = row[mk.PAIR_MASK] = len(_EMPTY_TABLE) - 1
        self.row = row

    def frozen(self) -> FrozenTail:
        """What a snapshot keeps of it."""
        return FrozenTail(self.row, self._stream, self.cubes)


class FrozenTail:
    """The tail as it was: a row of addresses, and the stream they point into."""

    __slots__ = ("cubes", "row", "stream")

    def __init__(self, row: NDArray[np.int64], stream: NDArray[np.uint32], cubes: int) -> None:
        self.row = row
        self.stream = stream
        self.cubes = cubes
