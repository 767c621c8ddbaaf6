"""How a dense part is made: literals numbered, cubes written by groups and by owners, literals of one axis in pairs."""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.dense_kernels import END_CUBE, LITERAL, NO_BIT
from conceptpubsub.matching.jit import Int, free_kernel, i64, u64
from conceptpubsub.matching.record_kernels import hashed, must_be_bound, slot_in


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
