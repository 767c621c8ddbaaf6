"""Outlines: necessary conditions for covering, cheap enough to ask of a hundred thousand filters.

Rule 1  If F covers G, then F matches every event of G, so also the *sample* of G: the event that has just the
        attributes that one term of G needs, each at the least value that the term allows. So some term of F needs no
        other attributes, and holds the sample's values.
Rule 2  If F covers G, and every term of F needs an attribute, then G's values of it lie within F's: hull within
        hull. Values are floats here; rounding is monotone, so it never hides a cover.
Rule 3  Where an atom cannot be said as a domain (arithmetic, a second currency), its attributes are needed, and their
        values may be anything. That widens a filter: good enough for what it may cover, not to know a sample of it.
        Whether it matches anything at all is then asked once.
Rule 4  Under ``total`` every event has all attributes that either filter names: *needed* are those whose values a
        filter restricts, for another filter that leaves them open has events with other values.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import Atom, Compare, IsA, IsNull, Lit, OneOf, TextTest, term_refs
from conceptpubsub.relations.atoms import reference
from conceptpubsub.relations.compiled import Compiled, compiled, literal_domain, present
from conceptpubsub.relations.decide import satisfiable
from conceptpubsub.relations.domains import TEXT, Domain
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import Slot
from conceptpubsub.relations.terms import Term, Terms, surely_empty, terms_of
from conceptpubsub.relations.texts import after, sample

UNBOUNDED: Final = (-math.inf, math.inf)
NOWHERE: Final = (math.inf, -math.inf)
MOST_ABOVE: Final = 256
STEP: Final = "\x1f"
"""Between the steps of a path in a key."""


class Ask(NamedTuple):
    """What a term asks of an attribute: the least and greatest value; the least text, and whether it is the only."""

    low: float
    high: float
    text: str | None = None
    only: bool = False


Needs = dict[str, Ask]
Hulls = dict[str, tuple[float, float]]


class Outline(NamedTuple):
    """What is known of a filter at a glance."""

    terms: tuple[Needs, ...]
    """What each term needs, which no event may lack; none at all where nothing is known."""
    sample: Needs | None
    """What one term needs, if the least values of it are those of an event that matches."""
    hulls: Hulls
    """For each attribute that every term needs, ends that no value lies beyond."""
    inner: Hulls | None
    """The same, between ends that values reach; None where some term may be without events."""
    above: dict[str, tuple[str, ...]]
    """For each attribute of the filter, the keys of the references that may be bound to it or to what holds it."""
    empty: bool = False
    """Whether no event can match, for all that terms show."""

    @property
    def bounded(self) -> bool:
        """Whether every term needs some attribute."""
        return bool(self.terms) and all(self.terms)


def outline(filter: Filter) -> Outline:
    """The outline of a filter, worked out once: the many forests of a broker network ask for the same ones."""
    made = compiled(filter)
    if made.outline is None:
        made.outline = _outline(made)
    found: Outline = made.outline
    return found


def _outline(made: Compiled) -> Outline:
    slots = made.signature.slots
    above = {key: (*_above(slot), *_around(slot)) for key, slot in slots.items()}
    terms = made.terms
    if terms is None:
        terms = _widened(made)
        if terms is None:
            return Outline((), None, {}, None, above)
    tangled = any(_is_tangled(term, above) for term in terms)
    certain = made.certain and not tangled
    if not terms or not (certain or satisfiable(made.filter)):
        return Outline((), None, {}, None, above, True)
    presents = made.signature.presents
    asked = [{key: d for key, d in term.items() if _needs(d, presents[key], made.total)} for term in terms]
    needs = [{key: _ask(domain) for key, domain in term.items()} for term in asked]
    reached = [{key: _reached(domain) for key, domain in term.items()} for term in asked]
    hulls = _hulls(needs)
    if made.total and len(needs) > 1:
        # The terms together may allow every value of an attribute that each of them restricts.
        kept = {key for key, hull in hulls.items() if hull != _bounds(presents[key])}
        needs = [{key: term[key] for key in kept} for term in needs]
    least = min(reached, key=len)
    known = certain or (len(terms) == 1 and _pointed(least))
    inner = _hulls(reached) if certain else None
    if inner is None and len(terms) == 1:  # it has events, and they have what the term needs
        inner = {key: ends if ends[0] == ends[1] else NOWHERE for key, ends in hulls.items()}
    return Outline(tuple(needs), least if known else None, hulls, inner, above)


def _needs(domain: Domain, present: Domain, total: bool) -> bool:
    return domain != present if total else not domain.missing


def _is_tangled(term: Term, above: dict[str, tuple[str, ...]]) -> bool:
    """Whether what a term needs may be what another attribute, which may be missing, is bound to."""
    free = [key for key, domain in term.items() if domain.missing]
    return bool(free) and any(key in above[other] for key in free for other in term if other != key)


def _hulls(needs: list[Needs]) -> Hulls:
    first = needs[0]
    if len(needs) == 1:
        return {key: ask[:2] for key, ask in first.items()}
    common = set(first).intersection(*needs[1:])
    return {key: (min(term[key].low for term in needs), max(term[key].high for term in needs)) for key in common}


def _pointed(needs: Needs) -> bool:
    """Whether each attribute may be one value only, so that whatever event there is has that."""
    return all(ask.only or ask.low == ask.high for ask in needs.values())


# ---------------------------------------------------------------------- what cannot be said as domains


def _widened(made: Compiled) -> Terms | None:
    """The terms of a filter in which what is no domain only needs its attributes; None where there are too many."""
    slots, scope = made.signature.slots, made.filter.scope
    two_valued = scope.semantics == "default"
    if any(slot.mixed for slot in slots.values()):
        return None

    def literal(atom: Atom, positive: bool) -> Terms:
        refs = _refs(atom)
        if not _has_money(atom):
            try:
                slot = slots[reference(atom).key]
                domain = literal_domain(atom, positive, slot, slot.kind, two_valued, scope.defaults.get(slot.key))
            except GaveUp:
                pass
            else:
                return [] if surely_empty(domain) else [{slot.key: domain}]
        if two_valued and not positive:
            return [{}]
        return [{key: slots[key].present for key in refs if key not in scope.defaults}]

    try:
        found = terms_of(made.filter.normal, literal)
    except GaveUp:
        return None
    if made.strict:
        found = [whole for term in found if (whole := present(term, slots)) is not None]
    return found


def _refs(atom: Atom) -> list[str]:
    if isinstance(atom, IsNull | IsA):
        return [atom.ref.key]
    sides = [atom.left, atom.right] if isinstance(atom, Compare) else [atom.term]
    return list({ref.key: None for side in sides for ref in term_refs(side)})


def _has_money(atom: Atom) -> bool:
    lits = atom.values if isinstance(atom, OneOf) else (atom.right,) if isinstance(atom, Compare) else ()
    return not isinstance(atom, TextTest) and any(isinstance(lit, Lit) and lit.kind == "money" for lit in lits)


# ---------------------------------------------------------------------- values as floats


def _ask(domain: Domain) -> Ask:
    low, high = _bounds(domain)
    part = domain.parts.get(TEXT)
    if part is None or domain.rest or not part.intervals:
        return Ask(low, high)
    (_, text), end = part.intervals[:2]
    if part.literals:
        return Ask(low, high)
    only = len(domain.parts) == 1 and len(part.intervals) == 2 and end == (0, after(text))
    return Ask(low, high, text, only)


def _reached(domain: Domain) -> Ask:
    """As `_ask`, between ends that values reach: of tests of text, one text that passes them."""
    part = domain.parts.get(TEXT)
    if part is None or not part.literals or domain.rest:
        return _ask(domain)
    others = {sort: other for sort, other in domain.parts.items() if sort != TEXT}
    if others:
        return _ask(Domain(others))
    text = sample(part)
    at = _place((0, text), False)
    return Ask(at, at, text, True)


def _bounds(domain: Domain) -> tuple[float, float]:
    """The least and greatest value as floats, of all sorts on one line; without ends where a sort has no order."""
    if domain.rest or not domain.parts:
        return UNBOUNDED
    lows, highs = [], []
    for sort, part in domain.parts.items():
        if sort[0] in "nqmi" and part:
            lows.append(part[0][0])
            highs.append(part[-1][0])
        elif sort in "tO" and part.intervals:
            lows.append(_place(part.intervals[0], False))
            highs.append(_place(part.intervals[-1], True))
        else:
            return UNBOUNDED
    return min(lows), max(highs)


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
    return tuple("$" + STEP.join(path) for path in product(*names))


@lru_cache(maxsize=65536)
def _around(slot: Slot) -> tuple[str, ...]:
    """The keys of the references to the objects that a dotted path leads through."""
    if slot.ref.event:
        return ()
    paths = {name.rpartition(STEP)[0] for name in _above(slot)} - {""}
    while more := {path.rpartition(STEP)[0] for path in paths} - {""} - paths:
        paths |= more
    return tuple(sorted(paths))
