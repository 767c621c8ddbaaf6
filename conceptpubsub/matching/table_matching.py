"""Tables against a snapshot: slots for each row, in compressed rows or as bits, and what could not be matched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import table_cells as tc
from conceptpubsub.matching import table_kernels as tk
from conceptpubsub.matching.engine import Fault, Matches
from conceptpubsub.matching.rows import row_events
from conceptpubsub.matching.scan import answer
from conceptpubsub.matching.scratch import Scratch
from conceptpubsub.matching.table_index import Axes, TableIndex, columns_of
from conceptpubsub.matching.table_words import BatchColumns, BatchWords

if TYPE_CHECKING:
    from conceptpubsub.matching.arrow_plan import Plan
    from conceptpubsub.matching.index import Index
    from conceptpubsub.matching.records import Records
    from conceptpubsub.matching.snapshot import Snapshot

_ROOM = 1 << 20
_SAMPLES = 8
_LEAST_ROWS = 4096


class Lacks(Sequence[Fault]):
    """Faults of a table: rows that are no events, and under ``total`` what rows lack; the latter made when read."""

    def __init__(self, faults: list[Fault], lacks: NDArray[np.int64], groups: list[Any], say: Any) -> None:
        self._faults = faults
        self._lacks = lacks
        self._groups = groups
        self._say = say
        sizes = np.array([len(slots) for _, slots in groups] or [0], np.int64)
        self._ends: list[int] = np.cumsum(sizes[lacks[:, 1]]).tolist() if len(lacks) else []

    def __len__(self) -> int:
        return len(self._faults) + (self._ends[-1] if self._ends else 0)

    @overload
    def __getitem__(self, index: int) -> Fault: ...
    @overload
    def __getitem__(self, index: slice) -> list[Fault]: ...
    def __getitem__(self, index: int | slice) -> Fault | list[Fault]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if index < len(self._faults):
            return self._faults[index]
        place = index - len(self._faults)
        if not self._ends or place >= self._ends[-1]:
            raise IndexError("no such error")
        number = bisect_right(self._ends, place)
        row, group, missing = self._lacks[number].tolist()
        named, slots = self._groups[group]
        lacking = [column for i, column in enumerate(named) if missing >> min(i, 62) & 1]
        return Fault(row, slots[place - (self._ends[number - 1] if number else 0)], self._say(lacking))

    def __iter__(self) -> Iterator[Fault]:
        return (self[i] for i in range(len(self)))


class TableTask:
    """One record batch on its way through the kernel."""

    def __init__(self, snapshot: Snapshot, scratch: Scratch, words: BatchWords, groups: list[Any]) -> None:
        self.words = words
        self.offsets: NDArray[np.int64] = np.zeros(words.rows + 1, np.int64)
        self.slots: list[NDArray[np.int64]] = []
        self.asked: list[NDArray[np.int64]] = []
        self.lacks: list[NDArray[np.int64]] = []
        self._groups = groups
        self._run(snapshot, scratch)

    def _run(self, snapshot: Snapshot, scratch: Scratch) -> None:
        columns = np.array([column for named, _ in self._groups for column in named] or [0], np.uint32)
        ends = np.cumsum([len(named) for named, _ in self._groups] or [0]).astype(np.int64)
        most = 64 * len(snapshot.alive)
        room = max(_ROOM, 2 * most)
        slots = scratch.room("out", room, np.int64)
        asked = scratch.room("asked", 2 * room, np.int64)[: 2 * room].reshape(2, room)
        lacks = np.empty((max(_ROOM // 16, 2 * len(self._groups)), 3), np.int64)
        alive = snapshot.alive.copy()  # so that the whole table sees one moment
        task = np.zeros(bk.TASK_SIZE, np.int64)
        for place, held in (
            (bk.STARTS, self.words.starts), (bk.ENDS, self.words.ends), (bk.BAD, self.words.bad),
            (bk.OFFSETS, self.offsets), (bk.SLOTS, slots), (bk.ASKED_ROWS, asked[0]), (bk.ASKED_SLOTS, asked[1]),
            (bk.GROUP_ENDS, ends), (bk.GROUP_COLUMNS, columns), (bk.LACKS, lacks),
        ):  # fmt: skip
            task[place] = held.ctypes.data
        task[bk.ROWS], task[bk.GROUPS] = self.words.rows, len(self._groups)
        task[bk.SLOTS_ROOM] = task[bk.ASKED_ROOM] = room
        task[bk.LACKS_ROOM] = len(lacks)
        before = 0
        while True:
            address = scratch.table_header(self.words, alive)
            first = int(task[bk.NEXT])
            code = bk.match_rows(address, task.ctypes.data)
            last = int(task[bk.NEXT])
            if code == ev.NO_ROOM:
                scratch.reserve_touched(2 * scratch.header[ev.ROOM])
            self.offsets[first + 1 : last + 1] += before
            if code != bk.DONE or last == self.words.rows:
                before += int(task[bk.SLOT_COUNT])
                self.slots.append(slots[: task[bk.SLOT_COUNT]].copy())
                self.asked.append(asked[:, : task[bk.ASKED_COUNT]].copy())
                self.lacks.append(lacks[: task[bk.LACK_COUNT]].copy())
                task[bk.SLOT_COUNT] = task[bk.ASKED_COUNT] = task[bk.LACK_COUNT] = 0
            if code == bk.DONE:
                return

    def matches(self, more: list[tuple[int, int]]) -> Matches:
        """What matched, with some more pairs of row and slot, which may be among them already."""
        return _joined(self.offsets, self.slots, more)


class BlockTask:
    """One record batch on its way through a table index."""

    def __init__(self, index: TableIndex, snapshot: Snapshot, scratch: Scratch, columns: BatchColumns) -> None:
        self.offsets: NDArray[np.int64] = np.zeros(columns.rows + 1, np.int64)
        self.slots: list[NDArray[np.int64]] = []
        self.asked: list[NDArray[np.int64]] = []
        self.lacks: list[NDArray[np.int64]] = [np.zeros((0, 3), np.int64)]
        block = Block(index.axes, scratch, columns)
        alive = snapshot.alive.copy()  # so that the whole table sees one moment
        room = 2 * index.cubes + _ROOM // 64
        found = scratch.room("found", 2 * room + tc.BLOCK, np.uint32)
        out = scratch.room("out", room + _ROOM, np.int64)
        asked = scratch.room("asked", 2 * (room + _ROOM), np.int64).reshape(-1, 2)
        state, done, before = np.zeros(5, np.int64), 0, 0
        while not self.slots or done < columns.rows:
            given: tuple[Any, ...] = (
                *block.given, block.wrong, done, columns.rows, index.entries, index.lead,
                index.leading.ctypes.data, index.nodes.ctypes.data,
                index.lists.ctypes.data, index.stream.ctypes.data, index.width, index.cubes, index.unique,
                alive.ctypes.data, before, self.offsets.ctypes.data, out, asked, room, found.ctypes.data, state,
            )  # fmt: skip
            done = tk.match_rows(*given)
            before += int(state[0])
            self.slots.append(out[: state[0]].copy())
            self.asked.append(asked[: state[1]].T.copy())
            state[:2] = 0
        if state[4]:
            block.refuse()
        if not index.unique:
            self.asked = [np.unique(each, axis=1) for each in self.asked]
        for place, more in ((ev.CANDIDATES, state[2]), (ev.VERIFIED, state[3]), (ev.EVENTS, columns.rows)):
            scratch.counters[place] += more

    def matches(self, more: list[tuple[int, int]]) -> Matches:
        """What matched, with some more pairs of row and slot, which may be among them already."""
        return _joined(self.offsets, self.slots, more)


def _joined(offsets: NDArray[np.int64], slots: list[NDArray[np.int64]], more: list[tuple[int, int]]) -> Matches:
    made = Matches(offsets, slots[0] if len(slots) == 1 else np.concatenate(slots))
    return made.joined(np.array(more, np.int64)) if more else made


class Block:
    """The cells of a block of rows."""

    def __init__(self, axes: Axes, scratch: Scratch, columns: BatchColumns) -> None:
        self._columns = columns
        self.cells: NDArray[np.uint32] = np.zeros((max(1, len(axes)), tc.BLOCK), np.uint32)
        self.bad: NDArray[np.uint8] = np.zeros(max(1, columns.rows), np.uint8)
        self.bad[list(columns.wrong)] = 1
        self.wrong: NDArray[np.int32] = np.zeros(max(1, columns.rows), np.int32)
        sources = columns.numbers
        lists = sources[:, ak.LIST_COUNT]
        self._list_cells: NDArray[np.uint32] = np.zeros(int(lists.sum()) + 1, np.uint32)
        sources[:, ak.LIST_CELLS] = self._list_cells.ctypes.data + 4 * (np.cumsum(lists) - lists)
        translated = (axes.rows.ctypes.data, axes.places.ctypes.data, axes.column_of.ctypes.data)
        tc.resolve(sources.ctypes.data, len(sources), scratch.address, *translated)
        self.given = (
            columns.array, sources.ctypes.data, len(sources), scratch.address, self.cells.ctypes.data, translated[0],
            len(axes), *translated[1:], self.bad.ctypes.data,
        )  # fmt: skip
        """What kernels are told of it, first of all."""

    def sample(self, count: int) -> NDArray[np.uint32]:
        """The cells of some blocks."""
        found = []
        for first in np.linspace(0, max(0, self._columns.rows - tc.BLOCK), count).astype(int).tolist():
            rows = min(tc.BLOCK, self._columns.rows - first)
            given: tuple[Any, ...] = (*self.given, self.wrong, first, rows)
            tc.fill(*given)
            found.append(self.cells[:, :rows].copy())
        return np.concatenate(found, axis=1)

    def refuse(self) -> None:
        """Say why rows are bad that the kernel found."""
        for row in np.flatnonzero(self.bad).tolist():
            if row not in self._columns.wrong:
                self._columns.refuse(row, int(self.wrong[row]))


def enough(rows: int, cubes: int) -> bool:
    """Whether so many rows are worth an index of their own: it is made in the time that some thousands take."""
    return rows >= max(_LEAST_ROWS, cubes)


def table_index(
    plan: Plan, snapshot: Snapshot, scratch: Scratch, columns: BatchColumns, records: Callable[[], Records | None]
) -> TableIndex | None:
    """The index for tables of a plan, once enough rows have come."""
    if plan.indexed is None or plan.indexed[0] is not snapshot:
        plan.indexed, plan.seen = (snapshot, None), 0
    found: TableIndex | None = plan.indexed[1]
    if found is not None or plan.seen < 0:
        return found
    plan.seen += columns.rows
    if not enough(plan.seen, sum(segment.cubes for segment in snapshot.segments)):
        return None
    bound = columns_of(plan)
    made = None if bound is None else records()
    if bound is None or made is None:
        plan.seen = -1 if bound is None else 0
        return None
    base = plan.encoder.vocabulary.base_codes(plan.encoder.book)
    axes = Axes(made, plan.encoder.vocabulary, bound, base)
    found = TableIndex(made, axes, base, Block(axes, scratch, columns).sample(_SAMPLES))
    plan.indexed = (snapshot, found)
    return found


def ask(
    index: Index, table: Any, rows: NDArray[np.int64], slots: NDArray[np.int64]
) -> tuple[list[tuple[int, int]], list[Fault]]:
    """What the evaluator says about some pairs of row and filter."""
    found: list[tuple[int, int]] = []
    faults: list[Fault] = []
    distinct = np.unique(rows)
    ignored: list[Fault] = []
    events = {int(distinct[i]): event for i, event in row_events(table.take(distinct), ignored)}
    for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
        filter, event = index.asking.get(slot), events.get(row)
        if filter is None or event is None:
            continue
        try:
            said = answer(filter, event)
        except ConceptPubSubError as error:
            said = str(error)
        if said is True:
            found.append((row, slot))
        elif said:
            faults.append(Fault(row, slot, said))
    return found, faults
