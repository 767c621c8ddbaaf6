"""Merging routing: what covering leaves is merged into fewer filters before it is told.

Filters that name the same references and agree on all of them but one are merged into one filter, exactly: what they
agree on, and one or the other of the rest. With ``excess`` filters that disagree more are merged too, where the merger
is no longer than they are and at most that share of what it matches is in vain; brokers then see some events that
nobody wants.

Mergers are made anew from the filters held, reference by reference in order of name, whenever one of their kind comes
or goes: which mergers there are does not depend on who came first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from conceptpubsub.filters import Filter
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.covering import Covering, Widest
from conceptpubsub.routing.mergers import MAX_ATOMS, factored, length, shape
from conceptpubsub.routing.strategy import Change, Member, Reduction, Strategy


@dataclass(frozen=True, slots=True)
class Merging(Strategy):
    """Tell the widest filters, merged; perfectly, or with a bounded excess.

    >>> told = Merging().subscriptions(Comparison())
    >>> texts = ["s = 'a' AND x > 5", "s = 'b' AND x > 5", "s = 'a' AND x > 6"]
    >>> members = [((text, text), Filter.parse(text)) for text in texts]
    >>> [str(filter) for _, filter in told.change(members).announce]
    ["x > 5 AND (s = 'a' OR s = 'b')"]
    """

    name: ClassVar[str] = "merging"
    excess: float = 0.0

    def subscriptions(self, comparison: Comparison) -> Reduction:
        return Fewest(comparison, self.excess)

    def advertisements(self, comparison: Comparison) -> Reduction:
        return Covering().subscriptions(comparison)


class Fewest(Reduction):
    """Covering, then merging, then covering once more: a merger may cover what none of its parts did."""

    def __init__(self, comparison: Comparison, excess: float = 0.0) -> None:
        super().__init__()
        self._comparison = comparison
        self._excess = excess
        self._widest = Widest(comparison)
        self._merged = Widest(comparison)
        self._kinds: dict[Hashable, dict[str, Filter]] = {}
        self._mergers: dict[Hashable, dict[str, Filter]] = {}
        self._kind_of: dict[str, Hashable] = {}
        self.told = self._merged.told

    def __contains__(self, member: object) -> bool:
        return member in self._widest

    def is_empty(self) -> bool:
        kept = self._kinds or self._mergers or self._kind_of
        return self._widest.is_empty() and self._merged.is_empty() and not kept

    def take(self, member: Member, filter: Filter) -> None:
        self._widest.take(member, filter)

    def release(self, member: Member) -> None:
        self._widest.release(member)

    def change(self, added: Iterable[tuple[Member, Filter]], removed: Iterable[Member] = ()) -> Change:
        wider = self._widest.change(added, removed)
        touched: dict[Hashable, None] = {}
        for digest in wider.withdraw:
            kind = self._kind_of.pop(digest)
            del self._kinds[kind][digest]
            touched[kind] = None
        for digest, filter in wider.announce:
            kind = self._kind_of[digest] = self._kind(digest, filter)
            self._kinds.setdefault(kind, {})[digest] = filter
            touched[kind] = None
        fresh: list[tuple[Member, Filter]] = []
        stale: list[Member] = []
        for kind in touched:
            before = self._mergers.pop(kind, {})
            held = self._kinds[kind]
            after = self._mergers_of(held.values())
            if held:
                self._mergers[kind] = after
            else:
                del self._kinds[kind]
            fresh += [((kind, digest), filter) for digest, filter in after.items() if digest not in before]
            stale += [(kind, digest) for digest in before if digest not in after]
        return self._merged.change(fresh, stale)

    def _kind(self, digest: str, filter: Filter) -> Hashable:
        """What filters share that may be merged; one that no other may be merged with is a kind of its own."""
        found = shape(filter)
        return digest if found is None else (self._comparison.group(filter), found.names, found.scope)

    def _mergers_of(self, held: Iterable[Filter]) -> dict[str, Filter]:
        filters = {filter.digest: filter for filter in held}
        found = shape(next(iter(filters.values()))) if len(filters) > 1 and self._comparison.merges else None
        if found is None:
            return filters
        for name in sorted(found.names):
            buckets: dict[Hashable, list[Filter]] = {}
            for digest in sorted(filters):
                parted = shape(filters[digest])
                assert parted is not None
                buckets.setdefault(parted.rest(name), []).append(filters[digest])
            filters = {}
            for bucket in buckets.values():
                for merger in self._joined(bucket, name):
                    filters[merger.digest] = merger
        return self._loosely(filters) if self._excess else filters

    def _joined(self, bucket: list[Filter], name: str) -> list[Filter]:
        """Filters that differ in one reference only, as few as the bound on a filter's length allows."""
        rooms: list[list[Filter]] = [[]]
        room = 0
        for filter in bucket:
            if room and room + length(filter) > MAX_ATOMS:
                rooms.append([])
                room = 0
            rooms[-1].append(filter)
            room += length(filter)
        return [
            self._comparison.timed("merge", partial(factored, tuple(r), name), r[0]) if r[1:] else r[0] for r in rooms
        ]

    def _loosely(self, filters: dict[str, Filter]) -> dict[str, Filter]:
        """Merge what may be merged within the excess allowed, where the merger is no longer than its parts."""
        made: list[Filter] = []
        for digest in sorted(filters):
            filter = filters[digest]
            place = 0
            while place < len(made):
                merger = self._comparison.merge(made[place], filter, self._excess)
                if merger is not None and length(merger) <= max(length(made[place]), length(filter)):
                    filter = merger
                    del made[place]
                    place = 0
                else:
                    place += 1
            made.append(filter)
        return {filter.digest: filter for filter in made}
