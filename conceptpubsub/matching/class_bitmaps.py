"""Class bitmaps of a dense part: how cubes lie in rows of bits, and the rows of the classes that events have shown.

Rule 1  Rows are made when an event first shows a class, within a bound of memory; beyond it, and wherever a filter does
        not fit, cubes are verified one by one. So a column with very many classes costs time once, never an answer.
Rule 2  A class that was learnt stays, and so does its row: readers need no lock. Who learns holds the engine's lock.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import class_kernels as cl
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching.lending import aligned
from conceptpubsub.matching.records import open_table
from conceptpubsub.matching.row_kernels import lay_folds
from conceptpubsub.matching.vectors import CODES

_FEW_ENTRIES: Final = 2048
"""With fewer entries, for which only tests ask, every event goes through the rows."""
_BYTES_AN_ENTRY: Final = 128
_LEAST_ROWS: Final = 64
_MOST_PLANES: Final = 12
_MOST_FOLDED: Final = 64
_FOLDING_COSTS: Final = 3
_FILLED: Final = 16
"""Entries there must be for each word of slots between the first and the last."""
_BLOCK: Final = 8
"""Rows that are made room for at a time."""


class ClassBitmaps:
    """Rows of bits for the entries of a dense part."""

    def __init__(
        self, arrays: dict[str, NDArray[Any]], counts: NDArray[np.int64], planes: int, literals: list[Any]
    ) -> None:
        owners = arrays["entry_owners"].astype(np.int64)
        placed = counts > 0
        words = owners[placed] >> 6
        first = int(words.min()) & ~(cl.TILE - 1)
        tiles = (int(words.max()) - first) // cl.TILE + 1
        self._plan = np.zeros((2 * int(np.maximum(counts - planes, 0).sum()) + cl.TILE, cl.FOLD_SIZE), np.uint64)
        template = np.zeros(planes * tiles * cl.TILE + len(self._plan), np.uint64)
        self._counts = counts.astype(np.uint8)
        folded = lay_folds(
            owners, counts, planes, tiles, first, self._plan, template, template[planes * tiles * cl.TILE :]
        )
        fold_tiles = -(-folded // cl.TILE)
        by_tile = self._plan[: fold_tiles * cl.TILE].reshape(fold_tiles, cl.TILE, cl.FOLD_SIZE)
        self._plan = np.ascontiguousarray(by_tile.transpose(0, 2, 1))
        self._template = template[: planes * tiles * cl.TILE + fold_tiles * cl.TILE].copy()
        self._signs = aligned(tiles * cl.TILE)
        turned = owners[placed & (arrays["entry_groups"] >> 31 == 1)] - 64 * first
        np.bitwise_or.at(self._signs, turned >> 6, np.uint64(1) << (turned & 63).astype(np.uint64))
        self._apart = np.flatnonzero(~placed).astype(np.uint32)
        columns = arrays["pair_columns"]
        self._listed = np.argsort(columns, kind="stable").astype(np.uint16)
        self._ends = np.searchsorted(columns[self._listed], np.arange(len(literals) + 1)).astype(np.uint32)
        self._said = np.zeros(dk.MOST_LITERALS, np.uint8)
        self.row_words = len(self._template)
        self._most = max(_LEAST_ROWS, _BYTES_AN_ENTRY * len(owners) // (8 * self.row_words))
        run_ends, run_axes, lows, spans = _runs(arrays["literals"], literals)
        key_words = 1 + int(np.diff(run_ends).max(initial=0) + cl.KEY_CHUNKS - 1) // cl.KEY_CHUNKS
        self._table = np.zeros((len(open_table(self._most)), key_words + 1), np.int64)
        self._rows: list[NDArray[np.uint64]] = []
        self._free = 0
        self.row: NDArray[np.int64] = np.zeros(cl.BITMAPS_SIZE, np.int64)
        for place, held in (
            (cl.PAIR_ENDS, self._ends), (cl.PAIR_LIST, self._listed), (cl.CLASSES, self._table),
            (cl.RUN_ENDS, run_ends), (cl.RUN_AXES, run_axes), (cl.RUN_LOWS, lows), (cl.RUN_SPANS, spans),
            (cl.TEMPLATE, self._template), (cl.FOLD_PLAN, self._plan), (cl.CUBE_COUNTS, self._counts),
            (cl.APART, self._apart), (cl.SIGNS, self._signs),
        ):  # fmt: skip
            self.row[place] = held.ctypes.data
        self._runs = run_ends, run_axes, lows, spans
        vectors = self.row_words // 8 * len(literals)
        for place, number in (
            (cl.COLUMN_COUNT, len(literals)), (cl.KEY_WORDS, key_words), (cl.CLASS_MASK, len(self._table) - 1),
            (cl.PLANES, planes), (cl.TILES, tiles), (cl.FIRST_WORD, first),
            (cl.FOLDED, planes * tiles * cl.TILE_BYTES), (cl.FOLD_TILES, fold_tiles),
            (cl.APART_COUNT, len(self._apart)),
            (cl.LIMIT, vectors // 5 if len(owners) >= _FEW_ENTRIES else 0), (cl.OPEN, self._most),
        ):  # fmt: skip
            self.row[place] = number

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]], least: int) -> ClassBitmaps | None:
        """The bitmaps for a dense part, or None where its filters are few, lie apart, or have too many columns."""
        owners, columns = arrays["entry_owners"], arrays["literal_columns"][1:]
        if len(owners) < least or int(columns.max(initial=0)) >= cl.MOST_COLUMNS:
            return None
        listed = [np.flatnonzero(columns == column) + 1 for column in range(len(arrays["columns"]))]
        chunks = [
            int(sum(-(-np.unique(arrays["literals"][each, 0], return_counts=True)[1] // CODES))) for each in listed
        ]
        if max(chunks) > cl.KEY_CHUNKS * (cl.MOST_KEY_WORDS - 1):
            return None
        own_bit = arrays["entry_words"] & (dk.END_CUBE | dk.WITH_FIRST) == dk.END_CUBE
        done = np.concatenate([[0], np.cumsum(own_bit, dtype=np.int64)])
        counts = np.diff(done[arrays["entry_starts"].astype(np.int64)]) + (arrays["entry_groups"] >> 31)
        counts[owners >> 31 == 1] = 0  # those about which the evaluator is asked
        planes = _planes(counts)
        counts[counts - planes > _MOST_FOLDED] = 0
        words = owners[counts > 0] >> 6
        if not len(words) or _FILLED * (int(words.max()) - int(words.min()) + 1) > len(words):
            return None
        made = cls(arrays, counts, planes, listed)
        return made if 16 * len(made._apart) <= len(owners) else None

    def learn(self, dense: int, header: int, count: int) -> int:
        """Learn the classes of the event whose words have been written; returns how many that were."""
        from conceptpubsub.matching.single_kernels import learn_classes

        learnt: int = 0
        while True:
            room = min(self._free, int(self.row[cl.OPEN]))
            if not room:
                if not self.row[cl.OPEN]:
                    return learnt
                self._free = room = min(_BLOCK, int(self.row[cl.OPEN]))
                self._rows.append(aligned(self._free * self.row_words).reshape(self._free, self.row_words))
            block = self._rows[-1]
            free = block[len(block) - self._free :]
            more: int = learn_classes(
                header, count, dense, self.row.ctypes.data, self._said.ctypes.data, free.ctypes.data,
                8 * self.row_words, room,
            )  # fmt: skip
            self._free -= more
            self.row[cl.OPEN] -= more
            learnt += more
            if more < room:
                return learnt

    def nbytes(self) -> int:
        """The memory it holds."""
        held: list[NDArray[Any]] = [
            self._plan,
            self._template,
            self._signs,
            self._counts,
            self._apart,
            self._table,
            *self._rows,
        ]
        return sum(array.nbytes for array in held)


def _runs(literals: NDArray[np.uint32], listed: list[NDArray[np.int64]]) -> tuple[NDArray[np.uint32], ...]:
    """The literals of each column by axis, in whole chunks: where columns end, and the axis, lows and spans of chunks.
    What is left of a chunk is a run of a code that no event has."""
    ends, axes, lows, spans = [0], list[int](), list[NDArray[np.uint32]](), list[NDArray[np.uint32]]()
    for each in listed:
        mine = literals[each]
        for axis in np.unique(mine[:, 0]).tolist():
            runs = mine[mine[:, 0] == axis]
            room = np.full((-(-len(runs) // CODES) * CODES, 2), (0xFFFFFFFF, 0), np.uint32)
            room[: len(runs)] = runs[:, 1:]
            axes += [axis] * (len(room) // CODES)
            lows.append(room[:, 0])
            spans.append(room[:, 1])
        ends.append(len(axes))
    made = np.array(ends, np.uint32), np.array(axes or [0], np.uint32)
    return *made, np.concatenate([*lows, np.zeros(0, np.uint32)]), np.concatenate([*spans, np.zeros(0, np.uint32)])


def _planes(counts: NDArray[np.int64]) -> int:
    """How many planes give the least work: cubes beyond them are folded."""

    def cost(planes: int) -> float:
        return planes * len(counts) + _FOLDING_COSTS * float(np.maximum(counts - planes, 0).sum())

    return min(range(1, _MOST_PLANES + 1), key=cost)
