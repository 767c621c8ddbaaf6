"""Texts by hash, and constants in order of their bytes, too.

The order of UTF-8 bytes is the order of code points, so a text that is no constant finds its place without decoding.
"""

from __future__ import annotations

from conceptpubsub.matching.jit import Int, free_kernel, i64, i64_at, put_u32, u8_at, u32_at, u64

# A table of texts, by place in its row. Addresses, unless said otherwise.
BLOB, STARTS, LABELS, COUNT, BUCKETS, MASK, LONGEST, TABLE_SIZE = range(8)
"""The bytes of all texts, and where each starts; the label of each; how many there are. BUCKETS has MASK + 1 places for
one more than the number of a text. LONGEST is the length of the longest text."""


@free_kernel
def _bucket(address: Int, length: Int, mask: Int) -> Int:
    value = u64(0xCBF29CE484222325)
    for i in range(length):
        value = (value ^ u64(u8_at(address, i))) * u64(0x100000001B3)
    return i64((value ^ (value >> u64(32))) & u64(mask))


@free_kernel
def _compare(one: Int, length: Int, other: Int, other_length: Int) -> Int:
    """Below, at or above 0 as some bytes come before others, are the same, or come after."""
    for i in range(min(length, other_length)):
        difference = u8_at(one, i) - u8_at(other, i)
        if difference != 0:
            return difference
    return length - other_length


@free_kernel
def fill_buckets(table: Int) -> None:
    """Enter all texts of a table, which differ, in its buckets, which are empty."""
    blob, starts, mask = i64_at(table, BLOB), i64_at(table, STARTS), i64_at(table, MASK)
    buckets = i64_at(table, BUCKETS)
    for number in range(i64_at(table, COUNT)):
        start = i64_at(starts, number)
        place = _bucket(blob + start, i64_at(starts, number + 1) - start, mask)
        while u32_at(buckets, place) != 0:
            place = (place + 1) & mask
        put_u32(buckets, place, number + 1)


@free_kernel
def find_text(table: Int, address: Int, length: Int) -> Int:
    """One more than the number of a text, or 0."""
    if length > i64_at(table, LONGEST):
        return 0
    blob, starts, mask = i64_at(table, BLOB), i64_at(table, STARTS), i64_at(table, MASK)
    buckets, place = i64_at(table, BUCKETS), _bucket(address, length, mask)
    number = u32_at(buckets, place)
    while number != 0:
        start = i64_at(starts, number - 1)
        if _compare(address, length, blob + start, i64_at(starts, number) - start) == 0:
            return number
        place = (place + 1) & mask
        number = u32_at(buckets, place)
    return 0


@free_kernel
def text_code(table: Int, address: Int, length: Int) -> Int:
    """The code of a text among constants."""
    labels, number = i64_at(table, LABELS), find_text(table, address, length)
    if number:
        return u32_at(labels, number - 1)
    blob, starts = i64_at(table, BLOB), i64_at(table, STARTS)
    low, high = 0, i64_at(table, COUNT)
    while low < high:
        middle = (low + high) >> 1
        start = i64_at(starts, middle)
        if _compare(blob + start, i64_at(starts, middle + 1) - start, address, length) < 0:
            low = middle + 1
        else:
            high = middle
    return u32_at(labels, low - 1) + 1 if low else 1
