"""A path in normal form over Arrow tables: select by the matcher, transform by columns.

Selection is exact, as everywhere. Arithmetic on columns is float64: a quotient may differ from the event-by-event
result in its last digit, and whole numbers are exact up to 2**53. Rows that cannot be transformed are given back with
their reason; the rest goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.converters import resolve
from conceptpubsub.errors import FlowError
from conceptpubsub.flow.batch_select import BatchSelect
from conceptpubsub.flow.columns import Columns
from conceptpubsub.flow.expressions import Expr
from conceptpubsub.flow.schema import Kind, Schema
from conceptpubsub.model.values import to_float

if TYPE_CHECKING:
    from conceptpubsub.flow.graph import FlowGraph


@dataclass(frozen=True, slots=True)
class Passed:
    """What came through: a table in the target's schema, the rows it came from, and the rows that failed."""

    table: pa.Table
    rows: np.ndarray[Any, Any]
    failed: tuple[tuple[int, str], ...]


class BatchPath:
    """One path of a rewritten graph, for tables of its source's events."""

    def __init__(self, graph: FlowGraph, source: str, target: str) -> None:
        path = next((p for p in graph.paths if (p.source, p.target) == (source, target)), None)
        if path is None:
            raise FlowError(
                f"no rewritten path leads from '{source}' to '{target}'; call rewrite() first", source=source
            )
        self.path = path
        self.schema: Schema = graph.spaces[source].schema
        self.target: Schema = graph.spaces[target].schema
        self._select = None if path.select is None else BatchSelect(path.select, self.schema)

    def apply(self, table: pa.Table) -> Passed:
        """The events of a table that pass, transformed."""
        bad: dict[int, str] = {}
        rows = np.arange(table.num_rows)
        if self.path.prepare is not None:
            columns = Columns(table, self.schema, self.path.prepare.functions, bad)
            for name, expr in self.path.prepare.outputs.items():
                table = table.append_column(name, columns.column(expr))
            table, rows = _without(table, rows, set(bad))
        if self._select is not None:
            passing, errors = self._select.rows(self._with_units(table))
            bad.update((int(rows[row]), reason) for row, reason in errors.items())
            table, rows = table.take(pa.array(passing)), rows[passing]
        if self.path.transform is not None:
            later: dict[int, str] = {}
            table = self._transformed(table, later)
            bad.update((int(rows[row]), reason) for row, reason in later.items())
            table, rows = _without(table, rows, set(later))
        return Passed(table, rows, tuple(sorted(bad.items())))

    def _transformed(self, table: pa.Table, bad: dict[int, str]) -> pa.Table:
        transform = self.path.transform
        assert transform is not None
        columns = Columns(table, self.schema, transform.functions, bad)
        for check in transform.checks:
            columns.column(check)
        made = {name: _shown(columns, expr, self.target[name]) for name, expr in transform.outputs.items()}
        return pa.table(made, schema=_arrow_schema(made, self.target))

    def _with_units(self, table: pa.Table) -> pa.Table:
        """Columns that say which unit or currency they are in, as the matcher wants to know."""
        fields = []
        for field in table.schema:
            kind = self.schema.get(field.name)
            if kind is not None and not field.metadata and (kind.unit or kind.currency):
                field = field.with_metadata(_metadata(kind))
            fields.append(field)
        return pa.table(table.columns, schema=pa.schema(fields))


def _without(table: pa.Table, rows: Any, bad: set[int]) -> tuple[pa.Table, Any]:
    if not bad:
        return table, rows
    keep = np.ones(len(rows), bool)
    keep[list(bad)] = False
    return table.filter(pa.array(keep)), rows[keep]


def _shown(columns: Columns, expr: Expr, kind: Kind) -> Any:
    """A column in the unit of the target's schema."""
    made = columns.column(expr)
    if kind.unit is None:
        return made
    unit = resolve(kind.unit)
    return pc.divide(pc.subtract(made, to_float(unit.offset)), to_float(unit.factor))


def _metadata(kind: Kind) -> dict[str, str]:
    return {aspect: text for aspect, text in (("unit", kind.unit), ("currency", kind.currency)) if text is not None}


def _arrow_schema(columns: Mapping[str, Any], target: Schema) -> pa.Schema:
    return pa.schema(
        [pa.field(name, column.type, metadata=_metadata(target[name]) or None) for name, column in columns.items()]
    )
