"""Columns as small codes: whatever depends on a distinct value alone is worked out once a code, and spread by a gather.

Codes are int64; -1 is null. Several columns together have codes, too: one for each combination that occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def encoded(column: Any) -> tuple[Codes, pa.Array]:
    """A column as codes into its distinct values; null is -1. Arrow refuses to encode nested types.

    >>> codes, values = encoded(pa.chunked_array([["m", "ft"], ["m", None]]))
    >>> codes.tolist(), values.to_pylist()
    ([0, 1, 0, -1], ['m', 'ft'])
    """
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks() if column.num_chunks > 1 else column
    if isinstance(column, pa.ChunkedArray):
        if not column.num_chunks:
            return np.zeros(0, np.int64), pa.array([], column.type.value_type)
        column = column.chunk(0)
    return _indices(column.indices), column.dictionary


def _indices(given: pa.Array) -> Codes:
    """Indices as int64, -1 where there is none."""
    made: Codes
    if not given.null_count:
        made = given.to_numpy().astype(np.int64)
    elif given.type != pa.int32():
        made = given.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    else:  # as Arrow's own fill_null, at a third of the cost
        held = np.frombuffer(given.buffers()[1], np.int32)[given.offset : given.offset + len(given)]
        made = np.where(given.is_valid().to_numpy(zero_copy_only=False), held, -1).astype(np.int64)
    return made


def compact(codes: Codes, size: int) -> tuple[Codes, Codes]:
    """Codes below ``size`` renumbered without gaps, and which code each new one was.

    >>> codes, kept = compact(np.array([7, 2, 7]), 10)
    >>> codes.tolist(), kept.tolist()
    ([1, 0, 1], [2, 7])
    """
    if size > 4 * len(codes) + 65_536:
        kept, made = np.unique(codes, return_inverse=True)
        return made.astype(np.int64), kept
    present = np.zeros(size, bool)
    present[codes] = True
    return (np.cumsum(present) - 1)[codes], np.flatnonzero(present)


def combined(columns: Sequence[tuple[Codes, int]], rows: int) -> tuple[Codes, list[tuple[int, ...]]]:
    """For each row the code of its combination, and the combination of each: a code a column, -1 for null.

    ``columns`` are (codes, how many there are) pairs of ``rows`` rows each.

    >>> codes, found = combined([(np.array([0, 1, 0]), 2), (np.array([-1, 0, -1]), 1)], 3)
    >>> codes.tolist(), found
    ([0, 1, 0], [(0, -1), (1, 0)])
    """
    codes: Codes = np.zeros(rows, np.int64)
    found: list[tuple[int, ...]] = [()] if rows else []
    for inner, count in columns:
        size = count + 1
        codes, kept = compact(codes * size + inner + 1, max(len(found), 1) * size)
        found = [(*found[code // size], code % size - 1) for code in kept.tolist()]
    return codes, found
