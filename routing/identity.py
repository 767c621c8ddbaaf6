"""Identity routing: of filters that match the same events, a neighbour is told one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conceptpubsub.filters import Filter
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.strategy import DistinctReduction, Reduction, Strategy


@dataclass(frozen=True, slots=True)
class Identity(Strategy):
    """Tell one filter of each set that mean the same."""

    name: ClassVar[str] = "identity"

    def subscriptions(self, comparison: Comparison) -> Reduction:
        return OneOfEach(comparison)


class OneOfEach(DistinctReduction):
    """Tells, of identical filters, the one whose digest is least: the choice does not depend on who came first."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(comparison)
        self._kinds: dict[int, dict[str, Filter]] = {}
        self._kind_of: dict[str, int] = {}

    def is_empty(self) -> bool:
        return super().is_empty() and not (self._kinds or self._kind_of)

    def enter(self, digest: str, filter: Filter) -> None:
        kind = self._kind_of[digest] = self.comparison.kind(filter)
        alike = self._kinds.setdefault(kind, {})
        if alike and digest < (old := min(alike)):
            self.untell(old)
        alike[digest] = filter
        if digest == min(alike):
            self.tell(digest, filter)

    def leave(self, digest: str) -> None:
        kind = self._kind_of.pop(digest)
        alike = self._kinds[kind]
        del alike[digest]
        if not alike:
            del self._kinds[kind]
        if digest in self.told:
            self.untell(digest)
            if alike:
                least = min(alike)
                self.tell(least, alike[least])
