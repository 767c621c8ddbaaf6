"""Many events against the dense part of a segment: a bit for each event, 1,024 of them at a time.

A literal is two vectors that tell for which events it holds; a cube is the conjunction of its literals, an entry the
disjunction of its cubes. What comes out, entry by entry, is turned into rows of slots: 64 entries by 512 events are
transposed where many bits are set, and marked one by one where few are.

A *sheet* is the room for the answers of 1,024 events: a row of bits for each, over slots, with a summary bit for every
word that may hold any. Words that were transposed are noted once, for all rows.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching.jit import (
    Int,
    bit_count,
    free_kernel,
    i64,
    i64_at,
    join_u64,
    put_i64,
    put_u8,
    put_u64,
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
    LANES,
    any_bit,
    bits_set,
    both_of,
    either_of,
    every,
    one_of,
    put_vector,
    shifted_down,
    shifted_up,
    vector_at,
)

# A sheet, by place in its row. Addresses, unless said otherwise.
(
    FOUND, FOUND_SUMMARY, ASKED, ASKED_SUMMARY, STRIDE, SUMMARY_STRIDE, WIDE, TRAY, WAITING, COUNTS, SHEET_SIZE,
) = range(11)  # fmt: skip
"""STRIDE and SUMMARY_STRIDE are numbers: the words from one row to the next. WIDE has a bit for each transposed word.
TRAY is room for eight words of slots: the vectors of 64 entries each, all first ones before all second ones; WAITING
tells which of these halves are turned round.

The vectors of a dense part: first those that tell which events are noted at all; then those of its literals, of its
columns and of its groups, and behind them a byte a group."""
FEW = 16
"""Entries of a word with any bit; with more of them it is transposed without a count of bits."""
MANY_BITS = 512
HALVES = 2
EVENTS = HALVES * BITS
PAIR = HALVES * BYTES
_WORDS = HALVES * LANES
_HALF = 64 * BYTES
_BLOCK = HALVES * _HALF
TRAY_WORDS = 8
_ALL = u64(0xFFFFFFFFFFFFFFFF)


@free_kernel
def _put_pair(place: Int, word: Any) -> None:
    put_vector(place, every(word))
    put_vector(place + BYTES, every(word))


@free_kernel
def start(dense: Int, header: Int, valid: Int) -> None:
    """Set the literals to what they are without an event; no column is bound, and no event noted."""
    _put_pair(valid, u64(0))
    vectors = valid + PAIR
    base, literals = i64_at(header, ev.BASE), i64_at(dense, dk.LITERALS)
    count = i64_at(dense, dk.LITERAL_COUNT)
    for i in range(count):
        code = u32_at(base, u32_at(literals, 3 * i))
        holds = (code - u32_at(literals, 3 * i + 1)) & 0xFFFFFFFF <= u32_at(literals, 3 * i + 2)
        _put_pair(vectors + i * PAIR, _ALL if holds else u64(0))
    for i in range(count, count + i64_at(dense, dk.COLUMN_COUNT)):
        _put_pair(vectors + i * PAIR, u64(0))


@free_kernel
def note(dense: Int, header: Int, valid: Int, touched: Int, event: Int) -> None:
    """Write the loaded event's bits into the vectors of the literals it touches."""
    vectors = valid + PAIR
    axes, codes = i64_at(header, ev.TOUCHED), i64_at(header, ev.TOUCHED_CODES)
    runs, bits, literals = i64_at(dense, dk.RUNS), i64_at(dense, dk.BIT_OF), i64_at(dense, dk.LITERALS)
    known, count = i64_at(dense, dk.AXIS_COUNT), i64_at(dense, dk.LITERAL_COUNT)
    word, bit = event >> 6, u64(1) << u64(event & 63)
    join_u64(valid, word, bit)
    for t in range(touched):
        axis, code = u32_at(axes, t), u32_at(codes, t)
        if axis >= known:
            continue
        for i in range(u32_at(runs, axis), u32_at(runs, axis + 1)):
            held = u64_at(vectors, _WORDS * i + word)
            holds = (code - u32_at(literals, 3 * i + 1)) & 0xFFFFFFFF <= u32_at(literals, 3 * i + 2)
            put_u64(vectors, _WORDS * i + word, held | bit if holds else held & ~bit)
        column = u8_at(bits, axis)
        if column != dk.NO_BIT:
            join_u64(vectors, _WORDS * (count + column) + word, bit)


