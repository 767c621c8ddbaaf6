"""Values, exactly: numbers are rationals, instants are nanoseconds, nothing is approximate.

Rule 1  A float means its shortest round-trip decimal: 0.03 is 3/100. A float32 means its own.
Rule 2  An integer-valued rational is an int, so equal numbers have one representation.
Rule 3  NaN and infinities are refused at entry; a Boolean is not a number.
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

MAX_EXPONENT = 4096
MAX_DIGITS = 4096
_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\Z")


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
        raise InvalidValue(f"{value!r} is a Boolean, not a number", value=value)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, str):
        return exact_decimal(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, float):
        return exact(float(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InvalidValue(f"{value} is not a finite number", value=str(value))
        return exact_decimal(str(value))
    if hasattr(value, "dtype") and hasattr(value, "item"):  # NumPy float32/float16: shortest decimal of their own
        return exact_decimal(str(value)) if math.isfinite(value) else _from_float(float(value))
    raise InvalidValue(f"{value!r} is not a number", value=repr(value)[:200])


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
    if len(text) > MAX_DIGITS:
        raise LimitExceeded(f"a number of {len(text)} characters; at most {MAX_DIGITS} are read", length=len(text))
    found = _DECIMAL.match(text.strip())
    if not found or not (found[2] or found[3]):
        raise InvalidValue(f"{text[:80]!r} is not a decimal number", value=text[:200])
    sign, whole, part, power = found.groups()
    part = part or ""
    if power is not None and len(power) > 8:
        raise LimitExceeded(f"the exponent {power[:20]}… is beyond ±{MAX_EXPONENT}", exponent=power[:20])
    exponent = int(power or 0) - len(part)
    if abs(exponent) > MAX_EXPONENT + len(part):
        raise LimitExceeded(f"the exponent of {text[:40]!r} is beyond ±{MAX_EXPONENT}", exponent=exponent)
    digits = int(sign + (whole + part))
    if exponent >= 0:
        return int(digits * 10**exponent)
    return simplest(Fraction(digits, 10**-exponent))


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
    if isinstance(value, int):
        return str(value)
    bottom, twos, fives = value.denominator, 0, 0
    while bottom % 2 == 0:
        bottom, twos = bottom // 2, twos + 1
    while bottom % 5 == 0:
        bottom, fives = bottom // 5, fives + 1
    if bottom != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    scaled = abs(value.numerator) * 10**places // value.denominator
    text = str(scaled).rjust(places + 1, "0")
    return ("-" if value < 0 else "") + text[:-places] + "." + text[-places:]
