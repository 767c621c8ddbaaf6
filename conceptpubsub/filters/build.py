"""Filters from Python: ``ref("Temperature") > quantity(86, "degF")``, joined with ``& | ~``.

An expression is text in the making; comparing one gives a Filter, so there is one grammar and one parser.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conceptpubsub.converters import is_currency
from conceptpubsub.errors import FilterError
from conceptpubsub.filters.filter import Filter
from conceptpubsub.filters.spelling import constant, constant_text, name_text, quoted


class Expression:
    """A value in a filter: a reference, a constant or arithmetic over them.

    >>> str((Expression("a") + 1) * 2 <= 10)
    '(a + 1) * 2 <= 10'
    """

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.text}>"

    def _compare(self, op: str, other: Any) -> Filter:
        return Filter.parse(f"{self.text} {op} {_text(other)}")

    def __eq__(self, other: Any) -> Filter:  # type: ignore[override]
        return self._compare("=", other)

    def __ne__(self, other: Any) -> Filter:  # type: ignore[override]
        return self._compare("<>", other)

    def __lt__(self, other: Any) -> Filter:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Filter:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Filter:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Filter:
        return self._compare(">=", other)

    def __add__(self, other: Any) -> Expression:
        return Expression(f"({self.text} + {_text(other)})")

    def __radd__(self, other: Any) -> Expression:
        return Expression(f"({_text(other)} + {self.text})")

    def __sub__(self, other: Any) -> Expression:
        return Expression(f"({self.text} - {_text(other)})")

    def __rsub__(self, other: Any) -> Expression:
        return Expression(f"({_text(other)} - {self.text})")

    def __mul__(self, other: Any) -> Expression:
        return Expression(f"({self.text} * {_text(other)})")

    def __rmul__(self, other: Any) -> Expression:
        return Expression(f"({_text(other)} * {self.text})")

    def __truediv__(self, other: Any) -> Expression:
        return Expression(f"({self.text} / {_text(other)})")

    def __rtruediv__(self, other: Any) -> Expression:
        return Expression(f"({_text(other)} / {self.text})")

    def __neg__(self) -> Expression:
        return Expression(f"(-{self.text})")

    def __bool__(self) -> bool:
        raise FilterError("an expression has no truth by itself: join conditions with & | ~, not with and, or, not")

    def between(self, low: Any, high: Any) -> Filter:
        """``BETWEEN low AND high``."""
        return Filter.parse(f"{self.text} BETWEEN {_text(low)} AND {_text(high)}")

    def isin(self, values: Iterable[Any]) -> Filter:
        """``IN (…)``."""
        return Filter.parse(f"{self.text} IN ({', '.join(_text(value) for value in values)})")

    def like(self, pattern: str, escape: str | None = None) -> Filter:
        """``LIKE``."""
        tail = f" ESCAPE {quoted(escape)}" if escape is not None else ""
        return Filter.parse(f"{self.text} LIKE {quoted(pattern)}{tail}")

    def contains(self, text: str) -> Filter:
        """``CONTAINS``."""
        return Filter.parse(f"{self.text} CONTAINS {quoted(text)}")

    def within(self, text: str) -> Filter:
        """``WITHIN``: the constant contains the value."""
        return Filter.parse(f"{self.text} WITHIN {quoted(text)}")

    def startswith(self, text: str) -> Filter:
        """``STARTS WITH``."""
        return Filter.parse(f"{self.text} STARTS WITH {quoted(text)}")

    def endswith(self, text: str) -> Filter:
        """``ENDS WITH``."""
        return Filter.parse(f"{self.text} ENDS WITH {quoted(text)}")

    def matches(self, pattern: str) -> Filter:
        """``MATCHES`` a regular expression (RE2 syntax), whole text."""
        return Filter.parse(f"{self.text} MATCHES {quoted(pattern)}")

    def isa(self, concept: Any) -> Filter:
        """``ISA``."""
        return Filter.parse(f"{self.text} ISA {name_text(getattr(concept, 'name', concept))}")

    def isnull(self) -> Filter:
        """``IS NULL``."""
        return Filter.parse(f"{self.text} IS NULL")


def ref(name: str, *path: str) -> Expression:
    """A reference to a concept or attribute; more names, or dots, make a path.

    >>> (ref("Vehicle", "Odometer") > quantity(10, "km")) & ref("name").like("a%")
    Filter.parse("Vehicle.Odometer > 10 km AND name LIKE 'a%'")
    """
    if not path and name in ("EVENT", "EVENT.time", "EVENT.source", "EVENT.id"):
        return Expression(name)
    steps = (name, *path) if path or "://" in name else name.split(".")
    return Expression(".".join(name_text(step) for step in steps))


def quantity(value: Any, unit: str | None = None, **context: Any) -> Expression:
    """A constant in its context: a unit or currency, or any other aspects by name.

    >>> ref("Distance") == quantity(3.85, unit="mile", scale=1000)
    Filter.parse('Distance = 3.85 mile {scale: 1000}')
    >>> ref("Price") < quantity(100, "EUR")
    Filter.parse('Price < 100 EUR')
    """
    if unit is not None:
        context = {"currency" if is_currency(unit) else "unit": unit, **context}
    return Expression(constant_text(value, context))


def _text(value: Any) -> str:
    return value.text if isinstance(value, Expression) else constant(value)
