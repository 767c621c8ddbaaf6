"""The edge of the model: what a value must be to stand in an event, and when two values mean the same.

Rule 1  Inside, a simple value is None, text, bool, int, float, Fraction, Decimal, Instant, a naive datetime or a date.
Rule 2  NumPy and pandas scalars become those, without loss: a float32 becomes the float that reads the same.
Rule 3  What is not finite, not a value, or too long to be written is refused here and nowhere later.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Hashable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from conceptpubsub.errors import InvalidValue, LimitExceeded
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.values import MAX_DIGITS, exact, to_float

_MOST_BITS: int = (10**MAX_DIGITS).bit_length() - 1
BUILTIN = frozenset({str, bool, int, float})  # the types almost every value has
_NOT_FINITE = "not a finite number; leave it out where a value is missing"
_NUMBERS = (int, float, Fraction, Decimal)


def plain(value: Any, name: str, context: Mapping[str, Any]) -> Any:
    """The value as the model holds it; ``name`` is for the error, ``context`` may give a naive time its zone.

    >>> plain(0.5, "Load", {}), plain(dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "Start", {})
    (0.5, Instant(ns=1767225600000000000))
    """
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is Instant:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refused(value, name, _NOT_FINITE)
        return value if kind is float else float(value)
    if kind is int or kind is Fraction:
        if value.numerator.bit_length() > _MOST_BITS or value.denominator.bit_length() > _MOST_BITS:
            raise LimitExceeded(f"{name} is a number of more than {MAX_DIGITS} digits", attribute=name)
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dt.datetime) or kind.__name__ == "datetime64":
        return _time(value, name, context)
    if isinstance(value, dt.date):
        return value
    return _number(value, name)


def same(one: Any, other: Any) -> bool:
    """Whether two values of the model mean the same.

    >>> same(0.1, Decimal("0.10")), same(True, 1)
    (True, False)
    """
    if type(one) is type(other):
        return bool(one == other)
    if type(one) in _NUMBERS and type(other) in _NUMBERS:
        return exact(one) == exact(other)
    return False


def meaning(value: Any) -> Hashable:
    """A key that equal values share and unequal ones do not."""
    key: Hashable = value
    if type(value) in _NUMBERS:
        key = exact(value)
    elif type(value) is bool:
        key = ("Boolean", value)
    return key


def _time(value: Any, name: str, context: Mapping[str, Any]) -> Any:
    if str(value) == "NaT":
        raise _refused(value, name, "no instant; leave it out where a value is missing")
    if type(value) is dt.datetime and value.utcoffset() is None:
        return value
    if isinstance(value, dt.datetime) and value.utcoffset() is None and not getattr(value, "nanosecond", 0):
        return dt.datetime.fromisoformat(value.isoformat())  # of a subclass, such as a pandas timestamp
    return Instant.of(value, context.get("timezone"))


def _number(value: Any, name: str) -> Any:
    """What Decimal and NumPy's numbers and Booleans become; anything else is no value."""
    if type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    if isinstance(value, Decimal) and not value.is_finite():
        raise _refused(value, name, _NOT_FINITE)
    try:
        number = exact(value)
    except LimitExceeded as error:
        raise LimitExceeded(f"{name}: {error}", attribute=name) from None
    except InvalidValue:
        raise _refused(value, name, _hint(value)) from None
    if isinstance(value, Decimal):
        return value
    nearest = to_float(number)
    is_float = not isinstance(value, numbers.Integral) and math.isfinite(nearest) and exact(nearest) == number
    return nearest if is_float else number


def _hint(value: Any) -> str:
    if isinstance(value, dt.timedelta) or type(value).__name__ == "timedelta64":
        return 'a duration; give it as a number with its unit, such as Context(unit="second")'
    if str(value) in ("nan", "inf", "-inf"):  # NumPy's other floats
        return _NOT_FINITE
    return "not a value an event may hold: text, a number, a Boolean, an instant, or a mapping of attributes"


def _refused(value: Any, name: str, why: str) -> InvalidValue:
    return InvalidValue(f"{name} is {repr(value)[:80]}: {why}", attribute=name, value=repr(value)[:200])
