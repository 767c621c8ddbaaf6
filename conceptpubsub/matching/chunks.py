"""A record batch against a snapshot that has dense parts: 1,024 rows at a time.

The answers to such a stretch are lists of slots or, where bits take less room, the bits as they were written.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import chunk_kernels as ck
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import slice_kernels as sk
from conceptpubsub.matching.answers import BitMatches, JoinedMatches, Matches
from conceptpubsub.matching.scratch import Scratch

if TYPE_CHECKING:
    from conceptpubsub.matching.snapshot import Snapshot
    from conceptpubsub.matching.table_words import BatchWords

MOST_WORDS: Final = 1 << 14
"""Words of slots, of which a sheet has 1,024 rows."""
_ROWS: Final = sk.EVENTS
_MOST_LENT: Final = 4
_SAMPLES: Final = 64
_LIGHT: Final = 256
"""Of the entries of dense parts, the part that a row of a light batch can match."""


class Sheet:
    """Room for the answers of 1,024 events, kept by a thread from batch to batch."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.stride = words + (8 - words % 16) % 16  # rows a power of two apart would share few cache lines
        tops = (words + 63) >> 6
        self.asked: NDArray[np.uint64] = np.zeros((_ROWS, self.stride), np.uint64)
        self.summaries: NDArray[np.uint64] = np.zeros((2, _ROWS, tops), np.uint64)
        self.wide: NDArray[np.uint64] = np.zeros(tops, np.uint64)
        self.tray: NDArray[np.uint64] = np.zeros((sk.TRAY_WORDS, 64, _ROWS // 64), np.uint64)
        self.counts: NDArray[np.int64] = np.zeros(_ROWS, np.int64)
        self.row: NDArray[np.int64] = np.zeros(sk.SHEET_SIZE, np.int64)
        for place, held in (
            (sk.FOUND_SUMMARY, self.summaries[0]), (sk.ASKED, self.asked), (sk.ASKED_SUMMARY, self.summaries[1]),
            (sk.WIDE, self.wide), (sk.TRAY, self.tray), (sk.COUNTS, self.counts),
        ):  # fmt: skip
            self.row[place] = held.ctypes.data
        self.row[sk.STRIDE], self.row[sk.SUMMARY_STRIDE] = self.stride, tops
        self.found: NDArray[np.uint64] = np.zeros((_ROWS, self.stride), np.uint64)
        self.row[sk.FOUND] = self.found.ctypes.data
        self._lent: list[NDArray[np.uint64]] = []

    def renew(self) -> None:
        """New rows; whoever has the old ones may keep them. Those that nobody keeps any more are used again: fresh
        memory costs several times what it takes to clear them."""
        lent = self._lent
        lent.append(self.found)
        self.found = self._returned()
        self.row[sk.FOUND] = self.found.ctypes.data
        del lent[:-_MOST_LENT]

    def _returned(self) -> NDArray[np.uint64]:
        for place in range(len(self._lent) - 1):
            if sys.getrefcount(self._lent[place]) == 2:  # the list's, and that of the question
                found = self._lent.pop(place)
                found.fill(0)
                return found
        return np.zeros((_ROWS, self.stride), np.uint64)

    def clear_notes(self) -> None:
        """Forget which words were written and which events matched; the rows themselves are clear."""
        self.summaries[:] = 0
        self.wide[:] = 0

    def clear(self) -> None:
        """Forget everything, after a stretch that was given up."""
        self.found[:] = 0
        self.asked[:] = 0
        self.tray[:] = 0
        self.row[sk.WAITING] = 0
        self.clear_notes()


def is_light(snapshot: Snapshot, scratch: Scratch, words: BatchWords) -> bool:
    """Whether few cubes of dense parts can match a row of a batch, so that rows are sooner matched one by one."""
    entries = sum(int(snapshot.segments[number].dense.row[dk.ENTRY_COUNT]) for number in snapshot.dense_rows)
    task = np.zeros(bk.TASK_SIZE, np.int64)
    for place, held in ((bk.STARTS, words.starts), (bk.ENDS, words.ends), (bk.BAD, words.bad)):
        task[place] = held.ctypes.data
    task[bk.ROWS] = words.rows
    step = max(1, words.rows // _SAMPLES)
    address = scratch.table_header(words, snapshot.alive)
    weight: int = ck.sampled_weight(address, task.ctypes.data, step)
    return bool(weight * _LIGHT * step < words.rows * entries)


class ChunkTask:
    """One record batch on its way, 1,024 rows at a time."""

    def __init__(self, snapshot: Snapshot, scratch: Scratch, words: BatchWords, groups: list[Any]) -> None:
        self._words, self._scratch = words, scratch
        self._alive = snapshot.alive.copy()  # so that the whole batch sees one moment
        self._sheet: Sheet = scratch.sheet(len(self._alive), Sheet)
        self._rooms, self._parts = _parts(snapshot)
        columns = np.array([column for named, _ in groups for column in named] or [0], np.uint32)
        ends = np.cumsum([len(named) for named, _ in groups] or [0]).astype(np.int64)
        lacks = np.empty((max(1, _ROWS * len(groups)), 3), np.int64)
        task = self._task = np.zeros(bk.TASK_SIZE, np.int64)
        for place, held in (
            (bk.STARTS, words.starts), (bk.ENDS, words.ends), (bk.BAD, words.bad), (bk.GROUP_ENDS, ends),
            (bk.GROUP_COLUMNS, columns), (bk.LACKS, lacks),
        ):  # fmt: skip
            task[place] = held.ctypes.data
        task[bk.ROWS], task[bk.GROUPS], task[bk.LACKS_ROOM] = words.rows, len(groups), len(lacks)
        self.asked: list[NDArray[np.int64]] = [np.zeros((2, 0), np.int64)]
        self.lacks: list[NDArray[np.int64]] = [np.zeros((0, 3), np.int64)]
        self._found: list[Matches] = []
        for first in range(0, words.rows, _ROWS):
            self._found.append(self._match(first, min(first + _ROWS, words.rows)))
            self.lacks.append(lacks[: task[bk.LACK_COUNT]].copy())
            task[bk.LACK_COUNT] = 0

    def _match(self, first: int, last: int) -> Matches:
        """Match some rows."""
        sheet, rows, used = self._sheet, last - first, len(self._alive)
        self._run(first, last)
        total = sk.settle(sheet.row.ctypes.data, rows, self._alive.ctypes.data, used)
        made: Matches
        if total > rows * used:
            made = BitMatches(sheet.found[:rows], used, sheet.counts[:rows].copy())
            sheet.renew()
        else:
            slots = np.empty(total, np.int64)
            sk.emit(sheet.row.ctypes.data, rows, used, slots.ctypes.data)
            made = Matches(np.concatenate([[0], np.cumsum(sheet.counts[:rows])]), slots)
        if sheet.summaries[1].any():
            self._keep_asked(first, rows)
        sheet.clear_notes()
        return made

    def _run(self, first: int, last: int) -> None:
        while True:
            address = self._scratch.table_header(self._words, self._alive)
            code = ck.match_chunk(
                address, self._task.ctypes.data, self._sheet.row.ctypes.data, self._parts.ctypes.data, first, last
            )
            if code == 0:
                return
            self._sheet.clear()
            self._parts[:, ck.NOTED] = 0
            self._task[bk.LACK_COUNT] = 0
            if code != ev.NO_ROOM:
                raise AssertionError("a row that only the index refuses")
            self._scratch.reserve_touched(2 * self._scratch.header[ev.ROOM])

    def _keep_asked(self, first: int, rows: int) -> None:
        """Note for which rows the evaluator must be asked about which slots."""
        sheet, used = self._sheet, len(self._alive)
        held = sheet.asked[:rows, :used] & self._alive
        row, slot = np.nonzero(np.unpackbits(held.view(np.uint8), axis=1, bitorder="little"))
        self.asked.append(np.stack([row + first, slot]))
        sheet.asked[:] = 0

    def matches(self, more: list[tuple[int, int]]) -> Matches:
        """What matched, with some more pairs of row and slot, which may be among them already."""
        if more:
            pairs = np.array(more, np.int64)
            for number in np.unique(pairs[:, 0] // _ROWS).tolist():
                mine = pairs[pairs[:, 0] // _ROWS == number] - (number * _ROWS, 0)
                self._found[number] = self._found[number].joined(mine)
        return self._found[0] if len(self._found) == 1 else JoinedMatches(self._found, ())


def _parts(snapshot: Snapshot) -> tuple[Any, NDArray[np.int64]]:
    """What a chunk keeps of each segment's dense part, and the room for it."""
    made, rooms = np.zeros((max(1, len(snapshot.rows)), ck.PART_SIZE), np.int64), []
    for number in snapshot.dense_rows:
        dense = snapshot.segments[number].dense
        counts = dense.row[[dk.LITERAL_COUNT, dk.COLUMN_COUNT, dk.NEED_COUNT]]
        vectors = int(counts.sum() + counts[2] // sk.PAIR + 2)
        rooms.append(np.empty((vectors, sk.PAIR // 8), np.uint64))
        made[number, ck.VECTORS] = rooms[-1].ctypes.data
    return rooms, made
