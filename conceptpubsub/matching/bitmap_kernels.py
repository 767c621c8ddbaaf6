"""One event against class bitmaps: an event is the conjunction of a row of bits for each column.

The disjunction of planes is the answer, in the order of slots. In a folded word, an addition carries any bit of a run
to its end, and the ends are gathered: those of one word of slots and of the next. What classes, planes and folded words
are is told in `conceptpubsub.matching.class_kernels`.
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
    ENDS,
    FIRST_WORD,
    FOLD_PLAN,
    FOLD_SIZE,
    FOLD_TILES,
    FOLDED,
    HIGH_SLOTS,
    KEY_ROOM,
    LOW_COUNT,
    LOW_SLOTS,
    PICK_ROOM,
    PLANES,
    TARGET,
    TILE,
    TILE_BYTES,
    TILES,
    holds,
    pick_rows,
)
from conceptpubsub.matching.jit import (
    Int,
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
    join_vector,
    lanes_set,
    put_vector,
    vector_at,
)


@free_kernel
def _joined(picks: Int, columns: Int, offset: Int) -> Any:
    """A tile that the rows of all columns have in common."""
    at = i64_at(picks, 0) + offset
    a, b, c, d = vector_at(at), vector_at(at + BYTES), vector_at(at + 2 * BYTES), vector_at(at + 3 * BYTES)
    e, f, g, h = (
        vector_at(at + 4 * BYTES),
        vector_at(at + 5 * BYTES),
        vector_at(at + 6 * BYTES),
        vector_at(at + 7 * BYTES),
    )
    for column in range(1, columns):
        at = i64_at(picks, column) + offset
        a, b = both_of(a, vector_at(at)), both_of(b, vector_at(at + BYTES))
        c, d = both_of(c, vector_at(at + 2 * BYTES)), both_of(d, vector_at(at + 3 * BYTES))
        e, f = both_of(e, vector_at(at + 4 * BYTES)), both_of(f, vector_at(at + 5 * BYTES))
        g, h = both_of(g, vector_at(at + 6 * BYTES)), both_of(h, vector_at(at + 7 * BYTES))
    return a, b, c, d, e, f, g, h


@free_kernel
def join_planes(maps: Int, picks: Int, tile: Int, found: Int) -> None:
    """Join a tile of every plane to the words at an address."""
    columns, planes = i64_at(maps, COLUMN_COUNT), i64_at(maps, PLANES)
    first = tile * planes * TILE_BYTES
    for lane in range(0, TILE_BYTES, BYTES):  # what is written to at the end is asked for at once
        prefetch(found + lane)
    a, b, c, d, e, f, g, h = _joined(picks, columns, first)
    for plane in range(1, planes):
        i, j, k, l, m, n, o, p = _joined(picks, columns, first + plane * TILE_BYTES)
        a, b, c, d = either_of(a, i), either_of(b, j), either_of(c, k), either_of(d, l)
        e, f, g, h = either_of(e, m), either_of(f, n), either_of(g, o), either_of(h, p)
    join_vector(found, a)
    join_vector(found + BYTES, b)
    join_vector(found + 2 * BYTES, c)
    join_vector(found + 3 * BYTES, d)
    join_vector(found + 4 * BYTES, e)
    join_vector(found + 5 * BYTES, f)
    join_vector(found + 6 * BYTES, g)
    join_vector(found + 7 * BYTES, h)


@free_kernel
def join_folded(maps: Int, picks: Int, tile: Int, room: Int, found: Int) -> None:
    """Join a tile of folded words to the words of slots that it speaks of."""
    columns, offset = i64_at(maps, COLUMN_COUNT), i64_at(maps, FOLDED) + tile * TILE_BYTES
    plan = i64_at(maps, FOLD_PLAN) + tile * TILE * 8 * FOLD_SIZE
    for place in range(i64_at(plan, TARGET), i64_at(plan, TARGET + FOLD_SIZE * (TILE - 1)), LANES):
        prefetch(found + 8 * place)
    a, b, c, d, e, f, g, h = _joined(picks, columns, offset)
    put_vector(room, a)
    put_vector(room + BYTES, b)
    put_vector(room + 2 * BYTES, c)
    put_vector(room + 3 * BYTES, d)
    put_vector(room + 4 * BYTES, e)
    put_vector(room + 5 * BYTES, f)
    put_vector(room + 6 * BYTES, g)
    put_vector(room + 7 * BYTES, h)
    for i in range(TILE // 4):
        for part in range(0, TILE, TILE // 4):  # four streams: words that follow each other go to the same places
            word = i + part
            at = plan + word * (8 * FOLD_SIZE)
            held, ends = u64_at(room, word), u64_at(at, ENDS)
            inner = ~ends
            bits = gathered(((held & inner) + inner | held) & ends, ends)
            target = i64_at(at, TARGET)
            join_u64(found, target, scattered(bits, u64_at(at, LOW_SLOTS)))
            join_u64(found, target + 1, scattered(bits >> u64_at(at, LOW_COUNT), u64_at(at, HIGH_SLOTS)))


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
    groups, needs, literals = i64_at(dense, dk.ENTRY_GROUPS), i64_at(dense, dk.NEED_MASKS), i64_at(dense, dk.LITERALS)
    for i in range(i64_at(maps, APART_COUNT)):
        entry = u32_at(listed, i)
        if u64_at(needs, u32_at(groups, entry)) & ~bound != 0:
            continue
        bad = False
        for at in range(u32_at(starts, entry), u32_at(starts, entry + 1)):
            word = u16_at(words, at)
            bad = bad or not holds(literals, word & dk.LITERAL, x)
            if word >> 15:
                if not bad:
                    mk.mark(header, u32_at(owners, entry))
                    break
                bad = False


@free_kernel
def mark_classes(dense: Int, maps: Int, header: Int, bound: Any) -> Any:
    """Mark the slots that match the loaded event; whether its classes are known, else nothing is marked."""
    room = i64_at(header, ev.CLASS_ROOM)
    picks, tile_room = room + 8 * KEY_ROOM, room + 8 * (KEY_ROOM + PICK_ROOM)
    if pick_rows(dense, maps, header, picks) < i64_at(maps, COLUMN_COUNT):
        return False
    first, found = i64_at(maps, FIRST_WORD), i64_at(header, ev.FOUND)
    for tile in range(i64_at(maps, TILES)):
        join_planes(maps, picks, tile, found + 8 * (first + TILE * tile))
    for tile in range(i64_at(maps, FOLD_TILES)):
        join_folded(maps, picks, tile, tile_room, found)
    note_words(maps, found, i64_at(header, ev.SLOT_WORDS), i64_at(header, ev.FOUND_SUMMARY))
    mark_apart(dense, maps, header, bound)
    return True
