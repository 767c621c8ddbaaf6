"""Merging: one filter for two.

Rule 1  A filter that covers the other is the merger. Else, where the union of their terms comes down to fewer terms, it
        is spelled from those; else it is the union, exact under the filters' own semantics.
Rule 2  Under ``strict``, ``F1 OR F2`` would need the names of both. Where the names differ the merger is a ``sql``
        filter with definedness, as it is for two different semantics.
Rule 3  With ``excess`` a simpler filter is taken that matches more, if the share that it matches in vain is estimated
        to stay within the bound (`conceptpubsub.relations.estimating`).
"""

from __future__ import annotations

from conceptpubsub.errors import ConceptPubSubError, FilterError, IncompatibleFilters
from conceptpubsub.filters import Filter
from conceptpubsub.relations import boxes
from conceptpubsub.relations.compiled import Compiled, compiled
from conceptpubsub.relations.decide import comparable, covers
from conceptpubsub.relations.estimating import excess as estimated
from conceptpubsub.relations.estimating import hulls
from conceptpubsub.relations.outcome import STATISTICS, GaveUp
from conceptpubsub.relations.slots import INDEPENDENT, meeting
from conceptpubsub.relations.sqlform import sql_form
from conceptpubsub.relations.terms import Terms, joined
from conceptpubsub.relations.wording import Unsayable, term_text


def merge(f: Filter, g: Filter, *, excess: float = 0.0) -> Filter:
    """One filter that matches what either matches; with ``excess``, perhaps more, within that share of all it matches.

    >>> str(merge(Filter.parse("x < 5 AND y = 1"), Filter.parse("x >= 5 AND x < 9 AND y = 1")))
    'x < 9 AND y = 1'
    >>> str(merge(Filter.parse("x = 1"), Filter.parse("y = 2")))
    'x = 1 OR y = 2'
    >>> str(merge(Filter.parse("x > 0 AND x < 9"), Filter.parse("x > 10 AND x < 20"), excess=0.1))
    'x > 0 AND x < 20'
    """
    if not 0 <= excess < 1:
        raise FilterError(f"the excess is a share from 0 to below 1, not {excess}", excess=excess)
    if f.scope is not g.scope:
        comparable(f, g)
    if f == g or covers(f, g):
        return f
    if covers(g, f):
        return g
    _same_declarations(f, g)
    perfect = _perfect(f, g)
    if excess:
        imperfect = _imperfect(f, g, excess)
        if imperfect is not None:
            return imperfect
    return union(f, g) if perfect is None else perfect


def union(f: Filter, g: Filter) -> Filter:
    """The two joined by OR, exactly."""
    same = f.semantics == g.semantics and f.scope.defaults == g.scope.defaults
    if not same or (f.semantics == "strict" and f.names != g.names):
        f, g = sql_form(f), sql_form(g)
    return _read(f, g, " OR ".join(f"({str(h) or 'TRUE'})" for h in (f, g)), f.semantics)


def _read(f: Filter, g: Filter, text: str, semantics: str) -> Filter:
    """A text under some semantics, with what the two filters declare."""
    types = {name: {"number": "real"}.get(kind, kind) for h in (g, f) for name, kind in h.scope.types.items()}
    return Filter.parse(
        text,
        ontology=f.ontology,
        converters=f.converters,
        semantics=semantics,
        types=types or None,
        defaults=f.scope.given_defaults if semantics == "default" else None,
    )


def _same_declarations(f: Filter, g: Filter) -> None:
    mine, theirs = ({ref.key: ref.type for ref in h.references} for h in (f, g))
    for key, declared in mine.items():
        if theirs.get(key, declared) != declared:
            raise IncompatibleFilters(
                f"the filters declare different types for '{key.lstrip('$')}', so no filter means both; "
                "bind() one to the other's types first",
                name=key,
            )


def _perfect(f: Filter, g: Filter) -> Filter | None:
    """The union in fewer terms than the two have, if there is such a one that can be spelled; checked, not trusted."""
    one, other = compiled(f), compiled(g)
    terms = _terms(one, other)
    if terms is None:
        return None
    found = joined([dict(term) for term in terms])
    if len(found) >= len(terms):
        return None
    made = _spelled(f, g, found)
    return made if made is not None and _equal(made, f, g) else None


def _terms(one: Compiled, other: Compiled) -> Terms | None:
    """The terms of both, over the same keys."""
    if one.terms is None or other.terms is None or meeting(one.signature, other.signature) != INDEPENDENT:
        return None
    if one.currency is not None and other.currency is not None and one.currency != other.currency:
        return None
    return [*one.terms, *other.terms]


def _spelled(f: Filter, g: Filter, terms: Terms) -> Filter | None:
    """Terms as a filter: of the filters' own semantics where that is one and means the same, else of ``sql``."""
    same = f.semantics == g.semantics and f.scope.defaults == g.scope.defaults
    keep = same and (f.semantics != "strict" or f.names == g.names)
    semantics = f.semantics if keep else "sql"
    slots = {**compiled(f).signature.slots, **compiled(g).signature.slots}
    currency = compiled(f).currency or compiled(g).currency
    try:
        parts = [term_text(term, slots, semantics, currency) for term in terms]
        text = " OR ".join(f"({part})" if len(parts) > 1 and " AND " in part else part for part in parts) or "FALSE"
        return _read(f, g, text, semantics)
    except (Unsayable, ConceptPubSubError):
        return None


def _equal(made: Filter, f: Filter, g: Filter) -> bool:
    """Whether a filter matches exactly what two do; what cannot be decided counts as no."""
    try:
        third = compiled(made)
        terms = _terms(compiled(f), compiled(g))
        if third.terms is None or terms is None or not (covers(made, f) and covers(made, g)):
            return False
        universe = {**compiled(f).signature.universes, **compiled(g).signature.universes}
        if f.semantics == "total":
            universe = {**compiled(f).signature.presents, **compiled(g).signature.presents}
        return boxes.uncovered(terms, third.terms, universe) is None
    except (GaveUp, ConceptPubSubError):
        STATISTICS.count("merger not checked")
        return False


def _imperfect(f: Filter, g: Filter, bound: float) -> Filter | None:
    """The simplest of some wider filters whose estimated excess stays within the bound."""
    terms = _terms(compiled(f), compiled(g))
    if terms is None:
        return None
    for wider in hulls(terms):
        made = _spelled(f, g, wider)
        if made is None or not (covers(made, f) and covers(made, g)):
            continue
        share = estimated(made, f, g)
        if share is not None and share <= bound:
            STATISTICS.count("imperfect mergers")
            return made
    return None
