"""A record batch against a snapshot that has dense parts: 1,024 rows at a time.

The answers to such a stretch are lists of slots or, where bits take less room, the bits as they were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import chunk_kernels as ck
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import sheet_kernels as sh
from conceptpubsub.matching import slice_kernels as sk
from conceptpubsub.matching import turn_kernels as tn
from conceptpubsub.matching.answers import BitMatches, JoinedMatches, Matches
from conceptpubsub.matching.lending import aligned, lender
from conceptpubsub.matching.scratch import Scratch
from conceptpubsub.matching.vectors import BYTES, LANES

if TYPE_CHECKING:
    from conceptpubsub.matching.snapshot import Snapshot
    from conceptpubsub.matching.table_words import BatchWords

MOST_WORDS: Final = 1 << 14
"""Words of slots, of which a sheet has 1,024 rows."""
_ROWS: Final = sh.EVENTS
_MOST_LINES: Final = 1 << 27
"""Bytes of rows for lines that are asked for at a time."""
_SAMPLES: Final = 64
_LIGHT: Final = 100
"""Of the entries of dense parts, the part that a row of a light batch can match."""


class Sheet:
    """Room for the answers of 1,024 events, kept by a thread from batch to batch."""

    def __init__(self, words: int) -> None:
        self.words = words
        blocks = -(-words // LANES)
        stride = LANES * (blocks + (blocks + 1) % 2)  # rows a power of two apart would share few cache lines
        tops = (words + 63) >> 6
        self.marks: NDArray[np.uint64] = aligned(2 * _ROWS * stride).reshape(2, _ROWS, stride)
        self.summaries: NDArray[np.uint64] = np.zeros((2, _ROWS, tops), np.uint64)
        self.alive: NDArray[np.uint8] = aligned(LANES * blocks).view(np.uint8)
        self.lined: NDArray[np.uint8] = np.zeros(blocks, np.uint8)
        self.counts: NDArray[np.int64] = np.zeros(_ROWS, np.int64)
        self._block = aligned(sh.HALVES * tn.BLOCK_BYTES // 8)
        self._room = aligned((LANES * BYTES + tn.BLOCK_SLOTS) // 8)
        self.row: NDArray[np.int64] = np.zeros(sh.SHEET_SIZE, np.int64)
        for place, held in (
            (sh.FOUND, self.marks[0]), (sh.FOUND_SUMMARY, self.summaries[0]), (sh.ASKED, self.marks[1]),
            (sh.ASKED_SUMMARY, self.summaries[1]), (sh.BLOCK, self._block), (sh.ROOM, self._room),
            (sh.LINED, self.lined), (sh.ALIVE, self.alive), (sh.COUNTS, self.counts),
        ):  # fmt: skip
            self.row[place] = held.ctypes.data
        self.row[sh.STRIDE], self.row[sh.SUMMARY_STRIDE], self.row[sh.WORDS] = stride, tops, words

    def clear(self) -> None:
        """Forget everything, after a stretch that was given up."""
        self.marks[:] = 0
        self.summaries[:] = 0
        self.lined[:] = 0


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
        self._sheet.alive[: self._alive.nbytes] = np.packbits(
            np.unpackbits(self._alive.view(np.uint8), bitorder="little")
        )
        self._size = (snapshot.width + 7) // 8
        self._lines: NDArray[np.uint8] = np.empty((0, self._size), np.uint8)
        self._used = self._begun = 0
        self._open: BitMatches | None = None
        """The last of what was found, to which the next lines may be added."""
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
            self._match(first, min(first + _ROWS, words.rows))
            self.lacks.append(lacks[: task[bk.LACK_COUNT]].copy())
            task[bk.LACK_COUNT] = 0

    def _match(self, first: int, last: int) -> None:
        """Match some rows."""
        sheet, rows = self._sheet, last - first
        if len(self._lines) < self._used + rows:
            more = min(self._words.rows - first, max(_ROWS, _MOST_LINES // self._size))
            self._lines, self._used, self._open = lender().rows(more, self._size), 0, None
        sheet.row[sh.ROWS], sheet.row[sh.LINE_BYTES] = rows, self._size
        sheet.row[sh.LINES] = self._lines.ctypes.data + self._used * self._size
        self._run(first, last)
        address = sheet.row.ctypes.data
        has_lines = sheet.lined.any()
        total = 0 if has_lines else sh.settle(address, self._alive.ctypes.data)
        if has_lines or total > rows * len(self._alive):
            sh.join_marks(address)
            sheet.lined[:] = 0
            self._keep_lines(rows)
        else:
            slots = np.empty(total, np.int64)
            sh.emit(address, slots.ctypes.data)
            self._found.append(Matches(np.concatenate([[0], np.cumsum(sheet.counts[:rows])]), slots))
        if sheet.summaries[1].any():
            self._keep_asked(first, rows)

    def _keep_lines(self, rows: int) -> None:
        """Take the next of the rows that lines are written to; those of one stretch after the other go together."""
        if self._found and self._found[-1] is self._open:
            del self._found[-1]
        else:
            self._begun = self._used
        self._used += rows
        self._open = BitMatches(self._lines[self._begun : self._used])
        self._found.append(self._open)

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
        held = sheet.marks[1, :rows, :used] & self._alive
        row, slot = np.nonzero(np.unpackbits(held.view(np.uint8), axis=1, bitorder="little"))
        self.asked.append(np.stack([row + first, slot]))
        sheet.marks[1] = 0
        sheet.summaries[1] = 0

    def matches(self, more: list[tuple[int, int]]) -> Matches:
        """What matched, with some more pairs of row and slot, which may be among them already."""
        if more:
            pairs, first = np.array(more, np.int64), 0
            for number, part in enumerate(self._found):
                mine = pairs[(pairs[:, 0] >= first) & (pairs[:, 0] < first + part.rows)]
                if len(mine):
                    self._found[number] = part.joined(mine - (first, 0))
                first += part.rows
        return self._found[0] if len(self._found) == 1 else JoinedMatches(self._found, ())


def _parts(snapshot: Snapshot) -> tuple[Any, NDArray[np.int64]]:
    """What a chunk keeps of each segment's dense part, and the room for it."""
    made, rooms = np.zeros((max(1, len(snapshot.rows)), ck.PART_SIZE), np.int64), []
    for number in snapshot.dense_rows:
        dense = snapshot.segments[number].dense
        counts = dense.row[[dk.PAIR_COUNT, dk.COLUMN_COUNT, dk.NEED_COUNT]]
        vectors = int(counts.sum() + counts[2] // sk.PAIR + 2)
        for place, size in ((ck.VECTORS, vectors * sk.PAIR), (ck.CODES, int(dense.row[dk.ROW_COUNT]) * sk.CODE_BYTES)):
            rooms.append(aligned(size // 8))
            made[number, place] = rooms[-1].ctypes.data
    return rooms, made
