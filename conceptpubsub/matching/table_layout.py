"""Where the cubes of a table index stand: kernels that build it.

The cells of an axis are the leaves of a tree of 16 branches. A cube stands at the nodes that make up the run of cells
of one of its records, so a row meets it at one node at most, on the way up from its cell. Or it stands in a grid of two
axes, at the nodes that two of its records touch: again a row meets it at one node at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.jit import Int, free_kernel, i64

BRANCH_BITS = 4
LEVELS = 8
_NARROW = 32
"""Runs of fewer cells stand at the leaves alone, so that often there is only one level to look at."""
BEGIN, SHIFT, OTHER_SHIFT, ROWS, COLUMNS, GRID_SIZE = range(6)
"""A grid: its first node, the bits of the cells of either axis that do not count, how many coarse cells each has."""
_LAST = (1 << BRANCH_BITS) - 1
_TOP = 0xFFFFFFFF


@free_kernel
def to_cells(records: Any, bounds: Any, count: Int, places: Any, base: Any, edges: Any, starts: Any, kept: Any) -> Int:
    """Records over codes to records over cells, in place; those of axes that no row can touch are decided.

    ``kept[c]`` tells whether cube c can match at all. Returns the new number of records; ``bounds`` are moved.
    """
    made, begin = 0, 0
    for c in range(count):
        end = bounds[c + 1]
        kept[c] = True
        first = made
        for r in range(begin, end):
            axis, low, span = i64(records[r, 0]), i64(records[r, 1]), i64(records[r, 2])
            place = i64(places[axis])
            if place == _TOP:
                if (i64(base[axis]) - low) & _TOP > span:
                    kept[c] = False
                    break
                continue
            mine = edges[starts[place] : starts[place + 1]]
            cell = np.searchsorted(mine, np.uint32(low), side="right") - 1
            last = np.searchsorted(mine, np.uint32((low + span) & _TOP), side="right") - 1
            records[made, 0], records[made, 1] = place, cell
            records[made, 2] = (last - cell) & _TOP
            made += 1
        begin = end
        if not kept[c]:
            made = first
        bounds[c + 1] = made
    return made


@free_kernel
def choose(records: Any, bounds: Any, count: Int, sums: Any, starts: Any, chosen: Any, masses: Any) -> None:
    """The record by which each cube is found: the one that the fewest rows of a sample pass. -1: it has none.

    ``sums`` are, axis by axis, the share of rows below each cell; ``masses`` become those that meet each cube.
    """
    for c in range(count):
        best, least = -1, np.inf
        for r in range(bounds[c], bounds[c + 1]):
            place, low, span = i64(records[r, 0]), i64(records[r, 1]), i64(records[r, 2])
            high = (low + span) & _TOP
            begin, end = starts[place] + place, starts[place + 1] + place
            if low <= high:
                mass = sums[begin + high + 1] - sums[begin + low]
            else:
                mass = sums[end] - sums[begin + low] + sums[begin + high + 1]
            if mass < least:
                best, least = r, mass
        chosen[c] = best
        masses[c] = least if best >= 0 else 1.0


@free_kernel
def _climb(low: Int, high: Int, offsets: Any, place: Int, top: Int, nodes: Any, cubes: Any, at: Int) -> Int:
    """Enter a cube at the nodes that make up a run of cells, or count it there (``at`` < 0); returns how many."""
    level, made = 0, 0
    while low <= high:
        ends = level == top or (level == 0 and high - low < _NARROW)
        while low <= high and (ends or low & _LAST):
            made += _enter(offsets[place, level] + low, nodes, cubes, at)
            low += 1
        while low <= high and high & _LAST != _LAST:
            made += _enter(offsets[place, level] + high, nodes, cubes, at)
            high -= 1
        if low > high:
            break
        low, high, level = low >> BRANCH_BITS, high >> BRANCH_BITS, level + 1
    return made


@free_kernel
def _enter(node: Int, nodes: Any, cubes: Any, at: Int) -> Int:
    if at >= 0:
        cubes[nodes[node]] = at
    nodes[node] += 1
    return 1


@free_kernel
def _spread(records: Any, first: Int, second: Int, grid: Any, nodes: Any, cubes: Any, at: Int) -> Int:
    """Enter a cube at the nodes of a grid that two of its records touch, or count it there; returns how many."""
    low, span = i64(records[first, 1]), i64(records[first, 2])
    other_low, other_span = i64(records[second, 1]), i64(records[second, 2])
    last = min((low + span) >> grid[SHIFT], grid[ROWS] - 1)
    other_last = min((other_low + other_span) >> grid[OTHER_SHIFT], grid[COLUMNS] - 1)
    made = 0
    for row in range(low >> grid[SHIFT], last + 1):
        for column in range(other_low >> grid[OTHER_SHIFT], other_last + 1):
            made += _enter(grid[BEGIN] + row * grid[COLUMNS] + column, nodes, cubes, at)
    return made


@free_kernel
def _decided(records: Any, r: Int, shift: Int, cells: Int) -> Any:
    """Whether coarse cells tell exactly what a record does."""
    low, after = i64(records[r, 1]), i64(records[r, 1]) + i64(records[r, 2]) + 1
    edge = i64(1) << shift
    return low & (edge - 1) == 0 and (after & (edge - 1) == 0 or after >= cells)


@free_kernel
def choose_others(
    records: Any, bounds: Any, count: Int, kept: Any, chosen: Any, grid_of: Any, second: Any, grids: Any, cells: Any,
    skipped: Any,
) -> Int:  # fmt: skip
    """Mark the records that need not be looked at where a cube was met; returns the most that are left to look at."""
    most = 0
    for c in range(count):
        if not kept[c]:
            continue
        left = bounds[c + 1] - bounds[c]
        g = grid_of[c]
        if g < 0:
            if chosen[c] >= 0:
                skipped[chosen[c]] = True
                left -= 1
        else:
            for r, shift in ((chosen[c], grids[g, SHIFT]), (second[c], grids[g, OTHER_SHIFT])):
                if _decided(records, r, shift, cells[i64(records[r, 0])]):
                    skipped[r] = True
                    left -= 1
        most = max(most, left)
    return most


@free_kernel
def lay_out(
    records: Any, bounds: Any, count: Int, kept: Any, chosen: Any, grid_of: Any, second: Any, grids: Any, skipped: Any,
    owners: Any, offsets: Any, tops: Any, always: Int, width: Int, nodes: Any, cubes: Any, stream: Any, writing: Int,
) -> Int:  # fmt: skip
    """Count the cubes at each node, or write them there, and their other records to the stream, ``width`` each.

    A cube without so many has some that every cell passes. Returns how many places there are at nodes.
    """
    entered, at = 0, 0
    for c in range(count):
        if not kept[c]:
            continue
        best = chosen[c]
        mark = at if writing else -1
        if writing:
            stream[at], place = owners[c], at + 1
            for r in range(bounds[c], bounds[c + 1]):
                if not skipped[r]:
                    stream[place], stream[place + 1], stream[place + 2] = records[r, 0], records[r, 1], records[r, 2]
                    place += 3
            while place < at + 1 + 3 * width:
                stream[place], stream[place + 1], stream[place + 2] = 0, 0, _TOP
                place += 3
        at += 1 + 3 * width
        if best < 0:
            entered += _enter(always, nodes, cubes, mark)
            continue
        if grid_of[c] >= 0:
            entered += _spread(records, best, second[c], grids[grid_of[c]], nodes, cubes, mark)
            continue
        place, low, span = i64(records[best, 0]), i64(records[best, 1]), i64(records[best, 2])
        high, last = (low + span) & _TOP, i64(tops[place, 1])
        if low <= high:
            entered += _climb(low, min(high, last), offsets, place, i64(tops[place, 0]), nodes, cubes, mark)
        else:
            entered += _climb(low, last, offsets, place, i64(tops[place, 0]), nodes, cubes, mark)
            entered += _climb(i64(0), high, offsets, place, i64(tops[place, 0]), nodes, cubes, mark)
    return entered
