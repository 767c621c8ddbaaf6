"""Outlines: necessary conditions for covering, cheap enough to ask of a hundred thousand filters.

Rule 1  If F covers G, and each term of F needs some attribute to be present, then every term of G needs one of those
        attributes (or one below it) to be present: an event without them would match G alone.
Rule 2  If F covers G, and every term of F needs an attribute, then G's values of it lie within F's: hull within
        hull. Hulls are floats; rounding is monotone, so it never hides a cover.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from conceptpubsub.filters import Filter
from conceptpubsub.relations.compiled import compiled
from conceptpubsub.relations.domains import Domain
from conceptpubsub.relations.slots import Slot
from conceptpubsub.relations.terms import Term

UNBOUNDED = (-math.inf, math.inf)
MOST_ABOVE = 256


class Outline(NamedTuple):
    """What is known of a filter at a glance."""

    needed: tuple[str, ...]
    """One attribute that each term needs; all terms together."""
    hulls: dict[str, tuple[float, float]]
    """For each attribute that every term needs, the least and greatest value."""
    above: dict[str, tuple[str, ...]]
    """For each attribute of the filter, the keys of the references that may be bound to it, its own included."""
    bounded: bool
    """Whether every term needs some attribute; if not, nothing is known and everything must be asked."""
    empty: bool = False
    """Whether no event can match, for all that terms show."""


@lru_cache(maxsize=1 << 17)
def outline(filter: Filter) -> Outline:
    """The outline of a filter; the many forests of a broker network ask for the same ones."""
    made = compiled(filter)
    slots = made.signature.slots
    above = {key: _above(slot) for key, slot in slots.items()}
    # Under total semantics every event has every attribute that either filter names: presence says nothing.
    if made.terms is not None and not made.terms:
        return Outline((), {}, above, False, True)
    if made.terms is None or made.total:
        return Outline((), {}, above, False)
    needs = [[key for key, domain in term.items() if not domain.missing] for term in made.terms]
    if not all(needs):
        return Outline((), {}, above, False)
    common = set(needs[0]).intersection(*needs[1:])
    hulls = {key: _hull([term[key] for term in made.terms]) for key in common}
    return Outline(
        tuple({_narrowest(term, need) for term, need in zip(made.terms, needs, strict=True)}), hulls, above, True
    )


def _narrowest(term: Term, need: list[str]) -> str:
    """The attribute of a term with the smallest range: the best place to look the filter up."""
    return min(need, key=lambda key: (_width(_bounds(term[key])), key))


def _width(bounds: tuple[float, float]) -> float:
    return bounds[1] - bounds[0]


def _hull(of: list[Domain]) -> tuple[float, float]:
    bounds = [_bounds(domain) for domain in of]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _bounds(domain: Domain) -> tuple[float, float]:
    """The least and greatest value as floats; sorts lie apart, so that a text never seems to lie between numbers."""
    if domain.rest or len(domain.parts) != 1:
        return UNBOUNDED
    ((sort, part),) = domain.parts.items()
    if sort[0] in "nqmi":
        return (part[0][0], part[-1][0]) if part else UNBOUNDED
    if sort in "tO" and part.intervals:
        return _place(part.intervals[0], False), _place(part.intervals[-1], True)
    return UNBOUNDED


def _place(cut: Any, high: bool) -> float:
    """A text cut as a number: monotone, by its first characters, and no further than the first unusual one."""
    if cut[0]:
        return math.inf if high else -math.inf
    place = 0
    for index, char in enumerate(cut[1][:6]):
        place += min(ord(char) + 1, 255) << 8 * (5 - index)
        if ord(char) >= 254:
            break
    return float(place)


@lru_cache(maxsize=65536)
def _above(slot: Slot) -> tuple[str, ...]:
    """The keys of the references to concepts at or above a slot's own."""
    steps = slot.ref.steps
    if not steps:
        return (slot.key,)
    names = [sorted({concept.representative for concept in step.ancestors}) for step in steps]
    count = math.prod(len(each) for each in names)
    if count > MOST_ABOVE:
        return (slot.key,)
    return tuple("$" + "\x1f".join(path) for path in product(*names))
