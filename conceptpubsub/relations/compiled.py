"""Filters as terms of domains: the equal two-valued form over value-or-missing, worked out once a filter.

Rule 1  ``sql``: a literal holds where it is defined and true. ``strict`` and ``total`` add that every named reference
        is present. ``default``: a negated atom holds wherever the atom does not; a declared default stands in for
        missing.
Rule 2  What cannot be said as terms (arithmetic, two currencies, too many terms) leaves ``terms`` None with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conceptpubsub.converters import Money
from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import Atom, Compare, IsA, IsNull, Lit, OneOf, Ref, atoms
from conceptpubsub.relations import domains
from conceptpubsub.relations.atoms import contains, reference, side
from conceptpubsub.relations.domains import ANYTHING, Domain
from conceptpubsub.relations.kinds import Kind
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import Signature, Slot, signature, slot_of
from conceptpubsub.relations.terms import Term, Terms, joined, surely_empty, terms_of

_NONE: Final[frozenset[int]] = frozenset()


class Compiled:
    """A filter ready for decisions."""

    __slots__ = (
        "bound",
        "certain",
        "currency",
        "example",
        "filter",
        "outline",
        "reason",
        "signature",
        "size",
        "strict",
        "terms",
        "tested",
        "total",
    )

    def __init__(self, filter: Filter) -> None:
        self.filter = filter
        self.total = filter.semantics == "total"
        self.strict = filter.semantics in ("strict", "total")
        ontology = filter.scope.ontology
        self.signature: Signature = signature(frozenset(slot_of(ref, ontology) for ref in filter.references))
        listed = list(atoms(filter.normal))
        self.size = len(listed)
        """How many atoms it has."""
        tested = [a.concept.index for a in listed if isinstance(a, IsA)] if ontology is not None else []
        self.tested = frozenset(tested) if tested else _NONE
        self.currency: str | None = None
        self.bound: dict[Any, Terms] = {}
        self.terms: Terms | None = None
        self.reason = ""
        self.outline: Any = None
        """Kept here for the covering forest, see `conceptpubsub.relations.outlines`."""
        self.example: Any = None
        """Likewise, see `conceptpubsub.relations.witnessing`."""
        self.certain = False
        """Whether no term is empty, for certain."""
        try:
            self.currency = _currency(filter, listed)
            if any(slot.mixed for slot in self.signature.slots.values()):
                raise GaveUp("kinds that differ below one reference")
            self.terms = _open_terms(self)
            self.certain = not any(domains.is_empty(domain) for term in self.terms for domain in term.values())
        except GaveUp as error:
            self.reason = error.reason


def compiled(filter: Filter) -> Compiled:
    """The compiled form of a filter, kept with it."""
    found = filter._compiled
    if found is None:
        found = filter._compiled = Compiled(filter)
    made: Compiled = found
    return made


def _currency(filter: Filter, listed: Iterable[Atom]) -> str | None:
    """The one currency that a filter's constants are in; `GaveUp` where there are several."""
    found = currencies(listed)
    found |= {value.currency for value in filter.scope.defaults.values() if isinstance(value, Money)}
    if len(found) > 1:
        raise GaveUp("two currencies")
    if any(len(code) != 3 for code in found):
        raise GaveUp("a price for something, or one over an amount")
    return next(iter(found), None)


def currencies(listed: Iterable[Atom]) -> set[str]:
    """The currencies of the constants that attributes are compared with."""
    found: set[str] = set()
    for atom in listed:
        lits = atom.values if isinstance(atom, OneOf) else (atom.right,) if isinstance(atom, Compare) else ()
        found.update(str(lit.of) for lit in lits if isinstance(lit, Lit) and lit.kind == "money")
    return found


def _open_terms(made: Compiled) -> Terms:
    """The terms where each reference is one attribute, which may be missing."""
    slots, scope = made.signature.slots, made.filter.scope
    two_valued = scope.semantics == "default"
    universes = {key: slot.universe for key, slot in slots.items()}

    def literal(atom: Atom, positive: bool) -> Terms:
        slot = slots[reference(atom).key]
        name = (atom.key, positive, two_valued)
        domain = slot.known.get(name) if not scope.defaults else None
        if domain is None:
            domain = literal_domain(atom, positive, slot, slot.kind, two_valued, scope.defaults.get(slot.key))
            if not scope.defaults:
                slot.keep(name, domain)
        return [] if surely_empty(domain) else [{slot.key: domain}]

    found = terms_of(made.filter.normal, literal)
    if made.strict:
        found = [whole for term in found if (whole := present(term, slots)) is not None]
    else:
        found = [{key: d for key, d in term.items() if d != universes[key]} for term in found]
    return joined(found)


def present(term: Term, slots: Mapping[str, Slot]) -> Term | None:
    """A term where every reference of the filter must be there, or None where that cannot be."""
    made: Term = {}
    for key, slot in slots.items():
        held = term.get(key)
        made[key] = slot.present if held is None else domains.without_missing(held)
        if held is not None and held.missing and surely_empty(made[key]):
            return None
    return made


def literal_domain(atom: Atom, positive: bool, slot: Slot, kind: Kind, two_valued: bool, default: Any = None) -> Domain:
    """The values, and missing, for which a literal holds."""
    if not two_valued:
        return side(atom, positive, kind)
    true = side(atom, True, kind)
    if default is not None and not isinstance(atom, IsNull):
        own = true if kind is slot.kind else side(atom, True, slot.kind)
        if contains(own, default, slot.kind.ontology):
            true = Domain(true.parts, True, true.rest)
    return true if positive else domains.opposite(true, kind.universe)


def unbound_truth(atom: Atom, positive: bool, slot: Slot, two_valued: bool, default: Any) -> bool:
    """Whether a literal holds where its reference is bound to nothing."""
    if isinstance(atom, IsNull):
        return positive if default is None else not positive
    if not two_valued:
        return False
    holds = default is not None and contains(side(atom, True, slot.kind), default, slot.kind.ontology)
    return holds is positive


def universe_of(found: Signature, key: str) -> Domain:
    """What a filter's reference may be, or missing; anything where the filter does not name it."""
    slot = found.slots.get(key)
    return ANYTHING if slot is None else slot.universe


__all__ = ["Compiled", "Ref", "compiled", "currencies", "literal_domain", "present", "unbound_truth", "universe_of"]
