"""Sources: what the kernel is told of the columns that it reads, and what the numbers it is told point to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.model import EMPTY, Context

_CELLS: Final = 2
"""Cells of a grid to a threshold."""
_LEAST_CUTS: Final = 16


@dataclass(slots=True)
class Path:
    """What the columns of a table say about one attribute."""

    path: tuple[str, ...]
    value: int = -1
    fixed: Context = EMPTY
    aspects: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What errors call it."""
        return ".".join(self.path)


class Sources:
    """Sources for the kernel: their numbers, the names of their columns, and what the numbers point to."""

    def __init__(self) -> None:
        self.numbers: list[list[int]] = []
        self.names: list[str] = []
        self.kept: list[Any] = []
        self._array: NDArray[np.int64] | None = None

    def add(self, name: str, numbers: list[int], kept: Any) -> None:
        """One more."""
        self.numbers.append(numbers)
        self.names.append(name)
        self.kept.append(kept)
        self._array = None

    @property
    def array(self) -> NDArray[np.int64]:
        """The numbers, a row each; not to be written to."""
        if self._array is None:
            self._array = np.array(self.numbers or np.zeros((0, ak.SOURCE_SIZE)), np.uint64).astype(np.int64)
        return self._array


class Grid:
    """Equal cells over ascending thresholds: a value is looked up among those of its own cell.

    The cell of a number never lies before that of a smaller one, however floats are rounded: so no threshold outside a
    value's cell need be compared with it.
    """

    def __init__(self, cuts: NDArray[np.float64], scale: float) -> None:
        count = _CELLS * len(cuts)
        cells = np.clip((cuts - cuts[0]) * scale, 0.0, count - 1).astype(np.int64)
        self.starts = np.searchsorted(cells, np.arange(count + 1)).astype(np.uint32)
        self.row: NDArray[np.int64] = np.zeros(ak.GRID_SIZE, np.int64)
        self.row[: ak.GRID_SCALE + 1].view(np.float64)[:] = cuts[0], scale
        self.row[ak.GRID_COUNT], self.row[ak.GRID_STARTS] = count, self.starts.ctypes.data

    @classmethod
    def over(cls, cuts: NDArray[np.float64]) -> Grid | None:
        """A grid, where there is enough to look for."""
        with np.errstate(all="ignore"):
            scale = float(_CELLS * len(cuts) / (cuts[-1] - cuts[0])) if len(cuts) >= _LEAST_CUTS else 0.0
        return cls(cuts, scale) if 0.0 < scale < math.inf else None
