"""The forwarding algorithm of Carzaniga, Deng and Wolf (figure 8), compiled.

A constraint index is four arrays. ``cells[3 * column + operator]`` begins the sorted labels of one value index; column
stands for type and name. A label is a constraint descriptor: it begins a run of ``members``, the conjunctions it stands
in. An equality is found by binary search; what is below a bound, or above one, is one run of descriptors and so one run
of members. Counters hold the number of the event they were last set for, so that none is ever cleared.

The interpreter lock is held while a kernel runs: that makes each call one step, counters included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.jit import kernel

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


@kernel
def _first_not_below(labels: Any, low: int, high: int, label: int) -> int:
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _next_round(counters: Any, epoch: Any) -> int:
    base: int = epoch[0] + _ROUND
    if base > _LAST:
        counters[:] = 0
        base = _ROUND
    epoch[0] = base
    return base


@kernel
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


@kernel
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


@kernel
def count(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, out: Any, entries: Any
) -> Any:
    """The conjunctions of which an event satisfies every counted constraint.

    ``entries`` has a row for each attribute: column, least label, greatest label, what to look up.
    """
    n = _count(cells, labels, starts, members, sizes, counters, epoch, entries, 0, len(entries), out, 0)
    return out[:n].copy()


@kernel
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


@kernel
def _new_of_list(mask: Any, low: int, high: int, lists: Any, mark: bool, found: Any, n: int) -> int:
    """How many interfaces of a list are not matched yet; with ``mark`` they are from now on, and listed in found."""
    new = 0
    for w in range(low, high):
        way = lists[w]
        bit = np.uint64(1) << np.uint64(way & 63)
        if mask[way >> 6] & bit == 0:
            if mark:
                mask[way >> 6] |= bit
                found[n + new] = way
            new += 1
    return new


@kernel
def forward(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, out: Any, entries: Any,
    first: int, last: int, ways: Any, several: Any, lists: Any, checked: Any, check_all: bool, mask: Any, found: Any,
    matched: int, wanted: int,
) -> Any:  # fmt: skip
    """The interfaces of an event: bits of ``mask``, listed in ``found``; it ends when as many as wanted are matched.

    ``ways[m]`` is the interface of ``members[m]``, -1 for none, and below that a list among ``several``: it stands
    beside the member, so that what brings nothing new is passed over without a look elsewhere. Conjunctions that need
    a second look are not marked but returned, with the number of interfaces matched so far.
    """
    base = _next_round(counters, epoch)
    runs = np.zeros(6, np.int64)
    columns = (len(cells) - 1) // 3
    n = 0
    for e in range(first, last):
        if matched >= wanted:
            break
        if entries[e, 0] >= columns:
            continue
        _runs(cells, labels, starts, entries[e, 0], entries[e, 1], entries[e, 2], entries[e, 3], runs)
        for r in range(0, 6, 2):
            for m in range(runs[r], runs[r + 1]):
                f = members[m]
                way = ways[m]
                if way >= 0:  # written out: a call here would cost more than all the rest
                    bit = np.uint64(1) << np.uint64(way & 63)
                    if mask[way >> 6] & bit != 0:
                        continue
                elif way == -1:
                    continue
                else:
                    low, high = several[-way - 2], several[-way - 1]
                    if _new_of_list(mask, low, high, lists, False, found, matched) == 0:
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
                    if way >= 0:
                        mask[way >> 6] |= bit
                        found[matched] = way
                        matched += 1
                    else:
                        matched += _new_of_list(mask, low, high, lists, True, found, matched)
                    if matched >= wanted:
                        break
            if matched >= wanted:
                break
    return matched, out[:n].copy()


@kernel
def forward_many(
    cells: Any, labels: Any, starts: Any, members: Any, sizes: Any, counters: Any, epoch: Any, out: Any, entries: Any,
    events: Any, ways: Any, several: Any, lists: Any, checked: Any, interfaces: int, wanted: int,
) -> Any:  # fmt: skip
    """As `forward`, for many events and conjunctions that need no second look: offsets and interfaces."""
    many = len(events) - 1
    offsets = np.zeros(many + 1, np.int64)
    found = np.empty(interfaces + 65536, np.int32)
    mask = np.zeros((interfaces >> 6) + 1, np.uint64)
    n = 0
    for e in range(many):
        if n + interfaces > len(found):
            larger = np.empty(2 * len(found) + interfaces, np.int32)
            larger[:n] = found[:n]
            found = larger
        more, _ = forward(
            cells, labels, starts, members, sizes, counters, epoch, out, entries, events[e], events[e + 1], ways,
            several, lists, checked, False, mask, found[n:], 0, wanted,
        )  # fmt: skip
        for i in range(n, n + more):
            mask[found[i] >> 6] = 0
        n += more
        offsets[e + 1] = n
    return offsets, found[:n].copy()
