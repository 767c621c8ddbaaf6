"""Cubes that share few literals: grouped by the columns they need, so that an event looks only at what it can bind.

A literal is a record with a number; a cube is a list of such numbers. Where filters ask for the same few things over
and over, no key is rare, and a key would lead each event to a large part of them.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching.jit import (
    Int,
    bit_count,
    free_kernel,
    i64,
    i64_at,
    put_u32,
    u16_at,
    u32_at,
    u64,
    u64_at,
)

# A dense part, by place in its row. Addresses, unless said otherwise.
(
    LITERALS, LITERAL_COUNT, PAIRS, PAIR_COUNT, PAIR_ROWS, ROW_OF, ROW_AXES, ROW_COUNT, AXIS_COUNT, COLUMNS,
    COLUMN_COUNT, BIT_OF, GROUP_COUNT, GROUP_MASKS, GROUP_STARTS, GROUP_TABLE, TABLE_MASK, CUBE_STARTS, CUBE_WORDS,
    CUBE_OWNERS, ENTRY_COUNT, ENTRY_STARTS, ENTRY_WORDS, ENTRY_OWNERS, ENTRY_GROUPS, ENTRY_TURNS, NEED_COUNT,
    NEED_MASKS, BITMAPS, DENSE_SIZE,
) = range(30)  # fmt: skip
"""The counts and TABLE_MASK are numbers. PAIRS are two literals of one axis each, of which both must hold, as a value
that is not a constant is below or above it; the second may be literal 0. Their axes have rows: ROW_AXES are those axes,
PAIR_ROWS the rows of pairs, and ROW_OF those of axes. ENTRY_TURNS tells which entry of a block of slots, counted from
its first one, has its turn when. BITMAPS is 0 where there are none."""
MOST_LITERALS = 4096
MOST_COLUMNS = 63
MOST_RECORDS = 2 * ev.PENDING_ROOM // 3
"""Records of a cube, so that they can be copied to where keys wait."""
END_CUBE, WITH_FIRST, LITERAL = 0x8000, 0x4000, 0x3FFF
"""In an entry's words: the last pair of a cube or clause, that of a clause about one column, and a pair's number."""
INVERTED = 1 << 31
"""In an entry's group: its words are clauses, all of which must hold, see `conceptpubsub.matching.clause_kernels`."""
NO_BIT = 255
NO_ROW = 0xFFFF


@free_kernel
def bound_columns(dense: Int, x: Int) -> Any:
    """Which columns the loaded event binds, as bits."""
    columns, found = i64_at(dense, COLUMNS), u64(0)
    for bit in range(i64_at(dense, COLUMN_COUNT)):
        if u32_at(x, u32_at(columns, bit)) != 0:
            found |= u64(1) << u64(bit)
    return found


@free_kernel
def _passes(words: Int, at: Int, end: Int, literals: Int, x: Int) -> Any:
    while at < end:
        number = 3 * u16_at(words, at)
        code = u32_at(x, u32_at(literals, number))
        if (code - u32_at(literals, number + 1)) & 0xFFFFFFFF > u32_at(literals, number + 2):
            return False
        at += 1
    return True


@free_kernel
def _passes_several(words: Int, at: Int, end: Int, literals: Int, x: Int, header: Int) -> Any:
    records = i64_at(header, ev.PENDING)
    for i in range(at, end):
        number = 3 * u16_at(words, i)
        for part in range(3):
            put_u32(records, 3 * (i - at) + part, u32_at(literals, number + part))
    return mk.passes_several(records, 0, end - at, x, header)


@free_kernel
def cube_passes(dense: Int, cube: Int, x: Int, several: Int, header: Int) -> Any:
    """Whether one cube holds for the loaded event."""
    starts, words, literals = i64_at(dense, CUBE_STARTS), i64_at(dense, CUBE_WORDS), i64_at(dense, LITERALS)
    at, end = u32_at(starts, cube), u32_at(starts, cube + 1)
    if several:
        return _passes_several(words, at, end, literals, x, header)
    return _passes(words, at, end, literals, x)


@free_kernel
def _scan(dense: Int, group: Int, x: Int, several: Int, header: Int) -> tuple[Int, Int]:
    """Verify the cubes of a group; returns how many there are and how many passed."""
    starts, words, owners = i64_at(dense, CUBE_STARTS), i64_at(dense, CUBE_WORDS), i64_at(dense, CUBE_OWNERS)
    literals, group_starts = i64_at(dense, LITERALS), i64_at(dense, GROUP_STARTS)
    first, last = u32_at(group_starts, group), u32_at(group_starts, group + 1)
    passed = 0
    end = u32_at(starts, first)
    for cube in range(first, last):
        at, end = end, u32_at(starts, cube + 1)
        if several:
            ok = _passes_several(words, at, end, literals, x, header)
        else:
            ok = _passes(words, at, end, literals, x)
        if ok:
            mk.mark(header, u32_at(owners, cube))
            passed += 1
    return last - first, passed


@free_kernel
def weigh(dense: Int, bound: Any, limit: Int) -> Int:
    """How many cubes an event may meet that binds these columns; not counted on where they are more than the limit."""
    groups, starts, cubes = i64_at(dense, GROUP_COUNT), i64_at(dense, GROUP_STARTS), i64(0)
    size = bit_count(bound)
    if size < 16 and (1 << size) < groups:
        table, mask = i64_at(dense, GROUP_TABLE), i64_at(dense, TABLE_MASK)
        part = bound
        while cubes <= limit:
            group = i64(mk.find_row(table, mask, part + u64(1)))
            if group:
                cubes += u32_at(starts, group) - u32_at(starts, group - 1)
            if part == 0:
                break
            part = (part - u64(1)) & bound
        return cubes
    masks, group = i64_at(dense, GROUP_MASKS), i64(0)
    while group < groups and cubes <= limit:
        if u64_at(masks, group) & ~bound == 0:
            cubes += u32_at(starts, group + 1) - u32_at(starts, group)
        group += 1
    return cubes


@free_kernel
def match_dense(dense: Int, header: Int, bound: Any, several: Int) -> tuple[Int, Int]:
    """Mark the slots of a dense part that match the loaded event; returns cubes looked at and passed."""
    x = i64_at(header, ev.CODES)
    groups, looked, passed = i64_at(dense, GROUP_COUNT), i64(0), i64(0)
    size = bit_count(bound)
    if size < 16 and (1 << size) < groups:
        table, mask = i64_at(dense, GROUP_TABLE), i64_at(dense, TABLE_MASK)
        part = bound
        while True:
            group = i64(mk.find_row(table, mask, part + u64(1)))
            if group:
                more, right = _scan(dense, group - 1, x, several, header)
                looked, passed = looked + more, passed + right
            if part == 0:
                break
            part = (part - u64(1)) & bound
        return looked, passed
    masks = i64_at(dense, GROUP_MASKS)
    for group in range(groups):
        if u64_at(masks, group) & ~bound == 0:
            more, right = _scan(dense, group, x, several, header)
            looked, passed = looked + more, passed + right
    return looked, passed
