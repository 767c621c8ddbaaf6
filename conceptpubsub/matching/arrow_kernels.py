"""Columns of an Arrow record batch to the words of its rows, without a Python object a cell.

A *source* is one column in one context, read in one way. What it needs stands in a row of numbers; the column itself is
read through the Arrow C data interface.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import text_kernels as tk
from conceptpubsub.matching.jit import (
    Int,
    f32_at,
    f64_at,
    free_kernel,
    i64,
    i64_at,
    put_i64,
    put_u8,
    put_u32,
    put_u64,
    signed_at,
    trailing_zeros,
    u8_at,
    u16_at,
    u32_at,
    u64,
    u64_at,
)

FLOAT, FLOAT32, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, BOOL, TEXT, LARGE_TEXT, INDEXED, GROUPED = range(14)
"""What a column holds. INDEXED: for each row the number of a list of words, or -1. GROUPED: values that are read by the
member which their row's group has, if any."""
(
    KIND, COLUMN, WORD, LOOKUP, GRID, LISTS, LIST_ENDS, LIST_COUNT, GROUPS, GROUP_VALIDITY, GROUP_OFFSET, NO_GROUP,
    MEMBERS, MEMBER_COUNT, PLACE, LIST_CELLS, SOURCE_SIZE,
) = range(17)  # fmt: skip
"""A source: what the column holds; its number; the word without the code; the address of the lookup or text table, or
of an INDEXED column's numbers; a grid over the lookup, or 0; lists of words, their ends and their number. Where it is
GROUPED: the group of each row, a bitmap that tells which rows have one, the first of its bits, the group of the others;
for each group the address of a source, or 0, and how many groups there are. PLACE and LIST_CELLS are for
`table_cells.resolve`."""
# A grid, by place: where its first cell begins and how many cells there are to 1.0, both floats; the number of cells;
# for each cell how many thresholds lie in cells before it.
GRID_LOW, GRID_SCALE, GRID_COUNT, GRID_STARTS, GRID_SIZE = range(5)
_LENGTH, _OFFSET, _BUFFERS, _CHILDREN = 0, 2, 5, 6  # of struct ArrowArray


@free_kernel
def _int_code(row: Int, value: Int) -> Int:
    """As `event_kernels.look_up`, for a lookup of integers."""
    if value < i64_at(row, ev.LOW) or value > i64_at(row, ev.HIGH):
        return 0
    if i64_at(row, ev.DIRECT):  # few values in all: a table of their codes
        low = i64_at(row, ev.DIRECT_LOW)
        return u32_at(i64_at(row, ev.DIRECT), max(0, min(value - low, i64_at(row, ev.DIRECT_COUNT) - 1)))
    best = 1
    for part in range(2):
        cuts, codes = i64_at(row, ev.CUTS + 3 * part), i64_at(row, ev.CUT_CODES + 3 * part)
        low, high = 0, i64_at(row, ev.CUT_COUNT + 3 * part)
        while low < high:
            middle = (low + high) >> 1
            if i64_at(cuts, middle) <= value:
                low = middle + 1
            else:
                high = middle
        if low > 0:
            code = u32_at(codes, low - 1)
            best = max(best, code if i64_at(cuts, low - 1) == value else code | 1)
    return best


