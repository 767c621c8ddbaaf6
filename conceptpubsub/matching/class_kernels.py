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
    put_u8,
    put_u16,
    put_u64,
    u8_at,
    u16_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.record_kernels import hashed
from conceptpubsub.matching.vectors import BYTES, CODES, admitting, put_vector, vector_at

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
def _write_key(dense: Int, maps: Int, column: Int, x: Int, key: Int) -> Any:
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
def _class_place(maps: Int, key: Int, mixed: Any) -> Int:
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
        mixed = _write_key(dense, maps, column, x, key)
        row = i64_at(_class_place(maps, key, mixed), 0)
        if row == 0:
            return column
        put_i64(picks, column, row)
    return i64_at(maps, COLUMN_COUNT)


@free_kernel
def _clear(row: Int, bit: Int) -> None:
    put_u64(row, bit >> 6, u64_at(row, bit >> 6) & ~(u64(1) << u64(bit & 63)))


@free_kernel
def _write_row(dense: Int, maps: Int, column: Int, bound: Int, said: Int, row: Int) -> None:
    """The row of a class: every bit but those that the class rules out. ``said`` tells of each pair of literals of the
    column whether it HOLDS or FAILS."""
    owners, groups, needs = (
        i64_at(dense, dk.ENTRY_OWNERS),
        i64_at(dense, dk.ENTRY_GROUPS),
        i64_at(dense, dk.NEED_MASKS),
    )
    counts, planes, template = i64_at(maps, CUBE_COUNTS), i64_at(maps, PLANES), i64_at(maps, TEMPLATE)
    first, folded = 64 * i64_at(maps, FIRST_WORD), 8 * i64_at(maps, FOLDED)
    for at in range(0, i64_at(maps, FOLDED) + TILE_BYTES * i64_at(maps, FOLD_TILES), BYTES):
        put_vector(row + at, vector_at(template + at))
    fold, end_slot = i64(0), i64(-1)
    for entry in range(i64_at(dense, dk.ENTRY_COUNT)):
        bits = u8_at(counts, entry)
        if bits == 0:
            continue
        slot, form = u32_at(owners, entry), u32_at(groups, entry)
        if bits > planes:
            fold, end_slot = next_fold(fold, end_slot, slot >> 6, bits - planes)
        need = u64_at(needs, form & ~dk.INVERTED)
        lost = i64(bound == 0 and need >> u64(column) & u64(1) != 0)
        slot, rest = slot - first, folded + fold - planes
        if form >> 31:
            _clear_clauses(dense, maps, entry, lost, said, row, slot, rest)
        else:
            _clear_cubes(dense, maps, entry, lost, said, row, slot, rest)
        if bits > planes:
            fold += bits - planes


@free_kernel
def _clear_bit(maps: Int, row: Int, slot: Int, rank: Int, rest: Int) -> None:
    """Clear a bit of an entry: in a plane, or in a folded word."""
    planes = i64_at(maps, PLANES)
    _clear(row, plane_bit(slot, rank, planes, i64_at(maps, TILES)) if rank < planes else rest + rank)


@free_kernel
def _clear_cubes(
    dense: Int, maps: Int, entry: Int, lost: Int, said: Int, row: Int, slot: Int, rest: Int
) -> None:  # fmt: skip
    """Clear the bits of cubes with a literal that fails."""
    starts, words = i64_at(dense, dk.ENTRY_STARTS), i64_at(dense, dk.ENTRY_WORDS)
    rank, bad = i64(0), lost
    for i in range(u32_at(starts, entry), u32_at(starts, entry + 1)):
        word = u16_at(words, i)
        bad |= i64(u8_at(said, word & dk.LITERAL) == FAILS)
        if word >> 15:
            if bad:
                _clear_bit(maps, row, slot, rank, rest)
            rank, bad = rank + 1, lost


@free_kernel
def _clear_clauses(
    dense: Int, maps: Int, entry: Int, lost: Int, said: Int, row: Int, slot: Int, rest: Int
) -> None:  # fmt: skip
    """Clear the first bit where a clause about the column fails, and those of other clauses with a literal that holds:
    they tell which fail."""
    starts, words = i64_at(dense, dk.ENTRY_STARTS), i64_at(dense, dk.ENTRY_WORDS)
    rank, holding, failing = i64(1), i64(0), i64(0)
    for i in range(u32_at(starts, entry), u32_at(starts, entry + 1)):
        word = u16_at(words, i)
        told = u8_at(said, word & dk.LITERAL)
        holding |= i64(told == HOLDS)
        failing |= i64(told == FAILS)
        if word >> 15:
            if word & dk.WITH_FIRST:
                lost |= failing & ~holding
            else:
                if holding:
                    _clear_bit(maps, row, slot, rank, rest)
                rank += 1
            holding, failing = i64(0), i64(0)
    if lost:
        _clear_bit(maps, row, slot, 0, rest)


