"""The other form of an entry: what is a short conjunction of disjunctions is a long disjunction of conjunctions.

An entry that is *inverted* has clauses in the place of cubes, and matches where every clause has a pair that holds.
A clause is worked out as a cube of complements: the complement of an entry is the disjunction of those. So what is
told there of cubes, one that is part of another or contradicts itself, serves for clauses as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.cube_kernels import emit_cube, multiply
from conceptpubsub.matching.dense_kernels import END_CUBE, INVERTED, LITERAL, WITH_FIRST
from conceptpubsub.matching.jit import Int, i64, kernel, u64

MOST_PAIRS = 60
_MOST_WORDS = 256
_MOST_MASKS = 4096
MOST_CLAUSES = 48
"""Clauses of an entry, also half-way; with more, it stays as it is."""
_BIT_COST = 2
"""What a plane of bitmaps costs in words."""
_TOP = 0xFFFFFFFF


@kernel
def _take_pairs(words: Any, begin: Int, end: Int, pairs: Any, numbers: Any, places: Any) -> tuple[Int, Int]:
    """The distinct pairs of an entry, or -1 where there are too many, and how many cubes it has; ``places`` gets the
    place of each word's pair."""
    count, cubes = 0, 0
    for at in range(begin, end):
        number = i64(words[at]) & LITERAL
        cubes += i64(words[at]) >> 15
        place = 0
        while place < count and numbers[place] != number:
            place += 1
        if place == count:
            if count == MOST_PAIRS or pairs[number, 0] == 0 or at - begin >= len(places):
                return -1, cubes
            numbers[count] = number
            count += 1
        if at - begin < len(places):
            places[at - begin] = place
    return count if end - begin <= len(places) else -1, cubes


@kernel
def _admits(literals: Any, pair: Any, code: Int) -> Any:
    """Whether both literals of a pair admit a code."""
    one, other = i64(pair[0]), i64(pair[1])
    return (code - i64(literals[one, 1])) & _TOP <= i64(literals[one, 2]) and (
        code - i64(literals[other, 1])
    ) & _TOP <= i64(literals[other, 2])


@kernel
def _relate(literals: Any, pairs: Any, numbers: Any, count: Int, implied: Any, against: Any) -> None:
    """Of the complements of pairs, which others each implies and which it contradicts.

    A code is admitted or not as the one before it, unless some literal begins there or has just ended; so it is enough
    to ask about such codes.
    """
    for i in range(count):
        implied[i], against[i] = u64(1) << u64(i), u64(0)
    for i in range(count):
        mine = pairs[numbers[i]]
        for j in range(count):
            other = pairs[numbers[j]]
            if i == j or literals[i64(mine[0]), 0] != literals[i64(other[0]), 0]:
                continue
            within, whole = True, True
            for k in range(8):
                literal = i64(mine[k & 1] if k < 4 else other[k & 1])
                code = i64(literals[literal, 1]) + (i64(literals[literal, 2]) + 1 if k & 2 else 0)
                has, has_other = _admits(literals, mine, code & _TOP), _admits(literals, other, code & _TOP)
                within = within and (has or not has_other)
                whole = whole and (has or has_other)
            if within:
                implied[i] |= u64(1) << u64(j)
            if whole:
                against[i] |= u64(1) << u64(j)


@kernel
def _clauses(words: Any, begin: Int, end: Int, places: Any, implied: Any, against: Any, masks: Any) -> Int:
    """The clauses of an entry, as masks of complements; returns how many, or -1 where there are too many."""
    stop, first, made = i64(0), i64(0), i64(0)
    for at in range(begin, end):
        masks[stop] = implied[places[at - begin]]
        stop += 1
        if i64(words[at]) & END_CUBE:
            if made:
                stop = multiply(masks, 0, first, stop, against)
            first, made = stop, made + 1
            if stop > MOST_CLAUSES:
                return -1
    return stop


@kernel
def _write_clauses(
    masks: Any, count: Int, numbers: Any, implied: Any, literals: Any, pairs: Any, column_of: Any, out: Any
) -> tuple[Int, Int]:
    """Write clauses as words; returns how many these are, and how many bits of a bitmap they need: one for all that are
    about one column each, one for each other."""
    at, bits = i64(0), 1
    for c in range(count):
        begin, at = at, emit_cube(masks[c], numbers, implied, out, at)
        column = column_of[i64(literals[i64(pairs[i64(out[begin]), 0]), 0])]
        same = True
        for i in range(begin + 1, at):
            same = same and column_of[i64(literals[i64(pairs[i64(out[i]), 0]), 0])] == column
        out[at - 1] |= END_CUBE | (WITH_FIRST if same else 0)
        bits += not same
    return at, bits


@kernel
def choose_forms(
    literals: Any, pairs: Any, column_of: Any, starts: Any, words: Any, owners: Any, groups: Any, out_starts: Any,
    out: Any,
) -> Int:  # fmt: skip
    """Write entries in the form that takes less, and note in ``groups`` which are inverted; returns how many words."""
    numbers, places = np.zeros(MOST_PAIRS, np.int64), np.zeros(_MOST_WORDS, np.int64)
    implied, against = np.zeros(MOST_PAIRS, np.uint64), np.zeros(MOST_PAIRS, np.uint64)
    masks = np.zeros(_MOST_MASKS, np.uint64)
    clauses = np.zeros(MOST_CLAUSES * MOST_PAIRS, np.uint16)
    at = i64(0)
    for entry in range(len(owners)):
        begin, end = i64(starts[entry]), i64(starts[entry + 1])
        out_starts[entry] = at
        size = i64(-1)
        count, cubes = _take_pairs(words, begin, end, pairs, numbers, places)
        if count > 0 and cubes > 1 and i64(owners[entry]) >> 31 == 0:
            _relate(literals, pairs, numbers, count, implied, against)
            made = _clauses(words, begin, end, places, implied, against, masks)
            if made > 0:
                size, bits = _write_clauses(masks, made, numbers, implied, literals, pairs, column_of, clauses)
                if size > end - begin or size + _BIT_COST * bits >= end - begin + _BIT_COST * cubes:
                    size = i64(-1)
        if size < 0:
            for i in range(begin, end):
                out[at] = words[i]
                at += 1
            continue
        groups[entry] |= np.uint32(INVERTED)
        for i in range(size):
            out[at] = clauses[i]
            at += 1
    out_starts[len(owners)] = at
    return at
