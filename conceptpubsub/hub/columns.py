"""Tables in another context: whole columns converted at once, the rest value by value.

A column's context stands in its field's metadata, or row by row in columns beside it. Rows of one context are a
*group*; a group is converted with one affine map. What is no affine map of numbers (a currency, a code list, a time
zone) is converted once for each distinct value, context and time. The result has the columns of the input; where all
rows end in one context it stands in the metadata, else in the columns beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.converters import Converters
from conceptpubsub.converters.conversion import converted, delivered, merged
from conceptpubsub.converters.delivery import applicable, wanted_for
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model.codecs.arrow_reading import metadata_aspects
from conceptpubsub.model.codecs.columns import Column
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticObject
from conceptpubsub.model.values import to_float

_MOST_GROUPS = 256


@dataclass(frozen=True, slots=True)
class Measured:
    """A column of values with the aspects that its metadata and the columns beside it give."""

    name: str
    place: Column
    fixed: Context
    beside: Mapping[str, str]
    """Aspect to the name of the column that holds it row by row."""

    @property
    def key(self) -> str:
        """The concept of the attribute."""
        return self.place.path[-1]


def measured(schema: pa.Schema) -> list[Measured]:
    """The columns of values of a table."""
    beside: dict[tuple[str, ...], dict[str, str]] = {}
    found = []
    for field in schema:
        place = Column.parse(field.name)
        if place.path and place.aspect is not None and not place.aspect.startswith("@"):
            beside.setdefault(place.path, {})[place.aspect] = field.name
    for field in schema:
        place = Column.parse(field.name)
        if place.path and place.aspect is None:
            found.append(Measured(field.name, place, Context(metadata_aspects(field)), beside.get(place.path, {})))
    return found


def groups(table: pa.Table, column: Measured) -> list[tuple[Context, Any]] | None:
    """The contexts of a column with the rows that stand in each (None: all rows); None where there are too many."""
    if not column.beside:
        return [(column.fixed, None)]
    names = list(column.beside.values())
    keys = table.select(names).append_column("@row", pa.array(np.arange(table.num_rows)))
    found = keys.group_by(names).aggregate([("@row", "list")])
    if found.num_rows > _MOST_GROUPS:
        return None
    made = []
    for number in range(found.num_rows):
        own = {aspect: found.column(name)[number].as_py() for aspect, name in column.beside.items()}
        rows = found.column("@row_list")[number].values.to_numpy()
        made.append((column.fixed.merged({k: v for k, v in own.items() if v is not None}), rows))
    return made


_OF_NUMBERS = {"unit", "scale", "currency"}
Times = Callable[[], list[Instant | None] | None]


def in_context(conv: Converters, table: pa.Table, wanted: Mapping[Any, Any], times: Times) -> pa.Table:
    """The table as a subscriber of that context gets it; ``times`` gives those of the events, where they matter."""
    for column in measured(table.schema):
        if pa.types.is_struct(table.schema.field(column.name).type):
            continue
        target = wanted_for(conv, column.key, wanted)
        if target and not (target.keys() <= _OF_NUMBERS and _is_text(table.schema.field(column.name).type)):
            table = _column_in_context(conv, table, column, target, times)
    return table


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind))


def _column_in_context(
    conv: Converters, table: pa.Table, column: Measured, target: Mapping[str, Any], times: Times
) -> pa.Table:
    values = table.column(column.name)
    parts = groups(table, column)
    numeric = pa.types.is_floating(values.type) or pa.types.is_integer(values.type)
    if parts is not None and numeric:
        maps = [_affine(conv, column.key, own, target) for own, _ in parts]
        if all(found is not None for found in maps):
            return _converted(table, column, values, parts, [found for found in maps if found is not None])
    return _value_by_value(conv, table, column, target, times())


def _affine(conv: Converters, key: str, own: Context, target: Mapping[str, Any]) -> tuple[Context, float, float] | None:
    """(what applies, factor, offset) for numbers in a context; None where it is no affine map."""
    concept = conv.concept(key)
    applies = applicable(conv, key, concept, SemanticObject(key, 1, own), target)
    if not applies:
        return applies, 1.0, 0.0
    if not applies.keys() <= {"unit", "scale"}:
        return None
    try:
        zero, one, two = (converted(conv, concept, x, own, applies, None) for x in (0, 1, 2))
    except ConceptPubSubError:
        return None
    return (applies, to_float(one - zero), to_float(zero)) if two - one == one - zero else None


def _converted(
    table: pa.Table, column: Measured, values: Any, parts: list[tuple[Context, Any]], maps: list[Any]
) -> pa.Table:
    if not any(applies for applies, _, _ in maps):
        return table
    missing = values.is_null().to_numpy() if values.null_count else None
    raw = (pc.fill_null(values, 0) if values.null_count else values).to_numpy().astype(np.float64)
    contexts = [merged(own, applies) for (own, _), (applies, _, _) in zip(parts, maps, strict=True)]
    for (_, rows), (applies, factor, offset) in zip(parts, maps, strict=True):
        if applies:
            where = slice(None) if rows is None else rows
            raw[where] = raw[where] * factor + offset
    made = pa.array(raw, mask=missing)
    if len(set(contexts)) == 1:
        return _with_context(table, column, made, contexts[0])
    by_row: list[Any] = [column.fixed] * table.num_rows
    for context, (_, rows) in zip(contexts, parts, strict=True):
        for row in rows:
            by_row[row] = context
    return _with_contexts(table, column, made, by_row)


def _value_by_value(
    conv: Converters, table: pa.Table, column: Measured, target: Mapping[str, Any], times: list[Instant | None] | None
) -> pa.Table:
    concept = conv.concept(column.key)
    rows = range(table.num_rows)
    values = table.column(column.name).to_pylist()
    beside = {aspect: table.column(name).to_pylist() for aspect, name in column.beside.items()}
    known: dict[Any, tuple[Any, Context]] = {}
    made: list[Any] = [None] * table.num_rows
    contexts: list[Any] = [None] * table.num_rows
    for row in rows:
        value = values[row]
        if value is None:
            continue
        own = tuple(cells[row] for cells in beside.values())
        at = None if times is None else times[row]
        found = known.get((value, own, at))
        if found is None:
            context = column.fixed.merged({a: v for a, v in zip(beside, own, strict=True) if v is not None})
            found = known[value, own, at] = _one(conv, concept, column.key, value, context, target, at)
        made[row], contexts[row] = found
    whole = {context for context in contexts if context is not None}
    made_column = _array(made)
    if len(whole) <= 1:
        return _with_context(table, column, made_column, next(iter(whole), column.fixed))
    return _with_contexts(table, column, made_column, contexts)


def _one(
    conv: Converters, concept: Any, key: str, value: Any, own: Context, target: Mapping[str, Any], at: Instant | None
) -> tuple[Any, Context]:
    try:
        applies = applicable(conv, key, concept, SemanticObject(key, value, own), target)
        if not applies:
            return value, own
        return delivered(converted(conv, concept, value, own, applies, at), value, False), merged(own, applies)
    except ConceptPubSubError:  # no rate that day: as it came
        return value, own


def _array(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # whole numbers beside others
        return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _with_context(table: pa.Table, column: Measured, values: Any, context: Context) -> pa.Table:
    """The column with new values in one context, which its metadata says; columns beside it go."""
    index = table.schema.get_field_index(column.name)
    field = table.schema.field(index)
    others = {k: v for k, v in (field.metadata or {}).items() if b":" in k}
    aspects = {name.encode(): str(value).encode() for name, value in context.items()}
    made = table.set_column(index, pa.field(column.name, values.type, metadata={**others, **aspects}), values)
    return made.drop_columns(list(column.beside.values())) if column.beside else made


def _with_contexts(table: pa.Table, column: Measured, values: Any, contexts: list[Context | None]) -> pa.Table:
    """The column with new values, and a column beside it for each aspect that differs from row to row."""
    table = _with_context(table, column, values, Context())
    aspects = sorted({aspect for context in contexts if context is not None for aspect in context})
    for aspect in aspects:
        cells = [None if context is None else context.get(aspect) for context in contexts]
        texts = [cell if cell is None or isinstance(cell, str) else str(cell) for cell in cells]
        numbers = aspect == "scale"
        made = pa.array([None if c is None else float(c) for c in cells] if numbers else texts)
        table = table.append_column(Column(column.place.path, aspect).name, made)
    return table
