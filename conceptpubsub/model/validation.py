"""Validation: what is wrong with an event in the eyes of an ontology, one sentence a fault.

Structure is judged here: names, concepts under keys, domains, simple against complex. Values are judged by whoever
knows units: pass ``problem=converters.problem`` (a sentence for a bad value) or ``canonical=converters.canonical``
(None for a bad value).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conceptpubsub.errors import hint
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.ontology import Ontology
from conceptpubsub.model.ontology_concepts import Concept

ValueCheck = Callable[[Concept, Any, Context, Instant | None], Any]


def validate(
    event: SemanticEvent | SemanticObject,
    ontology: Ontology,
    canonical: ValueCheck | None = None,
    *,
    problem: ValueCheck | None = None,
) -> tuple[str, ...]:
    """Every fault of an event or object; empty when it is valid.

    >>> from conceptpubsub.model import Ontology
    >>> onto = Ontology.bundled("vehicles")
    >>> validate(SemanticEvent("VehicleStatus", {"Odometer": 12, "PartFailure": "Engine"}), onto)
    ()
    >>> validate(SemanticEvent("VehicleStatus", {"Odometr": 12}), onto)
    ("Odometr: no such concept. Did you mean 'Odometer' or 'Speedometer'?",)
    """
    return tuple(_Validator(ontology, canonical, problem, getattr(event, "time", None)).whole(event))


class _Validator:
    """One run over one event."""

    __slots__ = ("at", "canonical", "ontology", "problem")

    def __init__(
        self, ontology: Ontology, canonical: ValueCheck | None, problem: ValueCheck | None, at: Instant | None
    ) -> None:
        self.ontology, self.canonical, self.problem, self.at = ontology, canonical, problem, at

    def whole(self, event: SemanticEvent | SemanticObject) -> Iterator[str]:
        """The faults of the event itself, then of its attributes."""
        if isinstance(event, SemanticObject) and not event.is_complex:
            yield from self.attribute(event.concept, event, None, event.concept)
            return
        concept = self.ontology.find(event.concept)
        if concept is None:
            yield self.unknown(event.concept, event.concept)
        else:
            yield from self.usable(concept, event.concept)
            if concept.value_type not in ("complex", None):
                yield f"{event.concept}: takes {_kind_of_value(concept)}, so it cannot hold attributes"
        attributes = event.attributes if isinstance(event, SemanticEvent) else event.value
        yield from self.inside(attributes, concept, "")

    def inside(self, attributes: Mapping[str, SemanticObject], owner: Concept | None, path: str) -> Iterator[str]:
        """The faults of a set of attributes."""
        seen: dict[int, str] = {}
        for key, held in attributes.items():
            where = f"{path}.{key}" if path else key
            concept = self.ontology.find(key)
            if concept is not None:
                other = seen.setdefault(concept.index, key)
                if other != key:
                    yield f"{where}: is the same concept as '{other}'; an attribute stands once"
            yield from self.attribute(key, held, owner, where)

    def attribute(self, key: str, held: SemanticObject, owner: Concept | None, where: str) -> Iterator[str]:
        """The faults of one attribute."""
        concept = self.ontology.find(key)
        if concept is None:
            yield self.unknown(key, where)
            return
        yield from self.usable(concept, where)
        if held.concept != key:
            own = self.ontology.find(held.concept)
            if own is None:
                yield self.unknown(held.concept, where)
            elif not concept.is_a(own):
                yield f"{where}: holds a {own.name}, which is neither {concept.name} nor above it"
        if owner is not None and concept.domain and not self.fits(owner, concept):
            yield f"{where}: belongs to {' or '.join(concept.domain)}, not to {owner.name}"
        if held.is_complex:
            if concept.value_type not in ("complex", None):
                yield f"{where}: takes {_kind_of_value(concept)}, not a set of attributes"
            yield from self.inside(held.value, concept, where)
        else:
            yield from self.value(concept, held, where)

    def value(self, concept: Concept, held: SemanticObject, where: str) -> Iterator[str]:
        """The faults of a simple value."""
        if concept.value_type == "complex":
            yield f"{where}: is complex; it takes a set of attributes, not {_shown(held.value)}"
        elif concept.value_type == "concept":
            named = self.ontology.find(held.value) if isinstance(held.value, str) else None
            if named is None:
                offers = self.ontology.near(held.value) if isinstance(held.value, str) else ()
                yield f"{where}: {_shown(held.value)} names no concept.{hint(offers)}"
            elif concept.range and not any(named.is_a(upper) for upper in concept.range):
                yield f"{where}: {named.name} does not lie below {' or '.join(concept.range)}"
        elif self.problem is not None:
            said = self.problem(concept, held.value, held.context, self.at)
            if said:
                yield f"{where}: {said}"
        elif self.canonical is not None:
            if self.canonical(concept, held.value, held.context, self.at) is None:
                takes = _kind_of_value(concept)
                yield f"{where}: {_shown(held.value)} is no value of {concept.name}, which takes {takes}"
        elif concept.values is not None and held.value not in concept.values:
            yield f"{where}: {_shown(held.value)} is none of {', '.join(concept.values[:20])}"

    def fits(self, owner: Concept, attribute: Concept) -> bool:
        """Whether the owner lies below, or above, one of the concepts that the attribute belongs to."""
        places = [self.ontology[name] for name in attribute.domain]
        return any(owner.is_a(place) or place.is_a(owner) for place in places)

    def usable(self, concept: Concept, where: str) -> Iterator[str]:
        """A concept that nothing can be is a fault wherever it stands."""
        if not concept.satisfiable:
            yield f"{where}: the ontology contradicts itself on {concept.name}: nothing can be one"

    def unknown(self, name: str, where: str) -> str:
        """The sentence for a name that the ontology does not hold."""
        place = where if where.endswith(name) else f"{where}: {name}"
        return f"{place[:300]}: no such concept.{hint(self.ontology.near(name))}"


_KINDS = {
    "real": "numbers",
    "int": "integers",
    "text": "text",
    "bool": "true or false",
    "instant": "instants",
    "concept": "names of concepts",
    "complex": "sets of attributes",
}


def _kind_of_value(concept: Concept) -> str:
    return _KINDS[concept.value_type] if concept.value_type else "any value"


def _shown(value: Any) -> str:
    return repr(value)[:80]
