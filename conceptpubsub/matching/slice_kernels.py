"""Many events against the dense part of a segment: a bit for each event, 1,024 of them at a time.

A pair of literals is two vectors that tell for which events both hold; a cube is the conjunction of its pairs, an entry
the disjunction of its cubes. Entries are taken by blocks of 512 slots, within a block by length, so that the processor
foretells where they end. What comes out is marked on a sheet, or turned round into lines where it is much, see
`conceptpubsub.matching.sheet_kernels`.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import sheet_kernels as sh
from conceptpubsub.matching import turn_kernels as tn
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    join_u64,
    put_i64,
    put_u8,
    put_u16,
    put_u32,
    trailing_zeros,
    u8_at,
    u16_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import (
    BITS,
    BYTES,
    CODES,
    LANES,
    admitted,
    any_bit,
    both_of,
    either_of,
    every,
    lane_counts,
    lanes_summed,
    one_of,
    put_vector,
    sum_of,
    vector_at,
)

PAIR = sh.HALVES * BYTES
"""The vectors of a dense part: first those that tell which events are noted at all; then those of its pairs, of its
columns and of its groups, and behind them a byte a group."""
CODE_BYTES = 4 * sh.EVENTS + BYTES
"""From the codes of one axis to those of the next: rows a power of two apart would share few cache lines."""
_WORDS = sh.HALVES * LANES


@free_kernel
def start(dense: Int, header: Int, valid: Int, codes: Int) -> None:
    """Set the codes of all events to what they are without an event; no column is bound, and no event noted."""
    columns = valid + PAIR * (1 + i64_at(dense, dk.PAIR_COUNT))
    for place in (valid, valid + BYTES):
        put_vector(place, every(u64(0)))
    for place in range(columns, columns + PAIR * i64_at(dense, dk.COLUMN_COUNT), BYTES):
        put_vector(place, every(u64(0)))
    base, axes = i64_at(header, ev.BASE), i64_at(dense, dk.ROW_AXES)
    for row in range(i64_at(dense, dk.ROW_COUNT)):
        code = u64(u32_at(base, u32_at(axes, row)))
        for place in range(0, CODE_BYTES, BYTES):
            put_vector(codes + row * CODE_BYTES + place, every(code << u64(32) | code))


@free_kernel
def note(dense: Int, header: Int, valid: Int, codes: Int, touched: Int, event: Int) -> None:
    """Note the loaded event: its codes, and the columns it binds."""
    axes, given = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    rows, bits, known = i64_at(dense, dk.ROW_OF), i64_at(dense, dk.BIT_OF), i64_at(dense, dk.AXIS_COUNT)
    columns = valid + PAIR * (1 + i64_at(dense, dk.PAIR_COUNT))
    word, bit = event >> 6, u64(1) << u64(event & 63)
    join_u64(valid, word, bit)
    for t in range(touched):
        axis = u32_at(axes, t)
        if axis >= known:
            continue
        row, column = u16_at(rows, axis), u8_at(bits, axis)
        if row != dk.NO_ROW:
            put_u32(codes + row * CODE_BYTES, event, u32_at(given, t))
        if column != dk.NO_BIT:
            join_u64(columns, _WORDS * column + word, bit)


@free_kernel
def _hold(dense: Int, valid: Int, codes: Int) -> None:
    """For each pair of literals, the events for which both hold."""
    literals, pairs, rows = i64_at(dense, dk.LITERALS), i64_at(dense, dk.PAIRS), i64_at(dense, dk.PAIR_ROWS)
    for i in range(i64_at(dense, dk.PAIR_COUNT)):
        one, other = 3 * u16_at(pairs, 2 * i), 3 * u16_at(pairs, 2 * i + 1)
        low, span = u32_at(literals, one + 1), u32_at(literals, one + 2)
        low2, span2 = u32_at(literals, other + 1), u32_at(literals, other + 2)
        row, to = codes + u16_at(rows, i) * CODE_BYTES, valid + PAIR * (1 + i)
        for part in range(sh.EVENTS // CODES):
            at = row + part * BYTES
            put_u16(to, part, admitted(at, low, span) & admitted(at, low2, span2))


@free_kernel
def _bind(dense: Int, valid: Int) -> None:
    """For each group of entries, the events that are noted and bind all the columns it needs; behind them all, a byte a
    group tells whether there is any."""
    vectors, needs = valid + PAIR, i64_at(dense, dk.NEED_MASKS)
    bound = vectors + PAIR * i64_at(dense, dk.PAIR_COUNT)
    groups = bound + PAIR * i64_at(dense, dk.COLUMN_COUNT)
    count = i64_at(dense, dk.NEED_COUNT)
    for group in range(count):
        for part in range(0, PAIR, BYTES):
            mask, found = u64_at(needs, group), vector_at(valid + part)
            while mask != 0:
                found = both_of(found, vector_at(bound + PAIR * trailing_zeros(mask) + part))
                mask &= mask - u64(1)
            put_vector(groups + PAIR * group + part, found)
        place = groups + PAIR * group
        any_event = any_bit(either_of(vector_at(place), vector_at(place + BYTES)))
        put_u8(groups + PAIR * count, group, i64(any_event))


@free_kernel
def _passing(dense: Int, vectors: Int, entry: Int, inverted: Int, able: Any, able2: Any) -> tuple[Any, Any]:
    """For which events an entry matches, of those that are able to."""
    starts, words = i64_at(dense, dk.ENTRY_STARTS), i64_at(dense, dk.ENTRY_WORDS)
    none, turned = every(u64(0)), every(u64(0) - u64(inverted))
    # The end of a cube is no branch, which would be foretold wrongly at every other one.
    cube, cube2, found, found2 = able, able2, none, none
    for at in range(u32_at(starts, entry), u32_at(starts, entry + 1)):
        word = u16_at(words, at)
        ends = every(u64(0) - u64(word >> 15))
        literal = vectors + PAIR * (word & dk.LITERAL)
        cube = both_of(cube, one_of(vector_at(literal), turned))
        cube2 = both_of(cube2, one_of(vector_at(literal + BYTES), turned))
        found, found2 = either_of(found, both_of(cube, ends)), either_of(found2, both_of(cube2, ends))
        cube, cube2 = either_of(cube, ends), either_of(cube2, ends)
    return both_of(one_of(found, turned), able), both_of(one_of(found2, turned), able2)


@free_kernel
def _finish_block(sheet: Int, block: Int, filled: Int) -> None:
    """Turn a block of answers into lines; ``filled`` has a byte for each of its slots that has been answered."""
    room, none = i64_at(sheet, sh.BLOCK), every(u64(0))
    for slot in range(tn.BLOCK_SLOTS):
        if u8_at(filled, slot) == 0:
            at = room + (slot >> 6) * tn.WORD_BYTES + (slot & 63) * BYTES
            put_vector(at, none)
            put_vector(at + tn.BLOCK_BYTES, none)
        put_u8(filled, slot, 0)
    rows, size, line = i64_at(sheet, sh.ROWS), i64_at(sheet, sh.LINE_BYTES), BYTES * block
    lined, alive = i64_at(sheet, sh.LINED), i64_at(sheet, sh.ALIVE) + line
    joins, width = u8_at(lined, block), min(BYTES, size - line)
    for half in range(sh.HALVES):
        to = i64_at(sheet, sh.LINES) + half * BITS * size + line
        block_at, events = room + half * tn.BLOCK_BYTES, rows - half * BITS
        tn.write_lines(block_at, events, alive, joins, i64_at(sheet, sh.ROOM), width, to, size)
    put_u8(lined, block, 1)


@free_kernel
def _answer_block(dense: Int, sheet: Int, valid: Int, first: Int, last: Int, asks: Int) -> tuple[Int, Int]:
    """The entries from first to last, which are of one block of slots. Returns how many were evaluated, and passed."""
    vectors = valid + PAIR
    owners, groups = i64_at(dense, dk.ENTRY_OWNERS), i64_at(dense, dk.ENTRY_GROUPS)
    turns = i64_at(dense, dk.ENTRY_TURNS)
    bound = vectors + PAIR * (i64_at(dense, dk.PAIR_COUNT) + i64_at(dense, dk.COLUMN_COUNT))
    live = bound + PAIR * i64_at(dense, dk.NEED_COUNT)
    room, filled = i64_at(sheet, sh.BLOCK), i64_at(sheet, sh.ROOM) + LANES * BYTES
    looked, passed, answered, seen = i64(0), i64(0), i64(0), every(u64(0))
    writes_lines = i64_at(sheet, sh.WRITES_LINES) and not asks
    for place in range(first, last):
        entry = first + u16_at(turns, place)
        form = u32_at(groups, entry)
        group, inverted = form & ~dk.INVERTED, form >> 31
        if not u8_at(live, group):
            continue
        looked += 1
        able, able2 = vector_at(bound + PAIR * group), vector_at(bound + PAIR * group + BYTES)
        found, found2 = _passing(dense, vectors, entry, inverted, able, able2)
        slot = u32_at(owners, entry) & 0x7FFFFFFF
        at = room + ((slot >> 6) & 7) * tn.WORD_BYTES + (slot & 63) * BYTES
        if writes_lines:
            put_vector(at, found)
            put_vector(at + tn.BLOCK_BYTES, found2)
            put_u8(filled, slot & (tn.BLOCK_SLOTS - 1), 1)
            answered += 1
            passed += i64(any_bit(either_of(found, found2)))
            seen = sum_of(seen, sum_of(lane_counts(found), lane_counts(found2)))
            continue
        if not any_bit(either_of(found, found2)):
            continue
        passed += 1
        put_vector(at, found)
        put_vector(at + tn.BLOCK_BYTES, found2)
        more = sh.mark_bits(sheet, asks, slot, at, 0) + sh.mark_bits(sheet, asks, slot, at + tn.BLOCK_BYTES, BITS)
        if not asks:
            put_i64(sheet, sh.BITS_SEEN, i64_at(sheet, sh.BITS_SEEN) + more)
            writes_lines = i64(sh.is_many(sheet))
    if answered:
        _finish_block(sheet, u32_at(owners, first) // tn.BLOCK_SLOTS, filled)
    put_i64(sheet, sh.BITS_SEEN, i64_at(sheet, sh.BITS_SEEN) + lanes_summed(seen))
    return looked, passed


@free_kernel
def evaluate(dense: Int, sheet: Int, valid: Int, codes: Int) -> tuple[Int, Int]:
    """All entries for the noted events. Returns how many entries were evaluated and how many passed for any."""
    _hold(dense, valid, codes)
    _bind(dense, valid)
    owners, count = i64_at(dense, dk.ENTRY_OWNERS), i64_at(dense, dk.ENTRY_COUNT)
    looked, passed, first = i64(0), i64(0), i64(0)
    while first < count:
        block, last = u32_at(owners, first) // tn.BLOCK_SLOTS, first + 1
        while last < count and u32_at(owners, last) // tn.BLOCK_SLOTS == block:
            last += 1
        more, right = _answer_block(dense, sheet, valid, first, last, u32_at(owners, first) >> 31)
        looked, passed, first = looked + more, passed + right, last
        put_i64(sheet, sh.SLOTS_SEEN, i64_at(sheet, sh.SLOTS_SEEN) + tn.BLOCK_SLOTS)
        put_i64(sheet, sh.WRITES_LINES, i64(sh.is_many(sheet)))
    return looked, passed
