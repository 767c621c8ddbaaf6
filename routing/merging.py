"""Merging routing: what covering leaves is merged into fewer filters before it is told.

Filters that name the same references and agree on all of them but one are merged into one filter, exactly: what they
agree on, and one or the other of the rest. With ``excess`` filters that disagree more are merged too, where the merger
is no longer than they are and at most that share of what it matches is in vain; brokers then see some events that
nobody wants.

Filters of one kind pass one stage for each reference they name, in order of name; a stage makes the mergers of a bucket
anew whenever a filter in it comes or goes: which mergers there are does not depend on who came first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

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
        self._stages: dict[Hashable, list[Stage]] = {}
        self._held: dict[str, tuple[Hashable, Filter]] = {}
        self.told = self._merged.told

    def __contains__(self, member: object) -> bool:
        return member in self._widest

    def is_empty(self) -> bool:
        return self._widest.is_empty() and self._merged.is_empty() and not (self._stages or self._held)

    def take(self, member: Member, filter: Filter) -> None:
        self._widest.take(member, filter)

    def release(self, member: Member) -> None:
        self._widest.release(member)

    def change(self, added: Iterable[tuple[Member, Filter]], removed: Iterable[Member] = ()) -> Change:
        wider = self._widest.change(added, removed)
        touched: dict[Hashable, Flow] = {}
        for digest in wider.withdraw:
            kind, filter = self._held.pop(digest)
            touched.setdefault(kind, Flow({}, {})).gone[digest] = filter
        for digest, filter in wider.announce:
            kind = self._kind(digest, filter)
            self._held[digest] = kind, filter
            touched.setdefault(kind, Flow({}, {})).come[digest] = filter
        fresh: list[tuple[Member, Filter]] = []
        stale: list[Member] = []
        for kind, flow in touched.items():
            flow = self._through(kind, flow)
            fresh += [((kind, digest), filter) for digest, filter in flow.come.items()]
            stale += [(kind, digest) for digest in flow.gone]
        return self._merged.change(fresh, stale)

    def _kind(self, digest: str, filter: Filter) -> Hashable:
        """What filters share that may be merged; one that no other may be merged with is a kind of its own."""
        found = shape(filter) if self._comparison.merges else None
        return digest if found is None else (self._comparison.group(filter), found.names, found.scope)

    def _through(self, kind: Hashable, flow: Flow) -> Flow:
        """What comes out of a kind's stages when filters come and go at their beginning."""
        if not isinstance(kind, tuple):
            return flow
        stages = self._stages.get(kind)
        if stages is None:
            stages = self._stages[kind] = [Perfect(name, self._comparison) for name in sorted(kind[1])]
            stages += [Loose(self._comparison, self._excess)] if self._excess else []
        for stage in stages:
            flow = stage.change(flow)
        if not any(stage.held for stage in stages):
            del self._stages[kind]
        return flow


class Flow(NamedTuple):
    """Filters that come and filters that go, by digest."""

    come: dict[str, Filter]
    gone: dict[str, Filter]


class Stage(ABC):
    """A step of merging: filters fall into buckets, and what comes out of a bucket depends on what is in it."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.held: dict[Hashable, dict[str, Filter]] = {}
        self._out: dict[Hashable, dict[str, Filter]] = {}

    def change(self, flow: Flow) -> Flow:
        """Take filters in and let others go; what comes out, and what no longer does."""
        touched: dict[Hashable, None] = {}
        for digest, filter in flow.come.items():
            bucket = self.bucket(filter)
            self.held.setdefault(bucket, {})[digest] = filter
            touched[bucket] = None
        for digest, filter in flow.gone.items():
            bucket = self.bucket(filter)
            del self.held[bucket][digest]
            touched[bucket] = None
        come: dict[str, Filter] = {}
        gone: dict[str, Filter] = {}
        for bucket in touched:
            before, held = self._out.pop(bucket, {}), self.held[bucket]
            after = {filter.digest: filter for filter in self.merged([held[digest] for digest in sorted(held)])}
            if held:
                self._out[bucket] = after
            else:
                del self.held[bucket]
            come.update((digest, filter) for digest, filter in after.items() if digest not in before)
            gone.update((digest, filter) for digest, filter in before.items() if digest not in after)
        return Flow(come, gone)

    @abstractmethod
    def bucket(self, filter: Filter) -> Hashable:
        """Where a filter falls."""

    @abstractmethod
    def merged(self, filters: list[Filter]) -> list[Filter]:
        """What comes out of a bucket."""


class Perfect(Stage):
    """Merges filters that differ in one reference only."""

    def __init__(self, name: str, comparison: Comparison) -> None:
        super().__init__(comparison)
        self._name = name

    def bucket(self, filter: Filter) -> Hashable:
        found = shape(filter)
        assert found is not None
        return found.rest(self._name)

    def merged(self, filters: list[Filter]) -> list[Filter]:
        """As few filters as the bound on a filter's length allows."""
        made: list[Filter] = []
        room: list[Filter] = []
        for filter in filters:
            if room and sum(map(length, room)) + length(filter) > MAX_ATOMS:
                made.append(self._joined(room))
                room = []
            room.append(filter)
        return [*made, self._joined(room)] if room else made

    def _joined(self, filters: list[Filter]) -> Filter:
        if len(filters) == 1:
            return filters[0]
        return self.comparison.timed("merge", partial(factored, tuple(filters), self._name), filters[0])


class Loose(Stage):
    """Merges neighbours, in the order of what they say, where the merger is no longer than they are."""

    def __init__(self, comparison: Comparison, excess: float) -> None:
        super().__init__(comparison)
        self._excess = excess

    def bucket(self, filter: Filter) -> Hashable:
        return None

    def merged(self, filters: list[Filter]) -> list[Filter]:
        made: list[Filter] = []
        for filter in sorted(filters, key=_said):
            merger = self.comparison.merge(made[-1], filter, self._excess) if made else None
            if merger is not None and length(merger) <= max(length(made[-1]), length(filter)):
                made[-1] = merger
            else:
                made.append(filter)
        return made


def _said(filter: Filter) -> tuple[str, ...]:
    found = shape(filter)
    assert found is not None
    return tuple(part.meaning for _, part in found.parts)
