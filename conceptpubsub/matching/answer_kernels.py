"""Answers in another form: bits of slots to lists of slots, and either to bitmaps as `numpy.packbits` makes them."""

from __future__ import annotations

from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    join_u8,
    join_u64,
    put_i64,
    put_u8,
    trailing_zeros,
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import (
    BYTES,
    both_of,
    either_of,
    every,
    put_vector,
    shifted_down,
    shifted_up,
    vector_at,
)

_ODD, _PAIRS, _NIBBLES = u64(0x5555555555555555), u64(0x3333333333333333), u64(0x0F0F0F0F0F0F0F0F)


@free_kernel
def list_slots(words: Int, stride: Int, rows: Int, used: Int, out: Int) -> Int:
    """Write the slots of each row, ascending, one row after the other; returns how many."""
    at = 0
    for row in range(rows):
        place = words + 8 * row * stride
        for word in range(used):
            rest = u64_at(place, word)
            while rest != 0:
                put_i64(out, at, (word << 6) + trailing_zeros(rest))
                at += 1
                rest &= rest - u64(1)
    return at


@free_kernel
def set_bits(words: Int, stride: Int, pairs: Int, count: Int, counts: Int) -> None:
    """Set a bit for each pair (row, slot), and count those that are new."""
    for i in range(count):
        row, slot = i64_at(pairs, 2 * i), i64_at(pairs, 2 * i + 1)
        place, bit = row * stride + (slot >> 6), u64(1) << u64(slot & 63)
        if u64_at(words, place) & bit == 0:
            join_u64(words, place, bit)
            put_i64(counts, row, i64_at(counts, row) + 1)


@free_kernel
def _reversed(word: Int) -> Int:
    """A word with the bits of each byte in the other order."""
    word = (word & _ODD) << u64(1) | (word >> u64(1)) & _ODD
    word = (word & _PAIRS) << u64(2) | (word >> u64(2)) & _PAIRS
    return (word & _NIBBLES) << u64(4) | (word >> u64(4)) & _NIBBLES


@free_kernel
def pack_words(words: Int, stride: Int, rows: Int, size: Int, out: Int) -> None:
    """Rows of bits as rows of ``size`` bytes, the first bit highest; a bit's place is its slot."""
    odd, pairs, nibbles = every(_ODD), every(_PAIRS), every(_NIBBLES)
    for row in range(rows):
        place, to = words + 8 * row * stride, out + row * size
        at = 0
        while at + BYTES <= size:
            v = vector_at(place + at)
            v = either_of(shifted_up(both_of(v, odd), u64(1)), both_of(shifted_down(v, u64(1)), odd))
            v = either_of(shifted_up(both_of(v, pairs), u64(2)), both_of(shifted_down(v, u64(2)), pairs))
            v = either_of(shifted_up(both_of(v, nibbles), u64(4)), both_of(shifted_down(v, u64(4)), nibbles))
            put_vector(to + at, v)
            at += BYTES
        while at < size:
            word = _reversed(u64_at(place, at >> 3))
            for i in range(min(8, size - at)):
                put_u8(to, at + i, i64(word >> u64(8 * i)) & 255)
            at += 8


@free_kernel
def pack_slots(offsets: Int, slots: Int, rows: Int, positions: Int, size: Int, out: Int) -> None:
    """Lists of slots as rows of ``size`` bytes that are all 0 before; ``positions`` has the place of each slot."""
    at = i64_at(offsets, 0)
    for row in range(rows):
        to, end = out + row * size, i64_at(offsets, row + 1)
        while at < end:
            bit = i64_at(positions, i64_at(slots, at))
            join_u8(to, bit >> 3, 128 >> (bit & 7))
            at += 1
