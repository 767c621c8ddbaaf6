"""A block of answers turned round: from a vector of events for each slot to a line of slots for each event.

A *block* is 512 slots by 512 events. It is a matrix of bits, and to exchange a bit of the row's number with one of the
column's is a step of its transposition: three steps inside octets of slots, three inside words of 64, three between the
lanes of words. Eight vectors stay in registers for three steps each.

A *line* is what `numpy.packbits` makes of 512 slots: the first in the highest bit of the first byte.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.eights import eight_at, put_eight
from conceptpubsub.matching.jit import Int, free_kernel, put_u8, u8_at, u64
from conceptpubsub.matching.vectors import (
    BITS,
    BYTES,
    LANES,
    both_of,
    every,
    lanes_1,
    lanes_2,
    lanes_4,
    one_of,
    other_lanes_1,
    other_lanes_2,
    other_lanes_4,
    put_vector,
    shifted_down,
    shifted_up,
    vector_at,
)

BLOCK_SLOTS = BITS
WORD_BYTES = 65 * BYTES
"""From one word of slots to the next: rows a power of two apart would share few cache lines."""
BLOCK_BYTES = LANES * WORD_BYTES
_OCTET_BYTES = 8 * BYTES
_IN_OCTETS = (u64(4), u64(0x0F0F0F0F0F0F0F0F), u64(2), u64(0x3333333333333333), u64(1), u64(0x5555555555555555))
_IN_WORDS = (u64(32), u64(0x00000000FFFFFFFF), u64(16), u64(0x0000FFFF0000FFFF), u64(8), u64(0x00FF00FF00FF00FF))
"""Shifts, and the bits that stay where they are."""


@free_kernel
def _exchanged(one: Any, other: Any, shift: Any, kept: Any) -> tuple[Any, Any]:
    """Two rows of squares: the upper right quarters of one are exchanged with the lower left ones of the other."""
    moved = both_of(one_of(shifted_down(one, shift), other), every(kept))
    return one_of(one, shifted_up(moved, shift)), one_of(other, moved)


@free_kernel
def _turn_eight(
    first: Int, step: Int, to: Int, to_step: Int, far: Any, far_kept: Any, near: Any, near_kept: Any, beside: Any,
    beside_kept: Any,
) -> None:  # fmt: skip
    """Three steps on eight vectors, from ``first`` on: by ``far`` bits, by ``near``, and by ``beside``."""
    a, b, c, d, e, f, g, h = eight_at(first, step)
    a, e = _exchanged(a, e, far, far_kept)
    b, f = _exchanged(b, f, far, far_kept)
    c, g = _exchanged(c, g, far, far_kept)
    d, h = _exchanged(d, h, far, far_kept)
    a, c = _exchanged(a, c, near, near_kept)
    b, d = _exchanged(b, d, near, near_kept)
    e, g = _exchanged(e, g, near, near_kept)
    f, h = _exchanged(f, h, near, near_kept)
    a, b = _exchanged(a, b, beside, beside_kept)
    c, d = _exchanged(c, d, beside, beside_kept)
    e, f = _exchanged(e, f, beside, beside_kept)
    g, h = _exchanged(g, h, beside, beside_kept)
    put_eight(to, to_step, a, b, c, d, e, f, g, h)


@free_kernel
def _turn_lanes(first: Int, step: Int) -> Any:
    """Eight vectors as rows of eight lanes, transposed."""
    a, b, c, d, e, f, g, h = eight_at(first, step)
    a, e = lanes_4(a, e), other_lanes_4(a, e)
    b, f = lanes_4(b, f), other_lanes_4(b, f)
    c, g = lanes_4(c, g), other_lanes_4(c, g)
    d, h = lanes_4(d, h), other_lanes_4(d, h)
    a, c = lanes_2(a, c), other_lanes_2(a, c)
    b, d = lanes_2(b, d), other_lanes_2(b, d)
    e, g = lanes_2(e, g), other_lanes_2(e, g)
    f, h = lanes_2(f, h), other_lanes_2(f, h)
    a, b = lanes_1(a, b), other_lanes_1(a, b)
    c, d = lanes_1(c, d), other_lanes_1(c, d)
    e, f = lanes_1(e, f), other_lanes_1(e, f)
    g, h = lanes_1(g, h), other_lanes_1(g, h)
    return a, b, c, d, e, f, g, h


@free_kernel
def turn_squares(block: Int) -> None:
    """Transpose the 64 squares of 64 by 64 bits of a block, where they lie; the bits of each byte are then in the
    other order of its slots."""
    for word in range(block, block + BLOCK_BYTES, WORD_BYTES):
        for octet in range(word, word + 8 * _OCTET_BYTES, _OCTET_BYTES):
            _turn_eight(octet + _OCTET_BYTES - BYTES, -BYTES, octet, BYTES, *_IN_OCTETS)
        for row in range(word, word + _OCTET_BYTES, BYTES):
            _turn_eight(row, _OCTET_BYTES, row, _OCTET_BYTES, *_IN_WORDS)


@free_kernel
def _write_eight(lines: Any, place: Int, step: Int, count: Int, living: Any, joins: Int, room: Int, size: Int) -> None:
    """Write the first lines of eight, of ``size`` bytes each, to rows that are a step apart."""
    put_eight(room, BYTES, *lines)
    for line in range(count):
        at = room + line * BYTES
        put_vector(at, both_of(vector_at(at), living))
        for i in range(size):
            put_u8(place, i, u8_at(at, i) | (u8_at(place, i) if joins else 0))
        place += step


@free_kernel
def write_lines(block: Int, events: Int, alive: Int, joins: Int, room: Int, size: Int, to: Int, stride: Int) -> None:
    """Write the lines of a block, of ``size`` bytes each, to rows that are ``stride`` bytes apart, those of so many
    events. What is not alive is taken out; where a line ``joins``, a row keeps what it has. ``room`` is for 8 lines."""
    turn_squares(block)
    living, step = vector_at(alive), stride << 6
    for row in range(64):
        lines = _turn_lanes(block + row * BYTES, WORD_BYTES)
        place = to + row * stride
        count = min(LANES, (events - row + 63) >> 6)
        if count < LANES or joins or size < BYTES:
            _write_eight(lines, place, step, count, living, joins, room, size)
            continue
        a, b, c, d, e, f, g, h = lines
        a, b, c, d = both_of(a, living), both_of(b, living), both_of(c, living), both_of(d, living)
        e, f, g, h = both_of(e, living), both_of(f, living), both_of(g, living), both_of(h, living)
        put_eight(place, step, a, b, c, d, e, f, g, h)
