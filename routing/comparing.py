"""How brokers compare filters: by meaning, each question decided once for all brokers that share the answers.

Rule 1  An answer that cannot be had costs an optimisation, never an event: undecided is not covering, not identical,
        overlapping, satisfiable.
Rule 2  Filters without common ground (two ontologies; ``total`` against the others) are strangers: they overlap as far
        as anyone knows, and neither covers the other.
Rule 3  A filter under ``total`` needs its references: it may stand for another only where both name the same ones, or
        an event that lacks one of them would be lost to the other.
Rule 4  Questions and their cost are counted; the clock, if any, is the driver's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from conceptpubsub import relations
from conceptpubsub.errors import IncompatibleFilters, NetworkError, Undecided, hint, near
from conceptpubsub.filters import Filter
from conceptpubsub.relations.forest import CoveringForest
from conceptpubsub.routing.gates import Gates
from conceptpubsub.routing.kinds import Kinds

Answer = TypeVar("Answer")
KEPT = 4_000_000


class Comparison:
    """Comparison by meaning.

    >>> by_meaning = Comparison()
    >>> by_meaning.covers(Filter.parse("x > 5 km"), Filter.parse("x > 6000 m"))
    True
    >>> by_meaning.asked["covers"], by_meaning.decided["covers"]
    (1, 1)
    """

    name = "semantic"
    merges = True

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self.decided: Counter[str] = Counter()
        self.seconds = 0.0
        self._clock = clock
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[str, int, int], Any] = {}
        self._before = _decisions()
        self._kinds = Kinds(self._identical)
        self.gates = Gates(self.overlaps)

    @property
    def checks(self) -> int:
        """How many pairs of filters were compared in this process since this comparison began, in forests too."""
        return _decisions() - self._before

    # ------------------------------------------------------------------ questions

    def satisfiable(self, f: Filter) -> bool:
        """Whether any event can match."""
        return self._answer("satisfiable", f, f, lambda: relations.satisfiable(f), True)

    def overlaps(self, f: Filter, g: Filter) -> bool:
        """Whether some event may match both."""
        return self._answer("overlaps", f, g, lambda: relations.overlaps(f, g), True)

    def covers(self, f: Filter, g: Filter) -> bool:
        """Whether f may stand for g: every event that g matches, f matches."""
        if self.group(f) != self.group(g):
            return False
        return self._answer("covers", f, g, lambda: relations.covers(self.seen(f), self.seen(g)), False)

    def merge(self, f: Filter, g: Filter, excess: float = 0.0) -> Filter | None:
        """One filter that may stand for both, or None where there is none worth having."""
        if self.group(f) != self.group(g):
            return None
        return self._answer(f"merge {excess}", f, g, lambda: relations.merge(f, g, excess=excess), None)

    def kind(self, f: Filter) -> int:
        """A number that two filters share when they are identical."""
        self.asked["identical"] += 1
        return self._kinds.of(self.seen(f), self.group(f))

    def group(self, f: Filter) -> Hashable:
        """What two filters must share before one may stand for the other."""
        ontology = None if f.ontology is None else f.ontology.digest
        return (ontology, f.names) if f.semantics == "total" else ontology

    def seen(self, f: Filter) -> Filter:
        """The filter as this comparison sees it."""
        return f

    def digest(self, f: Filter) -> str:
        """A text that two filters share when this comparison sees no difference between them."""
        return self.seen(f).digest

    def forest(self) -> CoveringForest:
        """An empty forest for filters of one group."""
        return CoveringForest()

    # ------------------------------------------------------------------ answers

    def number(self, f: Filter) -> int:
        """A small number that equal filters share."""
        return self._numbers.setdefault(self.digest(f), len(self._numbers))

    def _identical(self, f: Filter, g: Filter) -> bool:
        return self._answer("identical", f, g, lambda: relations.identical(f, g), False)

    def _answer(self, question: str, f: Filter, g: Filter, decide: Callable[[], Answer], otherwise: Answer) -> Answer:
        self.asked[question] += 1
        key = (question, self.number(f), self.number(g))
        known: Answer
        if key in self._known:
            known = self._known[key]
            return known
        known = self.timed(question, decide, otherwise)
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[key] = known
        return known

    def timed(self, question: str, decide: Callable[[], Answer], otherwise: Answer) -> Answer:
        """The answer of a decision procedure, counted and timed; the safe one where it has none."""
        self.decided[question] += 1
        start = self._clock() if self._clock is not None else 0.0
        try:
            return decide()
        except (IncompatibleFilters, Undecided):
            return otherwise
        finally:
            if self._clock is not None:
                self.seconds += self._clock() - start


def _decisions() -> int:
    counted = relations.statistics()
    return sum(counted.get(kind, 0) for kind in ("domain", "z3", "safe answer"))


def comparison(name: str, clock: Callable[[], float] | None = None) -> Comparison:
    """The comparison of that name: semantic or syntactic."""
    from conceptpubsub.routing.syntactic import SyntacticComparison

    kinds = {"semantic": Comparison, "syntactic": SyntacticComparison}
    if name not in kinds:
        raise NetworkError(f"no comparison '{name}'.{hint(near(str(name), kinds))} There are semantic and syntactic.")
    return kinds[name](clock)
