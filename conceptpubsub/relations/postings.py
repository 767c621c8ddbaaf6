"""Postings: for one attribute, the filters that need it and their hulls, in arrays that grow and shrink in place."""

from __future__ import annotations

from typing import Any

import numpy as np

_FIRST = 8


class Postings:
    """A set of filter numbers, each with the least and greatest value of one attribute.

    >>> p = Postings()
    >>> p.add(7, 1.0, 5.0); p.add(8, 2.0, 3.0)
    >>> p.around(2.5, 4.0).tolist(), p.within(0.0, 3.0).tolist()
    ([7], [8])
    >>> p.remove(7); len(p)
    1
    """

    __slots__ = ("_at", "_count", "_high", "_low", "_numbers")

    def __init__(self) -> None:
        self._numbers = np.empty(_FIRST, np.int64)
        self._low = np.empty(_FIRST)
        self._high = np.empty(_FIRST)
        self._count = 0
        self._at: dict[int, int] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, number: int, low: float, high: float) -> None:
        """Add a filter; it must not be there."""
        count = self._count
        if count == len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.empty_like(self._numbers)])
            self._low = np.concatenate([self._low, np.empty_like(self._low)])
            self._high = np.concatenate([self._high, np.empty_like(self._high)])
        self._numbers[count], self._low[count], self._high[count] = number, low, high
        self._at[number] = count
        self._count = count + 1

    def remove(self, number: int) -> None:
        """Take a filter out; the last one takes its place."""
        at = self._at.pop(number)
        last = self._count = self._count - 1
        if at != last:
            moved = int(self._numbers[last])
            self._numbers[at], self._low[at], self._high[at] = moved, self._low[last], self._high[last]
            self._at[moved] = at

    def around(self, low: float, high: float) -> Any:
        """The filters whose hull holds the given range."""
        n = self._count
        return self._numbers[:n][(self._low[:n] <= low) & (self._high[:n] >= high)]

    def within(self, low: float, high: float) -> Any:
        """The filters whose hull lies in the given range."""
        n = self._count
        return self._numbers[:n][(self._low[:n] >= low) & (self._high[:n] <= high)]
