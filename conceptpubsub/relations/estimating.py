"""How much more a merger matches than the filters it stands for: an estimate, and wider filters to choose from.

The estimate is the share of what the merger matches that none of the filters does, under a model of events that takes
no side. Attributes are independent of one another. An attribute is missing one time in ten, where it may be. The sorts
of values that the filters speak of are equally likely. Numbers, amounts and instants are spread evenly over the range
that the filters' constants span, and as far again on either side; a single value weighs a hundredth of that span.
Listed texts, concepts and Booleans are equally likely, and all other texts together weigh as much as one of them.
Under this model the share is computed, not sampled: the same question has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import prod
from typing import Any

from conceptpubsub.filters import Filter
from conceptpubsub.relations import domains, texts
from conceptpubsub.relations.compiled import Compiled, compiled
from conceptpubsub.relations.domains import Domain, Sort
from conceptpubsub.relations.intervals import ABOVE, BELOW, Intervals
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.terms import Term, Terms, surely_empty

MOST_CELLS = 64
MOST_COMBINATIONS = 50_000
_MISSING = 1 / 9  # against all values together: one in ten
_POINT = 1 / 100


def excess(merged: Filter, *parts: Filter) -> float | None:
    """The estimated share of what a merger matches that none of its parts does; None where it cannot be estimated.

    >>> wide, one, other = (Filter.parse(t) for t in ("x > 0 AND x < 20", "x > 0 AND x < 9", "x > 11 AND x < 20"))
    >>> round(excess(wide, one, other), 2)
    0.1
    """
    made = [compiled(filter) for filter in (merged, *parts)]
    try:
        return _share(made)
    except GaveUp:
        return None


def _share(made: list[Compiled]) -> float | None:
    listed: list[Terms] = []
    for each in made:
        if each.terms is None:
            return None
        listed.append(each.terms)
    keys = sorted({key for terms in listed for term in terms for key in term})
    universes: dict[str, Domain] = {}
    for each in made:
        universes.update(each.signature.presents if each.total else each.signature.universes)
    cells = {key: _cells(universes[key], [t[key] for terms in listed for t in terms if key in t]) for key in keys}
    if prod(len(found) for found in cells.values()) > MOST_COMBINATIONS:
        return None
    weights = {key: _weights(found) for key, found in cells.items()}
    inside = [[_inside(term, cells) for term in terms] for terms in listed]
    return _counted(keys, weights, inside)


def _counted(
    keys: list[str], weights: Mapping[str, list[float]], inside: list[list[dict[str, list[bool]]]]
) -> float | None:
    whole = vain = 0.0
    for chosen in product(*[range(len(weights[key])) for key in keys]):
        place = dict(zip(keys, chosen, strict=True))
        if not _matches(inside[0], place):
            continue
        weight = prod(weights[key][i] for key, i in place.items())
        whole += weight
        if not any(_matches(terms, place) for terms in inside[1:]):
            vain += weight
    return vain / whole if whole else 0.0


def _matches(terms: list[dict[str, list[bool]]], place: Mapping[str, int]) -> bool:
    return any(all(flags[place[key]] for key, flags in term.items()) for term in terms)


def _inside(term: Term, cells: Mapping[str, list[Domain]]) -> dict[str, list[bool]]:
    return {key: [domains.includes(domain, cell) for cell in cells[key]] for key, domain in term.items()}


def _cells(universe: Domain, found: list[Domain]) -> list[Domain]:
    """The parts that some domains cut a universe into."""
    cells = [universe]
    for domain in dict.fromkeys(found):
        cut = [part for cell in cells for part in (domains.meet(cell, domain), *domains.minus(cell, domain))]
        cells = [part for part in cut if not surely_empty(part)]
        if len(cells) > MOST_CELLS:
            raise GaveUp("too many cells")
    return cells


def _weights(cells: list[Domain]) -> list[float]:
    spans = _spans(cells)
    sorts = {sort for cell in cells for sort in cell.parts}
    sizes = [{sort: _size(sort, cell.part(sort), spans) for sort in sorts} for cell in cells]
    totals = {sort: sum(size[sort] for size in sizes) or 1.0 for sort in sorts}
    values = [
        sum(size[sort] / totals[sort] for sort in sorts) + (1.0 if cell.rest else 0.0)
        for size, cell in zip(sizes, cells, strict=True)
    ]
    whole = sum(values) or 1.0
    return [value + whole * _MISSING * cell.missing for value, cell in zip(values, cells, strict=True)]


def _spans(cells: list[Domain]) -> dict[Sort, tuple[float, float]]:
    """For each ordered sort, the least and greatest finite end."""
    ends: dict[Sort, list[float]] = {}
    for cell in cells:
        for sort, part in cell.parts.items():
            if sort[0] in "nqmi":
                ends.setdefault(sort, []).extend(place[0] for place in part if place not in (BELOW, ABOVE))
    return {sort: (min(found), max(found)) if found else (0.0, 0.0) for sort, found in ends.items()}


def _size(sort: Sort, part: Any, spans: Mapping[Sort, tuple[float, float]]) -> float:
    if sort[0] in "nqmi":
        return _length(part, *spans.get(sort, (0.0, 0.0)))
    if isinstance(part, texts.Texts):
        listed = texts.finite(part.intervals)
        return float(len(listed)) if listed is not None else 1.0
    return float(int(part).bit_count()) if part >= 0 else 1.0


def _length(part: Intervals, least: float, greatest: float) -> float:
    span = (greatest - least) or 1.0
    total = 0.0
    for i in range(0, len(part), 2):
        low = max(part[i][0], least - span)
        high = min(part[i + 1][0], greatest + span)
        total += max(high - low, 0.0) or span * _POINT
    return total


def hulls(terms: Terms) -> Iterator[Terms]:
    """Wider unions of fewer terms, the simplest first: one term for all, then any two as one."""
    for along in (_hull, domains.join):
        whole = _as_one(terms, along)
        if whole is not None:
            yield [whole]
    if 2 < len(terms) <= 16:
        for i, j in combinations(range(len(terms)), 2):
            pair = _as_one([terms[i], terms[j]], _hull)
            if pair is not None:
                yield [*(term for k, term in enumerate(terms) if k not in (i, j)), pair]


def _as_one(terms: Terms, along: Any) -> Term | None:
    made: Term = {}
    for key in terms[0]:
        if all(key in term for term in terms):
            domain: Domain | None = terms[0][key]
            for term in terms[1:]:
                domain = None if domain is None else along(domain, term[key])
            if domain is None:
                return None
            made[key] = domain
    return made


def _hull(a: Domain, b: Domain) -> Domain | None:
    """The union of two domains, with the gaps between numbers filled."""
    joined = domains.join(a, b)
    if joined is None:
        return None
    parts = {s: (p[0], p[-1]) if s[0] in "nqmi" and len(p) > 2 else p for s, p in joined.parts.items()}
    return Domain(parts, joined.missing, joined.rest)
