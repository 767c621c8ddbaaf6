"""Grids of a table index: two axes at a time, so that a row meets few cubes besides those that match.

A *grid* has a node for every pair of coarse cells of two axes; a cube stands at those that its two records touch. What
is gained, rows meeting fewer cubes, is estimated from the same sample as the rest of the index: it decides how fast the
answer is, never which.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_MOST_AXES: Final = 16
_MOST_NODES: Final = 3 << 15
"""Nodes of one grid; they are read at random, and should stay in the cache."""
_MOST_PLACES: Final = 1024
"""Nodes of a grid that one cube may stand at."""
_MOST_GRIDS: Final = 12
_PROBED: Final = 4096
"""Cubes that are asked where to cut an axis more coarsely."""
_LOOK: Final = 1.0
"""What looking at one more node costs a row, in cubes that it meets."""
_TOP: Final = 0xFFFFFFFF

Masses = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Two axes, by place, each with the bits of its cells that do not count; and how many coarse cells each has."""

    first: int
    second: int
    first_shift: int
    second_shift: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Which cubes stand in which grid (-1: in none), and by which of their records."""

    grids: tuple[Grid, ...]
    grid_of: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]


class _Axis:
    """The records of cubes on one axis."""

    def __init__(self, place: int, sums: Masses, cubes: int) -> None:
        self.place, self.sums = place, sums
        self.cells = len(sums) - 1
        self.record: NDArray[np.int64] = np.full(cubes, -1)
        self.low: NDArray[np.int64] = np.zeros(cubes, np.int64)
        self.high: NDArray[np.int64] = np.zeros(cubes, np.int64)

    def coarse(self, shift: int) -> int:
        """How many coarse cells there are."""
        return ((self.cells - 1) >> shift) + 1

    def mass(self, shift: int, chosen: Any) -> Masses:
        """The share of rows that come by the coarse cells of each cube; infinite where it has no run of cells here."""
        low = (self.low[chosen] >> shift) << shift
        after = np.minimum(((self.high[chosen] >> shift) + 1) << shift, self.cells)
        made: Masses = np.where(self.record[chosen] < 0, np.inf, self.sums[after] - self.sums[low])
        return made

    def places(self, shift: int) -> NDArray[np.int64]:
        """At how many coarse cells each cube stands."""
        return (self.high >> shift) - (self.low >> shift) + 1


def lay_out(
    records: NDArray[np.uint32], bounds: NDArray[np.int64], kept: NDArray[np.bool_], sums: list[Masses],
    alone: Masses, axis_of: NDArray[np.int64],
) -> Layout:  # fmt: skip
    """The grids that are worth while.

    Without one, ``alone`` is the share of rows that meet each cube, and ``axis_of`` the axis where they do, or -1.
    """
    cubes = len(kept)
    axes = _axes(records, bounds, kept, sums)
    least = np.where(kept, alone, 0.0)
    grid_of = np.full(cubes, -1, np.int64)
    found: list[tuple[Grid, Masses, _Axis, _Axis]] = []
    rng = np.flatnonzero(kept)
    probed = rng[:: max(1, len(rng) // _PROBED)]
    for one, other in combinations(axes, 2):
        grid = _grid(one, other, probed)
        mass = one.mass(grid.first_shift, slice(None)) * other.mass(grid.second_shift, slice(None))
        taken = one.places(grid.first_shift) * other.places(grid.second_shift)
        mass[(taken > _MOST_PLACES) | ~kept | np.isnan(mass)] = np.inf
        found.append((grid, mass, one, other))
    used: list[tuple[Grid, Masses, _Axis, _Axis]] = []
    while found and len(used) < _MOST_GRIDS:
        gains = [float(np.maximum(least - mass, 0.0).sum()) for _, mass, _, _ in found]
        best = int(np.argmax(gains))
        if gains[best] <= _LOOK:
            break
        better = found[best][1] < least
        least[better] = found[best][1][better]
        grid_of[better] = len(used)
        used.append(found.pop(best))
    if used:
        _gather(grid_of, np.array([mass for _, mass, _, _ in used]), alone, kept, axis_of)
    first, second = np.full(cubes, -1, np.int64), np.full(cubes, -1, np.int64)
    for number, (_, _, one, other) in enumerate(used):
        mine = grid_of == number
        first[mine], second[mine] = one.record[mine], other.record[mine]
    return Layout(tuple(grid for grid, _, _, _ in used), grid_of, first, second)


def _gather(grid_of: NDArray[np.int64], masses: Masses, alone: Masses, kept: Any, axis_of: Any) -> None:
    """Have the last few cubes that would stand at an axis by themselves stand in grids, if that spares a look there."""
    best = np.argmin(masses, axis=0)
    least = masses[best, np.arange(len(best))]
    for axis in np.unique(axis_of[kept & (grid_of < 0)]).tolist():
        mine = np.flatnonzero(kept & (grid_of < 0) & (axis_of == axis))
        if float((least[mine] - alone[mine]).sum()) < _LOOK:
            grid_of[mine] = best[mine]


def _axes(records: Any, bounds: Any, kept: Any, sums: list[Masses]) -> list[_Axis]:
    """The axes that most cubes ask about, with the run of each cube there."""
    count = int(bounds[-1])
    owner = np.repeat(np.arange(len(kept)), np.diff(bounds))
    place, low = records[:count, 0].astype(np.int64), records[:count, 1].astype(np.int64)
    high = (low + records[:count, 2].astype(np.int64)) & _TOP
    asked = np.bincount(place, minlength=len(sums))
    made = []
    for chosen in np.argsort(-asked, kind="stable")[:_MOST_AXES].tolist():
        axis = _Axis(chosen, sums[chosen], len(kept))
        mine = np.flatnonzero((place == chosen) & (low <= high))
        axis.record[owner[mine]] = mine
        axis.low[owner[mine]] = low[mine]
        axis.high[owner[mine]] = np.minimum(high[mine], axis.cells - 1)
        made.append(axis)
    return made


def _grid(one: _Axis, other: _Axis, probed: NDArray[np.int64]) -> Grid:
    """The grid of two axes: whichever loses less by it is cut more coarsely, until there are few enough nodes."""
    both = probed[(one.record[probed] >= 0) & (other.record[probed] >= 0)]
    shifts = [0, 0]
    mine, theirs = one.mass(0, both), other.mass(0, both)
    while one.coarse(shifts[0]) * other.coarse(shifts[1]) > _MOST_NODES:
        coarser, others = one.mass(shifts[0] + 1, both), other.mass(shifts[1] + 1, both)
        if other.coarse(shifts[1]) == 1 or (
            one.coarse(shifts[0]) > 1 and float(coarser @ theirs) <= float(mine @ others)
        ):
            shifts[0], mine = shifts[0] + 1, coarser
        else:
            shifts[1], theirs = shifts[1] + 1, others
    return Grid(one.place, other.place, shifts[0], shifts[1], one.coarse(shifts[0]), other.coarse(shifts[1]))
