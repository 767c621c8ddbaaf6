"""One event from a dict, from its words to the slots that match. The interpreter lock is held: one call is one step."""

from __future__ import annotations

from conceptpubsub.matching import bitmap_kernels as bm
from conceptpubsub.matching import class_kernels as cl
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import row_kernels as rw
from conceptpubsub.matching.answer_kernels import pack_found
from conceptpubsub.matching.jit import Int, free_kernel, i64, i64_at, kernel, put_i64, put_u8, u32_at

ASKED_SHIFT = 32


@free_kernel
def mark_all(header: Int, touched: Int, several: Int, learns: Int) -> Int:
    """Mark what matches the loaded event, in every segment. 0; or, for one who ``learns``, 1 where a class is unknown
    that may be learnt: then not all is marked."""
    counters, segments = i64_at(header, ev.COUNTERS), i64_at(header, ev.SEGMENTS)
    looked, passed = i64_at(counters, ev.CANDIDATES), i64_at(counters, ev.VERIFIED)
    for i in range(i64_at(header, ev.SEGMENT_COUNT)):
        segment = segments + i * (8 * mk.SEGMENT_SIZE)
        more, right = mk.match_segment(segment, header, touched, several)
        looked, passed = looked + more, passed + right
        dense = i64_at(segment, mk.DENSE)
        if dense:
            bound = dk.bound_columns(dense, i64_at(header, ev.CODES))
            maps = i64_at(dense, dk.BITMAPS)
            if maps and not several:
                limit = i64_at(maps, cl.LIMIT)
                if dk.weigh(dense, bound, limit) > limit:
                    if bm.mark_classes(dense, maps, header, bound):
                        continue
                    if learns and cl.is_worth_learning(dense, maps, header, bound):
                        return 1
            more, right = dk.match_dense(dense, header, bound, several)
            looked, passed = looked + more, passed + right
    put_i64(counters, ev.CANDIDATES, looked)
    put_i64(counters, ev.VERIFIED, passed)
    put_i64(counters, ev.EVENTS, i64_at(counters, ev.EVENTS) + 1)
    return 0


@free_kernel
def emit_all(header: Int) -> Int:
    """Write the slots that matched to OUT, and those to ask about to ASKED_OUT; returns both numbers in one."""
    words, alive = i64_at(header, ev.SLOT_WORDS), i64_at(header, ev.ALIVE)
    found = mk.emit(i64_at(header, ev.FOUND), i64_at(header, ev.FOUND_SUMMARY), words, alive, i64_at(header, ev.OUT))
    asked = mk.emit(
        i64_at(header, ev.ASKED), i64_at(header, ev.ASKED_SUMMARY), words, alive, i64_at(header, ev.ASKED_OUT)
    )
    return asked << ASKED_SHIFT | found


@kernel
def match_event(header: Int, count: Int) -> Int:
    """Match the event whose words have been written: the number found, plus the number to ask about shifted up.

    Negative: what is wrong with the event.
    """
    touched, several = ev.load(header, 0, count)
    if touched < 0:
        return touched
    unknown = mark_all(header, touched, several, 1)
    ev.unload(header, touched)
    found = emit_all(header)
    return cl.UNKNOWN if unknown else found


@kernel
def pack_event(header: Int, count: Int, size: Int, out: Int) -> Int:
    """As `match_event`, with the slots found as ``size`` bytes of bits."""
    touched, several = ev.load(header, 0, count)
    if touched < 0:
        return touched
    unknown = mark_all(header, touched, several, 1)
    ev.unload(header, touched)
    if unknown:
        emit_all(header)
        return cl.UNKNOWN
    words, alive = i64_at(header, ev.SLOT_WORDS), i64_at(header, ev.ALIVE)
    pack_found(i64_at(header, ev.FOUND), i64_at(header, ev.FOUND_SUMMARY), words, alive, size, out)
    asked = mk.emit(
        i64_at(header, ev.ASKED), i64_at(header, ev.ASKED_SUMMARY), words, alive, i64_at(header, ev.ASKED_OUT)
    )
    return asked << ASKED_SHIFT


@kernel
def learn_classes(
    header: Int, count: Int, dense: Int, maps: Int, said: Int, rows: Int, row_bytes: Int, room: Int
) -> Int:
    """Learn the classes of an event in a dense part, with room for so many; returns how many were learnt."""
    touched, several = ev.load(header, 0, count)
    learnt = i64(0)
    if touched >= 0 and not several:
        learnt = rw.learn(dense, maps, header, said, rows, row_bytes, room)
    ev.unload(header, max(0, touched))
    return learnt


@kernel
def missing_columns(header: Int, count: Int, columns: Int, wanted: Int, missing: Int) -> Int:
    """Which of some columns the event whose words have been written does not bind; negative: what is wrong."""
    touched, _ = ev.load(header, 0, count)
    if touched < 0:
        return touched
    for i in range(wanted):
        put_u8(missing, i, u32_at(i64_at(header, ev.CODES), u32_at(columns, i)) == 0)
    ev.unload(header, touched)
    return 0
