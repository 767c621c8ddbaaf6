"""Programs to cubes: a disjunction of conjunctions of literals, bounded, and never less than the program.

Within one filter literals are bits, a cube is a mask, and it carries every literal that its own imply: so a cube is
part of another exactly when it has all its bits. Bit 63 says that a test was left out and the evaluator must be asked.
Where a product would grow beyond the limit, its larger factor is left out instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.codes import ANY, CONSTANT_BITS, EQ, GE, GT, GT0, LE, LE0, LT, LT0, NE0, OP_BITS
from conceptpubsub.matching.jit import Int, i64, kernel, trailing_zeros, u64
from conceptpubsub.matching.program import FALSE, OPAQUE

MOST_LITERALS = 60
MOST_CUBES = 512
"""Cubes of one filter; half-way results may be larger."""
_ROOM = 4096
_STACK = 512
_AXIS_SHIFT = CONSTANT_BITS + OP_BITS
_TOP = 0xFFFFFFFF
_MASK_OP = (1 << OP_BITS) - 1
TOO_WIDE = -1


@kernel
def axis_of(packed: Int) -> Int:
    """The axis of a literal."""
    return packed >> _AXIS_SHIFT


@kernel
def run_of(packed: Int, labels: Any) -> tuple[Int, Int]:
    """The run of codes that a literal admits: (low, high), where high may be below low, around the circle."""
    op = (packed >> CONSTANT_BITS) & _MASK_OP
    if op == ANY:
        return 1, _TOP
    if op > ANY:
        return 0, 0
    label = i64(labels[packed & _TOP])
    if op == EQ:
        return label, label
    if op == LT:
        return 1, label - 1
    if op == LE:
        return 1, label
    if op == GT:
        return label + 1, _TOP
    if op == GE:
        return label, _TOP
    if op == NE0:
        return label + 1, label - 1
    if op == LT0:
        return 0, label - 1
    if op == LE0:
        return 0, label
    if op == GT0:
        return label + 1, 0
    return label, 0


@kernel
def span_of(low: Int, high: Int) -> Int:
    """The length of a run around the circle."""
    return (high - low) & 0xFFFFFFFF


@kernel
def run_within(low: Int, high: Int, other_low: Int, other_high: Int) -> Any:
    """Whether a run lies within another."""
    start = (low - other_low) & _TOP
    return start + span_of(low, high) <= span_of(other_low, other_high)


@kernel
def runs_apart(low: Int, high: Int, other_low: Int, other_high: Int) -> Any:
    """Whether two runs share no code."""
    first = (other_low - low) & _TOP
    second = (low - other_low) & _TOP
    return first > span_of(low, high) and second > span_of(other_low, other_high)


@kernel
def _relate(lits: Any, count: Int, labels: Any, column_of: Any, runs: Any, implied: Any, against: Any) -> None:
    """For each literal, which others it implies and which it contradicts."""
    for i in range(count):
        runs[i, 0], runs[i, 1] = run_of(lits[i], labels)
        implied[i] = u64(1) << u64(i)
        against[i] = 0
    for i in range(count):
        axis, low, high = axis_of(lits[i]), runs[i, 0], runs[i, 1]
        column = column_of[axis]
        for j in range(count):
            other = axis_of(lits[j])
            if i == j or (other != axis and other != column):
                continue
            bit = u64(1) << u64(j)
            if other == axis:
                if run_within(low, high, runs[j, 0], runs[j, 1]):
                    implied[i] |= bit
                elif runs_apart(low, high, runs[j, 0], runs[j, 1]):
                    against[i] |= bit
            elif 0 < low <= high:  # a value implies that there is one
                if runs[j, 0] == 1:
                    implied[i] |= bit
                else:
                    against[i] |= bit


@kernel
def _contradicts(mask: Any, against: Any) -> Any:
    left = mask & ~(u64(1) << u64(63))
    while left != 0:
        if against[trailing_zeros(left)] & mask != 0:
            return True
        left &= left - u64(1)
    return False


@kernel
def _absorb(cubes: Any, start: Int, stop: Int) -> Int:
    """Drop every cube that another one covers; returns the new end."""
    kept = start
    for i in range(start, stop):
        mask = cubes[i]
        covered = False
        for j in range(start, kept):
            if cubes[j] & ~mask == 0:
                covered = True
                break
        if covered:
            continue
        for j in range(i + 1, stop):
            if cubes[j] & ~mask == 0 and cubes[j] != mask:
                covered = True
                break
        if not covered:
            cubes[kept] = mask
            kept += 1
    return kept


@kernel
def multiply(cubes: Any, start: Int, middle: Int, stop: Int, against: Any) -> Int:
    """AND of two runs of cubes, in place of the first; returns the new end."""
    left, right = middle - start, stop - middle
    if stop + left * right > _ROOM:  # too large: keep the smaller factor, and leave the other to the evaluator
        flag = u64(1) << u64(63)
        if left <= right:
            for i in range(start, middle):
                cubes[i] |= flag
            return middle
        for i in range(right):
            cubes[start + i] = cubes[middle + i] | flag
        return start + right
    end = stop
    for i in range(start, middle):
        for j in range(middle, stop):
            mask = cubes[i] | cubes[j]
            if not _contradicts(mask, against):
                cubes[end] = mask
                end += 1
    made = end - stop
    for i in range(made):
        cubes[start + i] = cubes[stop + i]
    return _absorb(cubes, start, start + made)


@kernel
def _literals(tokens: Any, begin: Int, end: Int, lits: Any, places: Any) -> Int:
    """The distinct literals of a program; each token's place among them goes to ``places``. Or TOO_WIDE."""
    count = 0
    for t in range(begin, end):
        token = tokens[t]
        if token <= OPAQUE:
            continue
        place = count
        for i in range(count):
            if lits[i] == token:
                place = i
                break
        if place == count:
            if count == MOST_LITERALS or t - begin >= len(places):
                return TOO_WIDE
            lits[count] = token
            count += 1
        if t - begin < len(places):
            places[t - begin] = place
        else:
            return TOO_WIDE
    return count


