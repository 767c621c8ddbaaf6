"""Measures: exact products of units, before they are named. The arithmetic that every unit grammar shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Context as DecimalContext
from decimal import Decimal
from fractions import Fraction
from math import isqrt

from conceptpubsub.converters.dimensions import DIFFERENCE, TORQUE, Dimension, exponents, tag_of
from conceptpubsub.converters.logs import LogScale
from conceptpubsub.errors import UnknownUnit

MAX_POWER = 24
MAX_ROOT = 12
_ROOT = DecimalContext(prec=50)
_MAX_BITS = 1 << 13
_FORCE = {"kg": 1, "m": 1, "s": -2}
_LENGTH = {"m": 1}


@dataclass(frozen=True, slots=True)
class Measure:
    """``factor`` times a product of base units and marks; ``offset`` and ``log`` only where the unit stands alone."""

    factor: Fraction = Fraction(1)
    powers: Mapping[str, Fraction] = field(default_factory=dict)
    marks: Mapping[str, Fraction] = field(default_factory=dict)
    offset: Fraction = Fraction(0)
    log: LogScale | None = None
    difference: bool = False
    torque: bool = False

    def __mul__(self, other: Measure) -> Measure:
        return Measure(self.factor * other.factor, _added(self.powers, other.powers), _added(self.marks, other.marks))

    def scaled(self, by: Fraction) -> Measure:
        """The same unit with a prefix: the offset stays, as in a thousandth of a degree Celsius above 0 °C."""
        log = None if self.log is None else self.log.scaled(by)
        return Measure(self.factor * by, self.powers, self.marks, self.offset, log, self.difference, self.torque)

    def moved(self, offset: Fraction) -> Measure:
        """The same unit counted from another zero."""
        return replace(self, offset=offset)

    def levelled(self, log: LogScale) -> Measure:
        """The logarithmic unit over this quantity."""
        return replace(self, log=log)

    def raised(self, power: Fraction) -> Measure:
        """This measure to a power; an inexact root is kept to 50 digits."""
        if power == 1:
            return self
        if self.bits() * abs(power) > _MAX_BITS:
            raise UnknownUnit("a unit with exponents beyond all measure", near=())
        factor = root(self.factor, power)
        return Measure(
            factor, {k: v * power for k, v in self.powers.items()}, {k: v * power for k, v in self.marks.items()}
        )

    def bits(self) -> int:
        """The size of the factor."""
        return self.factor.numerator.bit_length() + self.factor.denominator.bit_length()

    def dimension(self) -> Dimension:
        """The dimension with its tag."""
        tag = DIFFERENCE if self.difference else TORQUE if self.torque else tag_of(self.marks)
        return Dimension(exponents(self.powers), tag)


def marked(measure: Measure, mark: str) -> Measure:
    """The measure with one more mark."""
    return replace(measure, marks=_added(measure.marks, {mark: Fraction(1)}))


def root(value: Fraction, power: Fraction) -> Fraction:
    """``value ** power``, exact for whole powers and perfect squares.

    >>> root(Fraction(9, 4), Fraction(1, 2))
    Fraction(3, 2)
    """
    if power.denominator == 1:
        return Fraction(value ** int(power))
    raised = Fraction(value**power.numerator)
    if power.denominator == 2:
        top, bottom = isqrt(raised.numerator), isqrt(raised.denominator)
        if top * top == raised.numerator and bottom * bottom == raised.denominator:
            return Fraction(top, bottom)
    decimal = _ROOT.divide(Decimal(raised.numerator), Decimal(raised.denominator))
    return Fraction(_ROOT.power(decimal, _ROOT.divide(Decimal(1), Decimal(power.denominator))))


def _added(left: Mapping[str, Fraction], right: Mapping[str, Fraction]) -> dict[str, Fraction]:
    total = dict(left)
    for name, e in right.items():
        total[name] = total.get(name, Fraction(0)) + e
    return {name: e for name, e in total.items() if e}


def product(parts: Iterable[tuple[Measure, Fraction]], factor: Fraction = Fraction(1)) -> Measure:
    """The product of written units: one alone keeps its offset and logarithm; a force times a length is a torque.

    Inside a larger product a degree Celsius is a kelvin and a temperature difference is nothing special.
    """
    listed = [(part, power) for part, power in parts if part.powers or part.marks or part.log or part.factor != 1]
    if len(listed) == 1 and listed[0][1] == 1:
        return listed[0][0].scaled(factor)
    made = Measure(factor)
    for part, power in listed:
        if part.log is not None:
            raise UnknownUnit("a logarithmic unit with a reference stands alone: dBm per hertz is no product", near=())
        made = made * part.raised(power)
    every = (*made.powers.values(), *made.marks.values())
    if made.bits() > _MAX_BITS or any(abs(e) > MAX_POWER or e.denominator > MAX_ROOT for e in every):
        raise UnknownUnit("a unit with exponents beyond all measure", near=())
    shapes = [part.powers for part, power in listed if power == 1 and not part.marks]
    if len(listed) == 2 and shapes in ([_FORCE, _LENGTH], [_LENGTH, _FORCE]):
        return replace(made, torque=True)
    return made
