"""The dense part of a segment: cubes that no rare key leads to, over few literals that they share.

Rule 1  A cube belongs here when an event is likely to hit its best key and there are many like it; the others keep
        their keys. So one filter may have cubes in both parts.
Rule 2  For one event, cubes lie in groups by the columns they need; for many events at once, in the order of their
        slots, see `conceptpubsub.matching.slice_kernels`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import dense_building as db
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import record_kernels as rk
from conceptpubsub.matching.class_bitmaps import ClassBitmaps
from conceptpubsub.matching.clause_kernels import choose_forms
from conceptpubsub.matching.records import Choices, Records, open_table
from conceptpubsub.matching.turn_kernels import BLOCK_SLOTS
from conceptpubsub.matching.vocabulary import Vocabulary

LIKELY: Final = 1 / 32
"""The chance that an event hits a cube's key from which on the key is no help."""
_FEW: Final = 64
"""One cube among so many that has a key of its own goes with the others."""


def dense_cubes(made: Records, chosen: Choices, least: int) -> NDArray[np.int64]:
    """The cubes for a dense part; none where they are fewer than ``least``."""
    sizes = np.diff(made.bounds[: made.count + 1])
    fitting = (sizes > 0) & (sizes <= dk.MOST_RECORDS) & (chosen.kinds != rk.NEVER)
    keyed = (chosen.kinds == rk.KEY) & (chosen.chances > LIKELY) & (sizes > 1)
    found = np.flatnonzero((keyed | (chosen.kinds == rk.ALWAYS)) & fitting)
    if len(found) < least:
        return found[:0]
    fits = np.flatnonzero(fitting)
    return fits if _FEW * (len(fits) - len(found)) <= len(found) else found


