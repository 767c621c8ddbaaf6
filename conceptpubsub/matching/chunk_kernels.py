"""Some rows of a batch, at most 1,024, against everything.

What keys lead to is marked row by row, and so is what few cubes of a dense part can match. The others are done all at
once, with a bit an event. An event that binds a column to several attributes goes by itself through everything.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import sheet_kernels as sh
from conceptpubsub.matching import slice_kernels as sk
from conceptpubsub.matching.jit import Int, free_kernel, i64_at, put_i64, u8_at
from conceptpubsub.matching.single_kernels import mark_all

PART_SIZE = 3
VECTORS, CODES, NOTED = range(PART_SIZE)
"""What a chunk keeps of a dense part: the room for its vectors and for the codes of events, and how many were noted
there, a number."""
FEW = 256
"""A part of the entries of a dense part: where no more cubes can match, they are verified one by one."""


@free_kernel
def _write_to(header: Int, sheet: Int, event: Int) -> None:
    """Let marks go to the row of an event."""
    stride, summary_stride = i64_at(sheet, sh.STRIDE), i64_at(sheet, sh.SUMMARY_STRIDE)
    for place in range(0, 4, 2):
        put_i64(header, ev.FOUND + place, i64_at(sheet, sh.FOUND + place) + 8 * event * stride)
        put_i64(header, ev.FOUND_SUMMARY + place, i64_at(sheet, sh.FOUND_SUMMARY + place) + 8 * event * summary_stride)


@free_kernel
def _sort(dense: Int, part: Int, header: Int, touched: Int, event: Int, bound: Any) -> None:
    """Verify what few cubes of a dense part can match the loaded event, or note the event for the vectors."""
    limit = i64_at(dense, dk.ENTRY_COUNT) // FEW
    if dk.weigh(dense, bound, limit) <= limit:
        dk.match_dense(dense, header, bound, 0)
        return
    vectors, codes = i64_at(part, VECTORS), i64_at(part, CODES)
    if i64_at(part, NOTED) == 0:
        sk.start(dense, header, vectors, codes)
    put_i64(part, NOTED, i64_at(part, NOTED) + 1)
    sk.note(dense, header, vectors, codes, touched, event)


@free_kernel
def sampled_weight(header: Int, task: Int, step: Int) -> Int:
    """How many cubes of dense parts an event can match, summed over every so many-th row."""
    starts, ends, bad = i64_at(task, bk.STARTS), i64_at(task, bk.ENDS), i64_at(task, bk.BAD)
    segments, count, size = i64_at(header, ev.SEGMENTS), i64_at(header, ev.SEGMENT_COUNT), 8 * mk.SEGMENT_SIZE
    total = 0
    for row in range(0, i64_at(task, bk.ROWS), step):
        if u8_at(bad, row):
            continue
        touched, _ = ev.load(header, i64_at(starts, row), i64_at(ends, row))
        if touched < 0:
            continue
        for i in range(count):
            dense = i64_at(segments + i * size, mk.DENSE)
            if dense:
                bound = dk.bound_columns(dense, i64_at(header, ev.CODES))
                total += dk.weigh(dense, bound, i64_at(dense, dk.ENTRY_COUNT))
        ev.unload(header, touched)
    return total


@free_kernel
def match_chunk(header: Int, task: Int, sheet: Int, parts: Int, first: Int, last: Int) -> Int:
    """Match the rows from first to last; ``parts`` has what is kept of each segment's dense part. 0, or what
    `event_kernels.load` says is wrong with a row."""
    starts, ends, bad = i64_at(task, bk.STARTS), i64_at(task, bk.ENDS), i64_at(task, bk.BAD)
    segments, count = i64_at(header, ev.SEGMENTS), i64_at(header, ev.SEGMENT_COUNT)
    counters, size = i64_at(header, ev.COUNTERS), 8 * mk.SEGMENT_SIZE
    looked, passed, events = 0, 0, 0
    for row in range(first, last):
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
                    _sort(dense, parts + i * (8 * PART_SIZE), header, touched, event, bound)
        if i64_at(task, bk.GROUPS):
            bk.note_lacks(header, task, row)
        ev.unload(header, touched)
    put_i64(sheet, sh.BITS_SEEN, 0)
    put_i64(sheet, sh.SLOTS_SEEN, 0)
    for i in range(count):
        dense, part = i64_at(segments + i * size, mk.DENSE), parts + i * (8 * PART_SIZE)
        if dense and i64_at(part, NOTED):
            more, right = sk.evaluate(dense, sheet, i64_at(part, VECTORS), i64_at(part, CODES))
            looked, passed = looked + more, passed + right
        put_i64(part, NOTED, 0)
    put_i64(counters, ev.CANDIDATES, i64_at(counters, ev.CANDIDATES) + looked)
    put_i64(counters, ev.VERIFIED, i64_at(counters, ev.VERIFIED) + passed)
    put_i64(counters, ev.EVENTS, i64_at(counters, ev.EVENTS) + events)
    return 0
