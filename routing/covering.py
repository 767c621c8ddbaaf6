"""Covering routing: a neighbour is told only filters that no other filter told to it covers.

The filters held form forests in which a filter hangs below one that covers it; the roots are told. When a root goes,
what hung below it is covered by another root, or becomes one and is told again.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from conceptpubsub.filters import Filter
from conceptpubsub.relations.forest import CoveringForest
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.strategy import DistinctReduction, Reduction, Strategy


@dataclass(frozen=True, slots=True)
class Covering(Strategy):
    """Tell the widest filters.

    >>> told = Covering().subscriptions(Comparison())
    >>> members = [(("B2", text), Filter.parse(text)) for text in ("x > 5", "x > 6", "x > 4")]
    >>> [str(filter) for _, filter in told.change(members).announce]
    ['x > 4']
    >>> [str(filter) for _, filter in told.change([], [("B2", "x > 4")]).announce]
    ['x > 5']
    """

    name: ClassVar[str] = "covering"

    def subscriptions(self, comparison: Comparison) -> Reduction:
        return Widest(comparison)


class Widest(DistinctReduction):
    """Tells the roots of the covering forests; of identical filters, the one whose digest is least."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(comparison)
        self._forests: dict[Hashable, CoveringForest] = {}
        self._filters: dict[str, Filter] = {}

    def is_empty(self) -> bool:
        return super().is_empty() and not (self._forests or self._filters)

    def enter(self, digest: str, filter: Filter) -> None:
        self._filters[digest] = filter
        forest = self._forests.get(self.comparison.group(filter))
        if forest is None:
            forest = self._forests[self.comparison.group(filter)] = self.comparison.forest()
        self._plant(forest, digest)

    def _plant(self, forest: CoveringForest, digest: str) -> None:
        filter = self._filters[digest]
        seen = self.comparison.seen(filter)
        self.comparison.timed("forest", lambda: forest.insert(digest, seen), None)
        cover = forest.parent(digest)
        if cover is None:
            self.tell(digest, filter)
            for below in forest.covered_by(digest):
                self.untell(below)
        elif self._precedes(digest, cover):
            self._replant(forest, cover)

    def _precedes(self, digest: str, root: str) -> bool:
        """Whether a filter below a root is identical to it and comes before it."""
        return digest < root and self.comparison.covers(self._filters[digest], self._filters[root])

    def _replant(self, forest: CoveringForest, digest: str) -> None:
        """Take a root out and put it back below an identical filter that comes before it."""
        self._uproot(forest, digest)
        self._plant(forest, digest)

    def leave(self, digest: str) -> None:
        filter = self._filters[digest]
        group = self.comparison.group(filter)
        self._uproot(self._forests[group], digest)
        del self._filters[digest]
        if not len(self._forests[group]):
            del self._forests[group]

    def _uproot(self, forest: CoveringForest, digest: str) -> None:
        exposed = forest.covered_by(digest) if digest in self.told else ()
        self.comparison.timed("forest", lambda: forest.remove(digest), None)
        self.untell(digest)
        roots = [below for below in sorted(exposed) if forest.is_root(below)]
        for root in roots:
            self.tell(root, self._filters[root])
        for root in roots:
            if forest.is_root(root) and any(self._precedes(below, root) for below in forest.covered_by(root)):
                self._replant(forest, root)
