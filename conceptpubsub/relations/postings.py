"""Postings: for one attribute, the filters that need it, in arrays that grow and shrink in place.

Beside each filter stand its hull of the attribute and a mask: a bit for each attribute it needs, hashed to 64. A filter
that needs what another lacks has a bit that the other has not, or shares one by chance; then a decision tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_FIRST = 8
_ALL = (1 << 64) - 1


def mask_of(keys: Iterable[str]) -> int:
    """A bit for each key."""
    mask = 0
    for key in keys:
        mask |= 1 << (hash(key) & 63)
    return mask


class Postings:
    """A set of filter numbers, each with a mask and the least and greatest value of one attribute.

    >>> p = Postings()
    >>> p.add(7, 0b01, 1.0, 5.0); p.add(8, 0b11, 2.0, 3.0)
    >>> p.around(0b01, 2.5, 2.5).tolist(), p.within(0b11, 0.0, 3.0).tolist()
    ([7], [8])
    >>> p.remove(7); len(p)
    1
    """

    __slots__ = ("_at", "_count", "_high", "_low", "_masks", "_numbers")

    def __init__(self) -> None:
        self._numbers = np.empty(_FIRST, np.int64)
        self._masks = np.empty(_FIRST, np.uint64)
        self._low = np.empty(_FIRST)
        self._high = np.empty(_FIRST)
        self._count = 0
        self._at: dict[int, int] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, number: int, mask: int, low: float, high: float) -> None:
        """Add a filter; it must not be there."""
        count = self._count
        if count == len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.empty_like(self._numbers)])
            self._masks = np.concatenate([self._masks, np.empty_like(self._masks)])
            self._low = np.concatenate([self._low, np.empty_like(self._low)])
            self._high = np.concatenate([self._high, np.empty_like(self._high)])
        self._numbers[count], self._masks[count], self._low[count], self._high[count] = number, mask, low, high
        self._at[number] = count
        self._count = count + 1

    def remove(self, number: int) -> None:
        """Take a filter out; the last one takes its place."""
        at = self._at.pop(number)
        last = self._count = self._count - 1
        if at != last:
            moved = int(self._numbers[last])
            self._numbers[at], self._masks[at] = moved, self._masks[last]
            self._low[at], self._high[at] = self._low[last], self._high[last]
            self._at[moved] = at

    def around(self, mask: int, low: float, high: float) -> Any:
        """The filters that need nothing beyond a mask and whose hull holds the given range."""
        n = self._count
        fitting = (self._masks[:n] & np.uint64(~mask & _ALL)) == 0
        return self._numbers[:n][fitting & (self._low[:n] <= low) & (self._high[:n] >= high)]

    def within(self, mask: int, low: float, high: float) -> Any:
        """The filters that need all of a mask and whose hull lies in the given range."""
        n = self._count
        fitting = (~self._masks[:n] & np.uint64(mask)) == 0
        return self._numbers[:n][fitting & (self._low[:n] >= low) & (self._high[:n] <= high)]