@free_kernel
def plane_bit(slot: Int, rank: Int, planes: Int, tiles: Int) -> Int:
    """Where a bit of a slot, counted from the first slot, lies in a row."""
    if rank == 0:
        return slot
    tile = tiles + (slot // TILE_BITS) * (planes - 1) + rank - 1
    return tile * TILE_BITS + slot % TILE_BITS


@free_kernel
def next_fold(bit: Int, last: Int, word: Int, size: Int) -> tuple[Int, Int]:
    """Where a run of so many bits goes, for a slot of this word: the place of its first bit, and the last word of slots
    that the folded word may speak of. A folded word has whole runs, for one word of slots and the next."""
    if last < 0 or word > last or (bit & 63) + size > 64 or bit & 63 == 0:
        return (bit + 63) & ~63, word + 1
    return bit, last


@free_kernel
def lay_folds(
    owners: Any, counts: Any, planes: Int, tiles: Int, first: Int, plan: Any, template: Any, folded: Any
) -> Int:
    """Lay out cubes: a bit for each in the template, and the plan of the folded words; returns how many of those."""
    fold, last, target = i64(0), i64(-1), i64(-1)
    for entry in range(len(owners)):
        if counts[entry] == 0:
            continue
        slot = owners[entry]
        bit = u64(1) << u64(slot & 63)
        for plane in range(min(counts[entry], planes)):
            template[plane_bit(slot - 64 * first, plane, planes, tiles) >> 6] |= bit
        size = counts[entry] - planes
        if size <= 0:
            continue
        fold, last = next_fold(fold, last, slot >> 6, size)
        row = fold >> 6
        if fold & 63 == 0:
            target = slot >> 6
            plan[row, TARGET] = u64(target)
        if slot >> 6 == target:
            plan[row, LOW_SLOTS] |= bit
        else:
            plan[row, HIGH_SLOTS] |= bit
        run = ((u64(1) << u64(size)) - u64(1)) if size < 64 else ~u64(0)
        folded[row] |= run << u64(fold & 63)
        plan[row, ENDS] |= u64(1) << u64((fold + size - 1) & 63)
        fold += size
    return (fold + 63) >> 6


@free_kernel
def learn(dense: Int, maps: Int, header: Int, said: Int, rows: Int, row_bytes: Int, room: Int) -> Int:
    """Learn the classes of the loaded event, with room for so many rows; returns how many were learnt."""
    x, key, learnt = i64_at(header, ev.CODES), i64_at(header, ev.CLASS_ROOM), i64(0)
    words = i64_at(maps, KEY_WORDS)
    listed, ends = i64_at(maps, PAIR_LIST), i64_at(maps, PAIR_ENDS)
    for column in range(i64_at(maps, COLUMN_COUNT)):
        mixed = _write_key(dense, maps, column, x, key)
        place = _class_place(maps, key, mixed)
        if i64_at(place, 0) != 0:
            continue
        if learnt == room:
            break
        for i in range(u32_at(ends, column), u32_at(ends, column + 1)):
            number = u16_at(listed, i)
            put_u8(said, number, HOLDS if holds(dense, number, x) else FAILS)
        row = rows + learnt * row_bytes
        _write_row(dense, maps, column, i64(u64_at(key, 0) & u64(1)), said, row)
        for i in range(u32_at(ends, column), u32_at(ends, column + 1)):
            put_u8(said, u16_at(listed, i), 0)
        for i in range(words):
            put_u64(place, i + 1, u64_at(key, i))
        put_i64(place, 0, row)  # last: whoever reads meanwhile finds a class only when it is whole
        learnt += 1
    return learnt


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
        mixed = _write_key(dense, maps, column, x, key)
        unknown += i64_at(_class_place(maps, key, mixed), 0) == 0
    if spent < unknown * cubes:
        put_i64(maps, SPENT, spent)
        return False
    put_i64(maps, SPENT, 0)
    return True
