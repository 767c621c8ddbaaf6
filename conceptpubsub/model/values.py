"""Values, exactly: numbers are rationals, instants are nanoseconds, nothing is approximate.

Rule 1  A float means its shortest round-trip decimal: 0.03 is 3/100. A float32 means its own.
Rule 2  An integer-valued rational is an int, so equal numbers have one representation.
Rule 3  NaN and infinities are refused at entry; a Boolean is not a number.
Rule 4  Literals are bounded: what is read has at most MAX_DIGITS digits above and below the line.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from conceptpubsub.errors import InvalidValue, LimitExceeded

Exact: TypeAlias = int | Fraction

MAX_DIGITS = 4096
_AROUND_DIGITS = 24  # room for a sign, a point, a leading zero, an exponent and blanks
_WRITTEN_BY_STR = 14_000  # bits; str() of a longer int is refused by the interpreter
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?\Z")


def exact(value: Any) -> Exact:
    """The rational that a number means.

    >>> exact(0.03), exact(2.0), exact("1.5e3")
    (Fraction(3, 100), 2, 1500)
    """
    if type(value) is int:
        return value
    if type(value) is float:
        if value.is_integer() and abs(value) < 1e16:
            return int(value)
        return _from_float(value)
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise InvalidValue(f"{value!r} is a Boolean, not a number", value=bool(value))
    if isinstance(value, Fraction):
        return simplest(value)
    if isinstance(value, str):
        return exact_decimal(value)
    if isinstance(value, float):
        return exact(float(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InvalidValue(f"{value} is not a finite number", value=str(value))
        return exact_decimal(str(value))
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind == "f" and getattr(value, "ndim", None) == 0:  # NumPy's other floats: the shortest decimal of their own
        return exact_decimal(str(value)) if math.isfinite(value) else _from_float(float(value))
    if isinstance(value, numbers.Integral) and kind in (None, "i", "u"):  # a timedelta64 is Integral, and no number
        return int(value)
    shown = repr(value)[:200]
    raise InvalidValue(f"{shown} is not a number", value=shown)


def _from_float(value: float) -> Exact:
    if not math.isfinite(value):
        raise InvalidValue(
            f"{value} is not a finite number; leave the attribute out where a value is missing", value=repr(value)
        )
    return exact_decimal(repr(value))


def exact_decimal(text: str) -> Exact:
    """The rational a decimal literal means; bounded, so that 1e999999999 costs nothing.

    >>> exact_decimal("-12.50")
    Fraction(-25, 2)
    """
    if len(text) > MAX_DIGITS + _AROUND_DIGITS:
        raise LimitExceeded(f"a number of {len(text)} characters; at most {MAX_DIGITS} are read", length=len(text))
    found = _DECIMAL.match(text.strip())
    if not found or not (found[2] or found[3]):
        raise InvalidValue(f"{text[:80]!r} is not a decimal number", value=text[:200])
    sign, whole, part, power = (group or "" for group in found.groups())
    digits = (whole + part).lstrip("0") or "0"
    exponent = int(power[:9] or 0) - len(part)  # nine characters are enough to be far beyond the limit
    below = max(-exponent, 0)
    if max(len(digits) + exponent, len(digits), below) > MAX_DIGITS:
        raise LimitExceeded(f"{text[:40]!r} needs more than {MAX_DIGITS} digits when written out", exponent=exponent)
    number = int(sign + digits)
    return number * 10**exponent if exponent >= 0 else simplest(Fraction(number, 10**below))


def simplest(value: Exact) -> Exact:
    """An int where the rational is one."""
    return value.numerator if value.denominator == 1 else value


def to_float(value: Exact) -> float:
    """The nearest float; infinite where none is near."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def decimal_text(value: Exact) -> str:
    """A literal that reads back as the same number: a decimal where one terminates, else ``n/d``.

    >>> decimal_text(Fraction(45, 2)), decimal_text(Fraction(1, 3)), decimal_text(-3)
    ('22.5', '1/3', '-3')
    """
    if value.denominator == 1:
        return _digits(value.numerator)
    bottom, twos, fives = value.denominator, 0, 0
    while bottom % 2 == 0:
        bottom, twos = bottom // 2, twos + 1
    while bottom % 5 == 0:
        bottom, fives = bottom // 5, fives + 1
    if bottom != 1:
        return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    places = max(twos, fives)
    scaled = abs(value.numerator) * 10**places // value.denominator
    text = _digits(scaled).rjust(places + 1, "0")
    return ("-" if value < 0 else "") + text[:-places] + "." + text[-places:]


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < _WRITTEN_BY_STR else format(Decimal(value), "f")
