"""Types of expressions over a schema: schemas are checked along every arc before any event flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conceptpubsub.converters import Dimension
from conceptpubsub.errors import FlowError, hint, near
from conceptpubsub.filters.arithmetic import sum_dimension, time_dimension
from conceptpubsub.flow.expressions import Attribute, Binary, Call, Const, Expr
from conceptpubsub.flow.functions import Function, Table
from conceptpubsub.flow.schema import Kind, Schema

_OF_LIT = {"number": "real", "quantity": "real", "money": "real", "text": "text", "bool": "bool", "instant": "instant"}


class Measured:
    """An inferred type: ``type`` is None where an opaque function decides; numbers may have a dimension or currency."""

    __slots__ = ("currency", "dimension", "type")

    def __init__(self, type: str | None, dimension: Dimension | None = None, currency: str | None = None) -> None:
        self.type, self.dimension, self.currency = type, dimension, currency

    @property
    def number(self) -> bool:
        """Whether it may be a number."""
        return self.type in (None, "int", "real")

    def kind(self, place: str) -> Kind:
        """The type as a schema entry."""
        unit = self.dimension.base_unit if self.dimension is not None else None
        return Kind(self.type or "any", unit, self.currency)

    def __str__(self) -> str:
        extra = (
            f" [{self.dimension.base_unit}]"
            if self.dimension is not None
            else f" {self.currency}"
            if self.currency
            else ""
        )
        return f"{self.type or 'anything'}{extra}"


def infer(expr: Expr, of: Schema, functions: Mapping[str, Function], place: str) -> Measured:
    """The type of an expression, or an error that names the arc."""
    if isinstance(expr, Attribute):
        if expr.name not in of:
            raise FlowError(
                f"{place}: no attribute '{expr.name}' in {sorted(of)}.{hint(near(expr.name, of))}",
                arc=place,
                name=expr.name,
            )
        known = of[expr.name]
        return Measured(None if known.type == "any" else known.type, known.dimension, known.currency)
    if isinstance(expr, Const):
        lit = expr.lit
        dimension = lit.of if isinstance(lit.of, Dimension) else None
        whole = lit.kind == "number" and isinstance(lit.value, int)
        return Measured("int" if whole else _OF_LIT[lit.kind], dimension, lit.of if isinstance(lit.of, str) else None)
    if isinstance(expr, Call):
        return _call(expr, of, functions, place)
    left, right = infer(expr.left, of, functions, place), infer(expr.right, of, functions, place)
    return _product(expr, left, right, place) if expr.sign in "*/" else _sum(expr, left, right, place)


def _call(expr: Call, of: Schema, functions: Mapping[str, Function], place: str) -> Measured:
    known = functions.get(expr.function)
    if known is None:
        raise FlowError(
            f"{place}: no function '{expr.function}'.{hint(near(expr.function, functions))} "
            f"Give it as functions={{'{expr.function}': a table or a callable}}.",
            arc=place,
            name=expr.function,
        )
    for arg in expr.args:
        infer(arg, of, functions, place)
    if isinstance(known, Table):
        types = {"text" if isinstance(value, str) else "real" for value in known.entries.values()}
        return Measured(types.pop()) if len(types) == 1 else Measured(None)
    return Measured(known.gives)


def _sum(expr: Binary, left: Measured, right: Measured, place: str) -> Measured:
    if left.type is None or right.type is None:
        return Measured(None)
    if "instant" in (left.type, right.type):
        if left.type == right.type and expr.sign == "-":
            return Measured("real", time_dimension())
        if left.type == "instant" and right.dimension == time_dimension():
            return left
        raise FlowError(f"{place}: {expr}: instants may be subtracted or moved by a duration", arc=place)
    if not (left.number and right.number):
        raise FlowError(f"{place}: {expr}: {left} and {right} do not add up", arc=place)
    if left.dimension is not None and right.dimension is not None:
        dimension = sum_dimension([(1, left.dimension), (1 if expr.sign == "+" else -1, right.dimension)])
        if dimension is not None:
            return Measured("real", dimension)
    elif left.dimension is None and right.dimension is None and (left.currency is None) == (right.currency is None):
        whole = left.type == right.type == "int"
        return Measured("int" if whole else "real", None, left.currency)
    raise FlowError(f"{place}: {expr}: {left} and {right} do not add up", arc=place)


def _product(expr: Binary, left: Measured, right: Measured, place: str) -> Measured:
    if left.type is None or right.type is None:
        return Measured(None)
    if not (left.number and right.number):
        raise FlowError(f"{place}: {expr}: {left} and {right} cannot be multiplied or divided", arc=place)
    if left.currency or right.currency:
        return _money(expr, left, right, place)
    if left.dimension is None and right.dimension is None:
        whole = left.type == right.type == "int" and expr.sign == "*"
        return Measured("int" if whole else "real")
    one = Dimension()
    a, b = left.dimension or one, right.dimension or one
    dimension = a * b if expr.sign == "*" else a / b
    if right.dimension is None and left.dimension is not None:
        dimension = left.dimension
    elif left.dimension is None and expr.sign == "*" and right.dimension is not None:
        dimension = right.dimension
    return Measured("real", dimension)


def _money(expr: Binary, left: Measured, right: Measured, place: str) -> Measured:
    if left.dimension is None and right.dimension is None:
        if left.currency and not right.currency:
            return Measured("real", None, left.currency)
        if right.currency and not left.currency and expr.sign == "*":
            return Measured("real", None, right.currency)
        if left.currency and right.currency and expr.sign == "/":
            return Measured("real")
    raise FlowError(f"{place}: {expr}: {left} and {right} make no amount of money", arc=place)


def assignable(made: Measured, wanted: Kind) -> bool:
    """Whether a computed value fits the attribute it is meant for."""
    if made.type is None or wanted.type == "any":
        return True
    if made.type != wanted.type and (made.type, wanted.type) not in (("int", "real"), ("real", "int")):
        return False
    dimension: Any = wanted.dimension
    if made.dimension is None or dimension is None:
        return made.dimension is None and dimension is None and bool(made.currency) == bool(wanted.currency)
    return bool(made.dimension.comparable(dimension))
