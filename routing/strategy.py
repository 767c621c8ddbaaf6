"""What a routing strategy decides: which filters a neighbour is told of those that others hold.

Rule 1  A strategy is a value; its state is one `Reduction` for each neighbour and kind (subscriptions, advertisements).
Rule 2  Whatever it tells, every event that some filter held matches is matched by some filter told.
Rule 3  What is told depends on the filters held now, not on the order in which they came: a healed network holds the
        tables of a new one.
Rule 4  First the new is announced, then the old withdrawn: on a link that keeps order there is never a gap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

from conceptpubsub.filters import Filter
from conceptpubsub.routing.comparing import Comparison

Interface: TypeAlias = "str | tuple[str, int]"
"""Where a filter comes from: a neighbour by name, or a client's session by (client, epoch)."""
Member: TypeAlias = tuple[Hashable, str]
"""A filter held: its interface and its key there."""


class Change(NamedTuple):
    """What a neighbour is to be told: filters under their keys, then the keys that no longer count."""

    announce: list[tuple[str, Filter]]
    withdraw: list[str]


class Reduction(ABC):
    """The filters that one neighbour is told, kept in step with those that the others hold."""

    def __init__(self) -> None:
        self.told: dict[str, Filter] = {}
        self._before: dict[str, Filter | None] = {}

    def change(self, added: Iterable[tuple[Member, Filter]], removed: Iterable[Member] = ()) -> Change:
        """Take in filters and let others go; members to be removed that are not here are passed over."""
        self._before.clear()
        for member, filter in added:
            self.take(member, filter)
        for member in removed:
            if member in self:
                self.release(member)
        self.settle()
        announce, withdraw = [], []
        for key, before in self._before.items():
            after = self.told.get(key)
            if after is not None and (before is None or before.digest != after.digest):
                announce.append((key, after))
            elif after is None and before is not None:
                withdraw.append(key)
        return Change(announce, withdraw)

    def tell(self, key: str, filter: Filter) -> None:
        """From now on the neighbour is to know this filter."""
        self._before.setdefault(key, self.told.get(key))
        self.told[key] = filter

    def untell(self, key: str) -> None:
        """From now on the neighbour is to know nothing under this key."""
        self._before.setdefault(key, self.told.get(key))
        self.told.pop(key, None)

    @abstractmethod
    def __contains__(self, member: object) -> bool:
        """Whether a member is among the filters held."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether nothing is held, and nothing kept of what was."""

    @abstractmethod
    def take(self, member: Member, filter: Filter) -> None:
        """Hold one more filter."""

    @abstractmethod
    def release(self, member: Member) -> None:
        """Hold a filter, which is here, no longer."""

    def settle(self) -> None:
        """Decide what was put off while single filters came and went."""
        return


class DistinctReduction(Reduction):
    """A reduction that goes by meaning: equal filters count once, and a filter told is its own key."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison
        self._digests: dict[Member, str] = {}
        self._holders: dict[str, int] = {}

    def __contains__(self, member: object) -> bool:
        return member in self._digests

    def is_empty(self) -> bool:
        return not (self._digests or self._holders or self.told)

    def take(self, member: Member, filter: Filter) -> None:
        digest = self.comparison.digest(filter)
        self._digests[member] = digest
        holders = self._holders.get(digest, 0)
        self._holders[digest] = holders + 1
        if not holders:
            self.enter(digest, filter)

    def release(self, member: Member) -> None:
        digest = self._digests.pop(member)
        left = self._holders.pop(digest) - 1
        if left:
            self._holders[digest] = left
        else:
            self.leave(digest)

    @abstractmethod
    def enter(self, digest: str, filter: Filter) -> None:
        """A filter that was not held before."""

    @abstractmethod
    def leave(self, digest: str) -> None:
        """A filter that nobody holds any more."""


@dataclass(frozen=True, slots=True)
class Strategy(ABC):
    """A routing strategy; `conceptpubsub.routing.strategies` makes them by name."""

    name: ClassVar[str]
    floods: ClassVar[bool] = False

    @abstractmethod
    def subscriptions(self, comparison: Comparison) -> Reduction:
        """What a neighbour is told of subscriptions."""

    def advertisements(self, comparison: Comparison) -> Reduction:
        """What a neighbour is told of advertisements; as of subscriptions, unless a strategy says otherwise."""
        return self.subscriptions(comparison)


def union(parts: Iterable[Mapping[str, Filter]]) -> dict[str, Filter]:
    """The filters told by several reductions together."""
    return {key: filter for part in parts for key, filter in part.items()}
