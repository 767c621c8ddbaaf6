"""Postings: for one attribute, what filters ask of it, found by value.

Rule 1  *Ranges* are asked which of them hold a value. One that is a single text stands under that text, one that is a
        single number under that number, one with ends in a cell of a grid as coarse as it is wide, the rest apart.
        So a value is looked up in a few cells, however many ranges there are.
Rule 2  *Points* are asked which of them lie in a range. They stand in order, and texts under themselves too.
Rule 3  Beside each stands a mask: a bit for each attribute that a filter needs, hashed to 64. A filter that needs what
        another lacks has a bit that the other has not, or shares one by chance; then a decision tells.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from conceptpubsub.relations.outlines import Ask

_FINEST: Final = -30
_LARGEST: Final = 1e290


def mask_of(keys: Iterable[str]) -> int:
    """The bits of some attributes."""
    mask = 0
    for key in keys:
        mask |= 1 << (hash(key) & 63)
    return mask


class Range(NamedTuple):
    """What one term asks of an attribute, what else the term needs, and the greatest value that any term allows."""

    mask: int
    low: float
    high: float
    most: float


_Cell = dict[int, Range]
_Place = tuple[Any, Any]


class Ranges:
    """Ranges of one attribute, each under a number.

    >>> ranges = Ranges()
    >>> ranges.add(7, 0b01, Ask(1.0, 5.0), 5.0); ranges.add(8, 0b11, Ask(2.0, 2.0), 2.0)
    >>> ranges.around(0b01, Ask(2.5, 3.0)), ranges.around(0b11, Ask(2.0, 2.0))
    ([7], [8, 7])
    >>> ranges.remove(7); len(ranges)
    1
    """

    __slots__ = ("_at", "_cells")

    def __init__(self) -> None:
        self._at: dict[int, _Place] = {}
        self._cells: dict[Any, dict[Any, _Cell]] = {"text": {}, "number": {}, "open": {}}
        """Cells by kind; of those with ends, by the width of a cell as a power of two."""

    def __len__(self) -> int:
        return len(self._at)

    def add(self, number: int, mask: int, ask: Ask, most: float) -> None:
        """Add a range; its number must be new."""
        kind, cell = self._at[number] = _place(ask)
        self._cells.setdefault(kind, {}).setdefault(cell, {})[number] = Range(mask, ask.low, ask.high, most)

    def remove(self, number: int) -> None:
        """Take a range out."""
        kind, cell = self._at.pop(number)
        cells = self._cells[kind]
        del cells[cell][number]
        if not cells[cell]:
            del cells[cell]

    def crowd(self, ask: Ask) -> int:
        """How many stand where such a range would."""
        kind, cell = _place(ask)
        cells = self._cells.get(kind)
        return 0 if cells is None else len(cells.get(cell, ()))

    def around(self, mask: int, ask: Ask) -> list[int]:
        """Those that need nothing beyond a mask, hold the least value asked for, and may hold the greatest."""
        low, high = ask.low, ask.high
        return [
            number
            for cell in self._holding(ask)
            for number, held in cell.items()
            if not held.mask & ~mask and held.low <= low <= held.high and high <= held.most
        ]

    def _holding(self, ask: Ask) -> Iterator[_Cell]:
        cells = self._cells
        if ask.text is not None and ask.text in cells["text"]:
            yield cells["text"][ask.text]
        if ask.low in cells["number"]:
            yield cells["number"][ask.low]
        if -_LARGEST < ask.low < _LARGEST:
            for level, of in cells.items():
                if type(level) is int and of:
                    here = math.floor(math.ldexp(ask.low, -level))
                    yield from (of[cell] for cell in (here, here - 1) if cell in of)
        yield from cells["open"].values()

    def fitting(self, mask: int) -> list[int]:
        """All that need nothing beyond a mask, whatever their values."""
        return [
            number
            for of in self._cells.values()
            for cell in of.values()
            for number, held in cell.items()
            if not held.mask & ~mask
        ]


def _place(ask: Ask) -> _Place:
    low, high, text, only = ask
    if only:
        return "text", text
    if low == high:
        return "number", low
    if low <= -_LARGEST or high >= _LARGEST:
        return "open", None
    level = max(math.frexp((high - low) * 1.000001)[1], _FINEST)  # a little wider, for what rounding took away
    return level, math.floor(math.ldexp(low, -level))


class Points:
    """Values of one attribute, each under a number.

    >>> points = Points()
    >>> points.add(7, 0b01, Ask(1.0, 5.0)); points.add(8, 0b11, Ask(2.0, 2.0))
    >>> points.within(0b01, Ask(0.0, 3.0)), points.within(0b10, Ask(0.0, 3.0)), points.count(Ask(1.5, 9.0))
    ([7, 8], [8], 1)
    >>> points.remove(7); len(points)
    1
    """

    __slots__ = ("_at", "_order", "_texts")

    def __init__(self) -> None:
        self._at: dict[int, tuple[int, float, str | None]] = {}
        self._order: list[tuple[float, int]] = []
        self._texts: dict[str, dict[int, int]] = {}

    def __len__(self) -> int:
        return len(self._at)

    def add(self, number: int, mask: int, ask: Ask) -> None:
        """Add the least value of what is asked for; its number must be new."""
        self._at[number] = (mask, ask.low, ask.text)
        insort(self._order, (ask.low, number))
        if ask.text is not None:
            self._texts.setdefault(ask.text, {})[number] = mask

    def remove(self, number: int) -> None:
        """Take a value out."""
        _, low, text = self._at.pop(number)
        del self._order[bisect_left(self._order, (low, number))]
        if text is not None:
            del self._texts[text][number]
            if not self._texts[text]:
                del self._texts[text]

    def count(self, ask: Ask) -> int:
        """How many lie in a range."""
        if ask.only:
            return len(self._texts.get(ask.text or "", ()))
        first, last = self._span(ask)
        return last - first

    def within(self, mask: int, ask: Ask) -> list[int]:
        """Those that lie in a range, of filters that need all of a mask."""
        if ask.only:
            return [number for number, held in self._texts.get(ask.text or "", {}).items() if not mask & ~held]
        first, last = self._span(ask)
        at = self._at
        return [number for _, number in self._order[first:last] if not mask & ~at[number][0]]

    def _span(self, ask: Ask) -> tuple[int, int]:
        return bisect_left(self._order, (ask.low, -1)), bisect_right(self._order, (ask.high, 1 << 62))
