"""Blocks of rows of a table: their columns to cells, and the cubes that admit a row's cells.

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
    put_u64,
    trailing_zeros,
    u8_at,
    u32_at,
    u64,
    u64_at,
)

BLOCK = 1024
EDGES, BUCKETS, SHIFT, BASE, AXIS_SIZE = range(5)
"""An axis row: where its cells begin; for each bucket of codes the cell of its first code; codes to a bucket, as a power
of two; the cell where nothing is bound."""
_TOP = 0xFFFFFFFF
COPIED = 8
_FEW = 4
"""Records that are looked at without stopping at the first that fails."""


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
        at = i64_at(ends, chosen)
        if i64_at(ends, chosen + 1) != at + 1:
            found = i64(-1)
            break
        word = u64_at(words, at)
        place, axis = _place_of(word, header, places, column_of)
        if place < 0 or place == _TOP or (found != -2 and place != found):
            found = i64(-1)
            break
        found = place
        code = i64(word & u64(_TOP)) if axis != u32_at(column_of, axis) else i64(ev.SINGLE)
        put_u32(i64_at(source, ak.LIST_CELLS), chosen, cell_of(axes + 8 * AXIS_SIZE * place, code))
    put_i64(source, ak.PLACE, found if found >= 0 else i64(-1))


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
                    if alone >= 0:
                        put_u32(block, alone * BLOCK + column, u32_at(i64_at(source, ak.LIST_CELLS), chosen))
                        continue
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
def match_rows(
    array: Int, sources: Int, count: Int, header: Int, block: Int, axes: Int, axis_count: Int, places: Int,
    column_of: Int, bad: Int, wrong: Any, begin: Int, rows: Int, entries: Any, nodes: Int, lists: Int, stream: Int,
    width: Int, cubes: Int, unique: Int, alive: Int, before: Int, offsets: Int, out: Any, asked: Any, room: Int, found: Int, state: Any,
) -> Int:  # fmt: skip
    """Match rows from ``begin`` on, block by block; returns the first that has not been done, for want of room."""
    first = begin
    while first < rows:
        size = min(BLOCK, rows - first)
        state[4] += fill(
            array, sources, count, header, block, axes, axis_count, places, column_of, bad, wrong, first, size
        )
        done = _match_block(
            block, size, first, bad, entries, nodes, lists, stream, width, cubes, unique, alive, before, offsets, out,
            asked, room, found, state,
        )  # fmt: skip
        first += done
        if done < size:
            break
    return first


@free_kernel
def _gather(
    block: Int, begin: Int, rows: Int, first: Int, bad: Int, entries: Any, nodes: Int, lists: Int, cubes: Int,
    found: Int, found_rows: Int, room: Int, runs: Int,
) -> tuple[Int, Int]:  # fmt: skip
    """The cubes that stand where rows come by; returns how many, and the first row for which there was no room.

    So many are copied at once that short lists, and empty ones, need no branch.
    """
    count, row = i64(0), begin
    while row < rows and count + cubes + COPIED <= room:
        good, several = 1 - u8_at(bad, first + row), i64(0)
        for e in range(len(entries)):
            node = entries[e, 2] + (u32_at(block, entries[e, 0] * BLOCK + row) >> entries[e, 1])
            low, high = u32_at(nodes, node), u32_at(nodes, node + 1)
            for j in range(COPIED // 2):  # two at a time
                put_u64(found + 4 * count, j, u64_at(lists + 4 * low, j))
                put_u64(found_rows + 4 * count, j, u64(row << 32 | row))
            for j in range(COPIED, high - low):
                put_u32(found, count + j, u32_at(lists, low + j))
                put_u32(found_rows, count + j, row)
            count += (high - low) * good
            several += high > low
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
    block: Int, rows: Int, first: Int, bad: Int, entries: Any, nodes: Int, lists: Int, stream: Int, width: Int,
    cubes: Int, unique: Int, alive: Int, before: Int, offsets: Int, out: Any, asked: Any, room: Int, found: Int,
    state: Any,
) -> Int:  # fmt: skip
    """The slots that match the rows of a block, ascending; returns the first row that had no room.

    ``state``: how many slots were found, how many are to be asked about, how many cubes were looked at, how many passed;
    and how many rows are bad.
    """
    count, asked_count, passed, out_at = state[0], state[1], state[3], i64(out.ctypes.data)
    found_rows, runs = found + 4 * room, found + 8 * room
    begin = i64(0)
    while begin < rows:
        gathered, end = _gather(
            block, begin, rows, first, bad, entries, nodes, lists, cubes, found, found_rows, room, runs
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
