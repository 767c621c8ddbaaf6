"""Slots: what a reference may be bound to, and what it may then hold.

Rule 1  A reference to a concept may be bound to any attribute at or below it. Equivalent concepts are at and below the
        same ones, but stand for two attributes where an event holds both.
Rule 2  Where every attribute below a reference is of one kind (or within one), the reference behaves like a single
        attribute in satisfiable, covers and identical: whatever one binding shows, an event with that one attribute
        shows. This is what keeps a reference near the root of a large ontology cheap.
Rule 3  Where that is not so, `conceptpubsub.relations.keyspace` spells the attributes out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod
from typing import Any

from conceptpubsub.filters.normal import Ref
from conceptpubsub.relations import domains
from conceptpubsub.relations.domains import Domain
from conceptpubsub.relations.kinds import Kind, concept_kind, event_kind, plain_kind

MOST_KNOWN = 4096


class Slot:
    """A reference with what it may hold. One object for each distinct one, so that identity is equality."""

    __slots__ = ("kind", "known", "loose", "mixed", "present", "ref", "single", "steps", "universe")

    def __init__(self, ref: Ref, kind: Kind, single: bool, loose: bool, mixed: bool, steps: tuple[int, ...]) -> None:
        self.ref = ref
        self.kind = kind
        self.single = single
        """Only one attribute can ever be bound."""
        self.loose = loose
        """At least two attributes are of the widest kind, so two filters may speak of different ones."""
        self.mixed = mixed
        """No one kind includes the others."""
        self.steps = steps
        """The indexes of the concepts of its path; empty without an ontology and for parts of the event."""
        self.universe: Domain = kind.universe
        self.present: Domain = domains.without_missing(kind.universe)
        self.known: dict[tuple[str, bool, bool], Domain] = {}
        """The domains of literals met before, which many filters then share."""

    @property
    def key(self) -> str:
        """The key of the reference."""
        return self.ref.key

    def keep(self, name: tuple[str, bool, bool], domain: Domain) -> None:
        """Remember the domain of a literal: the key of its atom, whether it stands positive, whether two-valued."""
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        self.known[name] = domain

    def __repr__(self) -> str:
        return f"<Slot {self.ref.shown}>"


def slot_of(ref: Ref, ontology: Any) -> Slot:
    """The slot of a reference of a filter."""
    return _slot(ref, ref.type, ontology)


@lru_cache(maxsize=65536)
def _slot(ref: Ref, declared: str | None, ontology: Any) -> Slot:
    if ref.event:
        return Slot(ref, event_kind(ref.path[-1], ontology), True, False, False, ())
    if not ref.steps:
        return Slot(ref, plain_kind(declared), True, False, False, ())
    steps = tuple(step.index for step in ref.steps)
    sizes = [len(step.descendants) for step in ref.steps]
    kinds = kinds_below(ontology, steps[-1])
    widest = widest_kinds(kinds)
    alike = kinds[widest[0]] * prod(sizes[:-1])
    return Slot(ref, widest[0], prod(sizes) == 1, len(widest) == 1 and alike > 1, len(widest) > 1, steps)


@lru_cache(maxsize=65536)
def kinds_below(ontology: Any, index: int) -> dict[Kind, int]:
    """The kinds of the attributes at or below a concept, with how many there are of each.

    Which concept a complex object is of follows from its attribute; here the attributes of one kind stand together.
    """
    alike: dict[Kind, list[int]] = {}
    for concept in ontology.by_index(index).descendants:
        alike.setdefault(concept_kind(concept).with_objects(0), []).append(concept.index)
    return {kind.with_objects(sum(1 << i for i in set(listed))): len(listed) for kind, listed in alike.items()}


def widest_kinds(kinds: Iterable[Kind]) -> list[Kind]:
    """The kinds that no other one includes."""
    found: list[Kind] = []
    for kind in kinds:
        if not any(other.includes(kind) for other in found):
            found = [other for other in found if not kind.includes(other)] + [kind]
    return found


class Signature:
    """The slots that a filter names, shared by all filters that name the same."""

    __slots__ = ("presents", "slots", "universes")

    def __init__(self, slots: tuple[Slot, ...]) -> None:
        self.slots = {slot.key: slot for slot in slots}
        self.universes = {slot.key: slot.universe for slot in slots}
        """What each reference may be, or missing."""
        self.presents = {slot.key: slot.present for slot in slots}
        """What each reference may be where it must be there."""


@lru_cache(maxsize=65536)
def signature(slots: frozenset[Slot]) -> Signature:
    """The one signature of a set of slots."""
    return Signature(tuple(sorted(slots, key=lambda slot: slot.key)))


INDEPENDENT, TANGLED, DIFFERENT = range(3)


@lru_cache(maxsize=1 << 17)
def meeting(one: Signature, other: Signature) -> int:
    """How the references of two filters meet.

    INDEPENDENT: distinct references share no attribute. TANGLED: some do, or some are of mixed kinds.
    DIFFERENT: the two declare different types for one reference.
    """
    for key, slot in one.slots.items():
        if other.slots.get(key, slot) is not slot:
            return DIFFERENT
    slots = list({**one.slots, **other.slots}.values())
    if any(slot.mixed for slot in slots):
        return TANGLED
    loose = [slot for slot in slots if not slot.single or len(slot.ref.path) > 1]
    for slot in loose:
        if any(rival is not slot and touch(slot, rival) for rival in slots):
            return TANGLED
    return INDEPENDENT


def touch(one: Slot, other: Slot) -> bool:
    """Whether two references may be bound to one attribute, or one to what lies inside the other's."""
    if one.ref.event or other.ref.event:
        return one.ref.key == other.ref.key
    if not one.steps:
        short = min(len(one.ref.path), len(other.ref.path))
        return one.ref.path[:short] == other.ref.path[:short]
    ontology = one.ref.steps[0].ontology
    return all(
        not ontology.indexes.below(a).isdisjoint(ontology.indexes.below(b))
        for a, b in zip(one.steps, other.steps, strict=False)
    )
