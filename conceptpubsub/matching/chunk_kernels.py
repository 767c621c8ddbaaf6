"""Some rows of a batch, at most 1,024, against everything.

What keys lead to is marked row by row, and so is what few cubes of a dense part can match. Of the others, a few rows
whose classes are known are joined tile by tile, so that a tile of all classes stays near; many, and those with other
classes, are done all at once, with a bit an event. An event that binds a column to several attributes goes by itself
through everything.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import bitmap_kernels as bm
from conceptpubsub.matching import class_kernels as cl
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import slice_kernels as sk
from conceptpubsub.matching.jit import Int, free_kernel, i64_at, put_i64, u8_at
from conceptpubsub.matching.single_kernels import mark_all

PART_SIZE = 4
VECTORS, PICKS, PICKED, NOTED = range(PART_SIZE)
"""What a chunk keeps of a dense part: the room for its vectors, the rows of events whose classes are known, how many
these are, and how many events were noted in the vectors, which are at least as many. The last two are numbers."""
PICK_SIZE = cl.MOST_COLUMNS + 1
"""The rows of an event's classes, and the event."""
FEW = 256
"""A part of the entries of a dense part: where no more cubes can match, they are verified one by one."""
MANY = sk.EVENTS // 2
"""Events that are cheaper with a bit each than with a row for each of their classes."""


@free_kernel
def _write_to(header: Int, sheet: Int, event: Int) -> None:
    """Let marks go to the row of an event."""
    stride, summary_stride = i64_at(sheet, sk.STRIDE), i64_at(sheet, sk.SUMMARY_STRIDE)
    for place in range(0, 4, 2):
        put_i64(header, ev.FOUND + place, i64_at(sheet, sk.FOUND + place) + 8 * event * stride)
        put_i64(header, ev.FOUND_SUMMARY + place, i64_at(sheet, sk.FOUND_SUMMARY + place) + 8 * event * summary_stride)


@free_kernel
def _sort(dense: Int, part: Int, header: Int, touched: Int, event: Int, bound: Any) -> Int:
    """Verify what few cubes of a dense part can match the loaded event, or note the event for later: 0; or 1, where a
    class is unknown that may be learnt."""
    maps = i64_at(dense, dk.BITMAPS)
    limit = i64_at(maps, cl.LIMIT) if maps else i64_at(dense, dk.ENTRY_COUNT) // FEW
    cubes = dk.weigh(dense, bound, cl.WORTH_LEARNING * limit)
    if cubes <= limit:
        dk.match_dense(dense, header, bound, 0)
        return 0
    picked = i64_at(part, PICKED)
    if maps and picked == i64_at(part, NOTED) and picked < MANY:  # else the vectors are needed anyway
        pick = i64_at(part, PICKS) + 8 * PICK_SIZE * picked
        if cl.pick_rows(dense, maps, header, pick) == i64_at(maps, cl.COLUMN_COUNT):
            put_i64(pick, cl.MOST_COLUMNS, event)
            put_i64(part, PICKED, picked + 1)
            bm.mark_apart(dense, maps, header, bound)
        elif cl.may_learn(maps, cubes):
            return 1
        elif cubes <= cl.WORTH_LEARNING * limit:
            dk.match_dense(dense, header, bound, 0)
            return 0
    vectors = i64_at(part, VECTORS)
    if i64_at(part, NOTED) == 0:
        sk.start(dense, header, vectors)
    put_i64(part, NOTED, i64_at(part, NOTED) + 1)
    sk.note(dense, header, vectors, touched, event)
    return 0


