"""Selects ahead of transforms: a predicate on what comes out, as a predicate on what goes in.

The predicate's negations are moved to its atoms first. An atom over an attribute is then rewritten by substitution;
an atom over a table's result becomes ``argument IN (…)``, the entries whose result passes, which is exact because an
event whose code is in no table fails in the transform anyway. Whatever an opaque function decides is left over, and
the caller computes it ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conceptpubsub.filters import Filter
from conceptpubsub.filters.evaluate import Binding, Evaluation
from conceptpubsub.filters.events import Found, View
from conceptpubsub.filters.normal import Lit, Ref, literal
from conceptpubsub.filters.printer import quoted, show
from conceptpubsub.filters.syntax import (
    All,
    Below,
    Between,
    Comparison,
    Constant,
    Flag,
    Inverse,
    Member,
    Minus,
    Null,
    Over,
    Pattern,
    Some,
    Times,
    Total,
    references,
)
from conceptpubsub.flow.expressions import Attribute, Binary, Call, Const, Expr, parts, replace
from conceptpubsub.flow.functions import Function, Table
from conceptpubsub.flow.predicates import expression
from conceptpubsub.model.values import decimal_text

NOTHING = Flag(Constant(Lit("bool", False), "FALSE", 0), 0)


class Opacity(Exception):
    """A predicate depends on an opaque function, which must be computed ahead."""

    def __init__(self, call: Call) -> None:
        super().__init__(str(call))
        self.call = call


def pushed(select: Filter, outputs: Mapping[str, Expr], functions: Mapping[str, Function]) -> str:
    """The text of the select as it stands ahead of the transform.

    >>> from conceptpubsub.flow.expressions import parse
    >>> outputs = {"price": parse("price", ""), "volume": parse("capital / price", "")}
    >>> pushed(Filter.parse("price * volume >= 10"), outputs, {})
    'price * (capital / price) >= 10'
    """
    return show(_Pusher(select, outputs, functions).condition(select.tree, True))


def exchanged(select: Filter, old: Expr, new: Expr) -> str:
    """The text of a select in which one sub-expression stands for another."""
    return show(_Exchanger(select, old, new).condition(select.tree, True))


class _Pusher:
    def __init__(self, select: Filter, outputs: Mapping[str, Expr], functions: Mapping[str, Function]) -> None:
        self.select, self.outputs, self.functions = select, outputs, functions

    def condition(self, node: Any, positive: bool) -> Any:
        match node:
            case All(args, at) | Some(args, at):
                inner = tuple(self.condition(arg, positive) for arg in args)
                return All(inner, at) if isinstance(node, All) == positive else Some(inner, at)
            case Inverse(arg):
                return self.condition(arg, not positive)
            case _:
                return self.atom(node, positive)

    def atom(self, node: Any, positive: bool) -> Any:
        made = [self.outputs.get(ref.path[0]) for ref in references(node) if not ref.event]
        tables = {call for expr in made if expr is not None for call in self.calls(expr)}
        if tables and not isinstance(node, Null):
            return self.by_table(node, positive, tables)
        new = self.null(node.ref) if isinstance(node, Null) else self.rewritten(node)
        return new if positive else Inverse(new, 0)

    def calls(self, expr: Expr) -> list[Call]:
        return [part for part in parts(expr) if isinstance(part, Call)]

    def by_table(self, node: Any, positive: bool, tables: set[Call]) -> Any:
        """An atom whose only input is one table of one attribute: the entries that pass, as an IN."""
        call = next(iter(tables))
        known = self.functions.get(call.function)
        named = references(node)
        plain = isinstance(known, Table) and len(call.args) == 1 and isinstance(call.args[0], Attribute)
        if len(tables) > 1 or len(named) != 1 or not plain or self.outputs.get(named[0].path[0]) != call:
            raise Opacity(call)
        assert isinstance(known, Table)
        passing = [key for key, value in known.entries.items() if self.decides(node, named[0], value) is positive]
        if not passing:
            return NOTHING
        items = tuple(Constant(literal(key), _constant_text(key), 0) for key in passing)
        return Member(self.term(call.args[0]), items, 0)

    def decides(self, node: Any, ref: Ref, value: Any) -> bool | None:
        seen = View({}, None, None, None, None)
        evaluation = Evaluation(Binding({ref.key: Found(ref.path, value, None)}), seen, self.select.scope)
        return evaluation.condition(node)

    def null(self, ref: Ref) -> Any:
        """An output is missing exactly when one of the attributes it is computed from is."""
        expr = self.outputs.get(ref.path[0])
        if expr is None:
            return Inverse(NOTHING, 0)
        inputs = dict.fromkeys(part.name for part in parts(expr) if isinstance(part, Attribute))
        if not inputs:
            return NOTHING
        tests = tuple(Null(self.ref(name), 0) for name in inputs)
        return tests[0] if len(tests) == 1 else Some(tests, 0)

    def rewritten(self, node: Any) -> Any:
        match node:
            case Comparison(op, left, right, at):
                return Comparison(op, self.put(left), self.put(right), at)
            case Between(term, low, high, at):
                return Between(self.put(term), self.put(low), self.put(high), at)
            case Member(term, items, at):
                return Member(self.put(term), items, at)
            case Pattern(op, term, text, escape, at):
                return Pattern(op, self.put(term), text, escape, at)
            case Flag(term, at):
                new = self.put(term)
                return Flag(new, at) if isinstance(new, Ref | Constant) else NOTHING
            case Below(ref, concept, name, shown, at):
                new = self.put(ref)
                return Below(new, concept, name, shown, at) if isinstance(new, Ref) else NOTHING
            case _:
                raise AssertionError(f"no atom is a {type(node).__name__}")

    def put(self, term: Any) -> Any:
        """A term of the predicate with each output replaced by its expression."""
        match term:
            case Ref():
                if term.event:
                    return term
                expr = self.outputs.get(term.path[0])
                return self.ref(term.path[0]) if expr is None else self.term(expr)
            case Total(args, at):
                return Total(tuple(self.put(arg) for arg in args), at)
            case Times(args, at):
                return Times(tuple(self.put(arg) for arg in args), at)
            case Minus(arg, at):
                return Minus(self.put(arg), at)
            case Over(arg, at):
                return Over(self.put(arg), at)
            case _:
                return term

    def term(self, expr: Expr) -> Any:
        """An expression as a term of the filter language."""
        if isinstance(expr, Attribute):
            return self.ref(expr.name)
        if isinstance(expr, Const):
            return Constant(expr.lit, expr.text, 0)
        if isinstance(expr, Call):
            raise Opacity(expr)
        return self.binary(expr)

    def binary(self, expr: Binary) -> Any:
        left, right = self.term(expr.left), self.term(expr.right)
        if expr.sign in "+-":
            return Total((left, Minus(right, 0) if expr.sign == "-" else right), 0)
        return Times((left, Over(right, 0) if expr.sign == "/" else right), 0)

    def ref(self, name: str) -> Ref:
        shown = str(Attribute(name))
        return Ref((name,), shown=shown)


class _Exchanger(_Pusher):
    """Terms with a sub-expression replaced; everything else as it is."""

    def __init__(self, select: Filter, old: Expr, new: Expr) -> None:
        super().__init__(select, {}, {})
        self.old, self.new = old, new

    def put(self, term: Any) -> Any:
        expr = expression(term)
        if expr is None:
            return term
        made = replace(expr, self.old, self.new)
        return term if made == expr else self.term(made)

    def null(self, ref: Ref) -> Any:
        return Null(ref, 0)


def _constant_text(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    return decimal_text(value)
