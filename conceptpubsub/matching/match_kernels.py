"""One event against the cubes of a segment: look under each of its codes, verify what stands there, mark the slots.

Found slots are bits, with a summary bit for every 64 words: so what matched comes out in ascending order and once,
however many cubes of a filter matched, and removed filters are masked out on the way.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    join_u64,
    prefetch,
    put_i64,
    put_u64,
    trailing_zeros,
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
from conceptpubsub.matching.record_kernels import WHOLE_AXIS, hashed, key_of

# A segment, by place in its row. Addresses, unless said otherwise.
(
    AXIS_TABLE, AXIS_COUNT, KEY_TABLE, KEY_MASK, PAIR_TABLE, PAIR_MASK, PAIR_ROWS, PAIR_COUNT, STREAM, ALWAYS_COUNT,
    BOUNDS, BOUND_OWNERS, BOUND_SETS, DENSE, SEGMENT_SIZE,
) = range(15)  # fmt: skip
"""AXIS_COUNT, the masks, PAIR_COUNT and ALWAYS_COUNT are numbers. DENSE is 0 where there is no dense part."""
_COUNT = (1 << COUNT_BITS) - 1


@free_kernel
def passes(stream: Int, at: Int, count: Int, x: Int) -> Any:
    """Whether all records at a place admit the codes."""
    for _ in range(count):
        if (u32_at(x, u32_at(stream, at)) - u32_at(stream, at + 1)) & 0xFFFFFFFF > u32_at(stream, at + 2):
            return False
        at += 3
    return True


@free_kernel
def _candidate_code(header: Int, candidate: Int, axis: Int) -> Int:
    touched, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    starts, ends = i64_at(header, ev.STARTS), i64_at(header, ev.ENDS)
    for i in range(u32_at(starts, candidate), u32_at(ends, candidate)):
        if u32_at(touched, i) == axis:
            return u32_at(codes, i)
    return 0


@free_kernel
def passes_several(stream: Int, at: Int, count: Int, x: Int, header: Int) -> Any:
    """As `passes`, where columns have several candidates: all records of a column must admit the same one."""
    column_of, heads, nexts = i64_at(header, ev.COLUMN_OF), i64_at(header, ev.HEADS), i64_at(header, ev.NEXTS)
    end = at + 3 * count
    while at < end:
        axis = u32_at(stream, at)
        column = u32_at(column_of, axis)
        if u32_at(x, column) != ev.SEVERAL or axis == column:
            if (u32_at(x, axis) - u32_at(stream, at + 1)) & 0xFFFFFFFF > u32_at(stream, at + 2):
                return False
            at += 3
            continue
        stop = at + 3
        while stop < end and u32_at(column_of, u32_at(stream, stop)) == column:
            stop += 3
        candidate = u32_at(heads, column)
        found = False
        while candidate != 0 and not found:
            found = True
            for place in range(at, stop, 3):
                other = u32_at(stream, place)
                code = u32_at(x, other) if other == column else _candidate_code(header, candidate, other)
                if (code - u32_at(stream, place + 1)) & 0xFFFFFFFF > u32_at(stream, place + 2):
                    found = False
                    break
            candidate = u32_at(nexts, candidate)
        if not found:
            return False
        at = stop
    return True


@free_kernel
def mark(header: Int, owner: Int) -> None:
    """Note that a slot matched, or that the evaluator must be asked about it."""
    slot = owner & 0x7FFFFFFF
    word = slot >> 6
    asks = owner >> 31
    join_u64(i64_at(header, ev.FOUND + 2 * asks), word, u64(1) << u64(slot & 63))
    join_u64(i64_at(header, ev.FOUND_SUMMARY + 2 * asks), word >> 6, u64(1) << u64(word & 63))


@free_kernel
def scan(stream: Int, at: Int, count: Int, x: Int, several: Int, header: Int) -> Int:
    """Verify so many cubes from a place on; returns how many passed."""
    passed = 0
    for _ in range(count):
        records = u32_at(stream, at + 1) & 255
        if several:
            ok = passes_several(stream, at + 2, records, x, header)
        else:
            ok = passes(stream, at + 2, records, x)
        if ok:
            mark(header, u32_at(stream, at))
            passed += 1
        at += 2 + 3 * records
    return passed


@free_kernel
def find_row(table: Int, mask: Int, key: Any) -> Any:
    """What a table holds for a key, or 0."""
    row = i64(hashed(key) & u64(mask))
    held = u64_at(table, 2 * row)
    while held != 0:
        if held == key:
            return u64_at(table, 2 * row + 1)
        row = (row + 1) & mask
        held = u64_at(table, 2 * row)
    return u64(0)


@free_kernel
def first_at_least(codes: Int, low: Int, high: Int, code: Int) -> Int:
    """The first place in an ascending run whose code is at least this one."""
    while low < high:
        middle = (low + high) >> 1
        if u32_at(codes, middle) < code:
            low = middle + 1
        else:
            high = middle
    return low


@free_kernel
def cell_key(axis: Int, code: Int, level: Int) -> Any:
    """The key of the cell that holds a code, where level is a bit number of the axis' levels."""
    width = (level >> 1) << 1
    if width == 0:
        return key_of(axis, 0, 0, code)
    if width == WHOLE_AXIS:
        return key_of(axis, WHOLE_AXIS, 0, 0)
    half = (i64(1) << (width - 1)) if level & 1 else i64(0)
    return key_of(axis, width, level & 1, (code + half) >> width)


