"""A segment: the cubes of a stretch of filters, indexed and immutable.

A matcher has a few, each several times as large as the next, so that a new filter disturbs only the smallest. What a
segment holds is a row of addresses for the kernels and the arrays that they point into.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import layout_kernels as layout
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import record_kernels as rk
from conceptpubsub.matching.cubes import CubeStore
from conceptpubsub.matching.dense import Dense, dense_cubes
from conceptpubsub.matching.records import Choices, Records, open_table
from conceptpubsub.matching.slots import Slots
from conceptpubsub.matching.unions import Unions
from conceptpubsub.matching.vocabulary import Vocabulary


class Segment:
    """Cubes from ``first`` to ``last`` of the store, indexed."""

    def __init__(
        self, store: CubeStore, vocabulary: Vocabulary, slots: Slots, first: int, last: int, dense: int,
        classes: int,
    ) -> None:  # fmt: skip
        self.first, self.last = first, last
        made = Records(store, vocabulary, slots, first, last)
        chosen = Choices(made, vocabulary)
        self.dense = self._dense(made, chosen, vocabulary, dense, classes)
        self.cubes = made.count
        self.by_kind = np.bincount(chosen.kinds, minlength=rk.DENSE + 1)
        order = np.lexsort((chosen.keys, chosen.kinds))[: int(self.by_kind[: rk.NEVER].sum())]
        axes = np.zeros((vocabulary.axis_count, 4), np.uint64)
        keys = open_table(int(self.by_kind[rk.KEY]))
        pairs = open_table(int(self.by_kind[rk.PAIR]))
        listed = int(self.by_kind[rk.UP] + self.by_kind[rk.DOWN])
        stream = np.empty(layout.written_length(made.bounds, made.count), np.uint32)
        bounds = np.empty((3, max(1, listed)), np.uint32)
        always, end, _ = layout.lay_out(
            made.records, made.bounds, made.owners, chosen.kinds, chosen.keys, order, slots.interface_sets.view,
            vocabulary.column_of, axes, keys, pairs, stream, bounds[0], bounds[1], bounds[2],
        )  # fmt: skip
        keys, pairs = shrunk(keys), shrunk(pairs)
        pair_rows = np.flatnonzero(pairs[:, 0]).astype(np.uint32)
        self.arrays: dict[str, NDArray[Any]] = {
            "axes": axes, "keys": keys, "pairs": pairs, "pair_rows": pair_rows,
            "stream": stream[: max(1, end)].copy(), "bounds": bounds,
        }  # fmt: skip
        self._counts = (always, listed)
        self.row = self._row()
        self.unions: Unions | None = None
        """Made when events ask for interfaces, and made anew after filters were removed."""

    @staticmethod
    def _dense(made: Records, chosen: Choices, vocabulary: Vocabulary, least: int, classes: int) -> Dense | None:
        """The part for cubes that no key helps to find; they are then of that kind."""
        cubes = dense_cubes(made, chosen, least)
        found = Dense.of(made, cubes, vocabulary, classes) if len(cubes) else None
        if found is not None:
            chosen.kinds[cubes] = rk.DENSE
        return found

    def _row(self) -> NDArray[np.int64]:
        arrays, row = self.arrays, np.zeros(mk.SEGMENT_SIZE, np.int64)
        for place, name in (
            (mk.AXIS_TABLE, "axes"), (mk.KEY_TABLE, "keys"), (mk.PAIR_TABLE, "pairs"), (mk.PAIR_ROWS, "pair_rows"),
            (mk.STREAM, "stream"), (mk.BOUNDS, "bounds"),
        ):  # fmt: skip
            row[place] = arrays[name].ctypes.data
        stride = arrays["bounds"].strides[0]
        row[mk.BOUND_OWNERS] = row[mk.BOUNDS] + stride
        row[mk.BOUND_SETS] = row[mk.BOUNDS] + 2 * stride
        row[mk.AXIS_COUNT] = len(arrays["axes"])
        row[mk.KEY_MASK] = len(arrays["keys"]) - 1
        row[mk.PAIR_MASK] = len(arrays["pairs"]) - 1
        row[mk.PAIR_COUNT] = len(arrays["pair_rows"])
        row[mk.ALWAYS_COUNT] = self._counts[0]
        row[mk.DENSE] = 0 if self.dense is None else self.dense.row.ctypes.data
        return row

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("row", "unions")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.row = self._row()
        self.unions = None

    def nbytes(self) -> int:
        """The memory it holds."""
        parts = [part for part in (self.dense, self.unions) if part is not None]
        return sum(array.nbytes for array in self.arrays.values()) + sum(part.nbytes() for part in parts)


def shrunk(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same table in the size its keys need: many cubes share one."""
    used = table[table[:, 0] != 0]
    small = open_table(len(used))
    if len(small) >= len(table):
        return table
    layout.refill(used, small)
    return small
