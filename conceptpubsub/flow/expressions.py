"""Expressions of transforms: attributes, constants, arithmetic and named functions.

The language is that of filter terms plus calls: ``NYS(issue)``, ``capital / price``, ``price * volume``. Values are
canonical (exact rationals, quantities, money), so that a rewritten graph computes the very same values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from conceptpubsub.converters import is_currency, resolve
from conceptpubsub.errors import FlowError
from conceptpubsub.filters import lexer
from conceptpubsub.filters.normal import Lit
from conceptpubsub.model.values import exact_decimal

MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the incoming event."""

    name: str

    def __str__(self) -> str:
        return self.name if self.name.isidentifier() else '"' + self.name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Const:
    """A constant, canonical, with its text."""

    lit: Lit
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Call:
    """A named function of some expressions."""

    function: str
    args: tuple[Expr, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(str(arg) for arg in self.args)})"


@dataclass(frozen=True, slots=True)
class Binary:
    """``left sign right`` with sign one of + - * /."""

    sign: str
    left: Expr
    right: Expr

    def __str__(self) -> str:
        return f"{_inner(self.left, self.sign, False)} {self.sign} {_inner(self.right, self.sign, True)}"


Expr: TypeAlias = Attribute | Const | Call | Binary


def _inner(expr: Expr, sign: str, right: bool) -> str:
    """Parentheses where precedence or the side would change the meaning."""
    if not isinstance(expr, Binary):
        return str(expr)
    loose = expr.sign in "+-"
    if (sign in "*/" and (loose or right)) or (right and loose):
        return f"({expr})"
    return str(expr)


def parse(text: str, place: str) -> Expr:
    """Read an expression; ``place`` names the arc in errors.

    >>> str(parse("capital / (price + 1)", "arc"))
    'capital / (price + 1)'
    """
    reader = _Reader(text, place)
    made = reader.sum(0)
    if reader.tokens[reader.at]:
        reader.fail(f"'{reader.tokens[reader.at]}' is left over")
    return made


class _Reader:
    def __init__(self, text: str, place: str) -> None:
        if not isinstance(text, str):
            raise FlowError(f"{place}: an expression is text, not {text!r}", arc=place)
        self.text, self.place, self.at = text, place, 0
        self.tokens = [*lexer.tokens(text), ""]

    def fail(self, message: str) -> None:
        shown, _ = lexer.pointed(self.text, self.at, f"{self.place}: {message}")
        raise FlowError(shown, arc=self.place, expression=self.text[:1000])

    def sum(self, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH}")
        made = self.product(depth)
        while self.tokens[self.at] in ("+", "-"):
            sign = self.tokens[self.at]
            self.at += 1
            made = Binary(sign, made, self.product(depth))
        return made

    def product(self, depth: int) -> Expr:
        made = self.single(depth)
        while self.tokens[self.at] in ("*", "/"):
            sign = self.tokens[self.at]
            self.at += 1
            made = Binary(sign, made, self.single(depth))
        return made

    def single(self, depth: int) -> Expr:
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            made = self.sum(depth + 1)
            if self.tokens[self.at] != ")":
                self.fail("a closing parenthesis is missing")
            self.at += 1
            return made
        if token[:1].isdigit() or token[:1] == ".":
            return self.number(token)
        if token[:1] == "'" and len(token) > 1:
            return Const(Lit("text", token[1:-1].replace("''", "'")), token)
        if token.upper() in ("TRUE", "FALSE"):
            return Const(Lit("bool", token.upper() == "TRUE"), token.upper())
        if token[:1].isalpha() or token[:1] in ("_", "$", '"'):
            if self.tokens[self.at] == "(":
                return self.call(token, depth)
            return Attribute(token[1:-1].replace('""', '"') if token[0] == '"' else token)
        self.at -= 1
        self.fail("an attribute, a constant or a function is expected")
        raise AssertionError

    def call(self, name: str, depth: int) -> Call:
        self.at += 1
        args: list[Expr] = []
        while self.tokens[self.at] != ")":
            args.append(self.sum(depth + 1))
            if self.tokens[self.at] == ",":
                self.at += 1
            elif self.tokens[self.at] != ")":
                self.fail("a comma or a closing parenthesis is expected")
        self.at += 1
        return Call(name, tuple(args))

    def number(self, token: str) -> Const:
        value = exact_decimal(token)
        unit = self.tokens[self.at]
        if unit[:1] == "[":
            unit = unit[1:-1].strip()
        elif not (unit[:1].isalpha() and self.tokens[self.at + 1 : self.at + 2] != ["("]):
            return Const(Lit("number", value), token)
        self.at += 1
        if is_currency(unit):
            return Const(Lit("money", value, unit), f"{token} {unit}")
        known = resolve(unit)
        return Const(Lit("quantity", known.to_base(value), known.dimension), f"{token} [{unit}]")


def parts(expr: Expr) -> Iterator[Expr]:
    """An expression and everything inside it."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        if isinstance(top, Call):
            stack.extend(reversed(top.args))
        elif isinstance(top, Binary):
            stack.extend((top.right, top.left))


def attributes(expr: Expr) -> frozenset[str]:
    """The attributes an expression reads."""
    return frozenset(part.name for part in parts(expr) if isinstance(part, Attribute))


def substitute(expr: Expr, by: Mapping[str, Expr]) -> Expr:
    """The expression with attributes replaced: how one transform is put into another.

    >>> str(substitute(parse("price * volume", "a"), {"volume": parse("capital / price", "b")}))
    'price * (capital / price)'
    """
    if isinstance(expr, Attribute):
        return by.get(expr.name, expr)
    if isinstance(expr, Call):
        return Call(expr.function, tuple(substitute(arg, by) for arg in expr.args))
    if isinstance(expr, Binary):
        return Binary(expr.sign, substitute(expr.left, by), substitute(expr.right, by))
    return expr


def replace(expr: Expr, old: Expr, new: Expr) -> Expr:
    """The expression with one sub-expression replaced by another."""
    if expr == old:
        return new
    if isinstance(expr, Call):
        return Call(expr.function, tuple(replace(arg, old, new) for arg in expr.args))
    if isinstance(expr, Binary):
        return Binary(expr.sign, replace(expr.left, old, new), replace(expr.right, old, new))
    return expr


Values: TypeAlias = Mapping[str, Any]
