"""The interfaces that an event goes to: an end as soon as all of them are found.

Filters come with a set of interfaces, and sets have numbers. A cube whose set has been found is passed over without a
look at its records; what is left is verified, and no event goes further than the last interface that there is.
"""

from __future__ import annotations

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    join_u64,
    kernel,
    put_i64,
    put_u32,
    put_u64,
    trailing_zeros,
    u8_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.layout_kernels import (
    COUNT_BITS,
    DOWN_RUN,
    FLAGS,
    HAS_DOWN,
    HAS_PAIR,
    HAS_UP,
    LEVELS,
    UP_RUN,
)

# What is known of interfaces, by place. Addresses, unless said otherwise.
(
    SEEN, SET_ENDS, SET_MEMBERS, REACHED, TOTAL, SLOT_SETS, FOUND_SETS, SET_COUNT, FOUND, COUNT, SINGLE, STATE_SIZE,
) = range(12)  # fmt: skip
"""SEEN has a bit for each set that was found, REACHED one for each interface. TOTAL, SET_COUNT and COUNT are numbers:
of interfaces there are, of sets found, of interfaces found; the found ones are listed in FOUND_SETS and FOUND. SINGLE
tells that each set has one interface, and each interface one set: then those found are told by the sets alone."""
_COUNT_MASK = (1 << COUNT_BITS) - 1


@free_kernel
def _is_seen(state: Int, number: Int) -> Int:
    return i64(u64_at(i64_at(state, SEEN), number >> 6) >> u64(number & 63)) & 1


@free_kernel
def _reach(state: Int, header: Int, number: Int, owner: Int) -> None:
    """A cube passed: its interfaces are found, unless its filter is gone or the evaluator must be asked."""
    slot = owner & 0x7FFFFFFF
    if u64_at(i64_at(header, ev.ALIVE), slot >> 6) >> u64(slot & 63) & u64(1) == 0:
        return
    if owner >> 31:
        mk.mark(header, owner)
        return
    join_u64(i64_at(state, SEEN), number >> 6, u64(1) << u64(number & 63))
    put_u32(i64_at(state, FOUND_SETS), i64_at(state, SET_COUNT), number)
    put_i64(state, SET_COUNT, i64_at(state, SET_COUNT) + 1)
    if i64_at(state, SINGLE):
        put_i64(state, COUNT, i64_at(state, SET_COUNT))
        return
    ends, members, reached = i64_at(state, SET_ENDS), i64_at(state, SET_MEMBERS), i64_at(state, REACHED)
    count, found = i64_at(state, COUNT), i64_at(state, FOUND)
    for i in range(u32_at(ends, number), u32_at(ends, number + 1)):
        interface = u32_at(members, i)
        bit = u64(1) << u64(interface & 63)
        if u64_at(reached, interface >> 6) & bit == 0:
            join_u64(reached, interface >> 6, bit)
            put_i64(found, count, interface)
            count += 1
    put_i64(state, COUNT, count)


@free_kernel
def _is_done(state: Int) -> Int:
    return i64_at(state, COUNT) == i64_at(state, TOTAL)


@free_kernel
def _scan(stream: Int, at: Int, count: Int, x: Int, several: Int, header: Int, state: Int) -> Int:
    """Verify cubes from a place on, whose interfaces are not found yet; returns how many were verified."""
    looked = 0
    for _ in range(count):
        head = u32_at(stream, at + 1)
        records = head & 255
        if not _is_seen(state, head >> 8):
            looked += 1
            if several:
                ok = mk.passes_several(stream, at + 2, records, x, header)
            else:
                ok = mk.passes(stream, at + 2, records, x)
            if ok:
                _reach(state, header, head >> 8, u32_at(stream, at))
                if _is_done(state):
                    return looked
        at += 2 + 3 * records
    return looked