@free_kernel
def _float_code(row: Int, grid: Int, value: Any) -> Int:
    """As `event_kernels.look_up`; a grid tells about where among the thresholds a value lies."""
    if grid == 0 or i64_at(row, ev.LATE_COUNT):
        return ev.look_up(row, value)
    if value < f64_at(row, ev.LOW) or value > f64_at(row, ev.HIGH):
        return 0
    if i64_at(row, ev.WHOLE) and np.floor(value) != value:
        return 0
    place = (value - f64_at(grid, GRID_LOW)) * f64_at(grid, GRID_SCALE)
    last = i64_at(grid, GRID_COUNT) - 1
    cell = last if place >= last else i64(place) if place > 0.0 else i64(0)
    starts, cuts = i64_at(grid, GRID_STARTS), i64_at(row, ev.CUTS)
    low, high = u32_at(starts, cell), u32_at(starts, cell + 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if f64_at(cuts, middle) <= value:
            low = middle + 1
        else:
            high = middle
    low += (high - low) * (f64_at(cuts, low) <= value)  # no branch, for no processor could foretell it
    if low == 0:
        return 1
    code: int = u32_at(i64_at(row, ev.CUT_CODES), low - 1)
    return code | (f64_at(cuts, low - 1) != value)


@free_kernel
def code_of(kind: Int, source: Int, buffers: Int, place: Int) -> Int:
    """The code of a cell; 0 where it counts as missing, -1 where no event may hold it."""
    lookup = i64_at(source, LOOKUP)
    data = i64_at(buffers, 1)
    if kind in (TEXT, LARGE_TEXT):
        start = u32_at(data, place) if kind == TEXT else i64_at(data, place)
        end = u32_at(data, place + 1) if kind == TEXT else i64_at(data, place + 1)
        return tk.text_code(lookup, i64_at(buffers, 2) + start, end - start)
    if kind == BOOL:
        return i64_at(lookup, u8_at(data, place >> 3) >> (place & 7) & 1)
    if kind <= FLOAT32:
        value = f64_at(data, place) if kind == FLOAT else f32_at(data, place)
        if not np.isfinite(value):
            return -1
        return _float_code(lookup, i64_at(source, GRID), value) if lookup else 0
    if kind == INT64:
        number = i64_at(data, place)
    elif kind == INT32:
        number = signed_at(u32_at(data, place), 32)
    elif kind == INT16:
        number = signed_at(u16_at(data, place), 16)
    elif kind == INT8:
        number = signed_at(u8_at(data, place), 8)
    elif kind == UINT32:
        number = u32_at(data, place)
    elif kind == UINT16:
        number = u16_at(data, place)
    else:
        number = u8_at(data, place)
    return _int_code(lookup, number)


@free_kernel
def group_of(source: Int, row: Int) -> Int:
    """The group that a row of a GROUPED source has."""
    validity, bit = i64_at(source, GROUP_VALIDITY), i64_at(source, GROUP_OFFSET) + row
    if validity != 0 and u8_at(validity, bit >> 3) >> (bit & 7) & 1 == 0:
        return i64_at(source, NO_GROUP)
    return u32_at(i64_at(source, GROUPS), row)


@free_kernel
def in_group(source: Int, group: Int, out: Any) -> None:
    """Which rows of a GROUPED source have a group."""
    for row in range(len(out)):
        out[row] = group_of(source, row) == group


@free_kernel
def _write(source: Int, row: Int, buffers: Int, place: Int, words: Int, ends: Int, bad: Int, number: Int) -> None:
    """Write the words of one cell at the end of its row."""
    at, kind = i64_at(ends, row), i64_at(source, KIND)
    if kind == INDEXED:
        chosen = u32_at(i64_at(source, LOOKUP), row)
        begin = i64_at(i64_at(source, LIST_ENDS), chosen)
        for i in range(begin, i64_at(i64_at(source, LIST_ENDS), chosen + 1)):
            put_u64(words, at, u64_at(i64_at(source, LISTS), i))
            at += 1
        put_i64(ends, row, at)
        return
    code = code_of(kind, source, buffers, place)
    if code > 0:
        put_u64(words, at, u64_at(source, WORD) | u64(code))
        put_i64(ends, row, at + 1)
    elif code < 0 and u8_at(bad, row) == 0:
        put_u8(bad, row, 1)
        put_i64(ends, row, -1 - number)


@free_kernel
def valid_bits(validity: Int, place: Int, count: Int) -> Any:
    """The validity bits of up to 64 cells from a place on."""
    if validity == 0:
        bits = ~u64(0)
    elif place & 7 == 0 and count == 64:
        bits = u64_at(validity + (place >> 3), 0)
    else:
        bits = u64(0)
        for i in range(count):
            bits |= u64(u8_at(validity, (place + i) >> 3) >> ((place + i) & 7) & 1) << u64(i)
    return bits if count == 64 else bits & ((u64(1) << u64(count)) - u64(1))


@free_kernel
def chosen_bits(source: Int, row: Int, count: Int) -> Any:
    """As `valid_bits`, of rows that have a list of words."""
    bits = u64(0)
    for i in range(count):
        bits |= u64(u32_at(i64_at(source, LOOKUP), row + i) != 0xFFFFFFFF) << u64(i)
    return bits


@free_kernel
def column_of(array: Int, source: Int) -> tuple[Int, Int, Int]:
    """Where the cells of a source lie: the addresses of the buffers, the first place, the address of the validity."""
    if i64_at(source, KIND) == INDEXED:
        return i64(0), i64(0), i64(0)
    child = i64_at(i64_at(array, _CHILDREN), i64_at(source, COLUMN))
    buffers = i64_at(child, _BUFFERS)
    return buffers, i64_at(child, _OFFSET) + i64_at(array, _OFFSET), i64_at(buffers, 0)


@free_kernel
def encode(
    array: Int, sources: Int, count: Int, rows: Int, starts: Int, words: Int, ends: Int, bad: Int, counting: Int
) -> None:
    """Count the words of each row (to ``starts``, one place on), or write them (from ``ends`` on).

    A row that holds what no event may hold is marked in ``bad``; its end is then -1 minus the number of the source.
    """
    for number in range(count):
        source = sources + 8 * SOURCE_SIZE * number
        kind = i64_at(source, KIND)
        buffers, offset, validity = column_of(array, source)
        for base in range(0, rows, 64):
            size = min(64, rows - base)
            left = chosen_bits(source, base, size) if kind == INDEXED else valid_bits(validity, offset + base, size)
            while left != 0:
                row = base + trailing_zeros(left)
                left &= left - u64(1)
                reader = i64_at(i64_at(source, MEMBERS), group_of(source, row)) if kind == GROUPED else source
                if reader == 0:
                    continue
                if not counting:
                    if u8_at(bad, row) == 0:
                        _write(reader, row, buffers, offset + row, words, ends, bad, number)
                    continue
                length = 1
                if kind == INDEXED:
                    chosen, list_ends = u32_at(i64_at(source, LOOKUP), row), i64_at(source, LIST_ENDS)
                    length = i64_at(list_ends, chosen + 1) - i64_at(list_ends, chosen)
                put_i64(starts, row + 1, i64_at(starts, row + 1) + length)


@free_kernel
def choose_lists(array: Int, source: Int, rows: Int, texts: Int, chosen: Int, unknown: Int) -> Int:
    """The list of words of each cell of a column of texts: the place of the text among those that are known, or -1.

    The rows whose text is not known are listed; returns how many.
    """
    buffers, offset, validity = column_of(array, source)
    is_large, count = i64_at(source, KIND) == LARGE_TEXT, 0
    ends, data = i64_at(buffers, 1), i64_at(buffers, 2)
    for base in range(0, rows, 64):
        size = min(64, rows - base)
        valid = valid_bits(validity, offset + base, size)
        for row in range(base, base + size):
            number = i64(0)
            if valid & u64(1):
                place = offset + row
                start = i64_at(ends, place) if is_large else u32_at(ends, place)
                end = i64_at(ends, place + 1) if is_large else u32_at(ends, place + 1)
                number = tk.find_text(texts, data + start, end - start)
                if number == 0:
                    put_u32(unknown, count, row)
                    count += 1
            valid >>= u64(1)
            put_u32(chosen, row, number - 1)
    return count


@free_kernel
def cumulate(starts: Any) -> None:
    """Counts to places."""
    for i in range(1, len(starts)):
        starts[i] += starts[i - 1]
