"""Key spaces: the attributes that two filters may speak of, spelled out where references share some.

Rule 1  Whatever shows in some event shows in one that holds, for each reference of the two filters, at most one
        attribute. So of attributes that no reference and no kind tells apart, a few stand for all of them, and a
        reference near the root of a large ontology costs no more than one near a leaf.
Rule 2  A reference that shares attributes with no other stays one open key, which may be missing.
Rule 3  An attribute inside a complex object means that the object is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from conceptpubsub.model.ontology import Concept
from conceptpubsub.relations import domains, texts
from conceptpubsub.relations.domains import ABSENT, Domain
from conceptpubsub.relations.kinds import ANY, Kind, concept_kind
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import Signature, Slot, touch
from conceptpubsub.relations.terms import Term

MOST_KEYS = 96


@dataclass(frozen=True, eq=False, slots=True)
class Key:
    """One attribute: its path of names (as an event spells it), what it may hold."""

    name: str
    path: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True, eq=False, slots=True)
class KeySpace:
    """The attributes of a pair of filters."""

    open: Mapping[str, Slot]
    """References that are one key of their own."""
    keys: Mapping[str, tuple[Key, ...]]
    """For each other reference, the attributes that it may be bound to."""
    all: Mapping[str, Key]
    inner: Mapping[str, tuple[str, ...]]
    """For an attribute inside complex objects, the keys of those objects, as far as the filters speak of them."""
    universe: Mapping[str, Domain]

    def possible(self, term: Term) -> bool:
        """Whether what is inside objects has objects to be inside of."""
        for child, parents in self.inner.items():
            held = term.get(child)
            if held is not None and not held.missing:
                for parent in parents:
                    room = term.get(parent, self.universe[parent])
                    if domains.is_empty(domains.meet(room, as_object(self.all[parent].kind))):
                        return False
        return True


def as_object(kind: Kind) -> Domain:
    """What an attribute that holds a complex object is: that object, or missing where its type allows none."""
    sort = domains.COMPLEX if kind.concepts else domains.NAMED
    part = kind.universe.part(sort)
    return ABSENT if part in (0, texts.NONE) else domains.single(sort, part)


@lru_cache(maxsize=4096)
def keyspace(one: Signature, other: Signature, tested: frozenset[int] = frozenset(), spell: bool = False) -> KeySpace:
    """The attributes that the references of two filters may be bound to.

    ``tested`` are the concepts that they ask after by ISA, which tell the complex objects of attributes apart. With
    ``spell`` every reference that can be bound to several attributes is spelled out.
    """
    slots = [_agreed(one.slots.get(key, slot), slot) for key, slot in {**one.slots, **other.slots}.items()]
    count = {slot.key: (slot.key in one.slots) + (slot.key in other.slots) for slot in slots}
    open_slots: dict[str, Slot] = {}
    keys: dict[str, tuple[Key, ...]] = {}
    for group in _groups(slots):
        if len(group) == 1 and not group[0].mixed and (group[0].single or not spell):
            open_slots[group[0].key] = group[0]
        else:
            keys.update(_spelled(group, sum(count[slot.key] for slot in group), tested))
    found = {key.name: key for listed in keys.values() for key in listed}
    if len(found) > MOST_KEYS:
        raise GaveUp("too many attributes below shared references")
    by_path = {key.path: key.name for key in found.values()}
    inner = {
        key.name: parents
        for key in found.values()
        if (parents := tuple(by_path[key.path[:n]] for n in range(1, len(key.path)) if key.path[:n] in by_path))
    }
    universe = {key: slot.universe for key, slot in open_slots.items()}
    universe.update((name, key.kind.universe) for name, key in found.items())
    return KeySpace(open_slots, keys, found, inner, universe)


def _agreed(one: Slot, other: Slot) -> Slot:
    """A slot for two filters: one that may hold anything where they declare different types."""
    return one if one.kind == other.kind else Slot(one.ref, ANY, True, False, False, ())


def _groups(slots: list[Slot]) -> list[list[Slot]]:
    """The slots in groups that share attributes, directly or by way of others."""
    groups: list[list[Slot]] = []
    for slot in slots:
        near = [group for group in groups if any(touch(slot, rival) for rival in group)]
        groups = [group for group in groups if group not in near]
        groups.append([slot, *(member for group in near for member in group)])
    return groups


def _spelled(group: list[Slot], needed: int, tested: frozenset[int]) -> dict[str, tuple[Key, ...]]:
    if not group[0].steps:
        return {slot.key: (_plain_key(slot),) for slot in group}
    deepest = max(len(slot.steps) for slot in group)
    levels = [list(_representatives(group, level, needed, tested)) for level in range(deepest)]
    made: dict[str, tuple[Key, ...]] = {}
    for slot in group:
        choices = [[c for c in levels[level] if step in c.lineage] for level, step in enumerate(slot.steps)]
        if prod(len(listed) for listed in choices) > MOST_KEYS:
            raise GaveUp("too many attributes below shared references")
        made[slot.key] = tuple(_concept_key(path) for path in product(*choices))
    return made


def _representatives(group: list[Slot], level: int, needed: int, tested: frozenset[int]) -> Iterator[Concept]:
    """Of the concepts at one step of the paths, a few of each that references and kinds tell apart."""
    steps = frozenset(slot.steps[level] for slot in group if len(slot.steps) > level)
    found = {c.iri: c for slot in group if len(slot.steps) > level for c in slot.ref.steps[level].descendants}
    cells: dict[Any, int] = {}
    for concept in found.values():
        cell = (concept.lineage & steps, concept_kind(concept).with_objects(0), concept.lineage & tested)
        cells[cell] = cells.get(cell, 0) + 1
        if cells[cell] <= needed:
            yield concept


def _plain_key(slot: Slot) -> Key:
    return Key(slot.key, slot.ref.path, slot.kind)


@lru_cache(maxsize=16384)
def _concept_key(path: tuple[Concept, ...]) -> Key:
    names = tuple(concept.name for concept in path)
    return Key("@" + "\x1f".join(names), names, concept_kind(path[-1]))
