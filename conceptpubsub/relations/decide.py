"""Relations between filters: the domain engine first, the solver behind it, the safe answer when both give up.

Rule 1  Every answer is a statement about N(F), the events that F matches, under each filter's own semantics.
Rule 2  On giving up: satisfiable, overlapping, not covering, not identical; a witness is refused with `Undecided`.
Rule 3  ``engine="domain"`` and ``engine="z3"`` force one engine, which then says `Undecided` where it gives up.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from conceptpubsub.errors import IncompatibleFilters, Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.relations import domain_engine
from conceptpubsub.relations.compiled import Compiled, compiled
from conceptpubsub.relations.outcome import STATISTICS, Budget, GaveUp

Engine: TypeAlias = Literal["domain", "z3"]


def satisfiable(f: Filter, *, engine: Engine | None = None, budget: Budget | None = None) -> bool:
    """Whether some event matches.

    >>> satisfiable(Filter.parse("x > 1 AND x < 2", types={"x": "int"}))
    False
    """
    return _decided(domain_engine.satisfiable, "satisfiable", (compiled(f),), True, engine, budget)


def overlaps(f: Filter, g: Filter, *, engine: Engine | None = None, budget: Budget | None = None) -> bool:
    """Whether some event matches both.

    >>> overlaps(Filter.parse("x < 2"), Filter.parse("x > 1 AND y = 3"))
    True
    """
    return _decided(domain_engine.overlaps, "overlaps", both(f, g), True, engine, budget)


def covers(f: Filter, g: Filter, *, engine: Engine | None = None, budget: Budget | None = None) -> bool:
    """Whether every event that matches the second matches the first.

    >>> covers(Filter.parse("x > 30 degC"), Filter.parse("x > 90 degF"))
    True
    """
    return _decided(domain_engine.covers, "covers", both(f, g), False, engine, budget)


def identical(f: Filter, g: Filter, *, engine: Engine | None = None, budget: Budget | None = None) -> bool:
    """Whether both match the same events.

    >>> identical(Filter.parse("NOT x > 86 degF"), Filter.parse("x <= 30 degC"))
    True
    """
    return covers(f, g, engine=engine, budget=budget) and covers(g, f, engine=engine, budget=budget)


def both(f: Filter, g: Filter) -> tuple[Compiled, Compiled]:
    """The compiled forms of two filters that have common ground."""
    if f.scope is not g.scope:
        comparable(f, g)
    return compiled(f), compiled(g)


def comparable(f: Filter, g: Filter) -> None:
    """Refuse filters that have no common ground."""
    if f.scope.ontology != g.scope.ontology:
        raise IncompatibleFilters(
            "the filters are read in different ontologies, so their names mean different things; bind() one to the "
            "other's ontology first"
        )
    if (f.semantics == "total") is not (g.semantics == "total"):
        raise IncompatibleFilters(
            f"a relation between '{f.semantics}' and '{g.semantics}': under 'total' an event without a named reference "
            "is an error, under the others it is not; bind() one filter to the other's semantics first",
            semantics=(f.semantics, g.semantics),
        )


def _decided(
    by_domains: Callable[..., bool],
    question: str,
    about: tuple[Compiled, ...],
    safe: bool,
    engine: Engine | None,
    budget: Budget | None,
) -> bool:
    """Ask the engines in turn; ``safe`` is the answer on which nothing is lost."""
    if engine != "z3":
        try:
            answer = by_domains(*about)
        except GaveUp as error:
            STATISTICS.count(f"domain gave up: {error.reason}")
            if engine == "domain":
                raise undecided("domain", error) from None
        else:
            STATISTICS.count("domain")
            return answer
    if question == "covers" and about[0].filter == about[1].filter:
        return True
    try:
        answer = bool(getattr(solver(), question)(*about, by_domains=engine is None, budget=budget))
    except GaveUp as error:
        STATISTICS.count(f"z3 gave up: {error.reason}")
        if engine == "z3":
            raise undecided("z3", error) from None
        STATISTICS.count("safe answer")
        return safe
    STATISTICS.count("z3")
    return answer


def undecided(engine: str, error: GaveUp) -> Undecided:
    """The error for a caller who asked for a certain answer."""
    return Undecided(
        f"the {engine} engine gives up on {error.reason}: make the filter simpler, or raise the budget",
        engine=engine,
        reason=error.reason,
    )


def solver() -> Any:
    """The solver behind the domain engine, loaded when it is first needed."""
    return importlib.import_module("conceptpubsub.relations.smt_engine")
