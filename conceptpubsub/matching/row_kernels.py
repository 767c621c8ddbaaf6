"""The rows of classes of values: how they are laid out, and which bits a class leaves.

What classes, planes and folded words are is told in `conceptpubsub.matching.class_kernels`.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import dense_kernels as dk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching.class_kernels import (
    COLUMN_COUNT,
    CUBE_COUNTS,
    ENDS,
    FAILS,
    FIRST_WORD,
    FOLD_TILES,
    FOLDED,
    HIGH_SLOTS,
    HOLDS,
    KEY_WORDS,
    LOW_SLOTS,
    PAIR_ENDS,
    PAIR_LIST,
    PLANES,
    TARGET,
    TEMPLATE,
    TILE_BITS,
    TILE_BYTES,
    TILES,
    class_place,
    holds,
    write_key,
)
from conceptpubsub.matching.jit import (
    Int,
    free_kernel,
    i64,
    i64_at,
    put_i64,
    put_u8,
    put_u64,
    u8_at,
    u16_at,
    u32_at,
    u64,
    u64_at,
)
from conceptpubsub.matching.vectors import BYTES, put_vector, vector_at


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
        mixed = write_key(dense, maps, column, x, key)
        place = class_place(maps, key, mixed)
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
