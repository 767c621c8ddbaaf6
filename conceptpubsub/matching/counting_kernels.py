"""The forwarding algorithm of Carzaniga, Deng and Wolf (figure 8), compiled.

A constraint index is four arrays. ``cells[3 * column + operator]`` begins the sorted labels of one value index; column
stands for type and name. A label is a constraint descriptor: it begins a run of ``members``, the conjunctions it stands
in. An equality is found by binary search; what is below a bound, or above one, is one run of descriptors and so one run
of members. Counters hold the number of the event they were last set for, so that none is ever cleared.

The interpreter lock is held while a kernel runs: that makes each call one step, counters included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

EQUAL, BELOW, ABOVE = 0, 1, 2
"""Operators: x = c, x < c, x > c."""
BOTH, EQUAL_ONLY, RANGES_ONLY = 3, 1, 2
"""What an event's entry is looked up for."""
DEAD = 255
"""The size of a conjunction that is no more: no count reaches it."""
MOST = 200
"""Constraints that are counted for one conjunction."""
_ROUND = 256
_LAST = (1 << 31) - 2 * _ROUND


def compiled(function: F) -> F:
    """Compile a kernel when it is first called; the machine code is kept for the next process."""
    made: F = njit(cache=True, boundscheck=False, error_model="numpy")(function)
    return made


@compiled
def _first_not_below(labels: Any, low: int, high: int, label: int) -> int:
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _next_round(counters: Any, epoch: Any) -> int:
    base: int = epoch[0] + _ROUND
    if base > _LAST:
        counters[:] = 0
        base = _ROUND
    epoch[0] = base
    return base


@compiled
def _runs(cells: Any, labels: Any, starts: Any, column: int, low: int, high: int, mode: int, runs: Any) -> None:
    """The runs of members that an attribute satisfies: equal, below a bound, above a bound."""
    cell = 3 * column
    runs[:] = 0
    if mode & EQUAL_ONLY:
        at = _first_not_below(labels, cells[cell], cells[cell + 1], low)
        if at < cells[cell + 1] and labels[at] == low:
            runs[0] = starts[at]
            runs[1] = starts[at + 1]
    if mode & RANGES_ONLY:
        at = _first_not_below(labels, cells[cell + 1], cells[cell + 2], low + 1)
        runs[2] = starts[at]
        runs[3] = starts[cells[cell + 2]]
        at = _first_not_below(labels, cells[cell + 2], cells[cell + 3], high)
        runs[4] = starts[cells[cell + 2]]
        runs[5] = starts[at]


@compiled
def _count(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, entries: Any,
    first: int, last: int, out: Any, found: int,
) -> int:  # fmt: skip
    base = _next_round(counters, epoch)
    runs = np.zeros(6, np.int64)
    columns = (len(cells) - 1) // 3
    for e in range(first, last):
        if entries[e, 0] >= columns:
            continue
        _runs(cells, labels, starts, entries[e, 0], entries[e, 1], entries[e, 2], entries[e, 3], runs)
        for r in range(0, 6, 2):
            for m in range(runs[r], runs[r + 1]):
                f = members[m]
                c = counters[f]
                if c < base:
                    c = base
                c += 1
                counters[f] = c
                if c - base == sizes[f]:
                    out[found] = f
                    found += 1
    return found


@compiled
def count(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, out: Any, entries: Any
) -> Any:
    """The conjunctions of which an event satisfies every counted constraint.

    ``entries`` has a row for each attribute: column, least label, greatest label, what to look up.
    """
    n = _count(cells, labels, starts, members, sizes, counters, epoch, entries, 0, len(entries), out, 0)
    return out[:n].copy()


@compiled
def count_many(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, entries: Any, events: Any
) -> Any:
    """As `count`, for many events: the entries of event i are ``entries[events[i]:events[i + 1]]``."""
    many = len(events) - 1
    offsets = np.zeros(many + 1, np.int64)
    out = np.empty(len(sizes) + 65536, np.int32)
    n = 0
    for e in range(many):
        if n + len(sizes) > len(out):
            larger = np.empty(2 * len(out) + len(sizes), np.int32)
            larger[:n] = out[:n]
            out = larger
        n = _count(
            cells, labels, starts, members, sizes, counters, epoch, entries, events[e], events[e + 1], out, n
        )  # fmt: skip
        offsets[e + 1] = n
    return offsets, out[:n].copy()


@compiled
def _is_set(mask: Any, bit: int) -> Any:
    return (mask[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != np.uint64(0)


@compiled
def _all_set(mask: Any, ways: int, several: Any, lists: Any) -> Any:
    """Whether nothing new can come of a conjunction: its interface, or each of them, is matched already."""
    if ways >= 0:
        return _is_set(mask, ways)
    if ways == -1:
        return True
    for w in range(several[-ways - 2], several[-ways - 1]):  # noqa: SIM110 - Numba has no all()
        if not _is_set(mask, lists[w]):
            return False
    return True


@compiled
def _set_all(mask: Any, ways: int, several: Any, lists: Any) -> int:
    """Mark the interfaces of a conjunction as matched; how many were not before."""
    if ways >= 0:
        new = 0 if _is_set(mask, ways) else 1
        mask[ways >> 6] |= np.uint64(1) << np.uint64(ways & 63)
        return new
    new = 0
    for w in range(several[-ways - 2], several[-ways - 1]):
        way = lists[w]
        if not _is_set(mask, way):
            mask[way >> 6] |= np.uint64(1) << np.uint64(way & 63)
            new += 1
    return new


@compiled
def forward(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, out: Any, entries: Any,
    first: int, last: int, ways: Any, several: Any, lists: Any, checked: Any, check_all: bool, mask: Any, left: int,
) -> Any:  # fmt: skip
    """The interfaces of an event: bits of ``mask``, of which ``left`` are still wanted; it ends when none is.

    ``ways[f]`` is the interface of a conjunction, -1 for none, and below that a list among ``several``. Conjunctions
    that need a second look are not marked but returned. Answers how many interfaces are left, and those conjunctions.
    """
    base = _next_round(counters, epoch)
    runs = np.zeros(6, np.int64)
    columns = (len(cells) - 1) // 3
    n = 0
    for e in range(first, last):
        if left == 0:
            break
        if entries[e, 0] >= columns:
            continue
        _runs(cells, labels, starts, entries[e, 0], entries[e, 1], entries[e, 2], entries[e, 3], runs)
        for r in range(0, 6, 2):
            for m in range(runs[r], runs[r + 1]):
                f = members[m]
                if _all_set(mask, ways[f], several, lists):
                    continue
                c = counters[f]
                if c < base:
                    c = base
                c += 1
                counters[f] = c
                if c - base == sizes[f]:
                    if check_all or checked[f]:
                        out[n] = f
                        n += 1
                        continue
                    left -= _set_all(mask, ways[f], several, lists)
                    if left == 0:
                        break
            if left == 0:
                break
    return left, out[:n].copy()


@compiled
def forward_many(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, out: Any, entries: Any,
    events: Any, ways: Any, several: Any, lists: Any, checked: Any, masks: Any, wanted: int,
) -> None:  # fmt: skip
    """As `forward`, for many events and conjunctions that need no second look."""
    for e in range(len(events) - 1):
        forward(
            cells, labels, starts, members, sizes, counters, epoch, out, entries, events[e], events[e + 1], ways,
            several, lists, checked, False, masks[e], wanted,
        )  # fmt: skip
