"""Disjunctions of conjunctions of domains: a filter as a union of boxes, or `GaveUp` where there would be too many.

Rule 1  A term maps attributes to domains; an attribute it does not name may be anything or missing.
Rule 2  A list of terms is their union. Terms that differ in one attribute only are joined into one.
Rule 3  Nothing grows beyond MOST_TERMS terms: what would, is given up early.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from conceptpubsub.filters.normal import And, Atom, Normal, Not, Or, Truth
from conceptpubsub.relations import domains
from conceptpubsub.relations.domains import Domain
from conceptpubsub.relations.outcome import GaveUp

Term: TypeAlias = dict[str, Domain]
Terms: TypeAlias = list[Term]
LiteralTerms: TypeAlias = Callable[[Atom, bool], Terms]

MOST_TERMS = 128
MOST_BRANCHES = 8192
_T = TypeVar("_T")


def terms_of(node: Normal, literal: LiteralTerms) -> Terms:
    """The terms of a normal form, given those of its literals (an atom, and whether it stands positive)."""
    if isinstance(node, And):
        return _all(node.args, literal)
    if isinstance(node, Or):
        found = [term for arg in node.args[:MOST_BRANCHES] for term in terms_of(arg, literal)]
        if len(node.args) > MOST_BRANCHES:
            raise GaveUp("too many alternatives")
        return limited(joined(found))
    if isinstance(node, Truth):
        return [{}] if node.value is True else []
    return literal(node.atom, False) if isinstance(node, Not) else literal(node, True)


def _all(args: Iterable[Normal], literal: LiteralTerms) -> Terms:
    """A conjunction: what is a single term first, so that contradictions show before anything multiplies."""
    narrow: dict[str, list[Domain]] = {}
    wide: list[Terms] = []
    for arg in args:
        found = terms_of(arg, literal)
        if not found:
            return []
        if len(found) == 1:
            for key, domain in found[0].items():
                narrow.setdefault(key, []).append(domain)
        else:
            wide.append(found)
    first: Term = {}
    for key, listed in narrow.items():
        first[key] = domain = listed[0] if len(listed) == 1 else folded(listed, domains.meet)
        if len(listed) > 1 and surely_empty(domain):
            return []
    made = [first]
    for found in sorted(wide, key=len):
        made = limited(joined([met for one in made for other in found if (met := conjoined(one, other)) is not None]))
    return made


def folded(items: list[_T], step: Callable[[_T, _T], _T]) -> _T:
    """Combine in pairs of pairs, so that a thousand parts cost no more than their sorting."""
    while len(items) > 1:
        items = [step(items[i], items[i + 1]) if i + 1 < len(items) else items[i] for i in range(0, len(items), 2)]
    return items[0]


def surely_empty(domain: Domain) -> bool:
    """Whether a domain is empty for certain; a doubt is left to whoever needs to know."""
    if domain.missing or domain.rest:
        return False
    try:
        return domains.is_empty(domain)
    except GaveUp:
        return False


def conjoined(one: Mapping[str, Domain], other: Mapping[str, Domain]) -> Term | None:
    """The intersection of two terms, or None where it is surely empty."""
    if len(one) < len(other):
        one, other = other, one
    made = dict(one)
    for key, domain in other.items():
        held = made.get(key)
        if held is not None:
            domain = domains.meet(held, domain)
            if surely_empty(domain):
                return None
        made[key] = domain
    return made


def limited(found: Terms) -> Terms:
    """The same terms, if there are not too many."""
    if len(found) > MOST_TERMS:
        raise GaveUp("too many alternatives")
    return found


def joined(found: Terms) -> Terms:
    """The same union in fewer terms: join those that differ in one attribute, drop those inside another."""
    if len(found) < 2:
        return found
    alike: dict[frozenset[str], Terms] = {}
    for term in found:
        alike.setdefault(frozenset(term), []).append(term)
    made = [term for keys, terms in alike.items() for term in _joined_alike(sorted(keys), terms)]
    return _without_inner(made) if len(made) <= 24 else made


def _joined_alike(keys: list[str], terms: Terms) -> Terms:
    """Join terms over the same attributes, along one attribute after the other, until nothing joins any more."""
    if not keys:
        return terms[:1]
    count = len(terms) + 1
    while 1 < len(terms) < count:
        count = len(terms)
        for key in keys:
            terms = _joined_along(key, terms)
    return terms


def _joined_along(key: str, terms: Terms) -> Terms:
    """Join the terms that are equal but for one attribute."""
    groups: dict[Hashable, Terms] = {}
    for term in terms:
        rest = frozenset((name, domain) for name, domain in term.items() if name != key)
        groups.setdefault(rest, []).append(term)
    if len(groups) == len(terms):
        return terms
    return [{**group[0], key: domain} for group in groups.values() for domain in _unions([t[key] for t in group])]


def _unions(listed: list[Domain]) -> list[Domain]:
    """Domains with the same union, in pairs of pairs; those that do not join stay side by side."""
    while True:
        made: list[Domain] = []
        for i in range(0, len(listed), 2):
            pair = listed[i : i + 2]
            wider = domains.join(*pair) if len(pair) == 2 else None
            made += pair if wider is None else [wider]
        if len(made) == len(listed):
            return made
        listed = made


def _without_inner(found: Terms) -> Terms:
    kept: Terms = []
    for i, term in enumerate(found):
        try:
            rivals = kept + found[i + 1 :]
            if any(all(key in term and domains.includes(d, term[key]) for key, d in r.items()) for r in rivals):
                continue
        except GaveUp:
            pass
        kept.append(term)
    return kept
