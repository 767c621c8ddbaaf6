"""Tree to text: what a filter prints reads back as the same filter.

Constants keep the context they were written in; parentheses stand only where they are needed.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.filters.normal import Ref
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
)

_OR, _AND, _NOT, _TEST, _SUM, _PRODUCT, _SIGN = range(1, 8)


def show(node: Any) -> str:
    """The canonical text of a condition or term."""
    return _shown(node)[0]


def quoted(text: str) -> str:
    """A text constant.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def _shown(node: Any) -> tuple[str, int]:
    """A node's text and how tightly its outermost operator binds."""
    match node:
        case Ref():
            return node.shown, 9
        case Constant(_, text):
            return text, _SIGN if text.startswith("-") else 9
        case All(args):
            return (" AND ".join(_within(arg, _NOT) for arg in args), _AND) if args else ("", 9)
        case Some(args):
            return " OR ".join(_within(arg, _AND) for arg in args), _OR
        case Inverse(arg):
            return _inverse(arg)
        case Comparison(op, left, right):
            return f"{_within(left, _SUM)} {op} {_within(right, _SUM)}", _TEST
        case Between(term, low, high):
            return f"{_within(term, _SUM)} BETWEEN {_within(low, _SUM)} AND {_within(high, _SUM)}", _TEST
        case Member(term, items):
            return f"{_within(term, _SUM)} IN ({', '.join(item.text for item in items)})", _TEST
        case Pattern(op, term, text, escape):
            tail = f" ESCAPE {quoted(escape)}" if escape is not None else ""
            return f"{_within(term, _SUM)} {op} {quoted(text)}{tail}", _TEST
        case Null(ref):
            return f"{ref.shown} IS NULL", _TEST
        case Below(ref, _, _, shown):
            return f"{ref.shown} ISA {shown}", _TEST
        case Flag(term):
            return _shown(term)[0], 9
        case Minus(arg):
            return f"-{_within(arg, 8)}", _SIGN
        case Over(arg):
            return f"1 / {_within(arg, _SIGN)}", _PRODUCT
        case Total(args):
            return _sum(args)
        case Times(args):
            return _product(args)
        case _:
            raise AssertionError(f"no node is a {type(node).__name__}")


def _within(node: Any, level: int) -> str:
    text, binds = _shown(node)
    return text if binds >= level and text else f"({text})"


def _inverse(arg: Any) -> tuple[str, int]:
    match arg:
        case Null(ref):
            return f"{ref.shown} IS NOT NULL", _TEST
        case Member(term, items):
            return f"{_within(term, _SUM)} NOT IN ({', '.join(item.text for item in items)})", _TEST
        case _:
            return f"NOT {_within(arg, _TEST)}", _NOT


def _sum(args: tuple[Any, ...]) -> tuple[str, int]:
    if len(args) == 1:
        return f"+{_within(args[0], 8)}", _SIGN
    text = _within(args[0], _PRODUCT)
    for arg in args[1:]:
        text += f" - {_within(arg.arg, _PRODUCT)}" if isinstance(arg, Minus) else f" + {_within(arg, _PRODUCT)}"
    return text, _SUM


def _product(args: tuple[Any, ...]) -> tuple[str, int]:
    text = _within(args[0], _SIGN)
    for arg in args[1:]:
        text += f" / {_within(arg.arg, _SIGN)}" if isinstance(arg, Over) else f" * {_within(arg, _SIGN)}"
    return text, _PRODUCT
