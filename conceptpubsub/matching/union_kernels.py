"""Unions of interfaces: what an event reaches without a look at each filter.

A filter that is one bound lies in an ascending run of its axis, and an event meets the end of a run of upper bounds, or
the beginning of one of lower bounds. For every `BLOCK` of a run a row of bits has the interfaces of all from there to
the end, or from the beginning to there; so a binary search and one row leave less than a block to look at. Filters that
are one equality stand under its key; where they are many there, one row has the interfaces of all of them.

A row holds the filters that were alive when it was made. Where the evaluator must be asked about one of a run, that run
has no rows; under a key, it does not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching import reach_kernels as rc
from conceptpubsub.matching.cubes import ASK
from conceptpubsub.matching.jit import Int, free_kernel, i64, i64_at, put_i64, u32_at, u64
from conceptpubsub.matching.layout_kernels import COUNT_BITS, DOWN_RUN, FLAGS, HAS_DOWN, HAS_UP, UP_RUN
from conceptpubsub.matching.record_kernels import key_of

BLOCK = 16
"""Bounds to a row."""
# The unions of a segment, by place. Addresses, unless said otherwise.
ROWS, ROW_WORDS, AXES, KEYS, KEY_MASK, UNIONS_SIZE = range(6)
"""ROW_WORDS and KEY_MASK are numbers. AXES has four numbers an axis; KEYS leads from a key to a row."""
UP_ROWS, DOWN_ROWS, KEYED = 0, 1, 2
"""Of an axis: one more than the first row of its run of upper and of lower bounds; 0 where it has none. KEYED is SOME
where some keys have rows; and WHOLE where rows say all there is to be said under any value."""
SOME, WHOLE = 1, 2
_COUNT = (1 << COUNT_BITS) - 1
_SLOT = np.uint32(ASK - 1)


# ---------------------------------------------------------------------- making them


@free_kernel
def _is_alive(alive: Any, owner: Any) -> Any:
    slot = i64(owner & _SLOT)
    return alive[slot >> 6] >> u64(slot & 63) & u64(1) != 0


@free_kernel
def _add(row: Any, number: Int, ends: Any, members: Any) -> None:
    for i in range(ends[number], ends[number + 1]):
        member = i64(members[i])
        row[member >> 6] |= u64(1) << u64(member & 63)


@free_kernel
def _asks(owners: Any, alive: Any, start: Int, end: Int) -> Any:
    asking = False
    for i in range(start, end):
        asking = asking or (owners[i] > _SLOT and _is_alive(alive, owners[i]))
    return asking


@free_kernel
def unite_runs(
    axes: Any, owners: Any, sets: Any, alive: Any, ends: Any, members: Any, least: Int, places: Any, rows: Any
) -> Int:
    """Write the rows of all runs; returns how many."""
    made = 0
    held = np.zeros(rows.shape[1], np.uint64)
    for axis in range(len(axes)):
        for column in range(UP_RUN, DOWN_RUN + 1):
            if not axes[axis, FLAGS] & u64(HAS_UP if column == UP_RUN else HAS_DOWN):
                continue
            start, end = i64(axes[axis, column] >> u64(32)), i64(axes[axis, column] & u64(0xFFFFFFFF))
            if end - start < least or _asks(owners, alive, start, end):
                continue
            held[:] = u64(0)
            places[axis, UP_ROWS if column == UP_RUN else DOWN_ROWS] = made + 1
            for n in range(end - start):
                i = end - 1 - n if column == UP_RUN else start + n
                if _is_alive(alive, owners[i]):
                    _add(held, i64(sets[i]), ends, members)
                if (i - start + (column == DOWN_RUN)) % BLOCK == 0:
                    rows[made + (i - start) // BLOCK] = held
            made += (end - start + BLOCK - 1) // BLOCK
    return made


@free_kernel
def unite_keys(
    table: Any, stream: Any, alive: Any, ends: Any, members: Any, least: Int, places: Any, keys: Any, rows: Any,
    made: Int,
) -> Int:  # fmt: skip
    """Write the rows of keys under which enough filters stand that are one equality, and say in ``keys`` which row each
    has; returns how many rows there are by now."""
    count = 0
    for t in range(len(table)):
        key = table[t, 0]
        if key == 0 or key >> u64(32) & u64(63) != 0:
            continue
        axis, at, alone, others = i64(key >> u64(38)), i64(table[t, 1] >> u64(COUNT_BITS)), 0, 0
        listed = i64(table[t, 1] & u64(_COUNT))
        if listed >= least:
            rows[made] = u64(0)
            for _ in range(listed):
                owner, records = stream[at], i64(stream[at + 1] & np.uint32(255))
                if _is_alive(alive, owner):
                    if records == 0 and owner <= _SLOT:
                        _add(rows[made], i64(stream[at + 1] >> np.uint32(8)), ends, members)
                        alone += 1
                    else:
                        others += 1
                at += 2 + 3 * records
        if alone < max(1, least) or others:
            places[axis, KEYED] |= 2 * WHOLE
        if alone >= max(1, least):
            places[axis, KEYED] |= SOME
            made += 1
            keys[count, 0], keys[count, 1] = key, u64(made)
            count += 1
    for axis in range(len(places)):
        places[axis, KEYED] = SOME | WHOLE if places[axis, KEYED] == SOME else places[axis, KEYED] & SOME
    return made


# ---------------------------------------------------------------------- an event


@free_kernel
def is_whole(unions: Int, axis: Int) -> Any:
    """Whether `join_unions` has said all there is under the values of an axis."""
    return unions != 0 and i64_at(i64_at(unions, AXES), 4 * axis + KEYED) & WHOLE != 0


@free_kernel
def _scan_runs(segment: Int, header: Int, state: Int, waiting: Int) -> None:
    """Look at single bounds that the event meets, one by one: from, to."""
    owners, sets = i64_at(segment, mk.BOUND_OWNERS), i64_at(segment, mk.BOUND_SETS)
    reached, bits, pending = i64_at(state, rc.REACHED), i64_at(state, rc.SET_BITS), i64_at(header, ev.PENDING)
    for part in range(waiting):
        held = i64_at(pending, part)
        for i in range(held >> 32, held & 0xFFFFFFFF):
            number = u32_at(sets, i)
            if not rc.is_old(state, reached, bits, number):
                rc.reach(state, header, number, u32_at(owners, i))
                if rc.is_done(state):
                    return


@free_kernel
def reach_bounds(segment: Int, unions: Int, header: Int, touched: Int, state: Int) -> None:
    """What asks for one bound only, or for one value only and is in a union: nothing is to be verified."""
    known, axis_count = i64_at(segment, mk.AXIS_TABLE), i64_at(segment, mk.AXIS_COUNT)
    codes_of, pending = i64_at(segment, mk.BOUNDS), i64_at(header, ev.PENDING)
    axes, codes, waiting = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES), 0
    rows, size, places = i64(0), i64(0), i64(0)
    if unions:
        rows, size, places = i64_at(unions, ROWS), i64_at(unions, ROW_WORDS), i64_at(unions, AXES)
    for t in range(touched):
        axis, code = u32_at(axes, t), u32_at(codes, t)
        if axis >= axis_count or code == 0:
            continue
        flags = i64_at(known, 4 * axis + FLAGS)
        if flags & HAS_UP:
            run = i64_at(known, 4 * axis + UP_RUN)
            begin, end = run >> 32, run & 0xFFFFFFFF
            start = mk.first_at_least(codes_of, begin, end, code)
            row = i64_at(places, 4 * axis + UP_ROWS) if unions else i64(0)
            if row:
                block = (start - begin + BLOCK - 1) // BLOCK
                if begin + block * BLOCK < end:
                    rc.join(state, rows + 8 * size * (row - 1 + block), size)
                    end = begin + block * BLOCK
            if start < end:
                put_i64(pending, waiting, start << 32 | end)
                waiting += 1
        if flags & HAS_DOWN:
            run = i64_at(known, 4 * axis + DOWN_RUN)
            start = run >> 32
            end = mk.first_at_least(codes_of, start, run & 0xFFFFFFFF, code + 1)
            row = i64_at(places, 4 * axis + DOWN_ROWS) if unions else i64(0)
            if row:
                block = (end - start) // BLOCK
                if block:
                    rc.join(state, rows + 8 * size * (row - 2 + block), size)
                    start += block * BLOCK
            if start < end:
                put_i64(pending, waiting, start << 32 | end)
                waiting += 1
        if unions and i64_at(places, 4 * axis + KEYED):
            found = mk.find_row(i64_at(unions, KEYS), i64_at(unions, KEY_MASK), key_of(axis, 0, 0, code))
            if found != 0:
                rc.join(state, rows + 8 * size * (i64(found) - 1), size)
        if rc.is_done(state):
            return
        if unions == 0 or waiting > ev.PENDING_ROOM - 2:
            _scan_runs(segment, header, state, waiting)
            waiting = 0
            if rc.is_done(state):
                return
    _scan_runs(segment, header, state, waiting)
