"""The cubes that admit the cells of a row, block by block.

Which rows pass what cannot be foretold, so there are no branches on it: candidates are gathered with a fixed number of
steps, all records of a candidate are looked at, and what fails is written over by the next.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    put_i64,
    put_u8,
    put_u32,
    put_u64,
    trailing_zeros,
    u8_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.table_cells import BLOCK, fill

COPIED = 4
"""How many of a list are copied at once; lists have so many places more than they need."""
LED = 64
"""Entries of which a cell of the leading axis tells whether a row need look there; at those after them all look."""
_FEW = 4
"""Records that are looked at without stopping at the first that fails."""
_TOP = 0xFFFFFFFF


@free_kernel
def _gather(
    block: Int, begin: Int, rows: Int, first: Int, bad: Int, entries: Any, lead: Int, leading: Int, nodes: Int,
    lists: Int, cubes: Int, found: Int, found_rows: Int, room: Int, runs: Int,
) -> tuple[Int, Int]:  # fmt: skip
    """The cubes that stand where rows come by; returns how many, and the first row for which there was no room.

    So many are copied at once that short lists, and empty ones, need no branch.
    """
    count, row = i64(0), begin
    while row < rows and count + cubes + COPIED <= room:
        good, several = 1 - u8_at(bad, first + row), i64(0)
        left = u64_at(leading, u32_at(block, lead * BLOCK + row))
        e = i64(trailing_zeros(left)) if left != 0 else LED
        while e < len(entries):
            node = entries[e, 5] + (u32_at(block, entries[e, 0] * BLOCK + row) >> entries[e, 1]) * entries[e, 2]
            node += u32_at(block, entries[e, 3] * BLOCK + row) >> entries[e, 4]
            low, high = u32_at(nodes, node), u32_at(nodes, node + 1)
            for j in range(COPIED // 2):  # two at a time
                put_u64(found + 4 * count, j, u64_at(lists + 4 * low, j))
                put_u64(found_rows + 4 * count, j, u64(row << 32 | row))
            for j in range(COPIED, high - low):
                put_u32(found, count + j, u32_at(lists, low + j))
                put_u32(found_rows, count + j, row)
            count += (high - low) * good
            several += high > low
            left &= left - u64(1)
            e = i64(trailing_zeros(left)) if left != 0 else max(e + 1, i64(LED))
        put_u8(runs, row, several)
        row += 1
    return count, row


@free_kernel
def _passes(block: Int, stream: Int, width: Int, column: Int) -> Int:
    """1 if all records at a place admit the cells of a row, else 0. Few are all looked at, which needs no branch."""
    fits = i64(1)
    for k in range(1, 1 + 3 * width, 3):
        cell = u32_at(block, u32_at(stream, k) * BLOCK + column)
        fits &= (cell - u32_at(stream, k + 1)) & _TOP <= u32_at(stream, k + 2)
        if width > _FEW and fits == 0:
            break
    return fits


@free_kernel
def _match_block(
    block: Int, rows: Int, first: Int, bad: Int, entries: Any, lead: Int, leading: Int, nodes: Int, lists: Int,
    stream: Int, width: Int, cubes: Int, unique: Int, alive: Int, before: Int, offsets: Int, out: Any, asked: Any,
    room: Int, found: Int, state: Any,
) -> Int:  # fmt: skip
    """The slots that match the rows of a block, ascending; returns the first row that had no room.

    ``state``: how many slots were found, how many are to be asked about, how many cubes were looked at, how many of
    them passed; and how many rows are bad.
    """
    count, asked_count, passed, out_at = state[0], state[1], state[3], i64(out.ctypes.data)
    found_rows, runs = found + 4 * room, found + 8 * room
    begin = i64(0)
    while begin < rows:
        gathered, end = _gather(
            block, begin, rows, first, bad, entries, lead, leading, nodes, lists, cubes, found, found_rows, room, runs
        )
        if count + gathered >= len(out) or asked_count + gathered >= len(asked):
            break
        state[2] += gathered
        start = count
        for row in range(begin, end):
            put_i64(offsets, first + row + 1, 0)
        for i in range(gathered):
            at, row = stream + 4 * u32_at(found, i), u32_at(found_rows, i)
            owner = u32_at(at, 0)
            slot = owner & 0x7FFFFFFF
            fits = _passes(block, at, width, row)
            passed += fits
            fits &= i64(u64_at(alive, slot >> 6) >> u64(slot & 63)) & 1
            put_i64(out_at, count, slot)
            asks = owner >> 31
            count += fits & (1 - asks)
            put_i64(offsets, first + row + 1, before + count)
            if asks & fits:
                asked[asked_count, 0], asked[asked_count, 1] = first + row, slot
                asked_count += 1
        count = _in_order(out_at, start, count, before, offsets, first, begin, end, runs, unique)
        begin = end
    state[0], state[1], state[3] = count, asked_count, passed
    return begin


@free_kernel
def _in_order(
    out: Int,
    start: Int,
    count: Int,
    before: Int,
    offsets: Int,
    first: Int,
    begin: Int,
    end: Int,
    runs: Int,
    unique: Int,
) -> Int:
    """The slots of each row sorted and once, with an offset for rows that have none; returns how many are left."""
    last, kept = start, start
    for row in range(begin, end):
        stop = max(last, i64_at(offsets, first + row + 1) - before)
        if stop - last > 1 and u8_at(runs, row) > 1:
            _sort(out, last, stop)
        if unique:
            kept = stop
        else:
            low = kept
            for i in range(last, stop):
                if kept == low or i64_at(out, i) != i64_at(out, kept - 1):
                    put_i64(out, kept, i64_at(out, i))
                    kept += 1
        last = stop
        put_i64(offsets, first + row + 1, before + kept)
    return kept


@free_kernel
def _sort(out: Int, begin: Int, end: Int) -> None:
    """Sort what one row found: runs in order, one for each node that was looked at."""
    gap = i64(1)
    while gap < (end - begin) // 9:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's; where there are few it is insertion sort
        for i in range(begin + gap, end):
            held, place = i64_at(out, i), i
            while place >= begin + gap and i64_at(out, place - gap) > held:
                put_i64(out, place, i64_at(out, place - gap))
                place -= gap
            put_i64(out, place, held)
        gap //= 3


@free_kernel
def match_rows(
    array: Int, sources: Int, count: Int, header: Int, block: Int, axes: Int, axis_count: Int, places: Int,
    column_of: Int, bad: Int, wrong: Any, begin: Int, rows: Int, entries: Any, lead: Int, leading: Int, nodes: Int,
    lists: Int, stream: Int, width: Int, cubes: Int, unique: Int, alive: Int, before: Int, offsets: Int, out: Any,
    asked: Any, room: Int, found: Int, state: Any,
) -> Int:  # fmt: skip
    """Match rows from ``begin`` on, block by block; returns the first that has not been done, for want of room."""
    first = begin
    while first < rows:
        size = min(BLOCK, rows - first)
        state[4] += fill(
            array, sources, count, header, block, axes, axis_count, places, column_of, bad, wrong, first, size
        )
        done = _match_block(
            block, size, first, bad, entries, lead, leading, nodes, lists, stream, width, cubes, unique, alive, before,
            offsets, out, asked, room, found, state,
        )  # fmt: skip
        first += done
        if done < size:
            break
    return first
