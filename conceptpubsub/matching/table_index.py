"""A table index: the cubes of a snapshot, laid out anew for the tables of one schema, once many rows of it have come.

Rule 1  What a table has no column for is decided once: cubes that need it are left out, cubes that do not care stay.
Rule 2  The codes of an axis are cut into cells, within which no cube tells one code from another.
Rule 3  A cube stands where the fewest rows of a sample come by. A sample decides how fast the answer is, never which.
Rule 4  Where an event may have several attributes for one column, and under ``total``, there is no such index.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import table_cells as tc
from conceptpubsub.matching import table_layout as layout
from conceptpubsub.matching.arrow_plan import Plan
from conceptpubsub.matching.records import Records
from conceptpubsub.matching.table_grids import Layout
from conceptpubsub.matching.table_grids import lay_out as lay_out_grids
from conceptpubsub.matching.table_kernels import COPIED, LED
from conceptpubsub.matching.vocabulary import Vocabulary

_NONE: Final = 0xFFFFFFFF
_MOST_BUCKETS: Final = 1 << 18
_PRIOR: Final = 1 / 64
"""Rows that a cell is taken to have besides those of the sample."""


def columns_of(plan: Plan) -> set[int] | None:
    """The columns that rows may bind; None where a row may bind one of them twice."""
    found: set[int] = set()
    for path in plan.paths.values():
        if path.value < 0:
            continue
        mine = [column.number for column, _ in plan.encoder.readers.columns(path.path)]
        if found.intersection(mine) or len(set(mine)) < len(mine):
            return None
        found.update(mine)
    return found | {column.number for column in plan.encoder.of_event}


class Axes:
    """The axes that tables of a plan may touch and cubes ask for: how their codes become cells."""

    def __init__(self, made: Records, vocabulary: Vocabulary, columns: set[int], base: NDArray[np.uint32]) -> None:
        touched = np.isin(vocabulary.column_of[: vocabulary.axis_count], list(columns))
        asked = np.zeros(vocabulary.axis_count, np.bool_)
        asked[made.records[:, 0]] = True
        self.numbers = np.flatnonzero(touched & asked)
        self.places: NDArray[np.uint32] = np.full(vocabulary.axis_count, _NONE, np.uint32)
        self.places[self.numbers] = np.arange(len(self.numbers))
        self.column_of = vocabulary.column_of[: vocabulary.axis_count].copy()
        self.rows: NDArray[np.int64] = np.zeros((max(1, len(self.numbers)), tc.AXIS_SIZE), np.int64)
        place = self.places[made.records[:, 0]]
        order = np.argsort(place, kind="stable")
        cuts = np.searchsorted(place[order], np.arange(len(self.numbers) + 1))
        self.edges: list[NDArray[np.uint32]] = []
        self._kept: list[NDArray[np.uint32]] = []
        for number, axis in enumerate(self.numbers.tolist()):
            mine = made.records[order[cuts[number] : cuts[number + 1]]]
            after = mine[:, 1] + mine[:, 2] + np.uint32(1)  # on the circle of 2**32
            edges = np.unique(np.concatenate([mine[:, 1], after, np.zeros(1, np.uint32)]))
            self._add(number, edges, int(base[axis]))
        self.starts = np.cumsum([0, *map(len, self.edges)])
        self.joined = np.concatenate([*self.edges, np.zeros(1, np.uint32)])

    def _add(self, number: int, edges: NDArray[np.uint32], base: int) -> None:
        shift = 32
        while shift > 4 and (1 << (32 - shift)) < min(_MOST_BUCKETS, 4 * len(edges)):
            shift -= 1
        firsts = np.arange((1 << (32 - shift)) + 1, dtype=np.int64) << shift
        buckets = (np.searchsorted(edges, firsts, side="right") - 1).astype(np.uint32)
        row = self.rows[number]
        row[tc.EDGES], row[tc.BUCKETS], row[tc.SHIFT] = edges.ctypes.data, buckets.ctypes.data, shift
        row[tc.BASE] = int(np.searchsorted(edges, base, side="right")) - 1
        self.edges.append(edges)
        self._kept.append(buckets)

    def __len__(self) -> int:
        return len(self.numbers)


class TableIndex:
    """The cubes of a snapshot for tables of one plan."""

    def __init__(self, made: Records, axes: Axes, base: NDArray[np.uint32], sample: NDArray[np.uint32]) -> None:
        self.axes = axes
        records, bounds = made.records.copy(), made.bounds[: made.count + 1].copy()
        kept = np.zeros(made.count, np.bool_)
        layout.to_cells(records, bounds, made.count, axes.places, base, axes.joined, axes.starts, kept)
        sums = []
        for place, edges in enumerate(axes.edges):
            counts = np.bincount(sample[place], minlength=len(edges)) + _PRIOR
            sums.append(np.concatenate([[0.0], np.cumsum(counts)]) / max(1, sample.shape[1]))
        chosen, masses = np.zeros(made.count, np.int64), np.zeros(made.count)
        whole = np.concatenate([*sums, np.zeros(0)])
        layout.choose(records, bounds, made.count, whole, axes.starts, chosen, masses)
        axis_of = np.where(chosen < 0, -1, records[chosen, 0].astype(np.int64)) if len(records) else chosen
        grids = lay_out_grids(records, bounds, kept, sums, masses, axis_of)
        chosen = np.where(grids.grid_of >= 0, grids.first, chosen)
        self._lay_out(made, records, bounds, kept, chosen, grids)
        owners = made.owners[kept] & np.uint32(0x7FFFFFFF)
        self.unique = len(np.unique(owners)) == len(owners)
        """Whether no filter has two cubes."""
        self.cubes = len(owners)

    def _lay_out(self, made: Records, records: Any, bounds: Any, kept: Any, chosen: Any, grids: Layout) -> None:
        offsets, tops, total = self._nodes()
        table = np.zeros((max(1, len(grids.grids)), layout.GRID_SIZE), np.int64)
        for number, grid in enumerate(grids.grids):
            table[number] = total, grid.first_shift, grid.second_shift, grid.rows, grid.columns
            total += grid.rows * grid.columns
        always = total
        nodes = np.zeros(total + 2, np.int64)
        room = np.zeros(1, np.uint32)
        skipped = np.zeros(max(1, len(records)), np.bool_)
        cells = np.array([*map(len, self.axes.edges), 0], np.int64)
        found_by = (records, bounds, made.count, kept, chosen, grids.grid_of, grids.second, table)
        self.width = int(layout.choose_others(*found_by, cells, skipped))
        """Records of each cube besides those that where it stands decides."""
        given = (*found_by, skipped, made.owners, offsets, tops, always, self.width)
        entered = layout.lay_out(*given, nodes, room, room, 0)
        counts = nodes[:-1].copy()
        ends = np.concatenate([[0], np.cumsum(counts)])
        cubes, stream = (
            np.zeros(entered + COPIED, np.uint32),
            np.zeros(max(1, int(kept.sum()) * (1 + 3 * self.width)), np.uint32),
        )
        layout.lay_out(*given, ends.copy(), cubes, stream, 1)
        self.nodes, self.lists, self.stream = ends.astype(np.uint32), cubes, stream
        entries = [(0, 32, 1, 0, 32, always)] if counts[always] else []
        for number, grid in enumerate(grids.grids):
            entries.append(
                (grid.first, grid.first_shift, grid.columns, grid.second, grid.second_shift, int(table[number, 0]))
            )
        for place in range(len(self.axes)):
            for level in range(int(tops[place, 0]) + 1):
                begin = int(offsets[place, level])
                if counts[begin : begin + (int(tops[place, 1]) >> (layout.BRANCH_BITS * level)) + 1].any():
                    entries.append((place, layout.BRANCH_BITS * level, 1, 0, 32, begin))
        self.entries = np.array(entries or np.zeros((0, 6)), np.int64)
        """Where a row looks: an axis, the bits of its cell that do not count, how many nodes there are to a cell; the
        same of another axis, without the last; the first node."""
        self.lead, self.leading = self._leading(counts)

    def _leading(self, counts: NDArray[np.int64]) -> tuple[int, NDArray[np.uint64]]:
        """The axis that most entries look at, and for each of its cells which entries may have cubes: a bit each."""
        if not len(self.entries):
            return 0, np.zeros(max([1, *map(len, self.axes.edges)]), np.uint64)
        looked = np.concatenate([self.entries[self.entries[:, 4] < 32][:, place] for place in (0, 3)])
        lead = int(np.bincount(looked).argmax()) if len(looked) else 0
        cells = np.arange(max(1, len(self.axes.edges[lead]) if self.axes.edges else 1))
        made = np.zeros(len(cells), np.uint64)
        for number, (place, shift, size, other, other_shift, begin) in enumerate(self.entries[:LED].tolist()):
            held = np.ones(len(cells), np.bool_)
            if other_shift < 32 and lead in (place, other):
                rows = (len(self.axes.edges[place]) - 1 >> shift) + 1
                there = counts[begin : begin + rows * size].reshape(-1, size)
                sums = there.sum(axis=1)[cells >> shift] if lead == place else there.sum(axis=0)[cells >> other_shift]
                held = sums > 0
            elif other_shift == 32 and shift < 32 and lead == place:
                held = counts[begin + (cells >> shift)] > 0
            made |= held.astype(np.uint64) << np.uint64(number)
        return lead, made

    def _nodes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """For each axis where the nodes of each level begin; its top level and last cell; the number of nodes."""
        offsets = np.zeros((max(1, len(self.axes)), layout.LEVELS + 1), np.int64)
        tops = np.zeros((max(1, len(self.axes)), 2), np.int64)
        total = 0
        for place, edges in enumerate(self.axes.edges):
            last, level = len(edges) - 1, 0
            while True:
                offsets[place, level] = total
                total += (last >> (layout.BRANCH_BITS * level)) + 1
                if last >> (layout.BRANCH_BITS * level) < 1 << layout.BRANCH_BITS:
                    break
                level += 1
            tops[place] = level, last
        return offsets, tops, total

    def nbytes(self) -> int:
        """The memory it holds."""
        return self.nodes.nbytes + self.lists.nbytes + self.stream.nbytes + self.axes.joined.nbytes
