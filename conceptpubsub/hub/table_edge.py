"""The edge for tables: columns judged as a whole, and rows that a column casts doubt on judged one by one.

The structure of all rows is judged on one event that holds a value of every column: each structural fault is about one
attribute or a pair of them, so rows with fewer attributes have no others. Numbers are compared with limits, other
values are judged once each. Doubtful rows are judged as ``publish`` would, and its sentences are reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.hub.columns import Measured, groups, measured
from conceptpubsub.hub.edge import Edge, number_limits
from conceptpubsub.model.codecs.arrow_reading import table_to_events
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.validation import validate

_MOST_VALUES = 4096
_HOLD_VALUES = (
    pa.types.is_integer,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_boolean,
    pa.types.is_decimal,
    pa.types.is_timestamp,
    pa.types.is_date,
    pa.types.is_dictionary,
    pa.types.is_struct,
    pa.types.is_null,
)
"""Types of columns, beside floating point, whose cells can be values of attributes."""


def faulty_rows(edge: Edge, table: pa.Table) -> dict[int, str]:
    """The rows that do not validate, each with what is wrong."""
    columns = measured(table.schema)
    doubt = _doubtful_times(table)
    if edge.ontology is not None and (_nested(table, columns) or not _sound(edge, table, columns)):
        doubt[:] = True
    for column in columns:
        values = table.column(column.name)
        if pa.types.is_floating(values.type):
            doubt |= ~pc.fill_null(pc.is_finite(values), True).to_numpy()
        elif not any(holds(values.type) for holds in _HOLD_VALUES):
            doubt |= ~values.is_null().to_numpy()
        if edge.ontology is not None and not doubt.all():
            _cast_doubt(edge, table, column, values, doubt)
    rows = np.flatnonzero(doubt)
    return _judged(edge, table, rows) if len(rows) else {}


def _doubtful_times(table: pa.Table) -> Any:
    """Which rows may have no time that can be read."""
    if "@time" not in table.schema.names:
        return np.zeros(table.num_rows, bool)
    times = table.column("@time")
    if pa.types.is_timestamp(times.type) and times.type.tz is not None:
        return np.zeros(table.num_rows, bool)
    if not (pa.types.is_string(times.type) or pa.types.is_large_string(times.type)):
        return ~times.is_null().to_numpy()
    bad = [text for text in pc.unique(times).to_pylist() if text is not None and not _is_time(text)]
    return pc.fill_null(pc.is_in(times, pa.array(bad, times.type)), False).to_numpy()


def _is_time(text: str) -> bool:
    try:
        Instant.parse(text)
    except ConceptPubSubError:
        return False
    return True


def _nested(table: pa.Table, columns: list[Measured]) -> bool:
    return any(len(c.place.path) > 1 or pa.types.is_struct(table.schema.field(c.name).type) for c in columns)


def _sound(edge: Edge, table: pa.Table, columns: list[Measured]) -> bool:
    """Whether a row that held a value of every column would be valid, for each concept of the rows."""
    if not table.num_rows:
        return True
    row: dict[str, Any] = {}
    for name in table.schema.names:
        column = table.column(name).drop_null() if name != "@concept" else table.column(name)
        if len(column):
            row[name] = column.slice(0, 1)
    if "@concept" in row:
        concepts = pc.unique(table.column("@concept"))
        if len(concepts) > 64:
            return False
    else:
        concepts = pa.array(["Event"])
    names = [name for name in table.schema.names if name in row and name != "@concept"]
    one = pa.table([row[name] for name in names], schema=pa.schema([table.schema.field(name) for name in names]))
    read = table_to_events(one) if names else None
    if read is not None and read.errors:
        return False
    attributes = read.events[0].attributes if read is not None else {}
    assert edge.ontology is not None
    for concept in concepts.to_pylist():
        if validate(SemanticEvent(concept or "Event", attributes), edge.ontology, problem=_no_problem):
            return False
    return all(name.endswith("@@concept") is False or _few(table, name) for name in names)


def _no_problem(*_: Any) -> None:
    """Values are judged elsewhere: here only the structure counts."""
    return


def _few(table: pa.Table, name: str) -> bool:
    """Whether an object's own concept is the same wherever it is given, so that one row stands for all."""
    return len(pc.unique(table.column(name).drop_null())) <= 1


def _cast_doubt(edge: Edge, table: pa.Table, column: Measured, values: Any, doubt: Any) -> None:
    parts = groups(table, column)
    if parts is None:
        doubt[:] = True
        return
    for own, rows in parts:
        where = slice(None) if rows is None else rows
        mine = values if rows is None else values.take(pa.array(rows))
        doubt[where] |= _doubtful(edge, column.key, own, mine)


def _doubtful(edge: Edge, key: str, own: Context, values: Any) -> Any:
    """Which values of one context need a closer look."""
    assert edge.ontology is not None
    concept = edge.ontology.find(key)
    plan = edge.converters.plan(concept, own)
    if concept is None or plan.problem is not None:
        return np.ones(len(values), bool)
    kind = values.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    limits = number_limits(plan, pa.types.is_integer(kind)) if number and not plan.moves else None
    if limits is not None:
        low, high = limits
        if low == float("-inf") and high == float("inf"):
            return False
        fine = pc.and_(pc.greater(values, pa.scalar(low)), pc.less(values, pa.scalar(high)))
        return ~pc.fill_null(fine, True).to_numpy()
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if text and plan.value_type in ("text", None) and concept.values is None and not plan.moves:
        return False
    if pa.types.is_boolean(kind) and plan.value_type == "bool":
        return False
    if number or pa.types.is_nested(kind):
        return ~values.is_null().to_numpy()
    plain = values.cast(kind.value_type) if pa.types.is_dictionary(kind) else values
    distinct = pc.unique(plain)
    if len(distinct) > _MOST_VALUES:
        return ~values.is_null().to_numpy()
    bad = [value for value in distinct if value.is_valid and not _good(edge, key, own, value.as_py())]
    return pc.fill_null(pc.is_in(plain, pa.array([v.as_py() for v in bad], plain.type)), False).to_numpy()


def _good(edge: Edge, key: str, own: Context, value: Any) -> bool:
    assert edge.ontology is not None
    try:
        return not validate(SemanticObject(key, value, own), edge.ontology, problem=edge.converters.problem)
    except ConceptPubSubError:
        return False


def _judged(edge: Edge, table: pa.Table, rows: Any) -> dict[int, str]:
    read = table_to_events(table.take(pa.array(rows)))
    faults = {int(rows[row]): reason for row, reason in read.errors}
    good = (int(row) for row in rows if int(row) not in faults)
    for row, event in zip(good, read.events, strict=True):
        problems = edge.problems(event, edge.shapes.of(event))
        if problems:
            faults[row] = "; ".join(problems)
    return dict(sorted(faults.items()))