@free_kernel
def mark_run(header: Int, owners: Int, start: Int, end: Int) -> Int:
    """Mark the owners of a run; returns how many."""
    for i in range(start, end):
        mark(header, u32_at(owners, i))
    return max(0, end - start)


@free_kernel
def find_rows(table: Int, mask: Int, stream: Int, pending: Int, count: Int) -> None:
    """Put in the place of each key what a table holds for it, and ask for the memory that leads to."""
    for i in range(count):
        held = find_row(table, mask, u64_at(pending, i))
        put_u64(pending, i, held)
        if held != 0:
            prefetch(stream + 4 * i64(held >> u64(COUNT_BITS)))


@free_kernel
def _look(
    table: Int, mask: Int, stream: Int, pending: Int, count: Int, x: Int, several: Int, header: Int
) -> tuple[Int, Int]:
    """Verify what stands under some keys; returns how many cubes were looked at and how many passed.

    Three rounds, so that the memory is asked for all keys before any is waited for.
    """
    find_rows(table, mask, stream, pending, count)
    looked, passed = i64(0), i64(0)
    for i in range(count):
        held = i64_at(pending, i)
        if held:
            looked += held & _COUNT
            passed += scan(stream, held >> COUNT_BITS, held & _COUNT, x, several, header)
    return looked, passed


@free_kernel
def await_key(table: Int, mask: Int, pending: Int, count: Int, key: Any) -> Int:
    """Note a key to look under, and ask for the memory; returns how many are noted."""
    prefetch(table + 16 * i64(hashed(key) & u64(mask)))
    put_u64(pending, count, key)
    return count + 1


