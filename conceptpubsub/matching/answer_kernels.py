"""Answers in another form: bits of slots to lists of slots, and either to bitmaps as `numpy.packbits` makes them."""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    join_u8,
    join_u64,
    put_i64,
    put_u8,
    put_u64,
    trailing_zeros,
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import (
    BYTES,
    LANES,
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
def _reversed_bytes(v: Any) -> Any:
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
                put_vector(out + at, _reversed_bytes(both_of(vector_at(place), vector_at(alive + at))))
            else:
                for i in range(min(LANES, words - word)):
                    _put_bytes(out, at + 8 * i, size, u64_at(place, i) & u64_at(alive, word + i))
            put_vector(place, every(u64(0)))


@free_kernel
def pack_words(words: Int, stride: Int, rows: Int, size: Int, out: Int) -> None:
    """Rows of bits as rows of ``size`` bytes, the first bit highest; a bit's place is its slot."""
    for row in range(rows):
        place, to = words + 8 * row * stride, out + row * size
        at = 0
        while at + BYTES <= size:
            put_vector(to + at, _reversed_bytes(vector_at(place + at)))
            at += BYTES
        while at < size:
            _put_bytes(to, at, size, u64_at(place, at >> 3))
            at += 8


@free_kernel
def pack_slots(offsets: Int, slots: Int, rows: Int, positions: Int, known: Int, size: Int, out: Int) -> None:
    """Lists of slots as rows of ``size`` bytes that are all 0 before; ``positions`` has the places of known slots."""
    at = i64_at(offsets, 0)
    for row in range(rows):
        to, end = out + row * size, i64_at(offsets, row + 1)
        while at < end:
            slot = i64_at(slots, at)
            if slot < known:
                bit = i64_at(positions, slot)
                join_u8(to, bit >> 3, 128 >> (bit & 7))
            at += 1
