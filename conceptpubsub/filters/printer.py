"""Tree to text: what a filter prints reads back as the same filter.

Constants keep the context they were written in; parentheses stand only where they are needed.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.spelling import quoted as quoted
from conceptpubsub.filters.syntax import (
    CONDITIONS,
    All,
    Below,
    Between,
    Comparison,
    Condition,
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
    postorder,
)

_OR, _AND, _NOT, _TEST, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 9)


def show(node: Any) -> str:
    """The canonical text of a condition or term."""
    return _condition(node) if isinstance(node, CONDITIONS) else _shown(node)[0]


def _condition(tree: Condition) -> str:
    """A condition, from the atoms up: for each node its text and how tightly its outermost operator binds."""
    done: list[tuple[str, int]] = []
    for node in postorder(tree):
        match node:
            case All(args) | Some(args):
                word, binds = ("AND", _AND) if isinstance(node, All) else ("OR", _OR)
                parts = done[len(done) - len(args) :]
                del done[len(done) - len(args) :]
                done.append((f" {word} ".join([_bracketed(part, binds) for part in parts]), binds if args else _ATOM))
            case Inverse(Null(ref)):
                done[-1] = (f"{ref.shown} IS NOT NULL", _TEST)
            case Inverse(Member(term, items)):
                done[-1] = (f"{_within(term, _SUM)} NOT IN ({_listed(items)})", _TEST)
            case Inverse():
                done[-1] = (f"NOT {_bracketed(done[-1], _TEST)}", _NOT)
            case _:
                done.append(_atom(node))
    return done.pop()[0]


def _bracketed(part: tuple[str, int], level: int) -> str:
    text, binds = part
    return text if binds >= level and text else f"({text or 'TRUE'})"


def _listed(items: tuple[Constant, ...]) -> str:
    return ", ".join([item.text for item in items])


def _atom(node: Any) -> tuple[str, int]:
    match node:
        case Comparison(op, left, right):
            return f"{_within(left, _SUM)} {op} {_within(right, _SUM)}", _TEST
        case Between(term, low, high):
            return f"{_within(term, _SUM)} BETWEEN {_within(low, _SUM)} AND {_within(high, _SUM)}", _TEST
        case Member(term, items):
            return f"{_within(term, _SUM)} IN ({_listed(items)})", _TEST
        case Pattern(op, term, text, escape):
            tail = f" ESCAPE {quoted(escape)}" if escape is not None else ""
            return f"{_within(term, _SUM)} {op} {quoted(text)}{tail}", _TEST
        case Null(ref):
            return f"{ref.shown} IS NULL", _TEST
        case Below(ref, _, _, shown):
            return f"{ref.shown} ISA {shown}", _TEST
        case Flag(term):
            return _shown(term)[0], _ATOM
        case _:
            raise AssertionError(f"no atom is a {type(node).__name__}")


def _shown(node: Any) -> tuple[str, int]:
    """A term's text and how tightly its outermost operator binds."""
    match node:
        case Ref():
            return node.shown, _ATOM
        case Constant(_, text):
            return text, _SIGN if text.startswith("-") else _ATOM
        case Minus(arg):
            return f"-{_within(arg, _ATOM)}", _SIGN
        case Over(arg):
            return f"1 / {_within(arg, _SIGN)}", _PRODUCT
        case Total(args):
            return _sum(args)
        case Times(args):
            return _product(args)
        case _:
            raise AssertionError(f"no term is a {type(node).__name__}")


def _within(node: Any, level: int) -> str:
    return _bracketed(_shown(node), level)


def _sum(args: tuple[Any, ...]) -> tuple[str, int]:
    if len(args) == 1:
        return f"+{_within(args[0], _ATOM)}", _SIGN
    parts = [_within(args[0], _PRODUCT)]
    for arg in args[1:]:
        parts.append(f"- {_within(arg.arg, _PRODUCT)}" if isinstance(arg, Minus) else f"+ {_within(arg, _PRODUCT)}")
    return " ".join(parts), _SUM


def _product(args: tuple[Any, ...]) -> tuple[str, int]:
    parts = [_within(args[0], _SIGN)]
    for arg in args[1:]:
        parts.append(f"/ {_within(arg.arg, _SIGN)}" if isinstance(arg, Over) else f"* {_within(arg, _SIGN)}")
    return " ".join(parts), _PRODUCT
