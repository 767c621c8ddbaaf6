"""Merging: one filter for two.

A filter that covers the other is the merger. Else it is the union, spelled so that it is exact under the filters' own
semantics: under ``strict``, ``F1 OR F2`` needs the names of both, so the union is a ``sql`` filter with definedness.
"""

from __future__ import annotations

from conceptpubsub.errors import IncompatibleFilters
from conceptpubsub.filters import Filter
from conceptpubsub.filters.filter import or_true
from conceptpubsub.relations.decide import comparable, covers


def merge(f: Filter, g: Filter, *, excess: float = 0.0) -> Filter:
    """One filter that matches what either matches.

    >>> str(merge(Filter.parse("x > 3"), Filter.parse("x > 5")))
    'x > 3'
    """
    if f.scope is not g.scope:
        comparable(f, g)
    if covers(f, g):
        return f
    if covers(g, f):
        return g
    return union(f, g)


def union(f: Filter, g: Filter) -> Filter:
    """The two joined by OR, exactly."""
    if f._same_scope(g) and (f.semantics in ("sql", "default", "total") or f.names == g.names):
        return f | g
    if "default" in (f.semantics, g.semantics):
        raise IncompatibleFilters("no merger of 'default' with other declarations yet")
    return sql_form(f) | sql_form(g)


def sql_form(f: Filter) -> Filter:
    """The equal filter under ``sql``."""
    if f.semantics == "sql":
        return f
    defined = [f"{ref.shown} IS NOT NULL" for ref in f.references]
    return Filter.parse(
        " AND ".join([*defined, f"({or_true(str(f))})"]),
        ontology=f.ontology,
        converters=f.converters,
        semantics="sql",
        types={name: {"number": "real"}.get(kind, kind) for name, kind in f.scope.types.items()} or None,
    )
