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
from conceptpubsub.matching.record_kernels import hashed, must_be_bound, slot_in

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


# ---------------------------------------------------------------------- building


@free_kernel
def number_literals(records: Any, bounds: Any, chosen: Any, table: Any, found: Any, numbers: Any) -> Int:
    """Number the distinct records of the chosen cubes; returns how many, or -1 where there are too many.

    Number 0 is a record that always holds.
    """
    found[0, 0], found[0, 1], found[0, 2] = 0, 0, 0xFFFFFFFF
    count, at = 1, 0
    mask = len(table) - 1
    for c in chosen:
        for i in range(bounds[c], bounds[c + 1]):
            axis, low, span = records[i, 0], records[i, 1], records[i, 2]
            mixed = hashed(u64(low) << u64(32) ^ u64(span) ^ (u64(axis) << u64(17)))
            row = i64(mixed & u64(mask))
            while table[row] >= 0:
                held = table[row]
                if found[held, 0] == axis and found[held, 1] == low and found[held, 2] == span:
                    break
                row = (row + 1) & mask
            if table[row] < 0:
                if count == len(found):
                    return -1
                found[count, 0], found[count, 1], found[count, 2] = axis, low, span
                table[row] = count
                count += 1
            numbers[at] = table[row]
            at += 1
    return count


@free_kernel
def needs(records: Any, bounds: Any, chosen: Any, base: Any, column_of: Any, bit_of: Any, masks: Any) -> None:
    """For each chosen cube, the columns that must be bound, as bits."""
    for o in range(len(chosen)):
        mask = u64(0)
        for i in range(bounds[chosen[o]], bounds[chosen[o] + 1]):
            axis = i64(records[i, 0])
            bit = bit_of[i64(column_of[axis])]
            if bit != NO_BIT and must_be_bound(i64(records[i, 1]), i64(records[i, 2]), base[axis]):
                mask |= u64(1) << u64(bit)
        masks[o] = mask


@free_kernel
def write_cubes(order: Any, starts: Any, numbers: Any, told: Any, out_starts: Any, out: Any) -> Int:
    """Write cubes in some order; ``starts`` are those of the numbers of each. What the columns of a group say anyway
    (``told``, a column's bit, or none) is not written. Returns how many literals were written."""
    at = 0
    for o in range(len(order)):
        out_starts[o] = at
        for i in range(starts[order[o]], starts[order[o] + 1]):
            if told[i64(numbers[i])] == NO_BIT:
                out[at] = numbers[i]
                at += 1
    out_starts[len(order)] = at
    return at


@free_kernel
def entry_needs(order: Any, owners: Any, masks: Any, out_owners: Any, out_masks: Any) -> Int:
    """The owners in order, each with the columns that all its cubes need; returns how many."""
    entries = 0
    for o in range(len(order)):
        c = order[o]
        if o == 0 or owners[c] != owners[order[o - 1]]:
            out_owners[entries], out_masks[entries] = owners[c], masks[c]
            entries += 1
        out_masks[entries - 1] &= masks[c]
    return entries


@free_kernel
def write_entries(
    order: Any, owners: Any, needs: Any, starts: Any, numbers: Any, told: Any, out_starts: Any, out: Any
) -> Int:
    """Write cubes in the order of their owners, all of one owner as one entry; returns how many literals.

    What the columns that an entry needs say anyway is not written; a cube of which nothing remains is literal 0, which
    always holds.
    """
    at, entry = 0, -1
    for o in range(len(order)):
        c = order[o]
        if o == 0 or owners[c] != owners[order[o - 1]]:
            entry += 1
            out_starts[entry] = at
        begin = at
        for i in range(starts[c], starts[c + 1]):
            bit = told[i64(numbers[i])]
            if bit == NO_BIT or needs[entry] >> u64(bit) & u64(1) == 0:
                out[at] = numbers[i]
                at += 1
        if at == begin:
            out[at] = 0
            at += 1
        out[at - 1] |= END_CUBE
    out_starts[entry + 1] = at
    return at


@free_kernel
def pair_literals(literals: Any, starts: Any, words: Any, joins: Any, table: Any, pairs: Any, out_starts: Any) -> Int:
    """Put pairs in the place of an entry's literals: where it ``joins``, those of one axis that follow each other in a
    cube. The words are written over. Returns how many pairs there are, or -1 where that is too many."""
    count, to, mask, entries = 0, 0, len(table) - 1, len(starts) - 1
    for entry in range(entries):
        at, end = i64(starts[entry]), i64(starts[entry + 1])
        out_starts[entry] = to
        while at < end:
            word, other, first = i64(words[at]), 0, i64(words[at]) & LITERAL
            at += 1
            if joins and word & END_CUBE == 0 and first != 0:
                following = i64(words[at]) & LITERAL
                if following != 0 and literals[following, 0] == literals[first, 0]:
                    word, other = i64(words[at]), following
                    at += 1
            row = i64(hashed(u64(first << 16 | other) + u64(1)) & u64(mask))
            while table[row] >= 0 and (pairs[table[row], 0] != first or pairs[table[row], 1] != other):
                row = (row + 1) & mask
            if table[row] < 0:
                if count == len(pairs):
                    return -1
                pairs[count, 0], pairs[count, 1] = first, other
                table[row] = count
                count += 1
            words[to] = table[row] | word & END_CUBE
            to += 1
    out_starts[entries] = to
    return count


@free_kernel
def fill_groups(masks: Any, table: Any) -> None:
    """Make the table that leads from a group's columns to the group."""
    for group in range(len(masks)):
        key = masks[group] + u64(1)
        row = slot_in(table, key)
        table[row, 0], table[row, 1] = key, u64(group + 1)


# ---------------------------------------------------------------------- one event


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
