"""Answers in another form: bits of slots to lists of slots, and either to bitmaps as `numpy.packbits` makes them."""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.jit import (
    Int,
    bit_count,
    bytes_turned,
    free_kernel,
    i64,
    i64_at,
    join_u8,
    leading_zeros,
    put_i64,
    put_u8,
    put_u64,
    u8_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import (
    BYTES,
    LANES,
    both_of,
    either_of,
    every,
    lane_counts,
    lanes_summed,
    put_vector,
    shifted_down,
    shifted_up,
    sum_of,
    vector_at,
)

_HIGHEST = u64(1 << 63)
_ODD, _PAIRS, _NIBBLES = u64(0x5555555555555555), u64(0x3333333333333333), u64(0x0F0F0F0F0F0F0F0F)


@free_kernel
def _word_of(row: Int, at: Int, size: Int) -> Any:
    """Eight bytes of a row of bits as a word, its first bit highest; what lies behind the row is clear."""
    if at + 8 <= size:
        return bytes_turned(u64_at(row + at, 0))
    word = u64(0)
    for i in range(size - at):
        word |= u64(u8_at(row, at + i)) << u64(56 - 8 * i)
    return word


@free_kernel
def count_bits(rows: Int, count: Int, size: Int, out: Int) -> None:
    """Count the bits of rows of ``size`` bytes, the sum of each with those before it."""
    total = i64(0)
    for row in range(count):
        place, at, counts = rows + row * size, i64(0), every(u64(0))
        while at + BYTES <= size:
            counts = sum_of(counts, lane_counts(vector_at(place + at)))
            at += BYTES
        total += lanes_summed(counts)
        while at < size:
            total += bit_count(_word_of(place, at, size))
            at += 8
        put_i64(out, row, total)


@free_kernel
def list_slots(rows: Int, count: Int, size: Int, out: Int) -> Int:
    """Write the slots of rows of ``size`` bytes, ascending, one row after the other; returns how many."""
    found = 0
    for row in range(count):
        place = rows + row * size
        for at in range(0, size, 8):
            rest = _word_of(place, at, size)
            while rest != 0:
                first = leading_zeros(rest)
                put_i64(out, found, (at << 3) + first)
                found += 1
                rest ^= _HIGHEST >> u64(first)
    return found


@free_kernel
def set_bits(rows: Int, size: Int, pairs: Int, count: Int) -> None:
    """Set a bit for each pair (row, slot)."""
    for i in range(count):
        row, slot = i64_at(pairs, 2 * i), i64_at(pairs, 2 * i + 1)
        join_u8(rows + row * size, slot >> 3, 128 >> (slot & 7))


@free_kernel
def _reversed(word: Int) -> Int:
    """A word with the bits of each byte in the other order."""
    word = (word & _ODD) << u64(1) | (word >> u64(1)) & _ODD
    word = (word & _PAIRS) << u64(2) | (word >> u64(2)) & _PAIRS
    return (word & _NIBBLES) << u64(4) | (word >> u64(4)) & _NIBBLES


@free_kernel
def reversed_bytes(v: Any) -> Any:
    """A vector with the bits of each byte in the other order."""
    odd, pairs, nibbles = every(_ODD), every(_PAIRS), every(_NIBBLES)
    v = either_of(shifted_up(both_of(v, odd), u64(1)), both_of(shifted_down(v, u64(1)), odd))
    v = either_of(shifted_up(both_of(v, pairs), u64(2)), both_of(shifted_down(v, u64(2)), pairs))
    return either_of(shifted_up(both_of(v, nibbles), u64(4)), both_of(shifted_down(v, u64(4)), nibbles))


@free_kernel
def _put_bytes(to: Int, at: Int, size: Int, word: Any) -> None:
    """Write what fits of a word, the first bit of each byte highest."""
    turned = _reversed(word)
    for i in range(min(8, size - at)):
        put_u8(to, at + i, i64(turned >> u64(8 * i)) & 255)


@free_kernel
def pack_found(bits: Int, summary: Int, words: Int, alive: Int, size: Int, out: Int) -> None:
    """Marked slots that are alive as ``size`` bytes, the first bit highest; clears the marks."""
    for top in range((words + 63) >> 6):
        if u64_at(summary, top) == 0:
            for at in range(top << 9, min(size, (top + 1) << 9)):
                put_u8(out, at, 0)
            continue
        put_u64(summary, top, u64(0))
        for word in range(top << 6, min(words, (top + 1) << 6), LANES):
            place, at = bits + 8 * word, 8 * word
            if at + BYTES <= size:
                put_vector(out + at, reversed_bytes(both_of(vector_at(place), vector_at(alive + at))))
            else:
                for i in range(min(LANES, words - word)):
                    _put_bytes(out, at + 8 * i, size, u64_at(place, i) & u64_at(alive, word + i))
            put_vector(place, every(u64(0)))


@free_kernel
def pack_slots(
    offsets: Int, slots: Int, rows: Int, positions: Int, known: Int, size: Int, out: Int, set: Int
) -> None:  # fmt: skip
    """Lists of slots as rows of ``size`` bytes that are all 0 before; ``positions`` has the places of known slots.
    Where bits are not ``set``, the same rows become all 0 again."""
    at = i64_at(offsets, 0)
    for row in range(rows):
        to, end = out + row * size, i64_at(offsets, row + 1)
        while at < end:
            slot = i64_at(slots, at)
            if slot < known:
                bit = i64_at(positions, slot)
                if set:
                    join_u8(to, bit >> 3, 128 >> (bit & 7))
                else:
                    put_u8(to, bit >> 3, 0)
            at += 1
