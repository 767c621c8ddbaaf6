"""Witnesses: an event that shows why one filter does not cover another, judged by the reference evaluator first.

Two currencies without rates still have witnesses: an amount in the inner filter's currency matches it and leaves the
outer one unknown. Where that is not enough the known rates are put into the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from conceptpubsub.errors import ConceptPubSubError, Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import atoms
from conceptpubsub.model import SemanticEvent
from conceptpubsub.relations import domain_engine
from conceptpubsub.relations.compiled import Compiled, compiled, currencies
from conceptpubsub.relations.decide import Engine, both, solver, undecided
from conceptpubsub.relations.examples import event_of
from conceptpubsub.relations.outcome import STATISTICS, Budget, GaveUp

_SHORT = Budget(work=400_000)


class _Covered(Exception):
    """There is no witness, for certain."""


def witness(
    f: Filter, g: Filter, *, engine: Engine | None = None, budget: Budget | None = None
) -> SemanticEvent | None:
    """An event that the second filter matches and the first does not, or None when the first covers the second.

    It has been evaluated before it is handed out; where no such event is found, and none is excluded, `Undecided`.
    An event that must have no concept of its own is a plain mapping.

    >>> witness(Filter.parse("x > 5"), Filter.parse("x > 3"))["x"].value
    4
    """
    one, other = both(f, g)
    doubt = GaveUp("")
    try:
        for found in _candidates(one, other, engine, budget):
            if isinstance(found, GaveUp):
                doubt = found
            elif shows(f, g, found):
                return cast(SemanticEvent, found)
            else:
                doubt = GaveUp("an event that the evaluator does not confirm")
    except _Covered:
        return None
    STATISTICS.count(f"no witness: {doubt.reason}")
    raise undecided(engine or "z3", doubt)


def example(f: Filter) -> Any:
    """An event that a filter matches, worked out once; None where none is found, with little work.

    >>> example(Filter.parse("x * y = 6 AND y = 2"))["x"].value
    3
    """
    made = compiled(f)
    if made.example is None:
        nothing = Filter.parse("FALSE", ontology=f.ontology, converters=f.converters, semantics=f.semantics)
        try:
            made.example = (witness(nothing, f, budget=_SHORT),)
        except Undecided:
            made.example = (None,)
    return made.example[0]


def shows(f: Filter, g: Filter, event: Any) -> bool:
    """Whether an event matches the second filter and not the first."""
    try:
        return g.matches(event) and not f.matches(event)
    except ConceptPubSubError:
        return False


def _candidates(one: Compiled, other: Compiled, engine: Engine | None, budget: Budget | None) -> Iterator[Any]:
    """Events to try, and reasons for giving up; `_Covered` where an engine proves that there is none."""
    if engine != "z3":
        try:
            found = domain_engine.uncovered(one, other)
            if found is None:
                raise _Covered
            yield event_of(found, one, other)
        except GaveUp as error:
            yield error
    if engine != "domain":
        yield from _solved(one, other, engine is None, budget, None)
        rates = _known_rates(one.filter, other.filter)
        if rates:
            yield from _solved(one, other, engine is None, budget, rates)


def _solved(
    one: Compiled, other: Compiled, by_domains: bool, budget: Budget | None, rates: Mapping[str, Fraction] | None
) -> Iterator[Any]:
    try:
        model = solver().uncovered(one, other, by_domains, budget, rates)
        if model is not None:
            yield from model.events()
        elif rates is None:
            raise _Covered
    except GaveUp as error:
        yield error


def _known_rates(f: Filter, g: Filter) -> dict[str, Fraction]:
    """Today's rates of the currencies that two filters name, against the first of them."""
    named = sorted({code.removeprefix("1/").partition("*")[0] for h in (f, g) for code in currencies(atoms(h.normal))})
    if len(named) < 2:
        return {}
    found = {code: f.converters.rate(code, named[0]) for code in named}
    return {code: Fraction(rate) for code, rate in found.items() if rate is not None}