@free_kernel
def _join(dense: Int, part: Int, header: Int, sheet: Int) -> None:
    """The events of a dense part whose classes are known."""
    maps, picks, count = i64_at(dense, dk.BITMAPS), i64_at(part, PICKS), i64_at(part, PICKED)
    rows, stride, first = i64_at(sheet, sk.FOUND), 8 * i64_at(sheet, sk.STRIDE), i64_at(maps, cl.FIRST_WORD)
    room = i64_at(header, ev.CLASS_ROOM) + 8 * (cl.KEY_ROOM + cl.PICK_ROOM)
    for tile in range(i64_at(maps, cl.TILES)):
        for i in range(count):
            pick = picks + 8 * PICK_SIZE * i
            row = rows + i64_at(pick, cl.MOST_COLUMNS) * stride
            bm.join_planes(maps, pick, tile, row + 8 * (first + cl.TILE * tile))
    for tile in range(i64_at(maps, cl.FOLD_TILES)):
        for i in range(count):
            pick = picks + 8 * PICK_SIZE * i
            bm.join_folded(maps, pick, tile, room, rows + i64_at(pick, cl.MOST_COLUMNS) * stride)
    summary, summary_stride = i64_at(sheet, sk.FOUND_SUMMARY), 8 * i64_at(sheet, sk.SUMMARY_STRIDE)
    words = i64_at(header, ev.SLOT_WORDS)
    for i in range(count):
        event = i64_at(picks + 8 * PICK_SIZE * i, cl.MOST_COLUMNS)
        bm.note_words(maps, rows + event * stride, words, summary + event * summary_stride)


@free_kernel
def match_chunk(header: Int, task: Int, sheet: Int, parts: Int, first: Int, last: Int) -> Int:
    """Match the rows from NEXT to last, of a chunk that begins at first; ``parts`` has what is kept of each segment's
    dense part. 0; UNKNOWN, where the row at NEXT has a class that may be learnt; or what `event_kernels.load` says is
    wrong with a row."""
    starts, ends, bad = i64_at(task, bk.STARTS), i64_at(task, bk.ENDS), i64_at(task, bk.BAD)
    segments, count = i64_at(header, ev.SEGMENTS), i64_at(header, ev.SEGMENT_COUNT)
    counters, size = i64_at(header, ev.COUNTERS), 8 * mk.SEGMENT_SIZE
    looked, passed, events = 0, 0, 0
    for row in range(i64_at(task, bk.NEXT), last):
        put_i64(task, bk.NEXT, row)
        if u8_at(bad, row):
            continue
        touched, several = ev.load(header, i64_at(starts, row), i64_at(ends, row))
        if touched < 0:
            return touched
        event = row - first
        _write_to(header, sheet, event)
        if several:
            mark_all(header, touched, several, 0)
        else:
            events += 1
            for i in range(count):
                segment = segments + i * size
                more, right = mk.match_segment(segment, header, touched, several)
                looked, passed = looked + more, passed + right
                dense = i64_at(segment, mk.DENSE)
                if dense:
                    bound = dk.bound_columns(dense, i64_at(header, ev.CODES))
                    if _sort(dense, parts + i * (8 * PART_SIZE), header, touched, event, bound):
                        ev.unload(header, touched)
                        return cl.UNKNOWN
        if i64_at(task, bk.GROUPS):
            bk.note_lacks(header, task, row)
        ev.unload(header, touched)
    for i in range(count):
        dense, part = i64_at(segments + i * size, mk.DENSE), parts + i * (8 * PART_SIZE)
        if dense and i64_at(part, NOTED) and i64_at(part, NOTED) == i64_at(part, PICKED):
            _join(dense, part, header, sheet)
        elif dense and i64_at(part, NOTED):
            more, right = sk.evaluate(dense, sheet, i64_at(part, VECTORS))
            looked, passed = looked + more, passed + right
        put_i64(part, PICKED, 0)
        put_i64(part, NOTED, 0)
    put_i64(counters, ev.CANDIDATES, i64_at(counters, ev.CANDIDATES) + looked)
    put_i64(counters, ev.VERIFIED, i64_at(counters, ev.VERIFIED) + passed)
    put_i64(counters, ev.EVENTS, i64_at(counters, ev.EVENTS) + events)
    return 0
