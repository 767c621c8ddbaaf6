"""How texts, names, aspects and constants are spelt, so that the parser reads them back as they were."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from conceptpubsub.errors import FilterError
from conceptpubsub.filters.lexer import RESERVED, TESTS, word_of
from conceptpubsub.model import Exact, Instant, SemanticObject, decimal_text, exact

_PLAIN = re.compile(r"[^\W\d][\w$]*\Z")
_IRI = re.compile(r"""[A-Za-z][\w+.\-]*:[^\s<>"{}|^`\\]*\Z""")


def quoted(text: str) -> str:
    """A text constant.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def name_text(name: str) -> str:
    """A name, in double quotes or angle brackets where it needs them.

    >>> name_text("Temperature"), name_text("in"), name_text("https://example.org/T")
    ('Temperature', '"in"', '<https://example.org/T>')
    """
    if _PLAIN.match(name) and word_of(name) not in RESERVED and name != "EVENT":
        return name
    return f"<{name}>" if "://" in name and _IRI.match(name) else '"' + name.replace('"', '""') + '"'


def aspect_text(value: Any) -> str:
    """An aspect's value as it is written in braces."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        bare = value.isidentifier() and value.lower() not in ("true", "false")
        return value if bare else quoted(value)
    return decimal_text(exact(value))


def constant_text(value: Any, context: Mapping[str, Any] | None = None) -> str:
    """A constant in its context: ``86 degF``, ``5 [km/h]``, ``100 EUR``, ``3.85 mile {scale: 1000}``.

    A number without a finite decimal is written with a scale, which multiplies it.

    >>> constant_text(86, {"unit": "degF"}), constant_text(Fraction(5, 18), {"unit": "m/s"})
    ('86 degF', '5 [m/s] {scale: 1/18}')
    """
    aspects = dict(context or {})
    if isinstance(value, bool):
        text = "TRUE" if value else "FALSE"
    elif isinstance(value, str):
        text = quoted(value)
    elif isinstance(value, Instant | dt.date):
        text = f"TIMESTAMP '{Instant.of(value, aspects.pop('timezone', None)).isoformat()}'"
    else:
        text = _number(exact(value), aspects)
    if not aspects:
        return text
    return text + " {" + ", ".join(f"{aspect}: {aspect_text(given)}" for aspect, given in aspects.items()) + "}"


def _number(value: Exact, aspects: dict[str, Any]) -> str:
    text = decimal_text(value)
    if "/" in text:
        text = decimal_text(value.numerator)
        aspects["scale"] = exact(Fraction(aspects.get("scale", 1)) / value.denominator)
    unit, currency = aspects.get("unit"), aspects.get("currency")
    if isinstance(unit, str) and "currency" not in aspects and _bracketable(unit):
        del aspects["unit"]
        word = word_of(unit)
        return f"{text} {unit}" if _PLAIN.match(unit) and word not in RESERVED | TESTS else f"{text} [{unit}]"
    if isinstance(currency, str) and "unit" not in aspects and re.fullmatch("[A-Z]{3}", currency):
        del aspects["currency"]
        return f"{text} {currency}"
    return text


def _bracketable(unit: str) -> bool:
    """Whether the lexer reads the unit back from brackets: at most one level of brackets inside, and no blank ends."""
    return bool(unit.strip()) and unit == unit.strip() and re.fullmatch(r"(?:[^\[\]]|\[[^\[\]]*\])*", unit) is not None


def constant(value: Any) -> str:
    """A Python value as a constant of a filter, or an error that says what to use instead."""
    if isinstance(value, SemanticObject) and not value.is_complex:
        return constant_text(value.value, value.context)
    if isinstance(value, Mapping) or (hasattr(value, "__iter__") and not isinstance(value, str)):
        raise FilterError(f"{value!r:.80} is no constant of a filter; use isin() for several values")
    return constant_text(value)