@free_kernel
def transpose(block: Int) -> None:
    """Transpose the eight squares of 64 by 64 bits that lie side by side in 64 vectors."""
    step, mask = 32, u64(0x00000000FFFFFFFF)
    while step:
        shift, kept = u64(step), every(mask)
        for first in range(0, 64, 2 * step):
            for k in range(first, first + step):
                one, other = vector_at(block + k * BYTES), vector_at(block + (k + step) * BYTES)
                swapped = both_of(one_of(shifted_down(one, shift), other), kept)
                put_vector(block + k * BYTES, one_of(one, shifted_up(swapped, shift)))
                put_vector(block + (k + step) * BYTES, one_of(other, swapped))
        step >>= 1
        mask ^= mask << u64(step)


@free_kernel
def _mark_bits(sheet: Int, asks: Int, slot: Int, vector: Int, first: Int) -> None:
    """Mark a slot for every event of a vector, one by one."""
    rows, summary = i64_at(sheet, FOUND + 2 * asks), i64_at(sheet, FOUND_SUMMARY + 2 * asks)
    stride, summary_stride = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE)
    word, bit = slot >> 6, u64(1) << u64(slot & 63)
    for lane in range(LANES):
        left = u64_at(vector, lane)
        while left != 0:
            event = first + (lane << 6) + trailing_zeros(left)
            left &= left - u64(1)
            join_u64(rows, event * stride + word, bit)
            join_u64(summary, event * summary_stride + (word >> 6), u64(1) << u64(word & 63))


@free_kernel
def _count(block: Int, filled: Any) -> Int:
    """How many bits the vectors of some entries have."""
    total = 0
    while filled != 0:
        at = trailing_zeros(filled)
        filled &= filled - u64(1)
        for lane in range(LANES):
            total += bit_count(u64_at(block, LANES * at + lane))
    return total


@free_kernel
def _spill(sheet: Int, word: Int, filled: Any) -> None:
    """Turn the entries of one word of slots into bits of rows. Where they are many they are only turned round, and wait
    in the tray for the words beside them."""
    block = i64_at(sheet, TRAY) + (word % TRAY_WORDS) * _BLOCK
    for half in range(HALVES):
        place, left = block + half * _HALF, filled
        if bit_count(filled) > FEW or _count(place, filled) > MANY_BITS:
            transpose(place)
            bit = u64(1) << u64(HALVES * (word % TRAY_WORDS) + half)
            put_u64(sheet, WAITING, u64_at(sheet, WAITING) | bit)
            join_u64(i64_at(sheet, WIDE), word >> 6, u64(1) << u64(word & 63))
            continue
        while left != 0:
            at = trailing_zeros(left)
            left &= left - u64(1)
            _mark_bits(sheet, 0, (word << 6) + at, place + at * BYTES, half * BITS)
            put_vector(place + at * BYTES, every(u64(0)))


@free_kernel
def _empty(sheet: Int, word: Int) -> None:
    """Write the words that wait in the tray, of which this is one, to the rows. They lie side by side there: each line
    of memory is gone to once."""
    waiting, rows, stride = u64_at(sheet, WAITING), i64_at(sheet, FOUND), 8 * i64_at(sheet, STRIDE)
    tray, first = i64_at(sheet, TRAY), rows + 8 * (word - word % TRAY_WORDS)
    for half in range(HALVES):
        for lane in range(LANES):
            place = first + (half * BITS + (lane << 6)) * stride
            for k in range(64):
                for w in range(TRAY_WORDS):
                    if waiting >> u64(HALVES * w + half) & u64(1) != 0:
                        join_u64(place, w, u64_at(tray + w * _BLOCK + half * _HALF, LANES * k + lane))
                place += stride
    for w in range(TRAY_WORDS):
        for half in range(HALVES):
            if waiting >> u64(HALVES * w + half) & u64(1) != 0:
                for k in range(64):
                    put_vector(tray + w * _BLOCK + half * _HALF + k * BYTES, every(u64(0)))
    put_u64(sheet, WAITING, u64(0))


