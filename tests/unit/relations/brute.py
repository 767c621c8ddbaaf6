"""The slow, obvious judge: every event over small sets of values, evaluated by the reference evaluator.

The values of an attribute are the constants that it may be compared with, what lies between and beside them, some of
every other type, and missing. A reference to a concept gets two attributes, its own and one below it, so that both can
stand in one event.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

from conceptpubsub.converters import Converters, Money, Quantity, resolve
from conceptpubsub.errors import MissingAttribute
from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import Compare, IsA, Lit, Neg, OneOf, Product, Recip, Ref, Sum, TextTest, atoms
from conceptpubsub.model import Instant
from conceptpubsub.relations.compiled import currencies
from conceptpubsub.relations.events import Draft, Named, all_of

Path = tuple[str, ...]


class Verdict(NamedTuple):
    """What a set of events shows: an event against covering each way, one for overlapping, one each for satisfiable."""

    against_covers: Any
    against_covered: Any
    for_overlap: Any
    for_first: Any
    for_second: Any


def judged(f: Filter, g: Filter, seed: int = 0, most: int = 120) -> Verdict:
    """Try events one after the other."""
    f, g = _with_rates(f, g)
    found: list[Any] = [None] * 5
    for event in events(f, g, seed, most):
        one, other = matched(f, event), matched(g, event)
        if f.semantics == "total" and f is not g and None in (one, other):
            continue
        shown = (other and not one, one and not other, one and other, one, other)
        for place, holds in enumerate(shown):
            if holds and found[place] is None:
                found[place] = event
    return Verdict(*found)


def _with_rates(f: Filter, g: Filter) -> tuple[Filter, Filter]:
    """Relations hold at every rate, so also at these; without any, amounts in two currencies would not compare."""
    codes = currencies([*atoms(f.normal), *atoms(g.normal)])
    if len(codes) < 2 or f.converters.rate("USD", "EUR") is not None:
        return f, g
    rated = Converters.default(f.ontology).register("currency", {"USD": 2, "GBP": Fraction(1, 2)}, pivot="EUR")
    return f.bind(converters=rated), g.bind(converters=rated)


def matched(f: Filter, event: Any) -> bool | None:
    """Whether an event matches; None where it lacks what ``total`` needs."""
    try:
        return f.matches(event)
    except MissingAttribute:
        return None


def events(f: Filter, g: Filter, seed: int, most: int) -> Iterator[Any]:
    """All events over the values, or so many of them at random."""
    choices = list(attributes(f, g))
    size = 1
    for _, values in choices:
        size *= len(values)
    rng = random.Random(seed)
    if size <= most:
        drawn: Iterator[Any] = product(*[values for _, values in choices])
    else:
        drawn = (tuple(rng.choice(values) for _, values in choices) for _ in range(most))
    for chosen in drawn:
        yield _event(zip([place for place, _ in choices], chosen, strict=True), f.ontology)


def _event(held: Any, ontology: Any) -> Any:
    parts: list[tuple[Ref, Any]] = []
    drafted: list[tuple[Path, Any]] = []
    for place, value in held:
        if isinstance(place, Ref):
            parts.append((place, value))
        else:
            drafted.append((place, value))
    draft: Draft = all_of(drafted, ontology)
    for ref, value in parts:
        draft.part(ref, value)
    return draft.event()


def attributes(f: Filter, g: Filter) -> Iterator[tuple[Any, list[Any]]]:
    """Each attribute (a path, or a reference to a part of the event) with the values to try."""
    constants = list(_constants(f)) + list(_constants(g))
    seen: set[Path] = set()
    for ref in {ref.key: ref for h in (f, g) for ref in h.references}.values():
        if ref.event:
            yield ref, _event_values(ref, f, g, constants)
            continue
        for path in _paths(ref):
            if path not in seen:
                seen.add(path)
                yield path, [None, *_values(ref, f, g, constants)]


def _paths(ref: Ref) -> Iterator[Path]:
    if not ref.steps:
        yield ref.path
        return
    outer = tuple(step.name for step in ref.steps[:-1])
    last = ref.steps[-1]
    yield (*outer, last.name)
    below = [concept for concept in last.descendants if concept is not last]
    if below:
        yield (*outer, below[len(below) // 2].name)


def _event_values(ref: Ref, f: Filter, g: Filter, constants: list[Any]) -> list[Any]:
    part = ref.path[-1]
    if part == "time":
        return [None, *_beside([c.ns for c in constants if isinstance(c, Instant)], Instant)]
    if part == "EVENT":
        return [None, *_concepts(f, g), "Unheard"]
    return [None, *_texts(f, g, constants)]


def _values(ref: Ref, f: Filter, g: Filter, constants: list[Any]) -> list[Any]:
    """Values of every sort that the reference may hold; those outside its type count as missing, which is a test."""
    made: list[Any] = _beside(
        [c for c in constants if isinstance(c, int | Fraction) and not isinstance(c, bool)], _same
    )
    for dimension in {c.dimension for c in constants if isinstance(c, Quantity)} | {ref.dimension} - {None}:
        of = [c.value for c in constants if isinstance(c, Quantity) and c.dimension.exponents == dimension.exponents]
        made += _beside(of, lambda value, d=dimension: Quantity(value, d))
    if ref.type is None or any(isinstance(c, Money) for c in constants):
        made += _beside([c.value for c in constants if isinstance(c, Money)], lambda value: Money(value, "EUR"))
    if ref.type in (None, "instant"):
        made += _beside([c.ns for c in constants if isinstance(c, Instant)], lambda ns: Instant(int(ns)))
    if ref.type in (None, "text"):
        made += _texts(f, g, constants)
    if ref.type in (None, "bool"):
        made += [True, False]
    if ref.type == "concept":
        made += _concepts(f, g)
    if ref.type in (None, "complex"):
        made.append(Named(ref.path[-1]))
    if ref.type is None:
        made.append(Quantity(1, resolve("cd").dimension))
    return [value for value in made if not isinstance(value, Quantity) or not value.dimension.derived]


def _same(value: Any) -> Any:
    return value


def _beside(values: list[Any], make: Any) -> list[Any]:
    points = sorted(set(values))
    between = [(a + b) / Fraction(2) for a, b in pairwise(points)]
    ends = [points[0] - 1, points[-1] + 1] if points else [0, 1]
    whole = {int(p) + d for p in points for d in (0, 1)} if len(points) < 4 else set()
    found = sorted({Fraction(v) for v in (*points, *between, *ends, *whole)})
    return [made for v in found if (made := _made(make, v.numerator if v.denominator == 1 else v)) is not None]


def _made(make: Any, value: Any) -> Any:
    return make(int(value)) if make is Instant else make(value)


def _texts(f: Filter, g: Filter, constants: list[Any]) -> list[str]:
    known = {c for c in constants if isinstance(c, str)}
    patterns = {
        a.pattern.replace("%", "").replace("_", "x") for h in (f, g) for a in atoms(h.normal) if isinstance(a, TextTest)
    }
    names = {a.name for h in (f, g) for a in atoms(h.normal) if isinstance(a, IsA)}
    plain = sorted(known | patterns)[:6]
    return [
        *dict.fromkeys([*plain, *(text + "b" for text in plain[:3]), *("a" + text for text in plain[:3]), "", *names])
    ]


def _concepts(f: Filter, g: Filter) -> list[str]:
    named: list[str] = []
    for h in (f, g):
        for atom in atoms(h.normal):
            if isinstance(atom, IsA):
                named += [c.name for c in atom.concept.descendants][:3] if h.ontology is not None else [atom.name]
        for constant in _constants(h):
            if isinstance(constant, str) and h.ontology is not None and h.ontology.find(constant) is not None:
                named.append(h.ontology[constant].name)
    return list(dict.fromkeys(named)) or ["Engine"]


def _constants(f: Filter) -> Iterator[Any]:
    for atom in atoms(f.normal):
        terms: list[Any] = [atom.left, atom.right] if isinstance(atom, Compare) else [getattr(atom, "term", None)]
        terms += list(atom.values) if isinstance(atom, OneOf) else []
        while terms:
            top = terms.pop()
            if isinstance(top, Lit):
                yield _value(top)
            elif isinstance(top, Sum | Product):
                terms += top.args
            elif isinstance(top, Neg | Recip):
                terms.append(top.arg)
    yield from f.scope.defaults.values()


def _value(lit: Lit) -> Any:
    if lit.kind == "quantity":
        return Quantity(lit.value, lit.of)  # type: ignore[arg-type]
    if lit.kind == "money":
        return Money(lit.value, str(lit.of))
    return lit.value
