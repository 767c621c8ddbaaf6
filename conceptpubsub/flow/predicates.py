"""Predicates of selects: filters read in a schema's scope, their attributes and units checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conceptpubsub.converters import Converters
from conceptpubsub.errors import FilterError, FlowError, hint, near
from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.syntax import Between, Comparison, Constant, Member, Minus, Over, Times, Total, children
from conceptpubsub.flow.expressions import Attribute, Binary, Const, Expr
from conceptpubsub.flow.inference import Measured, infer
from conceptpubsub.flow.schema import Schema


def read(given: str | Filter, of: Schema, converters: Converters, place: str) -> Filter:
    """The predicate as a filter over the schema; errors name the arc."""
    if isinstance(given, Filter) and (given.semantics != "sql" or given.ontology is not None):
        raise FlowError(f"{place}: a select is a plain filter under 'sql' over the schema's attributes", arc=place)
    try:
        made = Filter.parse(given, converters=converters, types=types(of))
    except FilterError as error:
        raise FlowError(f"{place}: {error}", arc=place) from error
    for ref in made.references:
        if not ref.event and (len(ref.path) != 1 or ref.path[0] not in of):
            name = ".".join(ref.path)
            raise FlowError(
                f"{place}: no attribute '{name}' in {sorted(of)}.{hint(near(name, of))}", arc=place, name=name
            )
    _check(made.tree, of, place)
    return made


def types(of: Schema) -> Mapping[str, str]:
    """A schema as declared types of plain attributes."""
    return {
        name: "real" if kind.unit or kind.currency else kind.type for name, kind in of.items() if kind.type != "any"
    }


def _check(tree: Any, of: Schema, place: str) -> None:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Comparison):
            _pair(node.left, node.right, of, place)
        elif isinstance(node, Between):
            _pair(node.term, node.low, of, place)
            _pair(node.term, node.high, of, place)
        elif isinstance(node, Member):
            for item in node.items:
                _pair(node.term, item, of, place)
        else:
            stack.extend(children(node))


def _pair(left: Any, right: Any, of: Schema, place: str) -> None:
    a, b = expression(left), expression(right)
    if a is None or b is None:
        return
    x, y = infer(a, of, {}, place), infer(b, of, {}, place)
    if x.type is None or y.type is None:
        return
    if _family(x) != _family(y):
        more = " Write the constant with its unit or currency." if "real" in (x.type, y.type) else ""
        raise FlowError(f"{place}: {a} is {x} and {b} is {y}: they do not compare.{more}", arc=place)
    if x.dimension is not None and y.dimension is not None and not x.dimension.comparable(y.dimension):
        raise FlowError(f"{place}: {a} is in {x.dimension.base_unit} and {b} in {y.dimension.base_unit}", arc=place)


def expressions(of: Filter) -> list[Expr]:
    """The terms that a filter compares, as expressions."""
    found, stack = [], [of.tree]
    while stack:
        node: Any = stack.pop()
        for child in children(node):
            if isinstance(child, Ref | Constant | Total | Times | Minus | Over):
                made = expression(child)
                found += [made] if made is not None else []
            else:
                stack.append(child)
    return found


def _family(each: Measured) -> str:
    if each.type in ("int", "real"):
        return "quantity" if each.dimension is not None else "money" if each.currency else "number"
    return each.type or ""


def expression(term: Any) -> Expr | None:
    """A term of a filter as an expression; None for what speaks of the event itself."""
    if isinstance(term, Ref):
        return None if term.event else Attribute(term.path[0])
    if isinstance(term, Constant):
        return Const(term.lit, term.text) if term.lit is not None else None
    if isinstance(term, Minus):
        inner = expression(term.arg)
        return None if inner is None else Binary("*", _number(-1), inner)
    if isinstance(term, Over):
        inner = expression(term.arg)
        return None if inner is None else Binary("/", _number(1), inner)
    made: Expr | None = None
    for arg in term.args if isinstance(term, Total | Times) else ():
        sign = "*" if isinstance(term, Times) else "+"
        inner = arg
        if isinstance(arg, Minus) and sign == "+":
            sign, inner = "-", arg.arg
        elif isinstance(arg, Over) and sign == "*":
            sign, inner = "/", arg.arg
        part = expression(inner)
        if part is None:
            return None
        made = part if made is None else Binary(sign, made, part)
    return made


def _number(value: int) -> Const:
    from conceptpubsub.filters.normal import Lit

    return Const(Lit("number", value), str(value))
