"""Units: text in, an exact affine (or logarithmic) map to the coherent SI unit out. Each text is resolved once.

Accepted: pint names and expressions (``km/h``), QUDT IRIs and names (``unit:MI-PER-HR``), ``ucum:[mi_i]/h``,
``unece:SMI``. Anything else is an ``UnknownUnit`` that offers near names, in bounded time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from conceptpubsub.converters import atoms, qudt, ucum
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

    def to_base(self, value: Exact) -> Exact:
        """The value in the dimension's coherent SI unit."""
        if self.log is not None:
            return self.log.quantity(value)
        return simplest(Fraction(value * self.factor + self.offset))

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
        offered = near(name, atoms.names()) if name else ()
        return error.message + hint(offered), {**error.facts, "unit": text, "near": offered}


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
