"""Lookups: machine numbers as they stand in events, to codes. The index is converted, not the events.

A lookup belongs to a space and a reading: a unit or scale as an affine map. It holds the constants of the space as
thresholds in that unit, rounded so that the comparison is exact, with the code of a number that equals one. Values
outside a declared range, and fractions where integers are declared, have code 0: they count as missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.codes import Codebook, Space
from conceptpubsub.matching.thresholds import (
    PLAIN,
    Affine,
    Rounding,
    Threshold,
    least_float,
    least_float32,
    least_floats,
    least_int,
)
from conceptpubsub.model.values import Exact

_MOST_LATE = 256
ROUNDINGS: dict[str, tuple[Rounding, Any]] = {
    "float": (least_float, np.float64),
    "float32": (least_float32, np.float64),  # each float32 is a float, in the same order
    "int": (least_int, np.int64),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a machine number is read: a map into the space, the range and whether only integers count."""

    space: int
    affine: Affine = PLAIN
    minimum: Exact | None = None
    maximum: Exact | None = None
    whole: bool = False
    machine: str = "float"
    """float, float32 or int: what the numbers are."""


class Lookup:
    """The thresholds of a space for one reading, and the code at each."""

    def __init__(self, reading: Reading, space: Space) -> None:
        self.reading = reading
        self.space = space
        self._least, self._dtype = ROUNDINGS[reading.machine]
        self.cuts: NDArray[Any] = np.zeros(0, self._dtype)
        self.codes: NDArray[np.uint32] = np.zeros(0, np.uint32)
        self.late_cuts, self.late_codes = self.cuts, self.codes
        self._seen = 0
        self.low, self.high = self._range()
        self.refresh()

    def refresh(self) -> bool:
        """Take in the constants that have come since; tells whether there were any."""
        total = len(self.space.added)
        if total == self._seen:
            return False
        cuts, codes = self._thresholds(self.space.since(self._seen))
        cuts, codes = _merged(self.late_cuts, self.late_codes, cuts, codes)
        if len(cuts) > _MOST_LATE:
            self.cuts, self.codes = _merged(self.cuts, self.codes, cuts, codes)
            cuts, codes = self.cuts[:0], self.codes[:0]
        self.late_cuts, self.late_codes = cuts, codes
        self._seen = total
        return True

    def direct(self) -> NDArray[np.uint32] | None:
        """The codes of all integers from one below the first threshold to one above the last, where those are few."""
        cuts, codes = _merged(self.cuts, self.codes, self.late_cuts, self.late_codes)
        if self.reading.machine != "int" or not len(cuts):
            return None
        low, high = int(cuts[0]) - 1, int(cuts[-1]) + 1
        if high - low > 16 * len(cuts) + 256 or low < -(1 << 62) or high > 1 << 62:
            return None
        values = np.arange(low, high + 1)
        place = np.searchsorted(cuts, values, side="right") - 1
        made = np.where(place < 0, 1, np.where(cuts[place] == values, codes[place], codes[place] | 1))
        return made.astype(np.uint32)

    def _thresholds(self, constants: list[tuple[Exact, int]]) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        affine, least = self.reading.affine, self._least
        found: Iterable[Threshold]
        if self.reading.machine == "float":
            found = least_floats((constant for constant, _ in constants), affine)
        else:
            found = (least(affine.before(constant)) for constant, _ in constants)
        cuts, codes = [], []
        for (_, label), (cut, is_exact) in zip(constants, found, strict=True):
            if cut is not None:  # no machine number is that large
                cuts.append(cut)
                codes.append(label if is_exact else label + 1)
        return np.array(cuts, self._dtype), np.array(codes, np.uint32)

    def _range(self) -> tuple[Any, Any]:
        """The least and the greatest number within the declared range."""
        reading = self.reading
        is_int = reading.machine == "int"
        low: Any = -(1 << 63) if is_int else -math.inf
        high: Any = (1 << 63) - 1 if is_int else math.inf
        if reading.minimum is not None:
            cut, _ = self._least(reading.affine.before(reading.minimum))
            low = high if cut is None else cut
        if reading.maximum is not None:
            cut, is_exact = self._least(reading.affine.before(reading.maximum))
            if cut is not None:
                high = cut if is_exact else cut - 1 if is_int else self._below(cut)
        return low, high

    def _below(self, cut: Any) -> Any:
        return (
            np.nextafter(cut, self._dtype(-math.inf)) if self._dtype is np.float32 else math.nextafter(cut, -math.inf)
        )


def _merged(
    cuts: NDArray[Any], codes: NDArray[np.uint32], more: NDArray[Any], more_codes: NDArray[np.uint32]
) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """Two ascending runs as one. Equal cuts stand in the order of their codes, which is that of the constants."""
    whole, all_codes = np.concatenate([cuts, more]), np.concatenate([codes, more_codes])
    order = np.lexsort((all_codes, whole))
    return whole[order], all_codes[order]


class LookupTable:
    """All lookups of a codebook as rows of addresses."""

    def __init__(self, book: Codebook) -> None:
        from conceptpubsub.matching import event_kernels as ev

        self._places = ev
        self.book = book
        self.lookups: list[Lookup] = []
        self._numbers: dict[Reading, int] = {}
        self.rows: NDArray[np.int64] = np.zeros((8, ev.LOOKUP_SIZE), np.int64)

    def number(self, reading: Reading) -> int:
        """The number of the lookup for a reading."""
        found = self._numbers.get(reading)
        if found is None:
            found = len(self.lookups)
            self.lookups.append(Lookup(reading, self.book.spaces[reading.space]))
            if found == len(self.rows):
                self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            self._fill(found)
            self._numbers[reading] = found
            self.book.clock.now += 1
        return found

    def frozen(self, reading: Reading) -> tuple[NDArray[np.int64], Any]:
        """The row of a lookup as it is now, and what must be kept while it is used."""
        ev, number = self._places, self.number(reading)
        lookup, row = self.lookups[number], self.rows[number].copy()
        table = lookup.direct()
        if table is not None:
            row[ev.DIRECT], row[ev.DIRECT_COUNT] = table.ctypes.data, len(table)
            row[ev.DIRECT_LOW] = int(min(lookup.cuts[:1].tolist() + lookup.late_cuts[:1].tolist())) - 1
        return row, (lookup.cuts, lookup.codes, lookup.late_cuts, lookup.late_codes, table)

    def refresh(self) -> None:
        """Take in the constants that have come since."""
        for number, lookup in enumerate(self.lookups):
            if lookup.refresh():
                self._fill(number)

    def _fill(self, number: int) -> None:
        ev, lookup = self._places, self.lookups[number]
        row = np.zeros(ev.LOOKUP_SIZE, np.int64)
        row[ev.CUTS], row[ev.CUT_CODES] = lookup.cuts.ctypes.data, lookup.codes.ctypes.data
        row[ev.LATE_CUTS], row[ev.LATE_CODES] = lookup.late_cuts.ctypes.data, lookup.late_codes.ctypes.data
        row[ev.CUT_COUNT], row[ev.LATE_COUNT] = len(lookup.cuts), len(lookup.late_cuts)
        row[ev.WHOLE] = lookup.reading.whole
        ends = row[ev.LOW : ev.HIGH + 1]
        if lookup.reading.machine == "int":
            ends[:] = lookup.low, lookup.high
        else:
            ends.view(np.float64)[:] = lookup.low, lookup.high
        self.rows[number] = row

    def nbytes(self) -> int:
        """The memory it holds."""
        return self.rows.nbytes + sum(x.cuts.nbytes + x.codes.nbytes for x in self.lookups)
