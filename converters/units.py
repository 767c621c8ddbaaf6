"""Units: text in, an exact affine (or logarithmic) map to the coherent SI unit out. Each text is resolved once.

Accepted: pint names and expressions (``km/h``), QUDT IRIs and names (``unit:MI-PER-HR``), ``ucum:[mi_i]/h``,
``unece:SMI``. Anything else is an ``UnknownUnit`` that offers near names, in bounded time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import lcm

from conceptpubsub.converters import atoms, qudt, ucum
from conceptpubsub.converters.currencies import is_currency
from conceptpubsub.converters.definitions import defined, table
from conceptpubsub.converters.dimensions import NUMBER, Dimension
from conceptpubsub.converters.grammar import MAX_LENGTH, parse, refuse
from conceptpubsub.converters.logs import LogScale
from conceptpubsub.converters.measures import Measure
from conceptpubsub.errors import UnknownUnit, hint, near
from conceptpubsub.model.values import Exact, simplest

__all__ = ["NUMBER", "Dimension", "LogScale", "Unit", "resolve"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A resolved unit: ``base = value * factor + offset``, or a logarithmic scale.

    >>> resolve("degF").to_base(86) == resolve("degC").to_base(30)
    True
    """

    name: str
    dimension: Dimension
    factor: Exact
    offset: Exact = 0
    log: LogScale | None = None
    whole: tuple[int, int, int] = field(init=False, repr=False, compare=False)
    """(a, b, d) with base = (value * a + b) / d: one division instead of several reductions."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", whole_numbers(self.factor, self.offset))

    def to_base(self, value: Exact) -> Exact:
        """The value in the dimension's coherent SI unit."""
        if self.log is not None:
            return self.log.quantity(value)
        return applied(self.whole, value)

    def from_base(self, value: Exact) -> Exact:
        """A value of the coherent SI unit, in this unit."""
        if self.log is not None:
            return self.log.level(value)
        return simplest(Fraction(value - self.offset) / self.factor)


def _unece(code: str) -> Measure:
    text = table("unece").get(code)
    if text is None:
        raise UnknownUnit(f"no UN/ECE unit code {code[:40]!r} in our table of common ones", unit=code, near=())
    return defined(text, atoms.atom)


_SCHEMES: dict[str, Callable[[str], Measure]] = {"ucum": ucum.parse, "unit": qudt.parse, "unece": _unece}


def whole_numbers(factor: Exact, offset: Exact) -> tuple[int, int, int]:
    """(a, b, d) with x * factor + offset == (x * a + b) / d."""
    bottom = lcm(factor.denominator, offset.denominator)
    return int(factor * bottom), int(offset * bottom), bottom


def applied(whole: tuple[int, int, int], value: Exact) -> Exact:
    """An affine map in whole numbers, applied to a rational.

    >>> applied(whole_numbers(Fraction(5, 9), Fraction(-160, 9)), 86)
    30
    """
    a, b, d = whole
    if type(value) is int:
        top = value * a + b
    else:
        top, d = value.numerator * a + b * value.denominator, d * value.denominator
    if d == 1:
        return top
    quotient, rest = divmod(top, d)
    return Fraction(top, d) if rest else quotient


def resolve(text: str) -> Unit:
    """The unit that a text names.

    >>> resolve("mile").factor, resolve("km/h").dimension.base_unit
    (Fraction(201168, 125), 'm/s')
    """
    if not isinstance(text, str):
        raise UnknownUnit(f"a unit is named by text, not {type(text).__name__}", unit=repr(text)[:MAX_LENGTH], near=())
    if len(text) > MAX_LENGTH:
        raise refuse(text, f"has {len(text)} characters; at most {MAX_LENGTH} are read")
    found = _resolved(text)
    if isinstance(found, Unit):
        return found
    message, facts = found
    raise UnknownUnit(message, **facts)


@lru_cache(maxsize=8192)
def _resolved(text: str) -> Unit | tuple[str, dict[str, object]]:
    """Failures are kept too: a stream of events in a mistyped unit must not pay for near names each time."""
    try:
        return unit_of(text, _measure(text.strip()))
    except UnknownUnit as error:
        name = str(error.facts.get("name", ""))
        if is_currency(name):
            return f"{name} is a currency, not a unit: use the aspect currency", {
                **error.facts,
                "unit": text,
                "near": (),
            }
        offered = near(name, atoms.names()) if name else ()
        return error.message + ("." if offered else "") + hint(offered), {**error.facts, "unit": text, "near": offered}


def unit_of(name: str, measure: Measure) -> Unit:
    """A named unit from its measure."""
    return Unit(name, measure.dimension(), simplest(measure.factor), simplest(measure.offset), measure.log)


def _measure(text: str) -> Measure:
    iri = qudt.IRI.match(text)
    if iri is not None:
        return qudt.parse(text[iri.end() :])
    scheme, colon, code = text.partition(":")
    if colon:
        reader = _SCHEMES.get(scheme)
        if reader is None:
            raise refuse(text, f"has the scheme {scheme!r}; known are {', '.join(sorted(_SCHEMES))}")
        return reader(code)
    whole = atoms.atom(text) if text and len(text) <= 64 else None
    return parse(text, atoms.atom) if whole is None else whole
