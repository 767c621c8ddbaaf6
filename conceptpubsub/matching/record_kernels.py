"""Cubes to records, and the choice of where each cube is looked for.

A record is (axis, low, span): the code of the axis must lie in that run. A cube's records stand column by column, the
narrowest first. A record *must be bound* when it excludes code 0 and the axis has no default: only such a one can lead
from an event to the cube. The choice is the one an event is least likely to hit, estimated from the constants alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.cube_kernels import axis_of, run_of
from conceptpubsub.matching.cubes import ASK
from conceptpubsub.matching.jit import Int, free_kernel, i64, u64

MOST_RECORDS = 255
ALWAYS, UP, DOWN, KEY, PAIR, NEVER, DENSE = 0, 1, 2, 3, 4, 5, 6
"""Where a cube is looked for: at every event; in a sorted list of upper or of lower bounds; under a key (axis, level,
cell); under two axes that must both be bound; nowhere; among cubes that share their literals."""
WHOLE_AXIS = 32
"""The level at which an axis is one cell."""
_TOP = 0xFFFFFFFF
SPAN_BOUND = _TOP - 1
"""The span of a record that asks only that its axis is bound: from 1 to the top."""
_EVENT_SIZE = 8.0  # attributes that an event is taken to have


@free_kernel
def hashed(key: Any) -> Any:
    """A well mixed hash of a 64-bit key."""
    mixed = u64(key) * u64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> u64(32)
    mixed *= u64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> u64(29))


@free_kernel
def slot_in(table: Any, key: Any) -> Int:
    """The row of a key in an open table, or the free row where it belongs; 0 is no key."""
    mask = len(table) - 1
    row = i64(hashed(key) & u64(mask))
    while table[row, 0] != 0 and table[row, 0] != key:
        row = (row + 1) & mask
    return row


@free_kernel
def key_of(axis: Int, level: Int, shifted: Int, cell: Int) -> Any:
    """A key: an axis, a level of cells, plain or shifted by half a cell, and the cell."""
    return u64(axis) << u64(38) | u64(level >> 1) << u64(33) | u64(shifted) << u64(32) | u64(cell)


@free_kernel
def _merge_axis(axes: Any, lows: Any, highs: Any, start: Int, stop: Int) -> Int:
    """One axis' runs as few records: the intersection of the plain ones, and holes that it does not absorb.

    Returns the new end, or -1 where no code passes.
    """
    low, high = 0, _TOP
    for i in range(start, stop):
        if lows[i] <= highs[i]:
            low, high = max(low, lows[i]), min(high, highs[i])
    kept = start + 1
    for _ in range(2):  # a hole at an end moves it, which may bring another hole to the end
        kept = start + 1
        for i in range(start, stop):
            if lows[i] <= highs[i]:
                continue
            first, last = highs[i] + 1, lows[i] - 1  # the hole
            if first <= low and low <= last:
                low = last + 1
            elif first <= high and high <= last:
                high = first - 1
            elif low < first and last < high:
                kept += 1
    if low > high:
        return -1
    end = start
    axis = axes[start]
    holes = np.empty((kept - start - 1, 2), np.int64)
    count = 0
    for i in range(start, stop):
        if lows[i] > highs[i] and low < highs[i] + 1 and lows[i] - 1 < high and count < len(holes):
            holes[count, 0], holes[count, 1] = lows[i], highs[i]
            count += 1
    if low > 0 or high < _TOP:
        lows[end], highs[end], axes[end] = low, high, axis
        end += 1
    for i in range(count):
        lows[end], highs[end], axes[end] = holes[i, 0], holes[i, 1], axis
        end += 1
    return end


@free_kernel
def _records_of(
    literals: Any, begin: Int, end: Int, bound: Any, labels: Any, column_of: Any, axes: Any, lows: Any, highs: Any
) -> Int:
    """The records of one cube: how many, or -1 where it can never match."""
    count = 0
    for i in range(end - begin + len(bound)):  # sorted by axis
        if i < end - begin:
            axis = axis_of(literals[begin + i])
            low, high = run_of(literals[begin + i], labels)
        else:
            axis, low, high = i64(bound[i - end + begin]), 1, _TOP
        place = count
        while place > 0 and axes[place - 1] > axis:
            axes[place], lows[place], highs[place] = axes[place - 1], lows[place - 1], highs[place - 1]
            place -= 1
        axes[place], lows[place], highs[place] = axis, low, high
        count += 1
    made, start = 0, 0
    while start < count:
        stop = start + 1
        while stop < count and axes[stop] == axes[start]:
            stop += 1
        merged = stop
        if stop > start + 1:
            merged = _merge_axis(axes, lows, highs, start, stop)
            if merged < 0:
                return -1
        elif lows[start] == 0 and highs[start] == _TOP:
            merged = start
        for i in range(start, merged):
            axes[made], lows[made], highs[made] = axes[i], lows[i], highs[i]
            made += 1
        start = stop
    kept = 0
    for i in range(made):  # that a column is bound follows from a value of it
        implied = False
        if column_of[axes[i]] == axes[i]:
            for j in range(made):
                if axes[j] != axes[i] and column_of[axes[j]] == axes[i] and 0 < lows[j] <= highs[j]:
                    if lows[i] == 0:
                        return -1
                    implied = True
                    break
        if not implied:
            axes[kept], lows[kept], highs[kept] = axes[i], lows[i], highs[i]
            kept += 1
    return kept


@free_kernel
def _order(axes: Any, lows: Any, highs: Any, count: Int, column_of: Any) -> None:
    """Column by column, the column with the narrowest run first."""
    for i in range(count):
        best, narrowest = i, i64(1) << i64(40)
        joined = i > 0
        if joined:  # first what belongs to the column of the record before
            joined = False
            for j in range(i, count):
                if column_of[axes[j]] == column_of[axes[i - 1]]:
                    best, joined = j, True
                    break
        if not joined:
            for j in range(i, count):
                span = (highs[j] - lows[j]) & _TOP
                if span < narrowest:
                    best, narrowest = j, span
        axes[i], axes[best] = axes[best], axes[i]
        lows[i], lows[best] = lows[best], lows[i]
        highs[i], highs[best] = highs[best], highs[i]


@free_kernel
def expand(
    literals: Any, ends: Any, owners: Any, first: Int, last: Int, alive: Any, bound_sets: Any, set_ends: Any,
    set_columns: Any, labels: Any, column_of: Any, out: Any, bounds: Any, out_owners: Any,
) -> Int:  # fmt: skip
    """The records of the cubes whose filters are alive, three numbers each; returns how many cubes have any chance."""
    longest = 1
    for c in range(first, last):
        begin = ends[c - 1] if c else 0
        chosen = bound_sets[i64(owners[c] & np.uint32(ASK - 1))]
        longest = max(longest, ends[c] - begin + set_ends[chosen + 1] - set_ends[chosen])
    axes, lows, highs = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    made, at = 0, 0
    for c in range(first, last):
        owner = owners[c]
        slot = i64(owner & np.uint32(ASK - 1))
        if not alive[slot >> 6] >> u64(slot & 63) & u64(1):
            continue
        begin = ends[c - 1] if c else 0
        chosen = bound_sets[slot]
        bound = set_columns[set_ends[chosen] : set_ends[chosen + 1]]
        count = _records_of(literals, begin, ends[c], bound, labels, column_of, axes, lows, highs)
        if count < 0:
            continue
        _order(axes, lows, highs, count, column_of)
        if count > MOST_RECORDS:
            count = MOST_RECORDS
            owner |= np.uint32(ASK)
        for i in range(count):
            out[at, 0] = axes[i]
            out[at, 1] = lows[i]
            out[at, 2] = (highs[i] - lows[i]) & _TOP
            at += 1
        out_owners[made] = owner
        made += 1
        bounds[made] = at
    return made


@free_kernel
def must_be_bound(low: Int, span: Int, base: Int) -> Any:
    """Whether a record needs a value in the event: it excludes 0, and no default stands in."""
    return low > 0 and low + span <= _TOP and base == 0


@free_kernel
def _cell(low: Int, span: Int) -> tuple[Int, Int, Int]:
    """The smallest cell that holds a run: (level, shifted, cell). Levels are even; level 32 is the whole axis."""
    if span == 0:
        return 0, 0, low
    for level in range(2, WHOLE_AXIS, 2):
        if low >> level == (low + span) >> level:
            return level, 0, low >> level
        half = i64(1) << (level - 1)
        if (low + half) >> level == (low + span + half) >> level:
            return level, 1, (low + half) >> level
    return WHOLE_AXIS, 0, 0


@free_kernel
def count_equalities(records: Any, table: Any, totals: Any, uses: Any) -> None:
    """How often each (axis, constant) is asked for, each axis with any constant, and each axis at all."""
    for i in range(len(records)):
        axis = i64(records[i, 0])
        uses[axis] += 1
        if records[i, 2] == 0 and records[i, 1] > 0:
            key = key_of(axis, 0, 0, i64(records[i, 1]))
            row = slot_in(table, key)
            table[row, 0] = key
            table[row, 1] += u64(1)
            totals[axis] += 1


@free_kernel
def choose(
    records: Any, bounds: Any, count: Int, base: Any, is_truth: Any, column_of: Any, table: Any, totals: Any,
    uses: Any, columns: Int, kinds: Any, keys: Any, chances: Any,
) -> None:  # fmt: skip
    """Where each cube is looked for: its kind, its key, and the chance that an event gets there."""
    prior = min(1.0, _EVENT_SIZE / max(1, columns))
    for c in range(count):
        start, stop = bounds[c], bounds[c + 1]
        kinds[c], keys[c], chances[c] = ALWAYS, u64(0), 1.0
        rare, second = -1, -1
        for i in range(start, stop):
            axis, low, span = i64(records[i, 0]), i64(records[i, 1]), i64(records[i, 2])
            if not must_be_bound(low, span, base[axis]):
                continue
            if rare < 0 or uses[axis] < uses[i64(records[rare, 0])]:
                if rare >= 0 and column_of[i64(records[rare, 0])] != column_of[axis]:
                    second = rare
                rare = i
            elif column_of[i64(records[rare, 0])] != column_of[axis] and (
                second < 0 or uses[axis] < uses[i64(records[second, 0])]
            ):
                second = i
            level, shifted, cell = _cell(low, span)
            key = key_of(axis, level, shifted, cell)
            if level == 0:
                asked = np.float64(table[slot_in(table, key), 1])
                chance = prior * (0.5 if is_truth[axis] else asked / max(1, totals[axis]))
            else:
                chance = prior * min(1.0, 2.0 ** (level - 30))
            if kinds[c] == ALWAYS or chance < chances[c]:
                kinds[c], keys[c], chances[c] = KEY, key, chance
        if stop - start == 1 and kinds[c] == KEY and records[start, 2] != 0:
            axis, low, span = i64(records[start, 0]), i64(records[start, 1]), i64(records[start, 2])
            if low == 1:
                kinds[c], keys[c] = UP, u64(axis) << u64(32) | u64(low + span)
            elif low + span == _TOP:
                kinds[c], keys[c] = DOWN, u64(axis) << u64(32) | u64(low)
        elif second >= 0 and 4 * prior * prior < chances[c]:
            one, other = u64(records[rare, 0]), u64(records[second, 0])
            kinds[c], chances[c] = PAIR, prior * prior
            keys[c] = min(one, other) << u64(32) | max(one, other)
