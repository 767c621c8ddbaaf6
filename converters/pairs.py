"""Pairs of units: the map from one unit to another, found once for each pair and then applied to anything.

Affine where the units allow it, exactly; else monotone through the quantity (dBm to watt, pH to mol/L, dB to a ratio).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from conceptpubsub.converters.dimensions import DIFFERENCE, NUMBER, Dimension
from conceptpubsub.converters.logs import LogScale, log10
from conceptpubsub.converters.units import Unit, applied, resolve, whole_numbers
from conceptpubsub.errors import NoConversion
from conceptpubsub.model.values import Exact, simplest, to_float

_EXACT_FLOAT = 1 << 53

# Scales that count levels have a dimension of their own, in which they compare exactly; these lead out of it.
# Acidity falls as the concentration rises, so it must never be compared through it, only converted.
_BRIDGES: dict[str, tuple[str, LogScale]] = {
    "bel": ("dimensionless", LogScale(1, 1)),
    "acidity": ("mol/m^3", LogScale(-1, 1000)),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """The way from one unit to another."""

    source: Unit
    target: Unit
    factor: Exact | None
    offset: Exact
    up: LogScale | None = None
    down: LogScale | None = None
    whole: tuple[int, int, int] | None = None
    floats: tuple[float, float, float] | None = None
    """(a, b, d) with target = (source * a + b) / d: whole numbers where they fit, so that 86 °F is 30.0 °C."""
    shifts: tuple[float, float, float] | None = None
    """(p, f, q) with target = (source + p) * f + q, one of p and q zero: two operations for columns."""

    def exact(self, value: Exact) -> Exact:
        """A rational, converted."""
        if self.whole is not None:
            return applied(self.whole, value)
        base = self.source.to_base(value)
        if self.up is not None:
            base = self.up.quantity(base)
        elif self.down is not None:
            base = self.down.level(base)
        return self.target.from_base(base)


@lru_cache(maxsize=16384)
def pair(source: str, target: str) -> Pair:
    """The pair of two unit texts; ``NoConversion`` where none is.

    >>> pair("degF", "degC").exact(86), pair("dBm", "W").exact(30), pair("pH", "mol/L").exact(7)
    (30, 1, Fraction(1, 10000000))
    """
    start, stop = resolve(source), resolve(target)
    if start.dimension.comparable(stop.dimension):
        if start.log is None and stop.log is None:
            factor = Fraction(start.factor) / stop.factor
            return _affine(start, stop, factor, Fraction(start.offset - stop.offset) / stop.factor)
        if start.log is not None and stop.log is not None:
            return _levels(start, stop, start.log, stop.log)
        return Pair(start, stop, None, 0)
    bridge = _BRIDGES.get(start.dimension.tag)
    if bridge is not None and _leads(start.dimension, bridge[0], stop.dimension):
        return Pair(start, stop, None, 0, up=bridge[1])
    bridge = _BRIDGES.get(stop.dimension.tag)
    if bridge is not None and _leads(stop.dimension, bridge[0], start.dimension):
        return Pair(start, stop, None, 0, down=bridge[1])
    raise apart(start, stop)


def pair_under(source: str, target: str, expected: str | None) -> Pair:
    """As ``pair``, for values of which a concept says the unit it expects: there a kelvin may be a difference.

    >>> pair_under("delta_degF", "K", "delta_degC").exact(9)
    5
    """
    if expected is not None:
        wanted = resolve(expected)
        start, stop = resolve(source), resolve(target)
        if (
            start.dimension != stop.dimension
            and adopted(start, wanted) is not None
            and adopted(stop, wanted) is not None
        ):
            return _affine(start, stop, Fraction(start.factor) / stop.factor, Fraction(0))
    return pair(source, target)


def adopted(unit: Unit, expected: Unit) -> Dimension | None:
    """The dimension under which a unit serves where another is expected; None where it does not.

    A kelvin is the unit of temperatures and of their differences alike; only the concept says which is meant.
    """
    if unit.dimension.comparable(expected.dimension):
        return expected.dimension
    plain = unit.dimension.exponents == expected.dimension.exponents and not unit.dimension.tag
    if expected.dimension.tag == DIFFERENCE and plain and not unit.offset and unit.log is None:
        return expected.dimension
    return None


def apart(start: Unit, stop: Unit) -> NoConversion:
    """The error between units that do not convert."""
    if start.dimension.exponents == stop.dimension.exponents:
        why = f"same base units, but {_kind(start.dimension)} is not {_kind(stop.dimension)}"
    else:
        why = f"{start.dimension.base_unit} is not {stop.dimension.base_unit}"
    return NoConversion(f"{start.name} does not convert to {stop.name}: {why}", source=start.name, target=stop.name)


def _kind(dimension: Dimension) -> str:
    words = {"": "the plain quantity", "difference": "a temperature difference", "torque": "a torque"}
    return words.get(dimension.tag, f"a quantity marked {dimension.tag}")


def _leads(level: Dimension, unit: str, end: Dimension) -> bool:
    return not level.exponents and (NUMBER if unit == "dimensionless" else resolve(unit).dimension).comparable(end)


def _levels(start: Unit, stop: Unit, first: LogScale, second: LogScale) -> Pair:
    factor = Fraction(second.multiplier) / first.multiplier
    return _affine(start, stop, factor, log10(Fraction(first.reference) / second.reference) * second.multiplier)


def _affine(start: Unit, stop: Unit, factor: Fraction, offset: Fraction) -> Pair:
    whole = whole_numbers(factor, offset)
    if all(abs(number) < _EXACT_FLOAT for number in whole):
        floats = (float(whole[0]), float(whole[1]), float(whole[2]))
    else:
        floats = (to_float(factor), to_float(offset), 1.0)
    before = offset / factor
    if Fraction(to_float(before)) == before:  # 32 before the factor is exact where -160/9 after it is not
        shifts = (to_float(before), to_float(factor), 0.0)
    else:
        shifts = (0.0, to_float(factor), to_float(offset))
    return Pair(start, stop, simplest(factor), simplest(offset), None, None, whole, floats, shifts)
