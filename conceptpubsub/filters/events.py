"""How filters see events: attributes by key, values in canonical form, and which of them a reference may be bound to.

The key of an attribute is its concept; what the object under it calls itself is equal or above, and says no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from conceptpubsub.errors import InvalidEvent
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.scope import Scope
from conceptpubsub.model import Instant, SemanticEvent, SemanticObject
from conceptpubsub.model.objects import as_object

PARTS = ("@concept", "@time", "@id", "@source")


class Complex(NamedTuple):
    """The value of a complex object: it can be asked about, but not compared."""

    concept: str


class Found(NamedTuple):
    """An attribute that a reference may be bound to: its path, its canonical value, and a complex object's concept."""

    path: tuple[str, ...]
    value: Any
    concept: str | None


class View(NamedTuple):
    """An event as filters see it."""

    attributes: Mapping[str, Any]
    concept: str | None
    time: Instant | None
    id: str | None
    source: str | None


def view(event: Any) -> View:
    """A SemanticEvent, or a mapping in which @concept, @time, @id and @source speak of the event itself."""
    if isinstance(event, SemanticEvent):
        return View(event.attributes, event.concept, event.time, event.id, event.source)
    if not isinstance(event, Mapping):
        raise InvalidEvent(f"an event is a SemanticEvent or a mapping from names to values, not {type(event).__name__}")
    time = event.get("@time")
    texts = [None if event.get(part) is None else str(event[part]) for part in ("@concept", "@id", "@source")]
    return View(event, texts[0], None if time is None else Instant.of(time), texts[1], texts[2])


def candidates(ref: Ref, seen: View, scope: Scope) -> Iterator[Found]:
    """The attributes a reference may be bound to, in the event's order; values outside their type are missing."""
    if ref.event:
        yield from _of_event(ref, seen, scope)
        return
    level: list[tuple[tuple[str, ...], Any]] = [((), seen.attributes)]
    for number, name in enumerate(ref.path):
        concept = ref.steps[number] if ref.steps else None
        below: list[tuple[tuple[str, ...], Any]] = []
        for path, attributes in level:
            below += [((*path, key), held) for key, held in _matching(attributes, name, concept, scope)]
        if number + 1 == len(ref.path):
            for path, held in below:
                found = _found(ref, path, held, seen, scope)
                if found is not None:
                    yield found
            return
        level = [(path, held.value) for path, held in below if held.is_complex]


def _of_event(ref: Ref, seen: View, scope: Scope) -> Iterator[Found]:
    part = ref.path[-1]
    value: Any = seen.concept if part == "EVENT" else getattr(seen, part)
    if part == "EVENT" and value is not None and scope.ontology is not None:
        known = scope.ontology.find(value)
        value = None if known is None else scope.ontology[known.representative].iri
    if value is not None:
        yield Found(ref.path, value, None)


def _matching(
    attributes: Mapping[str, Any], name: str, concept: Any, scope: Scope
) -> Iterator[tuple[str, SemanticObject]]:
    if concept is None:
        held = attributes.get(name)
        if held is not None:
            yield name, as_object(name, held)
        return
    assert scope.ontology is not None
    for key, held in attributes.items():
        if held is None or (key in PARTS):
            continue
        known = scope.ontology.find(key)
        if known is not None and known.is_a(concept):
            yield key, as_object(key, held)


def _found(ref: Ref, path: tuple[str, ...], held: SemanticObject, seen: View, scope: Scope) -> Found | None:
    concept = scope.ontology.find(path[-1]) if scope.ontology is not None and ref.steps else None
    if held.is_complex:
        declared = ref.type if concept is None else concept.value_type or concept.canonical_unit
        if declared not in (None, "complex"):
            return None
        name = path[-1] if ref.steps else held.concept
        return Found(path, Complex(name), name)
    if concept is not None:
        value: Any = scope.converters.canonical(concept, held.value, held.context, seen.time)
    else:
        value = scope.canonical(ref, held.value, held.context, seen.time)
    return None if value is None else Found(path, value, None)
