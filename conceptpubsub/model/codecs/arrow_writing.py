"""Events to an Arrow table: a column a path, its unit in the field's metadata or row by row beside it.

Rule 1  A column has a native type only if that type holds each of its values exactly; otherwise it is text, each cell
        the plain JSON of its value, and the field's metadata says so.
Rule 2  An aspect that all values of a column share is metadata; one that differs is a column of its own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from conceptpubsub.errors import CodecError, LimitExceeded
from conceptpubsub.model.codecs.columns import EMPTY_COMPLEX, ENCODING, EVENT_COLUMNS, OWN_CONCEPT, Column
from conceptpubsub.model.codecs.plain_json import write_scalar
from conceptpubsub.model.codecs.strict_json import write
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.values import decimal_text, exact, to_float

MAX_COLUMNS = 4096
_INT64 = 1 << 63
_NUMBERS = {int, float, Fraction, Decimal}
Cells = dict[int, Any]


def events_to_table(events: Iterable[SemanticEvent]) -> pa.Table:
    """The events as a table, a row each.

    >>> from conceptpubsub.model import Context
    >>> hot = SemanticObject("Temperature", 86, Context(unit="degF"))
    >>> table = events_to_table([SemanticEvent("Reading", {"Temperature": hot}, id="1")])
    >>> table.column_names, table.field("Temperature").metadata
    (['@concept', '@time', '@id', '@source', 'Temperature'], {b'unit': b'degF'})
    """
    cells: dict[Column, Cells] = {Column((), name): {} for name in EVENT_COLUMNS}
    rows = 0
    for row, event in enumerate(events):
        rows = row + 1
        for name in EVENT_COLUMNS:
            if (own := getattr(event, name)) is not None:
                cells[Column((), name)][row] = own
        collect(event.attributes, (), row, cells)
        if len(cells) > MAX_COLUMNS:
            raise LimitExceeded(f"events with more than {MAX_COLUMNS} columns between them", row=row)
    return cells_to_table(cells, rows)


def cells_to_table(cells: Mapping[Column, Cells], rows: int) -> pa.Table:
    """A table of so many rows from the cells of each column, by row."""
    shared = _shared_aspects(cells)
    fields, arrays = [], []
    for column, found in cells.items():
        if column in shared:
            continue
        array, encoding = _array(column, found, rows)
        metadata = {other.aspect: text for other, text in shared.items() if other.path == column.path}
        metadata = ({} if column.aspect else metadata) | ({ENCODING: encoding} if encoding else {})
        fields.append(pa.field(column.name, array.type, metadata=metadata or None))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def collect(
    attributes: Mapping[str, SemanticObject], above: tuple[str, ...], row: int, cells: dict[Column, Cells]
) -> None:
    """Put the attributes of a row, which stand under a path, into the cells of their columns."""
    for key, under in attributes.items():
        path = (*above, key)
        if not under.is_complex:
            cells.setdefault(Column(path), {})[row] = under.value
        elif under.value:
            collect(under.value, path, row, cells)
        else:
            cells.setdefault(Column(path, EMPTY_COMPLEX), {})[row] = True
        if under.concept != key:
            cells.setdefault(Column(path, OWN_CONCEPT), {})[row] = under.concept
        for aspect, value in under.context.items():
            name = "@" + aspect if aspect.startswith("@") else aspect
            cells.setdefault(Column(path, name), {})[row] = value


def _shared_aspects(cells: Mapping[Column, Cells]) -> dict[Column, str]:
    """The aspects that every value of their column has, all alike and written as text; these become metadata."""
    shared: dict[Column, str] = {}
    for column, found in cells.items():
        values = cells.get(Column(column.path), {})
        if not column.aspect or not column.path or not values or values.keys() != found.keys():
            continue
        first = next(iter(found.values()))
        text = decimal_text(first) if type(first) in _NUMBERS else first
        kind = str if column.aspect != "scale" else type(first) if type(first) in _NUMBERS else None
        as_text = isinstance(text, str) and "/" not in (text if column.aspect == "scale" else "")
        plain = not column.aspect.startswith("@") and ":" not in column.aspect
        if plain and as_text and all(type(value) is kind and value == first for value in found.values()):
            shared[column] = text
    return shared


def _array(column: Column, found: Cells, rows: int) -> tuple[pa.Array, str | None]:
    """The cells in the tightest type that holds them exactly, and how they are encoded if in none."""
    values = [found.get(row) for row in range(rows)]
    kinds = {type(value) for value in found.values()}
    encoding = None
    try:
        if kinds == {Instant} and all(-_INT64 <= value.ns < _INT64 for value in found.values()):
            counted = [None if value is None else value.ns for value in values]
            return pa.array(counted, pa.timestamp("ns", "UTC")), None
        if column == Column((), "time"):
            return pa.array([None if value is None else str(value) for value in values], pa.string()), None
        kind = _native(kinds, found)
        if kind is None:
            encoding, kind = "json", pa.string()
            values = [None if value is None else write(write_scalar(value)) for value in values]
        elif kind == pa.float64():
            values = [None if value is None else to_float(value) for value in values]
        return pa.array(values, kind), encoding
    except UnicodeEncodeError:
        raise CodecError(
            f"half a character (a lone surrogate) in a text of column {column.name!r}", column=column.name
        ) from None


def _native(kinds: set[type], found: Cells) -> pa.DataType | None:
    if kinds <= {str}:
        return pa.string()
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {dt.datetime}:
        return pa.timestamp("us")
    if kinds == {dt.date}:
        return pa.date32()
    if kinds == {int} and all(-_INT64 <= value < _INT64 for value in found.values()):
        return pa.int64()
    if kinds <= _NUMBERS and all(map(_is_float, found.values())):
        return pa.float64()
    return None


def _is_float(value: Any) -> bool:
    """Whether a float means the same number."""
    nearest = to_float(value)
    return type(value) is float or (abs(nearest) < 1e308 and exact(nearest) == exact(value))
