"""Events as kernels see them: words in, the codes of all axes out.

An event is a row of words, one for each attribute that some filter may be bound to:

  CODE     target, code       the attribute has this code on every axis of the target
  CONSTANT target             as CODE, with the label of the constant whose number stands beside it
  NUMBER   target, lookup     as CODE, with the code of the float beside it
  GROUP    n                  the next n words (axis, code) are one attribute on one column

What stands beside a word is a float, and a number; a batch, whose words are all CODE or GROUP, has none of them.

A target is a list of axes, each of another column. So every word, and every axis of its target, is one *candidate*:
an attribute that a column may be bound to. A column with several candidates is bound to each in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.jit import Int, f64_at, free_kernel, i64, i64_at, put_u32, u32_at, u64, u64_at

CODE, CONSTANT, NUMBER, GROUP = 0, 1, 2, 3
KIND_SHIFT, TARGET_SHIFT = 62, 32

# What a kernel is told, by place in the header. Addresses, unless said otherwise.
(
    WORDS, VALUES, NUMBERS, CODES, BASE, COLUMN_OF, LABELS, TARGET_ENDS, TARGET_AXES, LOOKUPS, TOUCHED, TOUCHED_CODES,
    ROOM, HEADS, STARTS, ENDS, NEXTS, AXES, ALIVE, FOUND, FOUND_SUMMARY, ASKED, ASKED_SUMMARY, SLOT_WORDS, OUT,
    ASKED_OUT, SEGMENTS, SEGMENT_COUNT, COUNTERS, PENDING, CLASS_ROOM, REST, HEADER_SIZE,
) = range(33)  # fmt: skip
"""ROOM, AXES, SLOT_WORDS and SEGMENT_COUNT are numbers. OUT and ASKED_OUT have room for every slot."""
PENDING_ROOM = 64
CANDIDATES, VERIFIED, EVENTS = 0, 1, 2
"""Counters: cubes looked at, cubes that passed, events."""

# A lookup, by place in its row. LOW and HIGH are the bits of floats; of a lookup of integers, integers. DIRECT, where
# it is not 0, is a table of the codes of all integers from DIRECT_LOW on; those below have the first, those above the
# last.
(
    CUTS, CUT_CODES, CUT_COUNT, LATE_CUTS, LATE_CODES, LATE_COUNT, LOW, HIGH, WHOLE, DIRECT, DIRECT_LOW, DIRECT_COUNT,
    LOOKUP_SIZE,
) = range(13)  # fmt: skip

NOT_FINITE, NO_ROOM = -1, -2
SINGLE, SEVERAL = 1, 2
"""What the axis of a column itself holds: bound to one attribute, or to several in turn."""


@free_kernel
def _code_in(cuts: Int, codes: Int, count: Int, value: Any) -> Int:
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if f64_at(cuts, middle) <= value:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 1
    code: int = u32_at(codes, low - 1)
    return code if f64_at(cuts, low - 1) == value else code | 1


@free_kernel
def look_up(row: Int, value: Any) -> Int:
    """The code of a float: that of the constant it equals, else the one above the constant below it. 0 is missing."""
    if value < f64_at(row, LOW) or value > f64_at(row, HIGH) or (i64_at(row, WHOLE) and np.floor(value) != value):
        return 0
    code = _code_in(i64_at(row, CUTS), i64_at(row, CUT_CODES), i64_at(row, CUT_COUNT), value)
    if i64_at(row, LATE_COUNT):
        late = _code_in(i64_at(row, LATE_CUTS), i64_at(row, LATE_CODES), i64_at(row, LATE_COUNT), value)
        return max(code, late)
    return code


@free_kernel
def unload(header: Int, count: Int) -> None:
    """Put every touched axis back to what it is without an event."""
    x, base, heads, touched = (
        i64_at(header, CODES),
        i64_at(header, BASE),
        i64_at(header, HEADS),
        i64_at(header, TOUCHED),
    )
    for i in range(count):
        axis = u32_at(touched, i)
        put_u32(x, axis, u32_at(base, axis))
        put_u32(heads, axis, 0)


@free_kernel
def _touch(header: Int, count: Int, axis: Int, code: Int) -> Int:
    """Set the code of an axis; returns the count of those touched."""
    put_u32(i64_at(header, CODES), axis, code)
    put_u32(i64_at(header, TOUCHED), count, axis)
    put_u32(i64_at(header, TOUCHED_CODES), count, code)
    return count + 1


@free_kernel
def _bind(header: Int, column: Int, candidate: Int, start: Int, count: Int) -> Int:
    """Note that a column may be bound to a candidate, whose codes were touched from start on."""
    heads = i64_at(header, HEADS)
    put_u32(i64_at(header, STARTS), candidate, start)
    put_u32(i64_at(header, ENDS), candidate, count)
    put_u32(i64_at(header, NEXTS), candidate, u32_at(heads, column))
    put_u32(heads, column, candidate)
    x = i64_at(header, CODES)
    if u32_at(x, column) == 0:
        return _touch(header, count, column, SINGLE)
    put_u32(x, column, SEVERAL)
    return count


@free_kernel
def load(header: Int, first: Int, last: Int) -> tuple[Int, Int]:
    """Set the codes of an event's axes. Returns how many were touched, and whether a column has several candidates.

    Touched codes are in the order of the words: those of one candidate lie together. Negative: what is wrong.
    """
    words, values, numbers = i64_at(header, WORDS), i64_at(header, VALUES), i64_at(header, NUMBERS)
    x = i64_at(header, CODES)
    column_of, labels = i64_at(header, COLUMN_OF), i64_at(header, LABELS)
    target_ends, target_axes = i64_at(header, TARGET_ENDS), i64_at(header, TARGET_AXES)
    room = i64_at(header, ROOM)
    count, candidates, several = 0, 0, 0
    i = first
    while i < last:
        word = u64_at(words, i)
        kind = i64(word >> u64(KIND_SHIFT))
        payload = i64(word & u64(0xFFFFFFFF))
        i += 1
        if kind == GROUP:
            if count + payload + 1 >= room:
                unload(header, count)
                return NO_ROOM, several
            candidates += 1
            start, column = count, 0
            for _ in range(payload):
                pair = u64_at(words, i)
                i += 1
                axis = i64(pair >> u64(TARGET_SHIFT))
                column = u32_at(column_of, axis)
                count = _touch(header, count, axis, i64(pair & u64(0xFFFFFFFF)))
            count = _bind(header, column, candidates, start, count)
            several |= u32_at(x, column) >> 1
            continue
        code = payload
        if kind == CONSTANT:
            code = u32_at(labels, i64_at(numbers, i - 1))
        elif kind == NUMBER:
            value = f64_at(values, i - 1)
            if not np.isfinite(value):
                unload(header, count)
                return NOT_FINITE, several
            code = look_up(i64_at(header, LOOKUPS) + payload * (8 * LOOKUP_SIZE), value)
            if code == 0:
                continue
        target = i64(word >> u64(TARGET_SHIFT)) & 0x3FFFFFFF
        begin, end = u32_at(target_ends, target), u32_at(target_ends, target + 1)
        if count + 2 * (end - begin) >= room:
            unload(header, count)
            return NO_ROOM, several
        for j in range(begin, end):
            axis = u32_at(target_axes, j)
            column = u32_at(column_of, axis)
            candidates += 1
            start = count
            if axis != column:
                count = _touch(header, count, axis, code)
            count = _bind(header, column, candidates, start, count)
            several |= u32_at(x, column) >> 1
    return count, several
