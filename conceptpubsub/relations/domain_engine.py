"""The first engine: decides on terms of domains, without a solver. Exact, or `GaveUp`.

An answer is a counterexample or an example (a `Found`), or None where there is none.
"""

from __future__ import annotations

from typing import NamedTuple

from conceptpubsub.relations import boxes
from conceptpubsub.relations.bindings import bound_terms
from conceptpubsub.relations.boxes import Possible, Universe, always
from conceptpubsub.relations.compiled import Compiled
from conceptpubsub.relations.keyspace import KeySpace, keyspace
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import DIFFERENT, INDEPENDENT, Signature, meeting, signature
from conceptpubsub.relations.terms import Term, Terms


class Found(NamedTuple):
    """Terms that some event fits (all of them at once), over a key space or, where that is None, over references."""

    terms: tuple[Term, ...]
    space: KeySpace | None
    universe: Universe


class Pair(NamedTuple):
    """Two filters as terms over the same keys."""

    one: Terms
    other: Terms
    universe: Universe
    possible: Possible
    space: KeySpace | None


def covers(outer: Compiled, inner: Compiled) -> bool:
    """Whether the outer filter matches all that the inner one does."""
    if (
        outer.terms is not None
        and inner.certain
        and (outer.currency is None or inner.currency is None or outer.currency == inner.currency)
        and meeting(outer.signature, inner.signature) == INDEPENDENT
    ):
        universe = outer.signature.presents if outer.total else outer.signature.universes
        known = boxes.covered(outer.terms, inner.terms, universe)  # type: ignore[arg-type]
        if known is not None:
            return known
    return uncovered(outer, inner) is None


def overlaps(one: Compiled, other: Compiled) -> bool:
    """Whether some event matches both filters."""
    return common(one, other) is not None


def satisfiable(of: Compiled) -> bool:
    """Whether some event matches a filter."""
    if of.certain and meeting(of.signature, of.signature) == INDEPENDENT:
        return bool(of.terms)
    return example(of) is not None


def uncovered(outer: Compiled, inner: Compiled) -> Found | None:
    """What only the inner filter matches, or None where the outer covers it."""
    pair = _pair(outer, inner)
    left = boxes.uncovered(pair.one, pair.other, pair.universe, pair.possible)
    return None if left is None else Found((left,), pair.space, pair.universe)


def common(one: Compiled, other: Compiled) -> Found | None:
    """What both filters match."""
    pair = _pair(one, other)
    slots = {**one.signature.slots, **other.signature.slots}
    shared = slots if pair.space is None else pair.space.open
    both = [slots[key] for key in shared if key in one.signature.slots and key in other.signature.slots]
    if any(not slot.single and not slot.loose for slot in both):
        raise GaveUp("a reference with one attribute of its widest kind")
    loose = frozenset(slot.key for slot in both if slot.loose)
    met = boxes.common(pair.one, pair.other, loose, pair.possible)
    return None if met is None else Found(met, pair.space, pair.universe)


def example(of: Compiled) -> Found | None:
    """What a filter matches."""
    pair = _pair(of, of)
    found = boxes.nonempty(pair.one, pair.possible)
    return None if found is None else Found((found,), pair.space, pair.universe)


def _pair(one: Compiled, other: Compiled) -> Pair:
    if one.currency != other.currency and one.currency is not None and other.currency is not None:
        raise GaveUp("two currencies")
    how = meeting(one.signature, other.signature)
    if how == INDEPENDENT:
        if one.terms is None or other.terms is None:
            raise GaveUp(one.reason or other.reason)
        universe = one.signature.presents if one.total else one.signature.universes
        return Pair(one.terms, other.terms, universe, always, None)
    if how == DIFFERENT:
        raise GaveUp("different types declared for one reference")
    space = keyspace(one.signature, other.signature, one.tested | other.tested)
    present = _union(one.signature, other.signature) if one.total else None
    return Pair(
        bound_terms(one, space, present),
        bound_terms(other, space, present),
        space.universe,
        space.possible if space.inner else always,
        space,
    )


def _union(one: Signature, other: Signature) -> Signature:
    return signature(frozenset([*one.slots.values(), *other.slots.values()]))
