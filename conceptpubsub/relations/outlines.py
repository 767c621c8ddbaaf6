"""Outlines: necessary conditions for covering, cheap enough to ask of a hundred thousand filters.

Rule 1  If F covers G, then F matches every event of G, so also the *sample* of G: the event that has just the
        attributes that one term of G needs, each at the least value that the term allows. So some term of F needs no
        other attributes, and holds the sample's values.
Rule 2  If F covers G, and every term of F needs an attribute, then G's values of it lie within F's: hull within
        hull. Numbers are floats here, and of a text its first bytes count; both are monotone, so they hide no cover.
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
from conceptpubsub.relations.boxtree import Range
from conceptpubsub.relations.compiled import Compiled, compiled, literal_domain, present
from conceptpubsub.relations.decide import satisfiable
from conceptpubsub.relations.domains import TEXT, Domain
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import Signature, Slot
from conceptpubsub.relations.terms import Term, Terms, surely_empty, terms_of
from conceptpubsub.relations.texts import sample

UNBOUNDED: Final = (-math.inf, math.inf)
NOWHERE: Final = (math.inf, -math.inf)
MOST_ABOVE: Final = 256
MOST_BOXES: Final = 16
STEP: Final = "\x1f"
"""Between the steps of a path in a key."""
_TOLD_APART: Final = 48
"""How many bytes of a text count."""

Hulls = dict[str, Range]
"""For each of some attributes the least and greatest value, of all sorts on one line."""


class Outline(NamedTuple):
    """What is known of a filter at a glance."""

    boxes: tuple[Hulls, ...]
    """What each term needs, which no event may lack, apart where its values lie apart; none where nothing is known."""
    sample: Hulls | None
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
        return bool(self.boxes) and all(self.boxes)


def outline(filter: Filter) -> Outline:
    """The outline of a filter, worked out once: the many forests of a broker network ask for the same ones."""
    made = compiled(filter)
    if made.outline is None:
        made.outline = _outline(made)
    found: Outline = made.outline
    return found


def _outline(made: Compiled) -> Outline:
    above = _all_above(made.signature)
    terms = _widened(made) if made.terms is None else made.terms
    if terms is None or any(not names for names in above.values()):
        return Outline((), None, {}, None, above)
    certain = made.certain and not any(_is_tangled(term, above) for term in terms)
    if not terms or not (certain or satisfiable(made.filter)):
        return Outline((), None, {}, None, above, True)
    presents = made.signature.presents
    asked = [{key: d for key, d in term.items() if _needs(d, presents[key], made.total)} for term in terms]
    needs = [{key: _hull(domain) for key, domain in term.items()} for term in asked]
    reached = [_reached(term, ends) for term, ends in zip(asked, needs, strict=True)] if certain else needs
    hulls = _hulls(needs)
    boxes = [box for term, ends in zip(asked, needs, strict=True) for box in _apart(term, ends, len(terms))]
    if made.total and len(needs) > 1:
        # The terms together may allow every value of an attribute that each of them restricts.
        kept = {key for key, hull in hulls.items() if hull != _hull(presents[key])}
        boxes = [{key: box[key] for key in kept} for box in boxes]
    least = min(reached, key=len)
    known = certain or (len(terms) == 1 and _pointed(least))
    inner = _hulls(reached) if certain else None
    if inner is None and len(terms) == 1:  # it has events, and they have what the term needs
        inner = {key: ends if ends[0] == ends[1] else NOWHERE for key, ends in hulls.items()}
    point = {key: (low, low) for key, (low, _) in least.items()} if known else None
    return Outline(tuple(boxes), point, hulls, inner, above)


def _needs(domain: Domain, present: Domain, total: bool) -> bool:
    return domain != present if total else not domain.missing


def _is_tangled(term: Term, above: dict[str, tuple[str, ...]]) -> bool:
    """Whether what a term needs may be what another attribute, which may be missing, is bound to."""
    free = [key for key, domain in term.items() if domain.missing]
    return bool(free) and any(key in above[other] for key in free for other in term if other != key)


def _hulls(needs: list[Hulls]) -> Hulls:
    first = needs[0]
    if len(needs) == 1:
        return first
    common = set(first).intersection(*needs[1:])
    return {key: (min(term[key][0] for term in needs), max(term[key][1] for term in needs)) for key in common}


def _pointed(needs: Hulls) -> bool:
    """Whether each attribute may be at one place only, so that whatever event there is has that."""
    return all(low == high for low, high in needs.values())


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


# ---------------------------------------------------------------------- values on a line


def _hull(domain: Domain) -> Range:
    """The least and greatest value, of all sorts on one line; without ends where a sort has no order."""
    if domain.rest or not domain.parts:
        return UNBOUNDED
    lows, highs = [], []
    for sort, part in domain.parts.items():
        if sort[0] in "nqmi" and part:
            lows.append(part[0][0])
            highs.append(part[-1][0])
        elif sort in "tO" and part.intervals:
            lows.append(_low(part.intervals[0]))
            highs.append(_high(part.intervals[-1]))
        else:
            return UNBOUNDED
    return (lows[0], highs[0]) if len(lows) == 1 else (min(lows), max(highs))


def _reached(term: Term, ends: Hulls) -> Hulls:
    """The hulls of a term, between ends that values reach: of tests of text, one text that passes them."""
    tested = {key: d for key, d in term.items() if not d.rest and TEXT in d.parts and d.parts[TEXT].literals}
    return {**ends, **{key: _one_text(domain) for key, domain in tested.items()}} if tested else ends


def _one_text(domain: Domain) -> Range:
    others = {sort: part for sort, part in domain.parts.items() if sort != TEXT}
    if others:
        return _hull(Domain(others))
    at = _place(sample(domain.parts[TEXT]) or "")
    return at, at


def _apart(term: Term, ends: Hulls, terms: int) -> list[Hulls]:
    """A box for each stretch of values of the attribute that has most of them: a list of texts is no range."""
    key = max(term, key=lambda name: _stretches(term[name]), default=None)
    if key is None or _stretches(term[key]) < 2 or terms > MOST_BOXES:
        return [ends]
    ((sort, part),) = term[key].parts.items()
    cuts = part.intervals if sort in "tO" else part
    count = len(cuts) // 2
    made: list[Hulls] = []
    for group in range(min(count, MOST_BOXES)):
        first, last = (2 * (count * number // min(count, MOST_BOXES)) for number in (group, group + 1))
        low, high = cuts[first], cuts[last - 1]
        made.append({**ends, key: (_low(low), _high(high)) if sort in "tO" else (low[0], high[0])})
    return made


def _stretches(domain: Domain) -> int:
    if domain.rest or len(domain.parts) != 1:
        return 0
    ((sort, part),) = domain.parts.items()
    return len(part.intervals) // 2 if sort in "tO" else len(part) // 2 if sort[0] in "nqmi" else 0


def _low(cut: Any) -> float:
    return -math.inf if cut[0] else _place(cut[1])


def _high(cut: Any) -> float:
    """The greatest text before a cut, where there is one; else the cut itself."""
    return math.inf if cut[0] else _place(cut[1][:-1] if cut[1].endswith("\0") else cut[1])


def _place(text: str) -> int:
    """A text as a number, by its first bytes: monotone, because UTF-8 keeps the order of code points."""
    raw = text[:_TOLD_APART].encode("utf-8", "surrogatepass")[:_TOLD_APART]
    return int.from_bytes(raw.ljust(_TOLD_APART, b"\0"), "big")


# ---------------------------------------------------------------------- concepts above, objects around


@lru_cache(maxsize=65536)
def _all_above(of: Signature) -> dict[str, tuple[str, ...]]:
    """For each slot the references that may be bound to what it is bound to; none at all where they are too many."""
    return {key: (*names, *_around(slot)) if (names := _above(slot)) else () for key, slot in of.slots.items()}


@lru_cache(maxsize=65536)
def _above(slot: Slot) -> tuple[str, ...]:
    """The keys of the references to concepts at or above a slot's own; none where there are too many to list."""
    steps = slot.ref.steps
    if not steps:
        return (slot.key,)
    names = [sorted({concept.representative for concept in step.ancestors}) for step in steps]
    count = math.prod(len(each) for each in names)
    if count > MOST_ABOVE:
        return ()
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