@free_kernel
def _bind(dense: Int, valid: Int) -> None:
    """For each group of entries, the events that are noted and bind all the columns it needs; behind them all, a byte a
    group tells whether there is any."""
    vectors, needs = valid + PAIR, i64_at(dense, dk.NEED_MASKS)
    bound = vectors + PAIR * i64_at(dense, dk.LITERAL_COUNT)
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
def evaluate(dense: Int, sheet: Int, valid: Int) -> tuple[Int, Int]:
    """All entries for the noted events. Returns how many entries were evaluated and how many passed for any."""
    vectors, tray = valid + PAIR, i64_at(sheet, TRAY)
    starts, words = i64_at(dense, dk.ENTRY_STARTS), i64_at(dense, dk.ENTRY_WORDS)
    owners, groups = i64_at(dense, dk.ENTRY_OWNERS), i64_at(dense, dk.ENTRY_GROUPS)
    _bind(dense, valid)
    bound = vectors + PAIR * (i64_at(dense, dk.LITERAL_COUNT) + i64_at(dense, dk.COLUMN_COUNT))
    live = bound + PAIR * i64_at(dense, dk.NEED_COUNT)
    none, current, filled = every(u64(0)), i64(-1), u64(0)
    looked, passed = i64(0), i64(0)
    for entry in range(i64_at(dense, dk.ENTRY_COUNT)):
        group = u32_at(groups, entry)
        if not u8_at(live, group):
            continue
        looked += 1
        able, able2 = vector_at(bound + PAIR * group), vector_at(bound + PAIR * group + BYTES)
        # The end of a cube is no branch, which would be foretold wrongly at every other one.
        cube, cube2, found, found2 = able, able2, none, none
        at, end = u32_at(starts, entry), u32_at(starts, entry + 1)
        while at < end:
            word = u16_at(words, at)
            ends = every(u64(0) - u64(word >> 15))
            literal = vectors + PAIR * (word & dk.LITERAL)
            cube, cube2 = both_of(cube, vector_at(literal)), both_of(cube2, vector_at(literal + BYTES))
            found, found2 = either_of(found, both_of(cube, ends)), either_of(found2, both_of(cube2, ends))
            cube, cube2 = either_of(cube, ends), either_of(cube2, ends)
            at += 1
        found, found2 = both_of(found, able), both_of(found2, able2)
        if not any_bit(either_of(found, found2)):
            continue
        passed += 1
        owner = u32_at(owners, entry)
        slot = owner & 0x7FFFFFFF
        if slot >> 6 != current or owner >> 31:
            if filled != 0:
                _spill(sheet, current, filled)
            beside = (slot >> 6) // TRAY_WORDS == current // TRAY_WORDS and owner >> 31 == 0
            if u64_at(sheet, WAITING) != 0 and not beside:
                _empty(sheet, current)
            current, filled = slot >> 6, u64(0)
        at = tray + (slot // 64 % TRAY_WORDS) * _BLOCK + (slot & 63) * BYTES
        put_vector(at, found)
        put_vector(at + _HALF, found2)
        if owner >> 31:
            _mark_bits(sheet, 1, slot, at, 0)
            _mark_bits(sheet, 1, slot, at + _HALF, BITS)
            put_vector(at, none)
            put_vector(at + _HALF, none)
        else:
            filled |= u64(1) << u64(slot & 63)
    if filled != 0:
        _spill(sheet, current, filled)
    if u64_at(sheet, WAITING) != 0:
        _empty(sheet, current)
    return looked, passed


# ---------------------------------------------------------------------- answers


@free_kernel
def _settle_tile(row: Int, alive: Int) -> Int:
    """As `settle`, for 64 words side by side."""
    count = i64(0)
    for at in range(0, 64 * 8, BYTES):
        kept = both_of(vector_at(row + at), vector_at(alive + at))
        put_vector(row + at, kept)
        count += bits_set(kept)
    return count


@free_kernel
def settle(sheet: Int, events: Int, alive: Int, words: Int) -> Int:
    """Take out what is not alive, and count what is left of each event; returns the sum."""
    rows, summary, wide = i64_at(sheet, FOUND), i64_at(sheet, FOUND_SUMMARY), i64_at(sheet, WIDE)
    stride, summary_stride, counts = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE), i64_at(sheet, COUNTS)
    total = i64(0)
    for event in range(events):
        row, count = rows + 8 * event * stride, i64(0)
        for top in range((words + 63) >> 6):
            left = u64_at(summary, event * summary_stride + top) | u64_at(wide, top)
            if left == _ALL:
                count += _settle_tile(row + (top << 9), alive + (top << 9))
                continue
            while left != 0:
                word = (top << 6) + trailing_zeros(left)
                left &= left - u64(1)
                kept = u64_at(row, word) & u64_at(alive, word)
                put_u64(row, word, kept)
                count += bit_count(kept)
        put_i64(counts, event, count)
        total += count
    return total


@free_kernel
def emit(sheet: Int, events: Int, words: Int, out: Int) -> None:
    """Write the slots of each event, ascending, one event after the other, and clear the rows."""
    rows, summary, wide = i64_at(sheet, FOUND), i64_at(sheet, FOUND_SUMMARY), i64_at(sheet, WIDE)
    stride, summary_stride = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE)
    at = 0
    for event in range(events):
        row = rows + 8 * event * stride
        for top in range((words + 63) >> 6):
            left = u64_at(summary, event * summary_stride + top) | u64_at(wide, top)
            while left != 0:
                word = (top << 6) + trailing_zeros(left)
                left &= left - u64(1)
                rest = u64_at(row, word)
                put_u64(row, word, u64(0))
                while rest != 0:
                    put_i64(out, at, (word << 6) + trailing_zeros(rest))
                    at += 1
                    rest &= rest - u64(1)
