"""Blocks of rows of a table: their columns to cells.

An *axis row* tells how the codes of one axis become cells. A *block* is a matrix with a row for each axis and a column
for each row of the table: small enough to stay in the cache between being filled and being read.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    put_i64,
    put_u8,
    put_u32,
    trailing_zeros,
    u8_at,
    u32_at,
    u64,
    u64_at,
)

BLOCK = 1024
EDGES, BUCKETS, SHIFT, BASE, AXIS_SIZE = range(5)
"""An axis row: where its cells begin; for each bucket of codes the cell of its first code; how many codes there are to
a bucket, as a power of two; the cell where nothing is bound."""
_TOP = 0xFFFFFFFF


@free_kernel
def cell_of(row: Int, code: Int) -> Int:
    """The cell of a code."""
    edges, buckets = i64_at(row, EDGES), i64_at(row, BUCKETS)
    bucket = code >> i64_at(row, SHIFT)
    low, high = u32_at(buckets, bucket), u32_at(buckets, bucket + 1)
    while high - low > 1:
        middle = (low + high + 1) >> 1
        if u32_at(edges, middle) <= code:
            low = middle
        else:
            high = middle - 1
    return low + (high - low) * (u32_at(edges, high) <= code)


@free_kernel
def _put(block: Int, axes: Int, places: Int, axis: Int, code: Int, column: Int) -> None:
    """Set the cell of an axis in one column of a block, if any cube asks for that axis."""
    place = u32_at(places, axis)
    if place != _TOP:
        put_u32(block, place * BLOCK + column, cell_of(axes + 8 * AXIS_SIZE * place, code))


@free_kernel
def _put_words(
    source: Int, chosen: Int, header: Int, block: Int, axes: Int, places: Int, column_of: Int, column: Int
) -> None:
    """Do to a block what the words of a list say."""
    words, ends = i64_at(source, ak.LISTS), i64_at(source, ak.LIST_ENDS)
    i, last = i64_at(ends, chosen), i64_at(ends, chosen + 1)
    while i < last:
        word = u64_at(words, i)
        payload = i64(word & u64(_TOP))
        i += 1
        if i64(word >> u64(ev.KIND_SHIFT)) == ev.GROUP:
            bound = i64(0)
            for _ in range(payload):
                pair = u64_at(words, i)
                i += 1
                axis = i64(pair >> u64(ev.TARGET_SHIFT))
                bound = u32_at(column_of, axis)
                _put(block, axes, places, axis, i64(pair & u64(_TOP)), column)
            _put(block, axes, places, bound, ev.SINGLE, column)
        else:
            _put_target(word, payload, header, block, axes, places, column_of, column)


@free_kernel
def _put_target(
    word: Any, code: Int, header: Int, block: Int, axes: Int, places: Int, column_of: Int, column: Int
) -> None:
    """Set the cells of all axes of a word's target, and that their columns are bound."""
    target = i64(word >> u64(ev.TARGET_SHIFT)) & 0x3FFFFFFF
    ends, targets = i64_at(header, ev.TARGET_ENDS), i64_at(header, ev.TARGET_AXES)
    for j in range(u32_at(ends, target), u32_at(ends, target + 1)):
        axis = u32_at(targets, j)
        bound = u32_at(column_of, axis)
        if axis != bound:
            _put(block, axes, places, axis, code, column)
        _put(block, axes, places, bound, ev.SINGLE, column)


@free_kernel
def _place_of(word: Any, header: Int, places: Int, column_of: Int) -> tuple[Int, Int]:
    """The one axis that a word without groups touches, and its place: of many only one is asked for, as a rule.

    Place -1: there are several. Place _TOP: there is none.
    """
    if i64(word >> u64(ev.KIND_SHIFT)) == ev.GROUP:
        return i64(-1), i64(0)
    target = i64(word >> u64(ev.TARGET_SHIFT)) & 0x3FFFFFFF
    ends, targets = i64_at(header, ev.TARGET_ENDS), i64_at(header, ev.TARGET_AXES)
    found, touched = i64(_TOP), i64(0)
    for j in range(u32_at(ends, target), u32_at(ends, target + 1)):
        axis = u32_at(targets, j)
        bound = u32_at(column_of, axis)
        for one in (axis, bound):
            if u32_at(places, one) != _TOP and (one == axis or axis != bound):
                if found != _TOP:
                    return i64(-1), i64(0)
                found, touched = u32_at(places, one), one
    return found, touched


@free_kernel
def _resolve(source: Int, header: Int, axes: Int, places: Int, column_of: Int) -> None:
    """Note the place that all words of a source go to, and for lists of one word the cell; -1 where they differ."""
    if i64_at(source, ak.KIND) != ak.INDEXED:
        place, axis = _place_of(u64_at(source, ak.WORD), header, places, column_of)
        alone = place == _TOP or axis != u32_at(column_of, axis)
        put_i64(source, ak.PLACE, place if alone else i64(-1))
        return
    words, ends = i64_at(source, ak.LISTS), i64_at(source, ak.LIST_ENDS)
    found = i64(-2)
    for chosen in range(i64_at(source, ak.LIST_COUNT)):
        begin, end = i64_at(ends, chosen), i64_at(ends, chosen + 1)
        place, code = _place_of_list(words, begin, end, header, places, column_of)
        if place < 0 or place == _TOP or (found != -2 and place != found):
            found = i64(-1)
            break
        found = place
        put_u32(i64_at(source, ak.LIST_CELLS), chosen, cell_of(axes + 8 * AXIS_SIZE * place, code))
    put_i64(source, ak.PLACE, found if found >= 0 else i64(-1))


