"""Relations between filters: the domain engine first, the solver behind it, the safe answer when both give up.

Rule 1  Every answer is a statement about N(F), the events that F matches, under each filter's own semantics.
Rule 2  On giving up: satisfiable, overlapping, not covering, not identical; a witness is refused with `Undecided`.
Rule 3  ``engine="domain"`` and ``engine="z3"`` force one engine, which then says `Undecided` where it gives up.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

from conceptpubsub.errors import IncompatibleFilters, Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.relations import domain_engine
from conceptpubsub.relations.compiled import Compiled, compiled
from conceptpubsub.relations.outcome import STATISTICS, GaveUp

Engine: TypeAlias = Literal["domain", "z3"]
_T = TypeVar("_T")


def satisfiable(f: Filter, *, engine: Engine | None = None) -> bool:
    """Whether some event matches.

    >>> satisfiable(Filter.parse("x > 1 AND x < 2", types={"x": "int"}))
    False
    """
    one = compiled(f)
    return _decided(
        lambda: domain_engine.example(one) is not None,
        lambda: solver().example(one, engine is None) is not None,
        True,
        engine,
    )


def overlaps(f: Filter, g: Filter, *, engine: Engine | None = None) -> bool:
    """Whether some event matches both.

    >>> overlaps(Filter.parse("x < 2"), Filter.parse("x > 1 AND y = 3"))
    True
    """
    one, other = both(f, g)
    return _decided(
        lambda: domain_engine.common(one, other) is not None,
        lambda: solver().common(one, other, engine is None) is not None,
        True,
        engine,
    )


def covers(f: Filter, g: Filter, *, engine: Engine | None = None) -> bool:
    """Whether every event that matches the second matches the first.

    >>> covers(Filter.parse("x > 30 degC"), Filter.parse("x > 90 degF"))
    True
    """
    one, other = both(f, g)
    if f is g:
        return True
    return _decided(
        lambda: domain_engine.uncovered(one, other) is None,
        lambda: solver().uncovered(one, other, engine is None) is None,
        False,
        engine,
    )


def identical(f: Filter, g: Filter, *, engine: Engine | None = None) -> bool:
    """Whether both match the same events.

    >>> identical(Filter.parse("NOT x > 86 degF"), Filter.parse("x <= 30 degC"))
    True
    """
    return covers(f, g, engine=engine) and covers(g, f, engine=engine)


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


def _decided(by_domains: Callable[[], bool], by_solver: Callable[[], bool], safe: bool, engine: Engine | None) -> bool:
    if engine != "z3":
        try:
            answer = by_domains()
        except GaveUp as error:
            STATISTICS.count(f"domain gave up: {error.reason}")
            if engine == "domain":
                raise undecided("domain", error) from None
        else:
            STATISTICS.count("domain")
            return answer
    try:
        answer = by_solver()
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
