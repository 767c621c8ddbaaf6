"""Expressions over the columns of a table, in float64; each is computed once.

Rows that cannot be computed are noted with their reason. Rows in which a sum nearly cancels are noted as ``risky``:
whoever compares the result decides those exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.converters import resolve
from conceptpubsub.flow.expressions import Attribute, Binary, Call, Const, Expr
from conceptpubsub.flow.functions import Failed, Function, Table
from conceptpubsub.flow.schema import Schema
from conceptpubsub.model.values import to_float

CANCELLED = 1e-6


class Columns:
    """Expressions over the columns of one table."""

    def __init__(self, table: pa.Table, schema: Schema, functions: Mapping[str, Function], bad: dict[int, str]) -> None:
        self.table, self.schema, self.functions, self.bad = table, schema, functions, bad
        self.made: dict[Expr, Any] = {}
        self.risky = np.zeros(table.num_rows, bool)

    def column(self, expr: Expr) -> Any:
        """An Arrow column; numbers with a unit are in its coherent SI unit."""
        if expr not in self.made:
            self.made[expr] = self._compute(expr)
        return self.made[expr]

    def _compute(self, expr: Expr) -> Any:
        if isinstance(expr, Attribute):
            return self._attribute(expr.name)
        if isinstance(expr, Const):
            value = expr.lit.value if expr.lit.kind in ("text", "bool") else to_float(expr.lit.value)
            return pa.repeat(pa.scalar(value), self.table.num_rows)
        if isinstance(expr, Call):
            return self._call(expr)
        return self._binary(expr)

    def _attribute(self, name: str) -> Any:
        if name not in self.table.column_names:
            return pa.nulls(self.table.num_rows)
        column = self.table[name].combine_chunks()
        kind = self.schema.get(name)
        if kind is None or kind.unit is None:
            return column
        unit = resolve(kind.unit)
        numbers = column.cast(pa.float64())
        return pc.add(pc.multiply(numbers, to_float(unit.factor)), to_float(unit.offset))

    def _binary(self, expr: Binary) -> Any:
        left, right = self.column(expr.left), self.column(expr.right)
        if expr.sign == "/":
            left, right = pc.cast(left, pa.float64()), pc.cast(right, pa.float64())
            zero = pc.fill_null(pc.and_kleene(pc.equal(right, 0.0), pc.is_valid(left)), False)
            self._fail(zero, f"{expr}: a division by zero")
            return pc.divide(left, pc.if_else(zero, 1.0, right))
        if expr.sign == "*" or not (pa.types.is_integer(left.type) and pa.types.is_integer(right.type)):
            left, right = pc.cast(left, pa.float64()), pc.cast(right, pa.float64())
        if expr.sign == "*":
            return pc.multiply(left, right)
        made = pc.add(left, right) if expr.sign == "+" else pc.subtract(left, right)
        size = pc.add(pc.abs(left), pc.abs(right))
        self.risky |= _mask(pc.less(pc.abs(made), pc.multiply(size, CANCELLED)))
        return made

    def _call(self, expr: Call) -> Any:
        """A function of one column, computed once for each distinct value."""
        known = self.functions[expr.function]
        if len(expr.args) != 1:
            return self._row_by_row(expr)
        coded = pc.dictionary_encode(self.column(expr.args[0]))
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        results: list[Any] = []
        for value in coded.dictionary.to_pylist():
            try:
                results.append(known(value))
            except Failed as failure:
                results.append(None)
                reason = str(failure) if not isinstance(known, Table) else f"{expr}: a code that is in no table"
                self._fail(pc.equal(coded.indices, len(results) - 1), reason)
        return pc.take(pa.array(results), coded.indices)

    def _row_by_row(self, expr: Call) -> Any:
        known, columns = self.functions[expr.function], [self.column(arg).to_pylist() for arg in expr.args]
        results: list[Any] = []
        for row, args in enumerate(zip(*columns, strict=True)):
            there = [arg for arg in args if arg is not None]
            if not there or (len(there) < len(args) and not getattr(known, "skips_missing", False)):
                results.append(None)
                continue
            try:
                results.append(known(*there))
            except Failed as failure:
                results.append(None)
                self.bad.setdefault(row, str(failure))
        return pa.array([float(r) if hasattr(r, "denominator") else r for r in results])

    def _fail(self, where: Any, reason: str) -> None:
        for row in np.flatnonzero(_mask(where)).tolist():
            self.bad.setdefault(row, reason)


def _mask(where: Any) -> Any:
    return pc.fill_null(where, False).to_numpy(zero_copy_only=False)