@free_kernel
def _place_of_list(words: Int, begin: Int, end: Int, header: Int, places: Int, column_of: Int) -> tuple[Int, Int]:
    """The one place that a list of words touches, and the code there; place -1: there is none, or several."""
    if begin == end:
        return i64(-1), i64(0)
    word = u64_at(words, begin)
    if i64(word >> u64(ev.KIND_SHIFT)) != ev.GROUP:
        place, axis = _place_of(word, header, places, column_of)
        alone = end == begin + 1
        code = i64(word & u64(_TOP)) if axis != u32_at(column_of, axis) else i64(ev.SINGLE)
        return place if alone else i64(-1), code
    if end != begin + 1 + i64(word & u64(_TOP)):
        return i64(-1), i64(0)
    found, code, bound = i64(-1), i64(0), i64(0)
    for i in range(begin + 1, end):
        pair = u64_at(words, i)
        axis = i64(pair >> u64(ev.TARGET_SHIFT))
        bound = u32_at(column_of, axis)
        if u32_at(places, axis) != _TOP:
            if found >= 0:
                return i64(-1), i64(0)
            found, code = u32_at(places, axis), i64(pair & u64(_TOP))
    return found if u32_at(places, bound) == _TOP else i64(-1), code


@free_kernel
def resolve(sources: Int, count: Int, header: Int, axes: Int, places: Int, column_of: Int) -> None:
    """Work out for the sources of a batch, and their members, where their words go."""
    for number in range(count):
        source = sources + 8 * ak.SOURCE_SIZE * number
        if i64_at(source, ak.KIND) != ak.GROUPED:
            _resolve(source, header, axes, places, column_of)
            continue
        for group in range(i64_at(source, ak.MEMBER_COUNT)):
            member = i64_at(i64_at(source, ak.MEMBERS), group)
            if member != 0:
                _resolve(member, header, axes, places, column_of)


@free_kernel
def _copy_cells(source: Int, line: Int, first: Int, rows: Int) -> None:
    """The cells of an axis to a line of a block, from a source whose lists are a cell each."""
    lookup, cells = i64_at(source, ak.LOOKUP), i64_at(source, ak.LIST_CELLS)
    for column in range(rows):
        chosen = u32_at(lookup, first + column)
        if chosen != _TOP:
            put_u32(line, column, u32_at(cells, chosen))


@free_kernel
def fill(
    array: Int, sources: Int, count: Int, header: Int, block: Int, axes: Int, axis_count: Int, places: Int,
    column_of: Int, bad: Int, wrong: Any, first: Int, rows: Int,
) -> Int:  # fmt: skip
    """The cells of some rows. A row that no event may be is marked in ``bad``, with the source that says so.

    Returns how many such rows there are.
    """
    found = 0
    for place in range(axis_count):
        base = i64_at(axes + 8 * AXIS_SIZE * place, BASE)
        for i in range(rows):
            put_u32(block, place * BLOCK + i, base)
    for number in range(count):
        source = sources + 8 * ak.SOURCE_SIZE * number
        kind, alone = i64_at(source, ak.KIND), i64_at(source, ak.PLACE)
        if kind == ak.INDEXED and alone >= 0:
            _copy_cells(source, block + 4 * BLOCK * alone, first, rows)
            continue
        buffers, offset, validity = ak.column_of(array, source)
        for start in range(0, rows, 64):
            size, begin = min(64, rows - start), first + start
            if kind == ak.INDEXED:
                left = ak.chosen_bits(source, begin, size)
            else:
                left = ak.valid_bits(validity, offset + begin, size)
            while left != 0:
                column = start + trailing_zeros(left)
                row = first + column
                left &= left - u64(1)
                if kind == ak.INDEXED:
                    chosen = u32_at(i64_at(source, ak.LOOKUP), row)
                    _put_words(source, chosen, header, block, axes, places, column_of, column)
                    continue
                reader = source
                if kind == ak.GROUPED:
                    reader = i64_at(i64_at(source, ak.MEMBERS), ak.group_of(source, row))
                    if reader == 0:
                        continue
                code = ak.code_of(i64_at(reader, ak.KIND), reader, buffers, offset + row)
                if code > 0:
                    place = i64_at(reader, ak.PLACE)
                    if place < 0:
                        word = u64_at(reader, ak.WORD)
                        _put_target(word, code, header, block, axes, places, column_of, column)
                    elif place != _TOP:
                        put_u32(block, place * BLOCK + column, cell_of(axes + 8 * AXIS_SIZE * place, code))
                elif code < 0 and u8_at(bad, row) == 0:
                    put_u8(bad, row, 1)
                    wrong[row] = number
                    found += 1
    return found
