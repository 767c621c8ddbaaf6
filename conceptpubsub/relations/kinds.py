"""Kinds: what an attribute of one concept, or a plain attribute of one declared type, may hold.

This file is where declared types, quantity kinds, ontology ranges, enumerated values and integer grids become domains.
A value outside its declared type counts as missing, so it is simply not in the domain.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from conceptpubsub.converters import Dimension, Unit, resolve
from conceptpubsub.relations import domains, texts
from conceptpubsub.relations.domains import ANYTHING, Domain, Sort, quantity_sort
from conceptpubsub.relations.intervals import INTEGERS, LINE, Grid, Intervals, compared, intersection, snapped


@dataclass(frozen=True, slots=True)
class Kind:
    """The values of an attribute. ``bare`` marks numbers declared without a unit: a filter that compares such an
    attribute with a quantity or with money goes to the solver, which looks at both filters at once."""

    universe: Domain
    """What it may hold, or missing."""
    grids: tuple[tuple[Sort, Grid], ...] = ((domains.INSTANT, INTEGERS),)
    dimension: Dimension | None = None
    bare: bool = False
    concepts: int = 0
    """How many concepts there are to name; zero without an ontology."""
    ontology: Any = field(default=None, compare=False)

    def grid(self, sort: Sort) -> Grid | None:
        """The grid that values of a sort lie on."""
        return next((grid for name, grid in self.grids if name == sort), None)

    def includes(self, other: Kind) -> bool:
        """Whether every value of the other is one of this."""
        return domains.includes(self.universe, other.universe) and all(
            other.grid(sort) == grid for sort, grid in self.grids if sort in other.universe.parts
        )

    def with_objects(self, mask: int) -> Kind:
        """The same kind, where a complex object may be of these concepts."""
        if domains.COMPLEX not in self.universe.parts:
            return self
        parts = {**self.universe.parts, domains.COMPLEX: mask}
        return replace(self, universe=Domain(parts, self.universe.missing, self.universe.rest))


_INSTANTS = ((domains.INSTANT, INTEGERS),)
ANY = Kind(ANYTHING)


def _only(sort: Sort, part: Any, **more: Any) -> Kind:
    return Kind(Domain({sort: part}, missing=True), **more)


_PLAIN = {
    "number": _only(domains.NUMBER, LINE, bare=True, grids=()),
    "int": _only(domains.NUMBER, LINE, bare=True, grids=((domains.NUMBER, INTEGERS),)),
    "text": _only(domains.TEXT, texts.EVERY),
    "bool": _only(domains.BOOL, 3),
    "instant": _only(domains.INSTANT, LINE),
}


def plain_kind(declared: str | None) -> Kind:
    """The kind of a plain attribute, by its declared type."""
    return ANY if declared is None else _PLAIN[declared]


@lru_cache(maxsize=64)
def event_kind(part: str, ontology: Any) -> Kind:
    """The kind of EVENT, EVENT.time, EVENT.id or EVENT.source."""
    if part == "time":
        return _PLAIN["instant"]
    if part != "EVENT" or ontology is None:
        return _PLAIN["text"]
    return _named(ontology, (1 << ontology.index_count) - 1)


@lru_cache(maxsize=65536)
def concept_kind(concept: Any) -> Kind:
    """The kind of an attribute of a concept."""
    ontology = concept.ontology
    more = {"concepts": ontology.index_count, "ontology": ontology}
    declared = concept.value_type
    if declared in ("real", "int") or (declared is None and _is_measured(concept)):
        return _numeric(concept, more)
    if declared is None:
        return Kind(Domain({domains.COMPLEX: 1 << concept.index}, missing=True, rest=True), **more)
    if declared == "text":
        part = texts.EVERY if concept.values is None else texts.Texts(texts.one_of(concept.values))
        return _only(domains.TEXT, part, **more)
    if declared == "concept":
        return _named(ontology, _possible(concept))
    if declared == "complex":
        return _only(domains.COMPLEX, 1 << concept.index, **more)
    return _PLAIN[declared]


@lru_cache(maxsize=4096)
def _named(ontology: Any, mask: int) -> Kind:
    """The kind of what names one of these concepts; concepts that mean the same are one."""
    return _only(domains.CONCEPT, mask, concepts=ontology.index_count, ontology=ontology)


def _possible(concept: Any) -> int:
    """The concepts that are declared values of a concept-valued attribute."""
    named = concept.range if concept.values is None else concept.values
    if concept.values is None and not concept.range:
        return int((1 << concept.ontology.index_count) - 1)
    mask = 0
    for name in named:
        mask |= concept.ontology[name].mask
    return mask


def _is_measured(concept: Any) -> bool:
    aspects = ("unit", "scale", "currency")
    return concept.canonical_unit is not None or any(aspect in concept.default_context for aspect in aspects)


def _numeric(concept: Any, more: dict[str, Any]) -> Kind:
    context = concept.default_context
    if concept.canonical_unit is not None:
        unit = resolve(concept.canonical_unit)
        grid = _grid(concept, unit)
        sort = quantity_sort(unit.dimension.key)
        grids = () if grid is None else ((sort, grid),)
        return _only(sort, _range(concept, unit, grid), grids=grids, dimension=unit.dimension, **more)
    if "currency" in context:
        parts = {domains.MONEY: _sign(concept), domains.NO_RATE: 1}
        return Kind(Domain(parts, missing=True), grids=(), **more)
    if "unit" in context:  # a unit, but no kind to say which others fit: any quantity may come
        others = {domains.TEXT: texts.NONE, domains.BOOL: 0, domains.INSTANT: (), domains.COMPLEX: 0}
        return Kind(Domain(others, missing=True, rest=True), grids=(), **more)
    grid = INTEGERS if concept.value_type == "int" else None
    grids = () if grid is None else ((domains.NUMBER, grid),)
    return _only(domains.NUMBER, _range(concept, None, grid), grids=grids, bare=True, **more)


def _grid(concept: Any, unit: Unit) -> Grid | None:
    if concept.value_type != "int" or unit.log is not None:
        return None
    return Grid(unit.factor, unit.offset)


def _range(concept: Any, unit: Unit | None, grid: Grid | None) -> Intervals:
    inside = LINE
    for op, bound in ((">=", concept.minimum), ("<=", concept.maximum)):
        if bound is not None:
            inside = intersection(inside, compared(op, bound if unit is None else unit.to_base(bound)))
    return inside if grid is None else snapped(inside, grid)


def _sign(concept: Any) -> Intervals:
    """Of a range of money only the sign survives: the bound is in each amount's own currency, at any rate."""
    low, high = concept.minimum, concept.maximum
    inside = LINE
    if low is not None and low >= 0:
        inside = intersection(inside, compared(">" if low > 0 else ">=", 0))
    if high is not None and high <= 0:
        inside = intersection(inside, compared("<" if high < 0 else "<=", 0))
    return inside
