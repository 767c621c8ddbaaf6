"""Values that JSON has no type for, as (type, text) pairs: the words that every codec here shares.

Rule 1  ``read(*typed(value))`` equals the value, for every value that an event may hold.
Rule 2  Integers, floats and decimals that a float renders exactly need no type: JSON's own numbers carry them.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from conceptpubsub.errors import InvalidValue, LimitExceeded
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.values import MAX_DIGITS, decimal_text, exact, exact_decimal, simplest

INSTANT, DATETIME, DATE, DECIMAL, RATIONAL, INTEGER = "instant", "datetime", "date", "decimal", "rational", "integer"
_TOO_FINE = re.compile(r"[.,][0-9]{7}")
TYPES = (INSTANT, DATETIME, DATE, DECIMAL, RATIONAL, INTEGER)


def is_native(value: Any) -> bool:
    """Whether JSON's own types carry the value without a word about its type."""
    return type(value) in (str, bool, int, float)


def typed(value: Any) -> tuple[str, str]:
    """The type and text of a value.

    >>> typed(Fraction(1, 3)), typed(Decimal("2.50")), typed(Instant(0))
    (('rational', '1/3'), ('decimal', '2.5'), ('instant', '1970-01-01T00:00:00Z'))
    """
    if isinstance(value, Instant):
        return INSTANT, value.isoformat()
    if isinstance(value, dt.datetime):
        return DATETIME, value.isoformat()
    if isinstance(value, dt.date):
        return DATE, value.isoformat()
    if isinstance(value, Fraction | Decimal | float):
        text = decimal_text(exact(value))
        return (RATIONAL if "/" in text else DECIMAL), text
    if type(value) is int:
        return INTEGER, decimal_text(value)
    raise InvalidValue(f"{repr(value)[:80]} has no written form", value=repr(value)[:200])


def read(kind: str, text: str) -> Any:
    """The value of a type and text; InvalidValue or LimitExceeded where there is none."""
    if not isinstance(text, str):
        raise InvalidValue(f"the value of type {kind} is written as text, not as {text!r:.80}", value=repr(text)[:200])
    if kind == INSTANT:
        return Instant.parse(text)
    if kind in (DATETIME, DATE):
        return _calendar(kind, text)
    if kind in (DECIMAL, INTEGER):
        return exact_decimal(text)
    if kind == RATIONAL:
        return _rational(text)
    raise InvalidValue(f"no type {kind!r:.80}; the types are {', '.join(TYPES)}", value=repr(kind)[:200])


def _calendar(kind: str, text: str) -> Any:
    try:
        if len(text) > 64 or _TOO_FINE.search(text):
            raise ValueError("too long")
        made = dt.datetime.fromisoformat(text) if kind == DATETIME else dt.date.fromisoformat(text)
    except ValueError:
        raise InvalidValue(f"{text[:64]!r} is not a {kind} in ISO 8601, to the microsecond", value=text[:64]) from None
    if isinstance(made, dt.datetime) and made.tzinfo is not None:
        raise InvalidValue(f"{text!r} has a time zone: its type is instant", value=text)
    return made


def _rational(text: str) -> Any:
    if len(text) > 2 * MAX_DIGITS + 8:
        raise LimitExceeded(f"a rational of {len(text)} characters", length=len(text))
    top, slash, bottom = text.partition("/")
    numerator, denominator = exact_decimal(top), exact_decimal(bottom) if slash else 1
    if denominator == 0:
        raise InvalidValue(f"{text[:80]!r} divides by zero", value=text[:80])
    return simplest(Fraction(numerator) / denominator)
