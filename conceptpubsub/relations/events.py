"""From domains to an event: a value for each attribute, written so that it reads back as what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from conceptpubsub.converters import Dimension, Money, Quantity, resolve
from conceptpubsub.filters.normal import Ref
from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject
from conceptpubsub.relations import domains, intervals, texts
from conceptpubsub.relations.domains import Domain, Sort
from conceptpubsub.relations.kinds import Kind

UNCONVERTED = "EUR*(kg)"
"""A price by weight: whatever the rates, it compares with no amount of money alone."""


class Named(str):
    """The value of an attribute that holds a complex object: the name of its concept."""

    __slots__ = ()


def value_in(domain: Domain, kind: Kind, currency: str | None) -> Any:
    """A canonical value inside a domain, or None where it holds only missing (or nothing)."""
    for sort, part in sorted(domain.parts.items(), key=_preference):
        found = _of_sort(sort, part, kind, currency)
        if found is not None:
            return found
    if domain.rest:
        for sort in _UNNAMED:
            if sort not in domain.parts:
                return _of_sort(sort, domains.whole(sort), kind, currency)
        return _stranger(domain)
    return None


_UNNAMED = (domains.TEXT, domains.NUMBER, domains.BOOL, domains.INSTANT)


def _preference(item: tuple[Sort, Any]) -> str:
    return {"t": "0", "n": "1"}.get(item[0][0], "2") + item[0]


def _stranger(domain: Domain) -> Quantity:
    """A quantity of a dimension that the domain does not speak of."""
    for unit in ("kg", "m", "s", "A", "mol", "cd", "kg*m", "kg*s", "m*s", "kg*A", "m*A", "s*A", "kg*mol", "m*mol"):
        dimension = resolve(unit).dimension
        if domains.quantity_sort(dimension.key) not in domain.parts:
            return Quantity(1, dimension)
    return Quantity(1, resolve("cd*mol").dimension)


def _of_sort(sort: Sort, part: Any, kind: Kind, currency: str | None) -> Any:
    if sort in (domains.TEXT, domains.NAMED):
        text = texts.sample(part)
        return text if text is None or sort == domains.TEXT else Named(text or "Thing")
    if sort == domains.BOOL:
        return None if not part else bool(part & 2)
    if sort == domains.NO_RATE:
        return Money(1, UNCONVERTED) if part else None
    if sort in (domains.CONCEPT, domains.COMPLEX):
        return _concept(sort, part, kind)
    number = intervals.point(part, kind.grid(sort))
    if number is None:
        return None
    if sort == domains.NUMBER:
        return number
    if sort == domains.INSTANT:
        return Instant(int(number))
    if sort == domains.MONEY:
        return Money(number, currency or "EUR")
    return Quantity(number, dimension_of(sort, kind))


def _concept(sort: Sort, part: int, kind: Kind) -> str | None:
    if not part:
        return None
    concept = kind.ontology.by_index((part & -part).bit_length() - 1)
    return Named(concept.name) if sort == domains.COMPLEX else str(concept.name)


def dimension_of(sort: Sort, kind: Kind) -> Dimension:
    """The dimension that a sort of quantities is of."""
    if kind.dimension is not None:
        return kind.dimension
    powers, _, tag = sort[1:].partition("|")
    found = Dimension(tuple(_exponents(powers)), tag)
    assert found.key == sort[1:], sort
    return found


def _exponents(powers: str) -> Iterator[tuple[str, Fraction]]:
    import re

    for base, power in re.findall(r"([A-Za-z]+)(-?\d+(?:/\d+)?)", powers):
        yield base, Fraction(power)


def written(name: str, value: Any, concept: Any) -> SemanticObject:
    """An attribute that holds a canonical value, in a context that makes it mean exactly that."""
    scale = {"scale": 1} if concept is not None and "scale" in concept.default_context else {}
    if isinstance(value, Quantity):
        unit = value.dimension.base_unit
        if concept is not None and concept.canonical_unit is not None:
            unit = concept.canonical_unit
        return SemanticObject(name, resolve(unit).from_base(value.value), Context(unit=unit, **scale))
    if isinstance(value, Money):
        currency, _, per = value.currency.partition("*")
        unit_of_price = {"unit": per[1:-1]} if per else {}
        return SemanticObject(name, value.value, Context(currency=currency, **unit_of_price, **scale))
    if isinstance(value, Named):
        return SemanticObject(str(value), {})
    return SemanticObject(name, value, Context(**scale))


class Draft:
    """An event in the making."""

    def __init__(self, ontology: Any) -> None:
        self.ontology = ontology
        self.attributes: dict[str, Any] = {}
        self.parts: dict[str, Any] = {}

    def part(self, ref: Ref, value: Any) -> None:
        """Set a part of the event itself."""
        self.parts[ref.path[-1]] = value

    def put(self, path: tuple[str, ...], value: Any) -> None:
        """Set an attribute, inside complex objects where the path has several steps."""
        holder = self.attributes
        for name in path[:-1]:
            held = holder.get(name)
            if not isinstance(held, _Object):
                held = holder[name] = _Object(name if held is None else str(held))
            holder = held.inner
        held = holder.get(path[-1])
        if isinstance(held, _Object) and isinstance(value, Named):
            held.concept = str(value)
        elif not isinstance(held, _Object):
            holder[path[-1]] = value

    def event(self) -> SemanticEvent | dict[str, Any]:
        """The event; a plain mapping where it must have no concept."""
        made = self._written(self.attributes)
        time, id_, source = (self.parts.get(part) for part in ("time", "id", "source"))
        concept = self.parts.get("EVENT", "Event")
        if concept is None:
            named = {"@time": time, "@id": id_, "@source": source}
            return {**made, **{key: value for key, value in named.items() if value is not None}}
        return SemanticEvent(str(concept) or "Event", made, time=time, id=id_, source=source)

    def _written(self, held: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in held.items():
            if isinstance(value, _Object):
                made[name] = SemanticObject(value.concept, self._written(value.inner))
            else:
                concept = self.ontology.find(name) if self.ontology is not None else None
                made[name] = written(name, value, concept)
        return made


class _Object:
    """A complex object in the making."""

    def __init__(self, concept: str) -> None:
        self.concept = concept
        self.inner: dict[str, Any] = {}


def all_of(drafted: Iterable[tuple[tuple[str, ...], Any]], ontology: Any) -> Draft:
    """A draft with these attributes, outer objects first."""
    draft = Draft(ontology)
    for path, value in sorted(drafted, key=lambda item: len(item[0])):
        if value is not None:
            draft.put(path, value)
    return draft
