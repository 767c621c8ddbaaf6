"""Atoms over one reference as domains: where an atom is true, and where it is false. Elsewhere it is unknown.

The one file that knows what each operator means as a set; the reference evaluator is its judge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from conceptpubsub.converters import Dimension, Money, Quantity
from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.normal import Atom, Compare, IsA, IsNull, Lit, OneOf, Ref, TextTest
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.model import Instant
from conceptpubsub.relations import domains, intervals, texts
from conceptpubsub.relations.domains import ABSENT, EMPTY, Domain, Part, Sort, quantity_sort
from conceptpubsub.relations.kinds import Kind
from conceptpubsub.relations.outcome import GaveUp


def reference(atom: Atom) -> Ref:
    """The one reference that an atom tests against constants; `GaveUp` where there is arithmetic or a second one."""
    if isinstance(atom, Compare):
        if isinstance(atom.left, Ref) and isinstance(atom.right, Lit):
            return atom.left
        raise GaveUp("arithmetic or a comparison of attributes")
    if isinstance(atom, OneOf | TextTest):
        if isinstance(atom.term, Ref):
            return atom.term
        raise GaveUp("arithmetic or a comparison of attributes")
    return atom.ref


def side(atom: Atom, positive: bool, kind: Kind) -> Domain:
    """Where an atom is true, or where it is false, for a reference bound to an attribute of a kind."""
    if isinstance(atom, Compare):
        assert isinstance(atom.right, Lit)
        return _compared(atom.op, (atom.right,), positive, kind)
    if isinstance(atom, OneOf):
        return _compared("=", atom.values, positive, kind)
    if isinstance(atom, TextTest):
        op, pattern = atom.op, atom.pattern
        return _textual(texts.tested(op, pattern), lambda held: text_test(op, held, pattern), positive, kind)
    if isinstance(atom, IsNull):
        return ABSENT if positive else domains.without_missing(kind.universe)
    return _isa(atom, positive, kind)


def _compared(op: str, values: tuple[Lit, ...], positive: bool, kind: Kind) -> Domain:
    """``op`` with one constant, or equality with several of one sort."""
    first = values[0]
    match first.kind:
        case "number":
            return _ordered(domains.NUMBER, op, values, positive, kind)
        case "text":
            return _texts(op, values, positive, kind)
        case "quantity":
            return _ordered(_quantity(first, kind), op, values, positive, kind)
        case "money":
            if kind.bare:
                raise GaveUp("money compared with a plain number")
            return _ordered(domains.MONEY, op, values, positive, kind)
        case "instant":
            return _ordered(domains.INSTANT, op, values, positive, kind)
        case "bool":
            return _boolean(op, first.value, positive, kind)
        case _:
            return _texts(op, values, positive, kind)


def _quantity(lit: Lit, kind: Kind) -> Sort:
    dimension = lit.of
    assert isinstance(dimension, Dimension)
    if kind.dimension is not None:
        return quantity_sort(kind.dimension.key) if kind.dimension.comparable(dimension) else ""
    if kind.bare:
        raise GaveUp("a quantity compared with a plain number")
    if dimension.derived and (kind.universe.rest):
        raise GaveUp("a computed quantity compared with an undeclared attribute")
    return quantity_sort(dimension.key)


def _ordered(sort: Sort, op: str, values: tuple[Lit, ...], positive: bool, kind: Kind) -> Domain:
    room = kind.universe.part(sort) if sort else ()
    if not room:
        return EMPTY
    found: intervals.Intervals = ()
    for lit in values:
        number = lit.value.ns if isinstance(lit.value, Instant) else lit.value
        found = intervals.union(found, intervals.compared(op, number))
    grid = kind.grid(sort)
    if grid is not None:
        found = intervals.snapped(found, grid)
    if not positive:
        return _of(sort, intervals.difference(room, found))
    return _of(sort, found if room is intervals.LINE else intervals.intersection(room, found))


def _of(sort: Sort, part: Part) -> Domain:
    return Domain({sort: part}) if part else EMPTY


def _boolean(op: str, value: bool, positive: bool, kind: Kind) -> Domain:
    if op not in ("=", "<>"):
        return EMPTY
    same = 2 if value == ((op == "=") is positive) else 1
    return _of(domains.BOOL, kind.universe.part(domains.BOOL) & same)


def _texts(op: str, values: tuple[Lit, ...], positive: bool, kind: Kind) -> Domain:
    if len(values) == 1:
        found = texts.compared(op, values[0].value)
    else:
        found = texts.one_of({lit.value for lit in values})

    def test(held: str) -> bool:
        return any(arithmetic.ordered(op, held, lit.value) for lit in values)

    return _textual(texts.Texts(found), test, positive, kind)


def _textual(found: texts.Texts, test: Callable[[str], bool], positive: bool, kind: Kind) -> Domain:
    """A test of text, on texts and on the IRIs that stand for concepts."""
    room = kind.universe.part(domains.TEXT)
    if domains.CONCEPT in kind.universe.parts:
        mask = sum(1 << i for i, iri in enumerate(iris(kind.ontology)) if test(iri))
        return _of(domains.CONCEPT, kind.universe.parts[domains.CONCEPT] & (mask if positive else ~mask))
    if not room.intervals:
        return EMPTY
    if positive:
        inside = found if room is texts.EVERY else texts.meet(room, found)
        return Domain({domains.TEXT: inside}) if inside.intervals else EMPTY
    outside = texts.minus(room, found)
    if len(outside) > 1:
        raise GaveUp("a union of tests of text")
    return Domain({domains.TEXT: outside[0]}) if outside else EMPTY


@lru_cache(maxsize=64)
def iris(ontology: Any) -> tuple[str, ...]:
    """The IRIs that stand for the concepts, by index."""
    return tuple(ontology.by_index(i).iri for i in range(ontology.index_count))


def _isa(atom: IsA, positive: bool, kind: Kind) -> Domain:
    universe = kind.universe
    if not kind.concepts:
        named = texts.Texts(texts.compared("=" if positive else "<>", atom.name))
        sorts = [s for s in (domains.TEXT, domains.NAMED) if universe.part(s).intervals]
        return Domain({sort: texts.meet(universe.part(sort), named) for sort in sorts})
    mask = atom.concept.mask if positive else ~atom.concept.mask
    found: dict[Sort, Part] = {
        sort: universe.parts[sort] & mask
        for sort in (domains.CONCEPT, domains.COMPLEX)
        if universe.parts.get(sort, 0) & mask
    }
    room_for_texts = universe.part(domains.TEXT)
    if room_for_texts.intervals:
        spelt = _spellings(kind.ontology, atom.concept.index)[0 if positive else 1]
        found[domains.TEXT] = texts.meet(room_for_texts, spelt)
    return Domain(found)


@lru_cache(maxsize=1024)
def _spellings(ontology: Any, index: int) -> tuple[texts.Texts, texts.Texts]:
    """The texts that name a concept at or below one, and those that name another."""
    below = ontology.indexes.below(index)
    inside = {name for name, named in ontology.spellings().items() if named in below}
    outside = {name for name, named in ontology.spellings().items() if named not in below}
    return texts.Texts(texts.one_of(inside)), texts.Texts(texts.one_of(outside))


def contains(domain: Domain, value: Any, ontology: Any) -> bool:
    """Whether a canonical value lies inside a domain."""
    if isinstance(value, bool):
        return bool(domain.part(domains.BOOL) & (2 if value else 1))
    if isinstance(value, str):
        if domains.CONCEPT in domain.parts and ontology is not None:
            found = ontology.find(value)
            return found is not None and bool(domain.parts[domains.CONCEPT] >> found.index & 1)
        part = domain.part(domains.TEXT)
        return intervals.includes(part.intervals, texts.compared("=", value)) and texts.passes(value, part.literals)
    if isinstance(value, Instant):
        return intervals.holds(domain.part(domains.INSTANT), value.ns)
    if isinstance(value, Quantity):
        return intervals.holds(domain.part(quantity_sort(value.dimension.key)), value.value)
    if isinstance(value, Money):
        return intervals.holds(domain.part(domains.MONEY), value.value)
    return intervals.holds(domain.part(domains.NUMBER), value)