@free_kernel
def _run(segment: Int, header: Int, state: Int, start: Int, end: Int) -> None:
    """A run of single bounds that the event meets."""
    owners, sets = i64_at(segment, mk.BOUND_OWNERS), i64_at(segment, mk.BOUND_SETS)
    for i in range(start, end):
        number = u32_at(sets, i)
        if not _is_seen(state, number):
            _reach(state, header, number, u32_at(owners, i))
            if _is_done(state):
                return


@free_kernel
def _bounds(segment: Int, header: Int, touched: Int, state: Int) -> None:
    """What asks for one bound only: nothing is to be verified, so it comes first."""
    known, axis_count, codes_of = (
        i64_at(segment, mk.AXIS_TABLE),
        i64_at(segment, mk.AXIS_COUNT),
        i64_at(segment, mk.BOUNDS),
    )
    axes, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    for t in range(touched):
        axis, code = u32_at(axes, t), u32_at(codes, t)
        if axis >= axis_count or code == 0:
            continue
        flags = i64_at(known, 4 * axis + FLAGS)
        if flags & HAS_UP:
            run = i64_at(known, 4 * axis + UP_RUN)
            end = run & 0xFFFFFFFF
            _run(segment, header, state, mk.first_at_least(codes_of, run >> 32, end, code), end)
        if flags & HAS_DOWN and not _is_done(state):
            run = i64_at(known, 4 * axis + DOWN_RUN)
            begin = run >> 32
            _run(segment, header, state, begin, mk.first_at_least(codes_of, begin, run & 0xFFFFFFFF, code + 1))
        if _is_done(state):
            return


@free_kernel
def _keys(segment: Int, header: Int, touched: Int, several: Int, state: Int) -> Int:
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
        while levels != 0:
            waiting = mk.await_key(table, mask, pending, waiting, mk.cell_key(axis, code, trailing_zeros(levels)))
            levels &= levels - u64(1)
            if waiting == ev.PENDING_ROOM:
                looked += _look(table, mask, stream, pending, waiting, x, several, header, state)
                waiting = 0
                if _is_done(state):
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
            if _is_done(state):
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
                if _is_done(state):
                    return looked
    return looked + _look(pairs, mask, stream, pending, waiting, x, several, header, state)


@free_kernel
def _dense(dense: Int, header: Int, several: Int, state: Int) -> Int:
    """The dense part; returns how many cubes were verified."""
    x, masks, sets = i64_at(header, ev.CODES), i64_at(dense, dk.GROUP_MASKS), i64_at(state, SLOT_SETS)
    starts, owners = i64_at(dense, dk.GROUP_STARTS), i64_at(dense, dk.CUBE_OWNERS)
    bound, looked = dk.bound_columns(dense, x), 0
    for group in range(i64_at(dense, dk.GROUP_COUNT)):
        if u64_at(masks, group) & ~bound != 0:
            continue
        for cube in range(u32_at(starts, group), u32_at(starts, group + 1)):
            owner = u32_at(owners, cube)
            number = u32_at(sets, owner & 0x7FFFFFFF)
            if _is_seen(state, number):
                continue
            looked += 1
            if dk.cube_passes(dense, cube, x, several, header):
                _reach(state, header, number, owner)
                if _is_done(state):
                    return looked
    return looked


@free_kernel
def reach_all(header: Int, state: Int, touched: Int, several: Int) -> None:
    """Find the interfaces of the loaded event: in every segment what costs least comes first."""
    segments, count, size = i64_at(header, ev.SEGMENTS), i64_at(header, ev.SEGMENT_COUNT), 8 * mk.SEGMENT_SIZE
    counters, looked = i64_at(header, ev.COUNTERS), i64(0)
    x = i64_at(header, ev.CODES)
    for i in range(count):
        if not _is_done(state):
            _bounds(segments + i * size, header, touched, state)
    for i in range(count):
        segment = segments + i * size
        if not _is_done(state):
            looked += _keys(segment, header, touched, several, state)
        if not _is_done(state) and i64_at(segment, mk.PAIR_COUNT):
            looked += _pairs(segment, header, touched, several, state)
        if not _is_done(state):
            looked += _scan(i64_at(segment, mk.STREAM), 0, i64_at(segment, mk.ALWAYS_COUNT), x, several, header, state)
        if not _is_done(state) and i64_at(segment, mk.DENSE):
            looked += _dense(i64_at(segment, mk.DENSE), header, several, state)
    put_i64(counters, ev.CANDIDATES, i64_at(counters, ev.CANDIDATES) + looked)
    put_i64(counters, ev.VERIFIED, i64_at(counters, ev.VERIFIED) + i64_at(state, SET_COUNT))
    put_i64(counters, ev.EVENTS, i64_at(counters, ev.EVENTS) + 1)


