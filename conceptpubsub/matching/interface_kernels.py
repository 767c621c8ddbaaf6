"""The interfaces that an event goes to: an end as soon as all of them are found.

A cube whose set has been found is passed over without a look at its records; what is left is verified, and no event
goes further than the last interface that there is. What needs no verification comes first, see `union_kernels`.
"""

from __future__ import annotations

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import reach_kernels as rc
from conceptpubsub.matching import union_kernels as uk
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    kernel,
    put_i64,
    trailing_zeros,
    u8_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.layout_kernels import COUNT_BITS, FLAGS, HAS_PAIR, LEVELS

UNITE = 1 << 62
"""Added to what is found where it is time to make unions."""
_COUNT_MASK = (1 << COUNT_BITS) - 1


@free_kernel
def _scan(stream: Int, at: Int, count: Int, x: Int, several: Int, header: Int, state: Int) -> Int:
    """Verify cubes from a place on, whose interfaces are not found yet; returns how many were verified."""
    looked, reached, bits = 0, i64_at(state, rc.REACHED), i64_at(state, rc.SET_BITS)
    for _ in range(count):
        head = u32_at(stream, at + 1)
        records = head & 255
        if not rc.is_old(state, reached, bits, head >> 8):
            looked += 1
            if several:
                ok = mk.passes_several(stream, at + 2, records, x, header)
            else:
                ok = mk.passes(stream, at + 2, records, x)
            if ok:
                rc.reach(state, header, head >> 8, u32_at(stream, at))
                if rc.is_done(state):
                    return looked
        at += 2 + 3 * records
    return looked


@free_kernel
def _keys(segment: Int, unions: Int, header: Int, touched: Int, several: Int, state: Int) -> Int:
    """What stands under a key; returns how many cubes were verified."""
    known, axis_count = i64_at(segment, mk.AXIS_TABLE), i64_at(segment, mk.AXIS_COUNT)
    table, mask = i64_at(segment, mk.KEY_TABLE), i64_at(segment, mk.KEY_MASK)
    stream, x, pending = i64_at(segment, mk.STREAM), i64_at(header, ev.CODES), i64_at(header, ev.PENDING)
    axes, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    looked, waiting = i64(0), i64(0)
    for t in range(touched):
        axis, code = u32_at(axes, t), u32_at(codes, t)
        if axis >= axis_count or code == 0:
            continue
        levels = u64_at(known, 4 * axis + LEVELS)
        if uk.is_whole(unions, axis):
            levels &= ~u64(1)
        while levels != 0:
            waiting = mk.await_key(table, mask, pending, waiting, mk.cell_key(axis, code, trailing_zeros(levels)))
            levels &= levels - u64(1)
            if waiting == ev.PENDING_ROOM:
                looked += _look(table, mask, stream, pending, waiting, x, several, header, state)
                waiting = 0
                if rc.is_done(state):
                    return looked
    return looked + _look(table, mask, stream, pending, waiting, x, several, header, state)


@free_kernel
def _look(
    table: Int, mask: Int, stream: Int, pending: Int, count: Int, x: Int, several: Int, header: Int, state: Int
) -> Int:
    looked = i64(0)
    mk.find_rows(table, mask, stream, pending, count)
    for i in range(count):
        held = i64_at(pending, i)
        if held:
            looked += _scan(stream, held >> COUNT_BITS, held & _COUNT_MASK, x, several, header, state)
            if rc.is_done(state):
                return looked
    return looked


@free_kernel
def _pairs(segment: Int, header: Int, touched: Int, several: Int, state: Int) -> Int:
    """What stands under two axes; returns how many cubes were verified."""
    known, axis_count = i64_at(segment, mk.AXIS_TABLE), i64_at(segment, mk.AXIS_COUNT)
    pairs, mask = i64_at(segment, mk.PAIR_TABLE), i64_at(segment, mk.PAIR_MASK)
    stream, x, pending = i64_at(segment, mk.STREAM), i64_at(header, ev.CODES), i64_at(header, ev.PENDING)
    axes, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    looked, waiting = i64(0), i64(0)
    for t in range(touched):
        one = u32_at(axes, t)
        if one >= axis_count or not i64_at(known, 4 * one + FLAGS) & HAS_PAIR or u32_at(codes, t) == 0:
            continue
        for u in range(t):
            other = u32_at(axes, u)
            if other >= axis_count or not i64_at(known, 4 * other + FLAGS) & HAS_PAIR or u32_at(codes, u) == 0:
                continue
            key = u64(min(one, other) << 32 | max(one, other))
            waiting = mk.await_key(pairs, mask, pending, waiting, key)
            if waiting == ev.PENDING_ROOM:
                looked += _look(pairs, mask, stream, pending, waiting, x, several, header, state)
                waiting = 0
                if rc.is_done(state):
                    return looked
    return looked + _look(pairs, mask, stream, pending, waiting, x, several, header, state)


