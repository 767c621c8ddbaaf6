"""One event against class bitmaps: an event is the conjunction of a row of bits for each column.

The disjunction of planes is the answer, in the order of slots; for inverted entries, the first plane but what the
others have. In a folded word, an addition carries any bit of a run to its end, and the ends are gathered: those of one
word of slots and of the next. What classes, planes and folded words are is told in
`conceptpubsub.matching.class_kernels`.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching.class_kernels import (
    APART,
    APART_COUNT,
    COLUMN_COUNT,
    FIRST_WORD,
    FOLD_PLAN,
    FOLD_SIZE,
    FOLD_TILES,
    FOLDED,
    HIGH_SLOTS,
    KEY_ROOM,
    LOW_SLOTS,
    PICK_ROOM,
    PLANES,
    SIGNS,
    TARGET,
    TILE,
    TILE_BYTES,
    TILES,
    holds,
    pick_rows,
)
from conceptpubsub.matching.eights import eight_at, put_eight
from conceptpubsub.matching.jit import (
    Int,
    bit_count,
    free_kernel,
    gathered,
    i64,
    i64_at,
    join_u64,
    prefetch,
    scattered,
    u16_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import (
    BYTES,
    LANES,
    both_of,
    either_of,
    every,
    join_vector,
    lanes_set,
    one_of,
    put_vector,
    sum_of,
    vector_at,
)


@free_kernel
def _joined(picks: Int, columns: Int, offset: Int) -> Any:
    """A tile that the rows of all columns have in common."""
    a, b, c, d, e, f, g, h = eight_at(i64_at(picks, 0) + offset, BYTES)
    for column in range(1, columns):
        at = i64_at(picks, column) + offset
        a, b = both_of(a, vector_at(at)), both_of(b, vector_at(at + BYTES))
        c, d = both_of(c, vector_at(at + 2 * BYTES)), both_of(d, vector_at(at + 3 * BYTES))
        e, f = both_of(e, vector_at(at + 4 * BYTES)), both_of(f, vector_at(at + 5 * BYTES))
        g, h = both_of(g, vector_at(at + 6 * BYTES)), both_of(h, vector_at(at + 7 * BYTES))
    return a, b, c, d, e, f, g, h


@free_kernel
def join_planes(maps: Int, picks: Int, tile: Int, found: Int) -> None:
    """Write a tile of all planes but the first, joined, to the words at an address."""
    columns, planes = i64_at(maps, COLUMN_COUNT), i64_at(maps, PLANES)
    first = (i64_at(maps, TILES) + tile * (planes - 1)) * TILE_BYTES
    a, b, c, d, e, f, g, h = _joined(picks, columns, first)
    for plane in range(1, planes - 1):
        i, j, k, l, m, n, o, p = _joined(picks, columns, first + plane * TILE_BYTES)
        a, b, c, d = either_of(a, i), either_of(b, j), either_of(c, k), either_of(d, l)
        e, f, g, h = either_of(e, m), either_of(f, n), either_of(g, o), either_of(h, p)
    put_eight(found, BYTES, a, b, c, d, e, f, g, h)


@free_kernel
def join_first(maps: Int, picks: Int, tile: Int, rest: Int, found: Int) -> None:
    """Join a tile of the first plane, with what the rest says to it, to the words at an address; clears the rest."""
    columns = i64_at(maps, COLUMN_COUNT)
    signs = i64_at(maps, SIGNS) + tile * TILE_BYTES
    a, b, c, d, e, f, g, h = _joined(picks, columns, tile * TILE_BYTES)
    _join_first(a, rest, signs, found)
    _join_first(b, rest + BYTES, signs + BYTES, found + BYTES)
    _join_first(c, rest + 2 * BYTES, signs + 2 * BYTES, found + 2 * BYTES)
    _join_first(d, rest + 3 * BYTES, signs + 3 * BYTES, found + 3 * BYTES)
    _join_first(e, rest + 4 * BYTES, signs + 4 * BYTES, found + 4 * BYTES)
    _join_first(f, rest + 5 * BYTES, signs + 5 * BYTES, found + 5 * BYTES)
    _join_first(g, rest + 6 * BYTES, signs + 6 * BYTES, found + 6 * BYTES)
    _join_first(h, rest + 7 * BYTES, signs + 7 * BYTES, found + 7 * BYTES)


@free_kernel
def _join_first(first: Any, rest: Int, signs: Int, found: Int) -> None:
    others = vector_at(rest)
    join_vector(found, one_of(either_of(first, others), both_of(others, vector_at(signs))))
    put_vector(rest, every(u64(0)))


@free_kernel
def join_folded(maps: Int, picks: Int, tile: Int, room: Int, found: Int) -> None:
    """Join a tile of folded words to the words of slots that it speaks of."""
    columns, offset = i64_at(maps, COLUMN_COUNT), i64_at(maps, FOLDED) + tile * TILE_BYTES
    ends = i64_at(maps, FOLD_PLAN) + tile * TILE_BYTES * FOLD_SIZE
    low, high, targets = ends + LOW_SLOTS * TILE_BYTES, ends + HIGH_SLOTS * TILE_BYTES, ends + TARGET * TILE_BYTES
    for place in range(i64_at(targets, 0), i64_at(targets, TILE - 1), LANES):
        prefetch(found + 8 * place)
    put_eight(room, BYTES, *_joined(picks, columns, offset))
    for at in range(0, TILE_BYTES, BYTES):
        held, last = vector_at(room + at), vector_at(ends + at)
        inner = one_of(last, every(~u64(0)))
        put_vector(room + at, both_of(either_of(sum_of(both_of(held, inner), inner), held), last))
    for i in range(TILE // 4):
        for part in range(0, TILE, TILE // 4):  # four streams: words that follow each other go to the same places
            word = i + part
            bits, slots, target = (
                gathered(u64_at(room, word), u64_at(ends, word)),
                u64_at(low, word),
                i64_at(targets, word),
            )
            join_u64(found, target, scattered(bits, slots))
            bits >>= u64(bit_count(slots) & 63)  # of 64, none are left for the next
            join_u64(found, target + 1, scattered(bits, u64_at(high, word)))


@free_kernel
def note_words(maps: Int, found: Int, words: Int, summary: Int) -> None:
    """Note which words of slots have any bit. There are so many; what a tile has behind them is another's."""
    first = i64_at(maps, FIRST_WORD)
    for tile in range(i64_at(maps, TILES)):
        marks, place = i64(0), found + 8 * (first + TILE * tile)
        for lane in range(TILE // LANES):
            marks |= lanes_set(vector_at(place + lane * BYTES)) << (lane * LANES)
        left = words - (first + TILE * tile)
        join_u64(summary, (first >> 6) + tile, u64(marks if left >= TILE else marks & ((i64(1) << left) - 1)))


@free_kernel
def mark_apart(dense: Int, maps: Int, header: Int, bound: Any) -> None:
    """Mark those entries that go by themselves and match the loaded event."""
    listed, x = i64_at(maps, APART), i64_at(header, ev.CODES)
    starts, words, owners = (
        i64_at(dense, dk.ENTRY_STARTS),
        i64_at(dense, dk.ENTRY_WORDS),
        i64_at(dense, dk.ENTRY_OWNERS),
    )
    groups, needs = i64_at(dense, dk.ENTRY_GROUPS), i64_at(dense, dk.NEED_MASKS)
    for i in range(i64_at(maps, APART_COUNT)):
        entry = u32_at(listed, i)
        form = u32_at(groups, entry)
        if u64_at(needs, form & ~dk.INVERTED) & ~bound != 0:
            continue
        turned, bad, any_cube = form >> 31, i64(0), i64(0)
        for at in range(u32_at(starts, entry), u32_at(starts, entry + 1)):
            word = u16_at(words, at)
            bad |= i64(holds(dense, word & dk.LITERAL, x)) == turned
            if word >> 15:
                any_cube |= 1 - i64(bad)
                bad = i64(0)
        if any_cube != turned:
            mk.mark(header, u32_at(owners, entry))


@free_kernel
def mark_classes(dense: Int, maps: Int, header: Int, bound: Any) -> Any:
    """Mark the slots that match the loaded event; whether its classes are known, else nothing is marked."""
    room = i64_at(header, ev.CLASS_ROOM)
    picks, tile_room = room + 8 * KEY_ROOM, room + 8 * (KEY_ROOM + PICK_ROOM)
    if pick_rows(dense, maps, header, picks) < i64_at(maps, COLUMN_COUNT):
        return False
    first, found, rest = i64_at(maps, FIRST_WORD), i64_at(header, ev.FOUND), i64_at(header, ev.REST)
    if i64_at(maps, PLANES) > 1:
        for tile in range(i64_at(maps, TILES)):
            join_planes(maps, picks, tile, rest + 8 * (first + TILE * tile))
    for tile in range(i64_at(maps, FOLD_TILES)):
        join_folded(maps, picks, tile, tile_room, rest)
    for tile in range(i64_at(maps, TILES)):
        at = 8 * (first + TILE * tile)
        join_first(maps, picks, tile, rest + at, found + at)
    note_words(maps, found, i64_at(header, ev.SLOT_WORDS), i64_at(header, ev.FOUND_SUMMARY))
    mark_apart(dense, maps, header, bound)
    return True
