"""Records laid out for matching: what an event reads together lies together.

The *stream* holds cubes one after the other: owner, interface set and number of records in one word, then the records.
Cubes under one key are neighbours; a table leads from the key to the first of them. An equality that is the key itself
is not written again, unless the column has more to say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.cubes import ASK
from conceptpubsub.matching.jit import Int, free_kernel, i64, u64
from conceptpubsub.matching.record_kernels import DOWN, KEY, PAIR, UP, key_of, slot_in

COUNT_BITS = 24
"""A table row holds the place in the stream above the number of cubes."""
HAS_UP, HAS_DOWN, HAS_PAIR = 1, 2, 4
LEVELS, FLAGS, UP_RUN, DOWN_RUN = 0, 1, 2, 3
"""The columns of what is known about an axis: cell levels in use, flags, and its runs of bounds (start and end)."""


@free_kernel
def written_length(bounds: Any, count: Int) -> Int:
    """An upper bound of the stream's length."""
    return 2 * count + 3 * bounds[count]


@free_kernel
def _is_key(records: Any, i: Int, start: Int, stop: Int, key: Any, column_of: Any) -> Any:
    """Whether a record is the equality under whose key the cube stands, and all its column says."""
    if records[i, 2] != 0 or key_of(i64(records[i, 0]), 0, 0, i64(records[i, 1])) != key:
        return False
    column = column_of[i64(records[i, 0])]
    alone = True
    for j in range(start, stop):
        alone = alone and (j == i or column_of[i64(records[j, 0])] != column)
    return alone


@free_kernel
def _write(
    records: Any, start: Int, stop: Int, key: Any, column_of: Any, owner: Any, interfaces: Any, stream: Any, at: Int
) -> Int:
    """Write one cube; returns where the next one goes."""
    stream[at] = owner
    head = at + 1
    at += 2
    for i in range(start, stop):
        if not _is_key(records, i, start, stop, key, column_of):
            stream[at], stream[at + 1], stream[at + 2] = records[i, 0], records[i, 1], records[i, 2]
            at += 3
    stream[head] = interfaces << np.uint32(8) | np.uint32((at - head - 1) // 3)
    return at


@free_kernel
def lay_out(
    records: Any, bounds: Any, owners: Any, kinds: Any, keys: Any, order: Any, interface_sets: Any, column_of: Any,
    axes: Any, table: Any, pairs: Any, stream: Any, codes: Any, code_owners: Any, code_sets: Any,
) -> tuple[Int, Int, Int]:  # fmt: skip
    """Write the cubes in order of kind and key. Returns how many stand at every event, the end of the stream, and the
    number of bounds."""
    at, listed, always = 0, 0, 0
    row, before = -1, -1
    for o in range(len(order)):
        c = order[o]
        kind, key, owner = kinds[c], keys[c], owners[c]
        interfaces = interface_sets[i64(owner & np.uint32(ASK - 1))]
        if kind in (UP, DOWN):
            axis = i64(key >> u64(32))
            codes[listed] = np.uint32(key & u64(0xFFFFFFFF))
            code_owners[listed], code_sets[listed] = owner, interfaces
            column = UP_RUN if kind == UP else DOWN_RUN
            if axes[axis, column] == 0:
                axes[axis, column] = u64(listed) << u64(32)
                axes[axis, FLAGS] |= u64(HAS_UP if kind == UP else HAS_DOWN)
            listed += 1
            axes[axis, column] = axes[axis, column] >> u64(32) << u64(32) | u64(listed)
            continue
        if kind in (KEY, PAIR):
            into = table if kind == KEY else pairs
            fresh = before < 0 or keys[before] != key or kinds[before] != kind
            if fresh:
                row = slot_in(into, key)
                into[row, 0], into[row, 1] = key, u64(at) << u64(COUNT_BITS)
                if kind == KEY:
                    level = key >> u64(32) & u64(63)
                    axes[i64(key >> u64(38)), LEVELS] |= u64(1) << level
                else:
                    axes[i64(key >> u64(32)), FLAGS] |= u64(HAS_PAIR)
                    axes[i64(key & u64(0xFFFFFFFF)), FLAGS] |= u64(HAS_PAIR)
            into[row, 1] += u64(1)
        else:
            always += 1
        written = key if kind == KEY else u64(0)
        at = _write(records, bounds[c], bounds[c + 1], written, column_of, owner, interfaces, stream, at)
        before = c
    return always, at, listed


@free_kernel
def refill(rows: Any, table: Any) -> None:
    """Put rows into an empty table."""
    for i in range(len(rows)):
        place = slot_in(table, rows[i, 0])
        table[place, 0], table[place, 1] = rows[i, 0], rows[i, 1]


@free_kernel
def append_plain(
    records: Any, bounds: Any, owners: Any, count: Int, interface_sets: Any, column_of: Any, stream: Any, at: Int
) -> Int:
    """Write cubes one after the other under no key; returns the end of the stream."""
    for c in range(count):
        interfaces = interface_sets[i64(owners[c] & np.uint32(ASK - 1))]
        at = _write(records, bounds[c], bounds[c + 1], u64(0), column_of, owners[c], interfaces, stream, at)
    return at
