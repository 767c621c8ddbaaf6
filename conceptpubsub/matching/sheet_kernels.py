"""A sheet: the room for the answers of at most 1,024 events, and how they leave it.

Answers come as *marks*, a bit a slot in rows of words with a summary bit for every word that may hold any; or, where
very many slots match, as *lines*: 512 slots of an event at a time, written at once to where the answer will stay, as
`numpy.packbits` would write them. In the end the marks are emitted as lists of slots, or joined with the lines.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.answer_kernels import reversed_bytes
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
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import (
    BITS,
    BYTES,
    LANES,
    both_of,
    either_of,
    every,
    put_vector,
    vector_at,
)

# A sheet, by place in its row. Addresses, unless said otherwise.
(
    FOUND, FOUND_SUMMARY, ASKED, ASKED_SUMMARY, STRIDE, SUMMARY_STRIDE, BLOCK, ROOM, LINED, LINES, LINE_BYTES, ALIVE,
    ROWS, WORDS, COUNTS, WRITES_LINES, BITS_SEEN, SLOTS_SEEN, SHEET_SIZE,
) = range(19)  # fmt: skip
"""STRIDE and SUMMARY_STRIDE are numbers: the words from one row of marks to the next. BLOCK is room for 512 slots by
1,024 events, ROOM for eight lines. LINED has a byte for each block of 512 slots that has lines; LINES are the rows they
go to, of LINE_BYTES bytes each, and ALIVE is a row of those that are alive, in the form of lines. ROWS and WORDS are
numbers: how many events there are, and words of slots. WRITES_LINES tells whether lines are written rather than marks,
which depends on BITS_SEEN, the answers so far, and SLOTS_SEEN, the slots they are of."""
HALVES = 2
EVENTS = HALVES * BITS
SPARSE = 16
"""One event in 64 matches: with fewer, a list takes less room than bits."""
_PATIENCE = 1 << 12
"""Bits that are marked before it is decided that they are many."""


@free_kernel
def mark_bits(sheet: Int, asks: Int, slot: Int, vector: Int, first: Int) -> Int:
    """Mark a slot for every event of a vector, one by one; returns how many."""
    rows, summary = i64_at(sheet, FOUND + 2 * asks), i64_at(sheet, FOUND_SUMMARY + 2 * asks)
    stride, summary_stride = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE)
    word, bit, count = slot >> 6, u64(1) << u64(slot & 63), i64(0)
    for lane in range(LANES):
        left = u64_at(vector, lane)
        while left != 0:
            event = first + (lane << 6) + trailing_zeros(left)
            left &= left - u64(1)
            join_u64(rows, event * stride + word, bit)
            join_u64(summary, event * summary_stride + (word >> 6), u64(1) << u64(word & 63))
            count += 1
    return count


@free_kernel
def is_many(sheet: Int) -> Any:
    """Whether so many have matched that lines are written sooner than marks."""
    return i64_at(sheet, BITS_SEEN) > _PATIENCE + SPARSE * i64_at(sheet, SLOTS_SEEN)


@free_kernel
def settle(sheet: Int, alive: Int) -> Int:
    """Take marks that are not alive out, and count what is left of each event; returns the sum."""
    rows, summary, words = i64_at(sheet, FOUND), i64_at(sheet, FOUND_SUMMARY), i64_at(sheet, WORDS)
    stride, summary_stride, counts = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE), i64_at(sheet, COUNTS)
    total = i64(0)
    for event in range(i64_at(sheet, ROWS)):
        row, count = rows + 8 * event * stride, i64(0)
        for top in range((words + 63) >> 6):
            left = u64_at(summary, event * summary_stride + top)
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
def emit(sheet: Int, out: Int) -> None:
    """Write the slots marked for each event, ascending, one event after the other, and clear the marks."""
    rows, summary, words = i64_at(sheet, FOUND), i64_at(sheet, FOUND_SUMMARY), i64_at(sheet, WORDS)
    stride, summary_stride = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE)
    at = 0
    for event in range(i64_at(sheet, ROWS)):
        row = rows + 8 * event * stride
        for top in range((words + 63) >> 6):
            left = u64_at(summary, event * summary_stride + top)
            put_u64(summary, event * summary_stride + top, u64(0))
            while left != 0:
                word = (top << 6) + trailing_zeros(left)
                left &= left - u64(1)
                rest = u64_at(row, word)
                put_u64(row, word, u64(0))
                while rest != 0:
                    put_i64(out, at, (word << 6) + trailing_zeros(rest))
                    at += 1
                    rest &= rest - u64(1)


@free_kernel
def join_marks(sheet: Int) -> None:
    """Write what is marked into the lines, clear the marks, and the lines of blocks that have none."""
    rows, summary, words = i64_at(sheet, FOUND), i64_at(sheet, FOUND_SUMMARY), i64_at(sheet, WORDS)
    stride, summary_stride = i64_at(sheet, STRIDE), i64_at(sheet, SUMMARY_STRIDE)
    lined, lines, size = i64_at(sheet, LINED), i64_at(sheet, LINES), i64_at(sheet, LINE_BYTES)
    blocks, bare = (words + LANES - 1) // LANES, False
    for block in range(blocks):
        bare = bare or u8_at(lined, block) == 0
    for event in range(i64_at(sheet, ROWS)):
        row, line, marks = rows + 8 * event * stride, lines + event * size, summary + 8 * event * summary_stride
        for top in range((words + 63) >> 6):
            marked = u64_at(marks, top)
            if marked == 0 and not bare:
                continue
            put_u64(marks, top, u64(0))
            for block in range(top << 3, min(blocks, (top + 1) << 3)):
                has_marks, is_lined = marked & u64(255) != 0, u8_at(lined, block) != 0
                marked >>= u64(8)
                if has_marks or not is_lined:
                    _join_line(sheet, row, line, BYTES * block, has_marks, is_lined)


@free_kernel
def _join_line(sheet: Int, row: Int, line: Int, at: Int, has_marks: Any, is_lined: Any) -> None:
    """Write the marks of a block of slots into its line, or into one that is clear."""
    size, room, found = i64_at(sheet, LINE_BYTES), i64_at(sheet, ROOM), every(u64(0))
    if has_marks:
        found = both_of(reversed_bytes(vector_at(row + at)), vector_at(i64_at(sheet, ALIVE) + at))
        put_vector(row + at, every(u64(0)))
    if at + BYTES <= size:
        put_vector(line + at, either_of(found, vector_at(line + at)) if is_lined else found)
        return
    put_vector(room, found)
    for i in range(size - at):
        put_u8(line + at, i, u8_at(room, i) | (u8_at(line + at, i) if is_lined else 0))
