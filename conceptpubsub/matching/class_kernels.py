"""Classes of values and their rows of bits: which literals of a column hold, and which cubes that leaves.

What a column holds falls into *classes*: values for which the same literals hold. A class has a row with a bit for each
cube, set where no literal of that column fails. The bits of an entry lie in *planes*: the n-th of slot s is bit s of
plane n; in memory, the first comes by itself, and the others take turns tile by tile. Entries with more bits than there
are planes have the rest side by side in *folded* words. An inverted entry has its clauses that are about one column
together in its first bit; each other bit says that a clause fails. So the first one counts unless another is set; SIGNS
tell which entries these are.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    put_i64,
    put_u16,
    put_u64,
    u16_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.record_kernels import hashed
from conceptpubsub.matching.vectors import CODES, admitting

# Class bitmaps, by place in their row. Addresses, unless said otherwise.
(
    COLUMN_COUNT, PAIR_ENDS, PAIR_LIST, RUN_ENDS, RUN_AXES, RUN_LOWS, RUN_SPANS, KEY_WORDS, CLASSES, CLASS_MASK,
    TEMPLATE, SIGNS, PLANES, TILES, FIRST_WORD, FOLDED, FOLD_TILES, FOLD_PLAN, CUBE_COUNTS, APART, APART_COUNT, LIMIT,
    OPEN, SPENT, BITMAPS_SIZE,
) = range(25)  # fmt: skip
"""The counts, KEY_WORDS, CLASS_MASK, PLANES, TILES, FIRST_WORD, LIMIT and OPEN are numbers; so is FOLDED, the bytes
before the folded words of a row. LIMIT is how many cubes are verified sooner than rows are joined; OPEN is how many
classes may still be learnt, and SPENT how many cubes were verified because one was unknown. APART lists the entries
that go by themselves."""
TILE = 64
"""Words that are joined at a time."""
TILE_BYTES = 8 * TILE
TILE_BITS = 64 * TILE
FOLD_SIZE = 4
ENDS, LOW_SLOTS, HIGH_SLOTS, TARGET = range(FOLD_SIZE)
"""The plan of a folded word: the last bits of its runs, the slots they belong to in a word of slots and in the next,
and which word that is. For kernels, each of these lies together for the words of a tile."""
MOST_COLUMNS = 32
MOST_KEY_WORDS = 128
KEY_CHUNKS = 4
"""Chunks of 16 runs in a word of a key. A chunk has the literals of one axis, so it is one comparison of vectors."""
KEY_ROOM, PICK_ROOM = MOST_KEY_WORDS, MOST_COLUMNS
ROOM_WORDS = KEY_ROOM + PICK_ROOM + TILE
"""What a thread needs: a class's key, the rows of an event, a tile."""
FAILS, HOLDS = 1, 2
UNKNOWN = -3
"""An event has a class that may be learnt."""


@free_kernel
def _admits(literals: Int, number: Int, x: Int) -> Any:
    code = u32_at(x, u32_at(literals, 3 * number))
    return (code - u32_at(literals, 3 * number + 1)) & 0xFFFFFFFF <= u32_at(literals, 3 * number + 2)


@free_kernel
def holds(dense: Int, pair: Int, x: Int) -> Any:
    """Whether both literals of a pair hold for the loaded event."""
    literals, pairs = i64_at(dense, dk.LITERALS), i64_at(dense, dk.PAIRS)
    return _admits(literals, u16_at(pairs, 2 * pair), x) and _admits(literals, u16_at(pairs, 2 * pair + 1), x)


@free_kernel
def write_key(dense: Int, maps: Int, column: Int, x: Int, key: Int) -> Any:
    """The key of the loaded event's class in a column: which of its runs the codes lie in; returns the key's hash."""
    axes, lows, spans = i64_at(maps, RUN_AXES), i64_at(maps, RUN_LOWS), i64_at(maps, RUN_SPANS)
    ends, words = i64_at(maps, RUN_ENDS), i64_at(maps, KEY_WORDS)
    bound = u32_at(x, u32_at(i64_at(dense, dk.COLUMNS), column)) != 0
    first, end = u32_at(ends, column), u32_at(ends, column + 1)
    put_u64(key, 0, u64(2 * column + i64(bound)))
    for word in range(1 + (end - first) // KEY_CHUNKS, words):
        put_u64(key, word, u64(0))
    for chunk in range(first, end):
        code = u32_at(x, u32_at(axes, chunk))
        at = chunk * (4 * CODES)
        put_u16(key, KEY_CHUNKS + chunk - first, admitting(code, lows + at, spans + at))
    mixed = u64(0)
    for word in range(words):
        mixed = hashed(mixed ^ u64_at(key, word) + u64(1))
    return mixed


@free_kernel
def class_place(maps: Int, key: Int, mixed: Any) -> Int:
    """The address in the table of classes where a key stands, or would stand."""
    table, mask, words = i64_at(maps, CLASSES), i64_at(maps, CLASS_MASK), i64_at(maps, KEY_WORDS)
    row = i64(mixed & u64(mask))
    while True:
        place = table + row * 8 * (words + 1)
        if i64_at(place, 0) == 0:
            return place
        same = True
        for i in range(words):
            same = same and u64_at(place, i + 1) == u64_at(key, i)
        if same:
            return place
        row = (row + 1) & mask


@free_kernel
def pick_rows(dense: Int, maps: Int, header: Int, picks: Int) -> Int:
    """Write the addresses of the rows of an event's classes; how many, or fewer than columns where one is unknown."""
    x, key = i64_at(header, ev.CODES), i64_at(header, ev.CLASS_ROOM)
    for column in range(i64_at(maps, COLUMN_COUNT)):
        mixed = write_key(dense, maps, column, x, key)
        row = i64_at(class_place(maps, key, mixed), 0)
        if row == 0:
            return column
        put_i64(picks, column, row)
    return i64_at(maps, COLUMN_COUNT)


@free_kernel
def is_worth_learning(dense: Int, maps: Int, header: Int, bound: Any) -> Any:
    """Whether the loaded event's unknown classes should be learnt now.

    A row is made in the time in which all cubes are verified once. So classes are learnt when as much has been spent
    without them: it is never much more than twice what would have been best, whatever events come.
    """
    if i64_at(maps, OPEN) == 0:
        return False
    cubes = i64(u32_at(i64_at(dense, dk.GROUP_STARTS), i64_at(dense, dk.GROUP_COUNT)))
    spent = i64_at(maps, SPENT) + dk.weigh(dense, bound, cubes)
    x, key, unknown = i64_at(header, ev.CODES), i64_at(header, ev.CLASS_ROOM), i64(0)
    for column in range(i64_at(maps, COLUMN_COUNT)):
        mixed = write_key(dense, maps, column, x, key)
        unknown += i64_at(class_place(maps, key, mixed), 0) == 0
    if spent < unknown * cubes:
        put_i64(maps, SPENT, spent)
        return False
    put_i64(maps, SPENT, 0)
    return True