@free_kernel
def finish(state: Int) -> Int:
    """List the interfaces that were found, and make ready for the next event; returns how many."""
    seen, listed, found = i64_at(state, SEEN), i64_at(state, FOUND_SETS), i64_at(state, FOUND)
    ends, members, count = i64_at(state, SET_ENDS), i64_at(state, SET_MEMBERS), i64_at(state, COUNT)
    single = i64_at(state, SINGLE)
    for i in range(i64_at(state, SET_COUNT)):
        number = u32_at(listed, i)
        put_u64(seen, number >> 6, u64(0))
        if single:
            put_i64(found, i, u32_at(members, u32_at(ends, number)))
    put_u64(seen, 0, u64(1))  # the empty set brings nothing new
    if not single:
        reached = i64_at(state, REACHED)
        for i in range(count):
            put_u64(reached, i64_at(found, i) >> 6, u64(0))
    put_i64(state, SET_COUNT, 0)
    put_i64(state, COUNT, 0)
    return count


@kernel
def find_interfaces(header: Int, state: Int, count: Int) -> Int:
    """The interfaces of the event whose words have been written: how many stand in FOUND, and shifted up how many slots
    the evaluator must be asked about. Negative: what is wrong with the event."""
    touched, several = ev.load(header, 0, count)
    if touched < 0:
        return touched
    reach_all(header, state, touched, several)
    ev.unload(header, touched)
    found = finish(state)
    asked = mk.emit(
        i64_at(header, ev.ASKED), i64_at(header, ev.ASKED_SUMMARY), i64_at(header, ev.SLOT_WORDS),
        i64_at(header, ev.ALIVE), i64_at(header, ev.ASKED_OUT),
    )  # fmt: skip
    return asked << 32 | found


@free_kernel
def find_rows_interfaces(header: Int, task: Int, state: Int) -> Int:
    """The interfaces of rows from NEXT on, listed in SLOTS; as `batch_kernels.match_rows` for slots."""
    words = i64_at(header, ev.SLOT_WORDS)
    starts, ends, bad, offsets = (
        i64_at(task, bk.STARTS), i64_at(task, bk.ENDS), i64_at(task, bk.BAD), i64_at(task, bk.OFFSETS),
    )  # fmt: skip
    listed = i64_at(task, bk.SLOTS)
    count, asked = i64_at(task, bk.SLOT_COUNT), i64_at(task, bk.ASKED_COUNT)
    code, row, most = bk.DONE, i64_at(task, bk.NEXT), i64_at(state, TOTAL)
    while row < i64_at(task, bk.ROWS):
        if u8_at(bad, row) == 0:
            if count + most > i64_at(task, bk.SLOTS_ROOM) or asked + 64 * words > i64_at(task, bk.ASKED_ROOM):
                code = bk.FULL
                break
            touched, several = ev.load(header, i64_at(starts, row), i64_at(ends, row))
            if touched < 0:
                code = touched
                break
            put_i64(state, FOUND, listed + 8 * count)
            reach_all(header, state, touched, several)
            ev.unload(header, touched)
            count += finish(state)
            asked = bk.note_asked(header, task, row, asked)
        row += 1
        put_i64(offsets, row, count)
    put_i64(task, bk.NEXT, row)
    put_i64(task, bk.SLOT_COUNT, count)
    put_i64(task, bk.ASKED_COUNT, asked)
    return code
