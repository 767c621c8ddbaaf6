"""The records of cubes, and where each cube is to be looked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import record_kernels as rk
from conceptpubsub.matching.cubes import ASK, CubeStore
from conceptpubsub.matching.slots import Slots
from conceptpubsub.matching.vocabulary import Vocabulary


class Records:
    """The records of some cubes, and their owners."""

    def __init__(self, store: CubeStore, vocabulary: Vocabulary, slots: Slots, first: int, last: int) -> None:
        ends = store.ends.view
        owners = store.owners.view[first:last] & np.uint32(ASK - 1)
        set_ends, set_columns = slots.bound_columns()
        begin = int(ends[first - 1]) if first else 0
        room = int(ends[last - 1]) - begin if last > first else 0
        room += int(np.diff(set_ends)[slots.bound_sets.array[owners]].sum())
        self.records: NDArray[np.uint32] = np.empty((room, 3), np.uint32)
        self.bounds: NDArray[np.int64] = np.zeros(last - first + 1, np.int64)
        self.owners: NDArray[np.uint32] = np.empty(last - first, np.uint32)
        self.count = rk.expand(
            store.literals.view, ends, store.owners.view, first, last, slots.alive.view, slots.bound_sets.view,
            set_ends, set_columns, vocabulary.book.labels, vocabulary.column_of,
            self.records, self.bounds, self.owners,
        )  # fmt: skip
        self.records = self.records[: self.bounds[self.count]]
        self.owners = self.owners[: self.count]


class Choices:
    """Where each cube is to be looked for."""

    def __init__(self, made: Records, vocabulary: Vocabulary) -> None:
        self.kinds: NDArray[np.uint8] = np.empty(made.count, np.uint8)
        self.keys: NDArray[np.uint64] = np.empty(made.count, np.uint64)
        self.chances: NDArray[np.float64] = np.empty(made.count)
        axes = vocabulary.axis_count
        totals, uses = np.zeros(axes, np.int64), np.zeros(axes, np.int64)
        table = open_table(len(made.records))
        rk.count_equalities(made.records, table, totals, uses)
        columns = len(np.unique(vocabulary.column_of[np.flatnonzero(uses)]))
        rk.choose(
            made.records, made.bounds, made.count, vocabulary.base_codes(), vocabulary.is_truth,
            vocabulary.column_of, table, totals, uses, columns, self.kinds, self.keys, self.chances,
        )  # fmt: skip


def open_table(keys: int) -> NDArray[np.uint64]:
    """An empty table for so many keys, at most half full."""
    size = 4
    while size < 2 * keys:
        size *= 2
    return np.zeros((size, 2), np.uint64)
