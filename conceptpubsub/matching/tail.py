"""The tail: the newest cubes, few enough to be verified one by one at every event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import layout_kernels as layout
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import record_kernels as rk
from conceptpubsub.matching.cubes import CubeStore
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

    def extend(
        self, store: CubeStore, vocabulary: Vocabulary, alive: NDArray[np.uint64], interface_sets: NDArray[np.uint32]
    ) -> None:
        """Take in the cubes that have come to the store since."""
        first, last = self.last, store.count
        ends = store.ends.view
        room = int(ends[last - 1]) - (int(ends[first - 1]) if first else 0)
        records, bounds = np.empty((room, 3), np.uint32), np.zeros(last - first + 1, np.int64)
        owners = np.empty(last - first, np.uint32)
        made = rk.expand(
            store.literals.view, ends, store.owners.view, first, last, alive, vocabulary.book.labels,
            vocabulary.column_of, records, bounds, owners,
        )  # fmt: skip
        need = self._end + layout.written_length(bounds, made)
        if need > len(self._stream):
            self._stream = np.concatenate([self._stream[: self._end], np.zeros(2 * need - self._end, np.uint32)])
        # Written after what older snapshots read, so they see no change.
        self._end = layout.append_plain(
            records, bounds, owners, made, interface_sets, vocabulary.column_of, self._stream, self._end
        )
        self.last = last
        self.cubes += made
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