class Dense:
    """Some cubes over few literals; with bitmaps for single events from ``classes`` entries on."""

    def __init__(self, arrays: dict[str, NDArray[Any]], classes: int) -> None:
        self.arrays = arrays
        self._classes = classes
        self.bitmaps = ClassBitmaps.of(arrays, classes)
        self.row = self._row()

    @classmethod
    def of(cls, made: Records, cubes: NDArray[np.int64], vocabulary: Vocabulary, classes: int) -> Dense | None:
        """The dense part of some cubes, or None where they share too little."""
        sizes = np.diff(made.bounds)[cubes]
        starts = np.zeros(len(cubes) + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        found = np.empty((min(dk.MOST_LITERALS, max(64, len(cubes) // 2)), 3), np.uint32)
        numbers = np.empty(int(starts[-1]), np.uint16)
        table = np.full(4 * dk.MOST_LITERALS, -1, np.int64)
        count = db.number_literals(made.records, made.bounds, cubes, table, found, numbers)
        if count < 0:
            return None
        literals, numbers = _by_axis(found[:count], numbers)
        axes = vocabulary.axis_count
        column_of = vocabulary.column_of[:axes]
        columns, uses = np.unique(column_of[literals[1:, 0]], return_counts=True)
        columns = columns[np.argsort(-uses, kind="stable")][: dk.MOST_COLUMNS]
        bit_of = np.full(axes, dk.NO_BIT, np.uint8)
        bit_of[columns] = np.arange(len(columns))
        masks = np.empty(len(cubes), np.uint64)
        db.needs(made.records, made.bounds, cubes, vocabulary.base_codes(), column_of, bit_of, masks)
        # A column's own axis has a bit; a record of it that excludes only 0 says what the bit says.
        bare = (literals[:, 1] == 1) & (literals[:, 2] == rk.SPAN_BOUND)
        told = np.where(bare, bit_of[literals[:, 0]], dk.NO_BIT).astype(np.uint8)
        told[column_of[literals[:, 0]] != literals[:, 0]] = dk.NO_BIT
        row_axes, row_of = np.unique(literals[:, 0]), np.full(axes, dk.NO_ROW, np.uint16)
        row_of[row_axes] = np.arange(len(row_axes))
        arrays: dict[str, NDArray[Any]] = {
            "literals": literals, "columns": columns.astype(np.uint32), "bit_of": bit_of,
            "literal_columns": bit_of[column_of[literals[:, 0]]],
            "row_axes": row_axes.astype(np.uint32), "row_of": row_of,
        }  # fmt: skip
        owners = made.owners[cubes]
        arrays |= _groups(masks, owners, starts, numbers, told)
        arrays |= _entries(masks, owners, starts, numbers, told, literals, column_of)
        axes_of_pairs = literals[arrays["pairs"][:, 0], 0]
        arrays["pair_rows"], arrays["pair_columns"] = row_of[axes_of_pairs], bit_of[column_of[axes_of_pairs]]
        return cls(arrays, classes)

    @property
    def cubes(self) -> int:
        """How many cubes it holds."""
        return len(self.arrays["cube_owners"])

    def _row(self) -> NDArray[np.int64]:
        arrays, row = self.arrays, np.zeros(dk.DENSE_SIZE, np.int64)
        for place, name in (
            (dk.LITERALS, "literals"), (dk.PAIRS, "pairs"), (dk.PAIR_ROWS, "pair_rows"), (dk.ROW_OF, "row_of"),
            (dk.ROW_AXES, "row_axes"), (dk.COLUMNS, "columns"), (dk.BIT_OF, "bit_of"),
            (dk.GROUP_MASKS, "group_masks"), (dk.GROUP_STARTS, "group_starts"), (dk.GROUP_TABLE, "group_table"),
            (dk.CUBE_STARTS, "cube_starts"), (dk.CUBE_WORDS, "cube_words"), (dk.CUBE_OWNERS, "cube_owners"),
            (dk.ENTRY_STARTS, "entry_starts"), (dk.ENTRY_WORDS, "entry_words"), (dk.ENTRY_OWNERS, "entry_owners"),
            (dk.ENTRY_GROUPS, "entry_groups"), (dk.ENTRY_TURNS, "entry_turns"), (dk.NEED_MASKS, "need_masks"),
        ):  # fmt: skip
            row[place] = arrays[name].ctypes.data
        for place, count in (
            (dk.LITERAL_COUNT, len(arrays["literals"])), (dk.PAIR_COUNT, len(arrays["pairs"])),
            (dk.ROW_COUNT, len(arrays["row_axes"])),
            (dk.AXIS_COUNT, len(arrays["bit_of"])),
            (dk.COLUMN_COUNT, len(arrays["columns"])), (dk.GROUP_COUNT, len(arrays["group_masks"])),
            (dk.TABLE_MASK, len(arrays["group_table"]) - 1), (dk.ENTRY_COUNT, len(arrays["entry_owners"])),
            (dk.NEED_COUNT, len(arrays["need_masks"])),
        ):  # fmt: skip
            row[place] = count
        row[dk.BITMAPS] = 0 if self.bitmaps is None else self.bitmaps.row.ctypes.data
        return row

    def __reduce__(self) -> tuple[Any, ...]:
        return Dense, (self.arrays, self._classes)

    def nbytes(self) -> int:
        """The memory it holds."""
        held = sum(array.nbytes for array in self.arrays.values())
        return held + (0 if self.bitmaps is None else self.bitmaps.nbytes())


def _by_axis(literals: NDArray[np.uint32], numbers: NDArray[np.uint16]) -> tuple[Any, Any]:
    """Literals in the order of their axes, and the numbers that go with it; the first, of no axis, stays the first."""
    order = np.lexsort((literals[:, 1], literals[:, 0]))
    place = np.empty(len(order), np.uint16)
    place[order] = np.arange(len(order))
    return np.ascontiguousarray(literals[order]), place[numbers]


def _groups(masks: Any, owners: Any, starts: Any, numbers: Any, told: Any) -> dict[str, NDArray[Any]]:
    """The cubes by the columns they need."""
    order = np.argsort(masks, kind="stable")
    group_masks, firsts = np.unique(masks[order], return_index=True)
    cube_starts, words = np.empty(len(order) + 1, np.uint32), np.empty(len(numbers), np.uint16)
    written = db.write_cubes(order, starts, numbers, told, cube_starts, words)
    table = open_table(len(group_masks))
    db.fill_groups(group_masks, table)
    return {
        "group_masks": group_masks, "group_starts": np.append(firsts, len(order)).astype(np.uint32),
        "group_table": table, "cube_starts": cube_starts, "cube_words": words[: max(1, written)].copy(),
        "cube_owners": owners[order],
    }  # fmt: skip


def _entries(
    masks: Any, owners: Any, starts: Any, numbers: Any, told: Any, literals: Any, column_of: Any
) -> dict[str, NDArray[Any]]:
    """The cubes by owner; those about which the evaluator is asked come last."""
    order = np.argsort(owners, kind="stable")
    count = len(np.unique(owners))
    entry_owners, entry_masks = np.empty(count, np.uint32), np.empty(count, np.uint64)
    db.entry_needs(order, owners, masks, entry_owners, entry_masks)
    entry_starts, words = np.empty(count + 1, np.uint32), np.empty(len(numbers) + len(order), np.uint16)
    db.write_entries(order, owners, entry_masks, starts, numbers, told, entry_starts, words)
    needs, inverse = np.unique(entry_masks, return_inverse=True)
    pair_starts, pairs = _pairs(literals, entry_starts, words)
    groups, chosen_starts, chosen = inverse.astype(np.uint32), entry_starts.copy(), np.empty_like(words)
    written = choose_forms(literals, pairs, column_of, pair_starts, words, entry_owners, groups, chosen_starts, chosen)
    blocks = entry_owners // np.uint32(BLOCK_SLOTS)
    begins = np.searchsorted(blocks, blocks).astype(np.int64)
    turns = np.lexsort((np.diff(chosen_starts), blocks)) - begins
    return {
        "entry_turns": turns.astype(np.uint16), "entry_starts": chosen_starts, "entry_words": chosen[:written].copy(),
        "entry_owners": entry_owners, "entry_groups": groups, "need_masks": needs, "pairs": pairs,
    }  # fmt: skip


def _pairs(literals: Any, starts: Any, words: Any) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Where the words of entries begin now that they are of pairs of literals, and these."""
    made, found = np.empty_like(starts), np.zeros((dk.MOST_LITERALS, 2), np.uint16)
    kept = words.copy()
    for joins in (True, False):
        count = db.pair_literals(literals, starts, words, joins, np.full(4 * len(found), -1, np.int64), found, made)
        if count >= 0:
            break
        words[:] = kept  # too many pairs: each literal is one by itself
    return made, found[:count].copy()