@free_kernel
def match_pairs(segment: Int, header: Int, touched: Int, paired: Int, several: Int) -> tuple[Int, Int]:
    """Cubes that stand under two axes; returns how many were looked at and how many passed."""
    known, axis_count = i64_at(segment, AXIS_TABLE), i64_at(segment, AXIS_COUNT)
    pairs, mask, count = i64_at(segment, PAIR_TABLE), i64_at(segment, PAIR_MASK), i64_at(segment, PAIR_COUNT)
    stream, x, pending = i64_at(segment, STREAM), i64_at(header, ev.CODES), i64_at(header, ev.PENDING)
    axes, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    looked, passed = i64(0), i64(0)
    if paired * paired > 2 * count:  # fewer pairs in the segment than in the event
        rows = i64_at(segment, PAIR_ROWS)
        for i in range(count):
            row = u32_at(rows, i)
            key = i64_at(pairs, 2 * row)
            if u32_at(x, key >> 32) != 0 and u32_at(x, key & 0xFFFFFFFF) != 0:
                held = i64_at(pairs, 2 * row + 1)
                looked += held & _COUNT
                passed += scan(stream, held >> COUNT_BITS, held & _COUNT, x, several, header)
        return looked, passed
    waiting = 0
    for t in range(touched):
        one = u32_at(axes, t)
        if one >= axis_count or not i64_at(known, 4 * one + FLAGS) & HAS_PAIR or u32_at(codes, t) == 0:
            continue
        for u in range(t):
            other = u32_at(axes, u)
            if other >= axis_count or not i64_at(known, 4 * other + FLAGS) & HAS_PAIR or u32_at(codes, u) == 0:
                continue
            waiting = await_key(pairs, mask, pending, waiting, u64(min(one, other) << 32 | max(one, other)))
            if waiting == ev.PENDING_ROOM:
                more, right = _look(pairs, mask, stream, pending, waiting, x, several, header)
                looked, passed, waiting = looked + more, passed + right, 0
    more, right = _look(pairs, mask, stream, pending, waiting, x, several, header)
    return looked + more, passed + right


@free_kernel
def match_segment(segment: Int, header: Int, touched: Int, several: Int) -> tuple[Int, Int]:
    """Mark the slots of a segment that match the loaded event; returns cubes looked at and passed."""
    known, axis_count = i64_at(segment, AXIS_TABLE), i64_at(segment, AXIS_COUNT)
    table, mask = i64_at(segment, KEY_TABLE), i64_at(segment, KEY_MASK)
    stream, x, pending = i64_at(segment, STREAM), i64_at(header, ev.CODES), i64_at(header, ev.PENDING)
    bounds, owners = i64_at(segment, BOUNDS), i64_at(segment, BOUND_OWNERS)
    axes, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    looked = i64_at(segment, ALWAYS_COUNT)
    passed = scan(stream, 0, looked, x, several, header)
    paired, waiting = 0, 0
    for t in range(touched):
        axis, code = u32_at(axes, t), u32_at(codes, t)
        if axis >= axis_count or code == 0:
            continue
        levels, flags = u64_at(known, 4 * axis + LEVELS), i64_at(known, 4 * axis + FLAGS)
        while levels != 0:
            waiting = await_key(table, mask, pending, waiting, cell_key(axis, code, trailing_zeros(levels)))
            levels &= levels - u64(1)
            if waiting == ev.PENDING_ROOM:
                more, right = _look(table, mask, stream, pending, waiting, x, several, header)
                looked, passed, waiting = looked + more, passed + right, 0
        if flags & HAS_UP:
            run = i64_at(known, 4 * axis + UP_RUN)
            end = run & 0xFFFFFFFF
            passed += mark_run(header, owners, first_at_least(bounds, run >> 32, end, code), end)
        if flags & HAS_DOWN:
            run = i64_at(known, 4 * axis + DOWN_RUN)
            begin = run >> 32
            passed += mark_run(header, owners, begin, first_at_least(bounds, begin, run & 0xFFFFFFFF, code + 1))
        paired += flags >> 2 & 1
    more, right = _look(table, mask, stream, pending, waiting, x, several, header)
    looked, passed = looked + more, passed + right
    if paired > 1:
        more, right = match_pairs(segment, header, touched, paired, several)
        looked, passed = looked + more, passed + right
    return looked, passed


@free_kernel
def emit(bits: Int, summary: Int, words: Int, alive: Int, out: Int) -> Int:
    """Write the slots that are marked and alive, ascending, and clear the marks; returns how many."""
    count = 0
    for top in range((words + 63) >> 6):
        left = u64_at(summary, top)
        if left == 0:
            continue
        put_u64(summary, top, u64(0))
        while left != 0:
            word = (top << 6) + trailing_zeros(left)
            left &= left - u64(1)
            rest = u64_at(bits, word) & u64_at(alive, word)
            put_u64(bits, word, u64(0))
            while rest != 0:
                put_i64(out, count, (word << 6) + trailing_zeros(rest))
                count += 1
                rest &= rest - u64(1)
    return count