@kernel
def _evaluate(
    tokens: Any, begin: Int, end: Int, places: Any, starts: Any, implied: Any, against: Any, cubes: Any
) -> Int:
    """The number of cubes of one program, or TOO_WIDE."""
    depth = 0
    for t in range(begin, end):
        token = tokens[t]
        if token > 0:
            if depth == _STACK:
                return TOO_WIDE
            place = starts[depth]
            if token > OPAQUE:
                cubes[place] = implied[places[t - begin]]
            else:
                cubes[place] = u64(1) << u64(63) if token == OPAQUE else u64(0)
            depth += 1
            starts[depth] = place + (token != FALSE)
            continue
        args = (-token) >> 1
        first = depth - args
        if (-token) & 1:
            stop = _absorb(cubes, starts[first], starts[depth])
            if stop - starts[first] > _ROOM // 8:
                cubes[starts[first]] = u64(1) << u64(63)
                stop = starts[first] + 1
        else:
            for k in range(1, args):  # the running product lies under the factors still to come: fold from the top
                low = depth - k - 1
                starts[low + 1] = multiply(cubes, starts[low], starts[low + 1], starts[low + 2], against)
            stop = starts[first + 1]
        depth = first + 1
        starts[depth] = stop
        if stop > _ROOM // 2:
            return TOO_WIDE
    found: int = starts[1]
    return found


@kernel
def emit_cube(mask: Any, lits: Any, implied: Any, out: Any, at: Int) -> Int:
    """The literals of a cube that no other of its literals implies."""
    left = mask & ~(u64(1) << u64(63))
    rest = left
    while rest != 0:
        i = trailing_zeros(rest)
        rest &= rest - u64(1)
        needed = True
        others = left
        while others != 0:
            j = trailing_zeros(others)
            others &= others - u64(1)
            if j != i and implied[j] >> u64(i) & u64(1):
                mutual = implied[i] >> u64(j) & u64(1)
                if not mutual or j < i:
                    needed = False
                    break
        if needed:
            out[at] = lits[i]
            at += 1
    return at


@kernel
def make_cubes(
    tokens: Any, bounds: Any, first: Int, last: Int, labels: Any, column_of: Any, counts: Any, ends: Any, out: Any
) -> tuple[Int, Int, Int]:
    """The cubes of many programs. Program p has ``counts[p]`` cubes, or TOO_WIDE; a cube's end is in ``ends``, times
    two, plus one where the evaluator must be asked. Returns the next program, the cubes and the literals written."""
    lits = np.zeros(MOST_LITERALS, np.int64)
    runs = np.zeros((MOST_LITERALS, 2), np.int64)
    implied = np.zeros(MOST_LITERALS, np.uint64)
    against = np.zeros(MOST_LITERALS, np.uint64)
    starts = np.zeros(_STACK + 1, np.int64)
    places = np.zeros(2 * _STACK, np.uint8)
    cubes = np.zeros(_ROOM + 1, np.uint64)
    made, at = 0, 0
    for p in range(first, last):
        count = _literals(tokens, bounds[p], bounds[p + 1], lits, places)
        found = TOO_WIDE
        if count >= 0:
            _relate(lits, count, labels, column_of, runs, implied, against)
            found = _evaluate(tokens, bounds[p], bounds[p + 1], places, starts, implied, against, cubes)
        if found > MOST_CUBES:
            found = TOO_WIDE
        counts[p] = found
        if found < 0:
            continue
        if made + found > len(ends) or at + found * count > len(out):
            return p, made, at
        for c in range(found):
            at = emit_cube(cubes[c], lits, implied, out, at)
            ends[made] = at * 2 + i64(cubes[c] >> u64(63))
            made += 1
    return last, made, at
