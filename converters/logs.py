"""Logarithmic scales: dB, bel, neper, dBm. Deterministic, strictly monotone on any value a person would write.

A level is ``multiplier * log10(quantity / reference)``. Both ways run in decimal arithmetic of 60 digits and are then
rounded, to 50 significant digits going to the quantity and to 40 decimal places going to the level, so that
``level(quantity(x)) == x`` for every x of up to 40 places, and whole powers of ten are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context as DecimalContext
from decimal import Decimal
from fractions import Fraction

from conceptpubsub.errors import InvalidValue, LimitExceeded
from conceptpubsub.model.values import Exact, simplest

MAX_POWER_OF_TEN = 4000
_WORK = DecimalContext(prec=60, Emax=999999, Emin=-999999)
_KEEP = DecimalContext(prec=50, Emax=999999, Emin=-999999)
_LN10 = DecimalContext(prec=70).ln(Decimal(10))
_PLACES = Decimal(1).scaleb(-40)


@dataclass(frozen=True, slots=True)
class LogScale:
    """``level = multiplier * log10(quantity / reference)``, the reference in base units.

    >>> LogScale(10, Fraction(1, 1000)).quantity(30)      # 30 dBm in watts
    1
    """

    multiplier: Exact
    reference: Exact

    def quantity(self, level: Exact) -> Exact:
        """The quantity in base units at that level."""
        power = Fraction(level) / self.multiplier
        if abs(power) > MAX_POWER_OF_TEN:
            raise LimitExceeded(f"a level of {float(power):.3g} powers of ten; at most {MAX_POWER_OF_TEN}", level=level)
        return simplest(_ten_to(power) * self.reference)

    def level(self, quantity: Exact) -> Exact:
        """The level of a quantity in base units; only positive quantities have one."""
        if quantity <= 0:
            raise InvalidValue("only a positive quantity has a logarithmic level", value=str(quantity)[:80])
        ratio = _WORK.multiply(_log10(Fraction(quantity) / self.reference), _decimal(Fraction(self.multiplier)))
        return simplest(Fraction(_WORK.quantize(ratio, _PLACES)))

    def scaled(self, by: Fraction) -> LogScale:
        """The scale of the prefixed unit: a decibel counts ten times as many as a bel."""
        return LogScale(simplest(Fraction(self.multiplier) / by), self.reference)


def log10(value: Fraction) -> Fraction:
    """The decimal logarithm to 40 places, exact for powers of ten.

    >>> log10(Fraction(1, 1000))
    Fraction(-3, 1)
    """
    return Fraction(_WORK.quantize(_log10(value), _PLACES))


def _log10(value: Fraction) -> Decimal:
    # Each part by itself: a quotient rounded before the logarithm would lose digits.
    top = _WORK.ln(_WORK.plus(Decimal(value.numerator)))
    bottom = _WORK.ln(_WORK.plus(Decimal(value.denominator)))
    return _WORK.divide(_WORK.subtract(top, bottom), _LN10)


def _ten_to(power: Fraction) -> Fraction:
    return Fraction(_KEEP.plus(_WORK.exp(_WORK.multiply(_decimal(power), _LN10))))


def _decimal(value: Fraction) -> Decimal:
    return _WORK.divide(Decimal(value.numerator), Decimal(value.denominator))
