"""Some rows of a batch, at most 1,024: what keys lead to is marked row by row, dense parts are done for all rows
at once. An event that binds a column to several attributes goes by itself through everything."""

from __future__ import annotations

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import slice_kernels as sk
from conceptpubsub.matching.jit import Int, free_kernel, i64_at, join_u64, put_i64, u8_at, u64
from conceptpubsub.matching.single_kernels import mark_all


@free_kernel
def _write_to(header: Int, sheet: Int, event: Int) -> None:
    """Let marks go to the row of an event."""
    stride, summary_stride = i64_at(sheet, sk.STRIDE), i64_at(sheet, sk.SUMMARY_STRIDE)
    for place in range(0, 4, 2):
        put_i64(header, ev.FOUND + place, i64_at(sheet, sk.FOUND + place) + 8 * event * stride)
        put_i64(header, ev.FOUND_SUMMARY + place, i64_at(sheet, sk.FOUND_SUMMARY + place) + 8 * event * summary_stride)


@free_kernel
def match_chunk(header: Int, task: Int, sheet: Int, places: Int, first: Int, last: Int) -> Int:
    """Match the rows from first to last; ``places`` has the vectors of each segment's literals. 0, or what
    `event_kernels.load` says is wrong with a row."""
    starts, ends, bad = i64_at(task, bk.STARTS), i64_at(task, bk.ENDS), i64_at(task, bk.BAD)
    segments, count = i64_at(header, ev.SEGMENTS), i64_at(header, ev.SEGMENT_COUNT)
    counters, size = i64_at(header, ev.COUNTERS), 8 * mk.SEGMENT_SIZE
    looked, passed, events = 0, 0, 0
    for i in range(count):
        dense = i64_at(segments + i * size, mk.DENSE)
        if dense:
            sk.start(dense, header, i64_at(places, i))
    for row in range(first, last):
        if u8_at(bad, row):
            continue
        touched, several = ev.load(header, i64_at(starts, row), i64_at(ends, row))
        if touched < 0:
            return touched
        event = row - first
        _write_to(header, sheet, event)
        if several:
            mark_all(header, touched, several)
        else:
            join_u64(i64_at(sheet, sk.VALID), event >> 6, u64(1) << u64(event & 63))
            events += 1
            for i in range(count):
                segment = segments + i * size
                more, right = mk.match_segment(segment, header, touched, several)
                looked, passed = looked + more, passed + right
                dense = i64_at(segment, mk.DENSE)
                if dense:
                    sk.note(dense, header, i64_at(places, i), touched, event)
        if i64_at(task, bk.GROUPS):
            bk.note_lacks(header, task, row)
        ev.unload(header, touched)
    for i in range(count):
        dense = i64_at(segments + i * size, mk.DENSE)
        if dense:
            put_i64(sheet, sk.VECTORS, i64_at(places, i))
            more, right = sk.evaluate(dense, sheet)
            looked, passed = looked + more, passed + right
    put_i64(counters, ev.CANDIDATES, i64_at(counters, ev.CANDIDATES) + looked)
    put_i64(counters, ev.VERIFIED, i64_at(counters, ev.VERIFIED) + passed)
    put_i64(counters, ev.EVENTS, i64_at(counters, ev.EVENTS) + events)
    return 0
