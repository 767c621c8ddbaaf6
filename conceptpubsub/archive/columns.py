"""The columns of an event table as the archive works on them: attributes, their contexts row by row, times.

A context is a small code: rows with the same unit share one, so that whatever depends on units alone is worked out once
a code and spread by one gather.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model.codecs.arrow_cells import Unreadable, cells
from conceptpubsub.model.codecs.arrow_codes import Codes, compact, encoded
from conceptpubsub.model.codecs.arrow_reading import metadata_aspects
from conceptpubsub.model.codecs.columns import EMPTY_COMPLEX, OWN_CONCEPT, Column
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant

NO_TIME = np.iinfo(np.int64).min
DAY = 86_400 * 10**9
_MARKS = (OWN_CONCEPT, EMPTY_COMPLEX)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a table: the column of its values, and the columns of the aspects beside them."""

    column: str
    key: str
    fixed: Context
    aspects: tuple[tuple[str, str], ...]
    """(aspect, column) pairs; marks such as ``@concept`` are not among them."""

    def beside(self, aspect: str) -> str:
        """The name of the column that holds an aspect of this attribute."""
        return f"{self.column}@{'@' if aspect.startswith('@') else ''}{aspect}"


def attributes(schema: pa.Schema) -> list[Attribute]:
    """The attributes of a table that hold values, in the order of their columns."""
    parsed = {name: Column.parse(name) for name in schema.names}
    beside: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, place in parsed.items():
        if place.aspect is not None and place.aspect not in _MARKS:
            beside.setdefault(place.path, []).append((place.aspect.removeprefix("@"), name))
    found = []
    for name, place in parsed.items():
        if place.path and place.aspect is None:
            fixed = Context(metadata_aspects(schema.field(name)))
            found.append(Attribute(name, place.path[-1], fixed, tuple(beside.get(place.path, ()))))
    return found


def contexts_of(table: pa.Table, attribute: Attribute) -> tuple[Codes, list[Context]]:
    """For each row the code of its context, and the context of each code."""
    codes = np.zeros(table.num_rows, np.int64)
    found = [attribute.fixed]
    for aspect, column in attribute.aspects:
        inner, values = encoded(table.column(column))
        listed = [None, *cells(values, table.schema.field(column))]
        codes, kept = compact(codes * len(listed) + inner + 1, len(found) * len(listed))
        found = [_laid(found[code // len(listed)], aspect, listed[code % len(listed)]) for code in kept.tolist()]
    return codes, found


def _laid(under: Context, aspect: str, value: Any) -> Context:
    if value is None or isinstance(value, Unreadable):
        return under
    try:
        return under.merged({aspect: value})
    except ConceptPubSubError:
        return under


def valid_mask(column: Any) -> NDArray[np.bool_]:
    """Where a column holds a value."""
    made: NDArray[np.bool_] = np.asarray(
        column.is_valid().to_numpy(zero_copy_only=False)
        if isinstance(column, pa.Array)
        else column.is_valid().to_numpy(),
        bool,
    )
    return made


def numbers(column: Any) -> NDArray[Any]:
    """A numeric column as NumPy numbers; whatever stands where it is null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    made: NDArray[Any] = (pc.fill_null(whole, 0) if whole.null_count else whole).to_numpy(zero_copy_only=False)
    return made


def is_numeric(kind: pa.DataType) -> bool:
    """Whether NumPy can compute with a column of that type as it is."""
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def times(table: pa.Table) -> Codes:
    """The time of each event in nanoseconds since 1970; ``NO_TIME`` where it has none that fits."""
    place = table.schema.get_field_index("@time")
    if place < 0:
        return np.full(table.num_rows, NO_TIME, np.int64)
    column, described = table.column(place), table.schema.field(place)
    if pa.types.is_timestamp(described.type) and described.type.tz is not None:
        size = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[described.type.unit]
        counted = numbers(column.cast(pa.int64())).astype(np.int64)
        fits = valid_mask(column) & (np.abs(counted) < (1 << 62) // size)
        return np.where(fits, counted * size, NO_TIME)
    codes, values = encoded(column)
    zone = (described.metadata or {}).get(b"timezone")
    stood = [_instant(cell, None if zone is None else zone.decode()) for cell in cells(values, described)]
    return np.array([*stood, NO_TIME], np.int64)[codes]


def _instant(cell: Any, zone: str | None) -> int:
    try:
        ns = Instant.of(cell, zone).ns
    except ConceptPubSubError:
        return int(NO_TIME)
    return ns if abs(ns) < 1 << 62 else int(NO_TIME)
