"""Events from terms: what the domain engine found, as an event that a user can publish."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from conceptpubsub.model import SemanticEvent
from conceptpubsub.relations import domains
from conceptpubsub.relations.compiled import Compiled
from conceptpubsub.relations.domain_engine import Found
from conceptpubsub.relations.domains import Domain
from conceptpubsub.relations.events import Named, all_of, value_in
from conceptpubsub.relations.kinds import concept_kind
from conceptpubsub.relations.slots import Slot
from conceptpubsub.relations.terms import Term

Path = tuple[str, ...]


def event_of(found: Found, one: Compiled, other: Compiled) -> SemanticEvent | dict[str, Any]:
    """An event that fits the terms which were found."""
    slots = {**one.signature.slots, **other.signature.slots}
    currency = one.currency or other.currency
    drafted: list[tuple[Path, Any]] = []
    parts: list[tuple[Slot, Any]] = []
    open_slots = slots if found.space is None else found.space.open
    for key, slot in open_slots.items():
        for path, domain in _placed(slot, [term[key] for term in found.terms if key in term], one.total):
            value = None if domain.missing else value_in(domain, slot.kind, currency)
            if isinstance(value, Named) and slot.steps:  # which concept an object is of follows from its attribute
                path = (*path[:-1], str(value))
            if slot.ref.event:
                parts.append((slot, value))
            else:
                drafted.append((path, value))
    if found.space is not None:
        term = _met(found.terms)
        for name, spelled in found.space.all.items():
            held = term.get(name)
            if held is not None and not held.missing:
                drafted.append((spelled.path, value_in(held, spelled.kind, currency)))
    draft = all_of(drafted, one.filter.scope.ontology)
    for slot, value in parts:
        draft.part(slot.ref, value)
    return draft.event()


def _placed(slot: Slot, held: list[Domain], total: bool) -> Iterator[tuple[Path, Domain]]:
    """Which attribute gets which domain: two where two filters speak of different ones."""
    if not held:
        if total:
            yield paths(slot)[0], slot.present
        elif slot.ref.event and slot.ref.path == ("EVENT",):
            yield slot.ref.path, slot.present
        return
    met = held[0] if len(held) == 1 else domains.meet(*held)
    if len(held) > 1 and slot.loose and not met.missing and not domains.has_value(met):
        first, second, *_ = paths(slot)
        yield first, domains.without_missing(held[0])
        yield second, domains.without_missing(held[1])
    elif met.missing and slot.ref.path == ("EVENT",) and domains.has_value(met):
        yield slot.ref.path, domains.without_missing(met)
    else:
        yield paths(slot)[0], met


def _met(terms: tuple[Term, ...]) -> Term:
    made = dict(terms[0])
    for term in terms[1:]:
        for key, domain in term.items():
            made[key] = domains.meet(made[key], domain) if key in made else domain
    return made


@lru_cache(maxsize=16384)
def paths(slot: Slot) -> list[Path]:
    """Attributes of the widest kind that a reference may be bound to: the first few, its own concepts preferred."""
    if not slot.steps:
        return [slot.ref.path]
    outer = tuple(step.name for step in slot.ref.steps[:-1])
    own, kind = slot.ref.steps[-1], slot.kind.with_objects(0)
    below = sorted(own.descendants, key=lambda concept: concept is not own)
    fitting = [concept for concept in below if concept_kind(concept).with_objects(0) == kind][:2]
    made = [(*outer, concept.name) for concept in fitting]
    if len(made) < 2 and outer:
        made += [(concept.name, *made[0][1:]) for concept in slot.ref.steps[0].descendants]
    return list(dict.fromkeys(made))