@free_kernel
def _dense(dense: Int, header: Int, several: Int, state: Int) -> Int:
    """The dense part; returns how many cubes were verified."""
    x, masks, sets = i64_at(header, ev.CODES), i64_at(dense, dk.GROUP_MASKS), i64_at(state, rc.SLOT_SETS)
    starts, owners = i64_at(dense, dk.GROUP_STARTS), i64_at(dense, dk.CUBE_OWNERS)
    reached, bits = i64_at(state, rc.REACHED), i64_at(state, rc.SET_BITS)
    bound, looked = dk.bound_columns(dense, x), 0
    for group in range(i64_at(dense, dk.GROUP_COUNT)):
        if u64_at(masks, group) & ~bound != 0:
            continue
        for cube in range(u32_at(starts, group), u32_at(starts, group + 1)):
            owner = u32_at(owners, cube)
            number = u32_at(sets, owner & 0x7FFFFFFF)
            if rc.is_old(state, reached, bits, number):
                continue
            looked += 1
            if dk.cube_passes(dense, cube, x, several, header):
                rc.reach(state, header, number, owner)
                if rc.is_done(state):
                    return looked
    return looked


@free_kernel
def reach_all(header: Int, state: Int, touched: Int, several: Int) -> None:
    """Find the interfaces of the loaded event: in every segment what costs least comes first."""
    segments, count, size = i64_at(header, ev.SEGMENTS), i64_at(header, ev.SEGMENT_COUNT), 8 * mk.SEGMENT_SIZE
    counters, looked = i64_at(header, ev.COUNTERS), i64(0)
    x, unions = i64_at(header, ev.CODES), i64(0)
    united = i64_at(state, rc.UNIONS) if i64_at(i64_at(state, rc.LEFT), 0) == i64_at(state, rc.MADE_AT) else i64(0)
    for i in range(count):
        if not rc.is_done(state):
            unions = i64_at(united, i) if united else i64(0)
            uk.reach_bounds(segments + i * size, unions, header, touched, state)
    for i in range(count):
        segment = segments + i * size
        if not rc.is_done(state):
            unions = i64_at(united, i) if united else i64(0)
            looked += _keys(segment, unions, header, touched, several, state)
        if not rc.is_done(state) and i64_at(segment, mk.PAIR_COUNT):
            looked += _pairs(segment, header, touched, several, state)
        if not rc.is_done(state):
            looked += _scan(i64_at(segment, mk.STREAM), 0, i64_at(segment, mk.ALWAYS_COUNT), x, several, header, state)
        if not rc.is_done(state) and i64_at(segment, mk.DENSE):
            looked += _dense(i64_at(segment, mk.DENSE), header, several, state)
    put_i64(counters, ev.CANDIDATES, i64_at(counters, ev.CANDIDATES) + looked)
    put_i64(counters, ev.VERIFIED, i64_at(counters, ev.VERIFIED) + i64_at(state, rc.COUNT))
    put_i64(counters, ev.EVENTS, i64_at(counters, ev.EVENTS) + 1)


@kernel
def find_interfaces(header: Int, state: Int, count: Int) -> Int:
    """The interfaces of the event whose words have been written: as `reach_kernels.finish_short` says, and shifted up
    how many slots the evaluator must be asked about. Negative: what is wrong with the event."""
    touched, several = ev.load(header, 0, count)
    if touched < 0:
        return touched
    reach_all(header, state, touched, several)
    ev.unload(header, touched)
    asked = i64(0)
    if i64_at(state, rc.ASKED):
        asked = mk.emit(
            i64_at(header, ev.ASKED), i64_at(header, ev.ASKED_SUMMARY), i64_at(header, ev.SLOT_WORDS),
            i64_at(header, ev.ALIVE), i64_at(header, ev.ASKED_OUT),
        )  # fmt: skip
    found = rc.finish_short(state)
    return asked << 32 | found | (UNITE if rc.note_events(state, 1) else 0)


@free_kernel
def find_rows_interfaces(header: Int, task: Int, state: Int) -> Int:
    """The interfaces of rows from NEXT on, listed in SLOTS; as `batch_kernels.match_rows` for slots."""
    words = i64_at(header, ev.SLOT_WORDS)
    starts, ends, bad, offsets = (
        i64_at(task, bk.STARTS), i64_at(task, bk.ENDS), i64_at(task, bk.BAD), i64_at(task, bk.OFFSETS),
    )  # fmt: skip
    listed = i64_at(task, bk.SLOTS)
    count, asked = i64_at(task, bk.SLOT_COUNT), i64_at(task, bk.ASKED_COUNT)
    code, row, most = bk.DONE, i64_at(task, bk.NEXT), i64_at(state, rc.TOTAL)
    while row < i64_at(task, bk.ROWS):
        if u8_at(bad, row) == 0:
            if count + most > i64_at(task, bk.SLOTS_ROOM) or asked + 64 * words > i64_at(task, bk.ASKED_ROOM):
                code = bk.FULL
                break
            touched, several = ev.load(header, i64_at(starts, row), i64_at(ends, row))
            if touched < 0:
                code = touched
                break
            put_i64(state, rc.FOUND, listed + 8 * count)
            reach_all(header, state, touched, several)
            ev.unload(header, touched)
            if i64_at(state, rc.ASKED):
                asked = bk.note_asked(header, task, row, asked)
            count += rc.finish(state)
        row += 1
        put_i64(offsets, row, count)
    put_i64(task, bk.NEXT, row)
    put_i64(task, bk.SLOT_COUNT, count)
    put_i64(task, bk.ASKED_COUNT, asked)
    return code
