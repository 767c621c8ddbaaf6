"""What a simulation measures: counters while it runs, and one value at the end.

A *notification* is an event sent over one link. It is *wasted* when the broker it reaches neither delivers it nor sends
it on. A *table entry* is a filter that a broker holds for a neighbour; those for its own clients are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Tally:
    """The counters of a running simulation."""

    published: int = 0
    delivered: int = 0
    forwarded: int = 0
    wasted: int = 0
    lost: int = 0
    bytes: int = 0
    hops: Counter[int] = field(default_factory=Counter)
    latency_sum: float = 0.0
    latency_most: float = 0.0
    control: Counter[str] = field(default_factory=Counter)
    traffic: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def delivery(self, hops: int, latency: float) -> None:
        """An event has reached a client."""
        self.delivered += 1
        self.hops[hops] += 1
        self.latency_sum += latency
        self.latency_most = max(self.latency_most, latency)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of a simulation at one moment.

    ``tables`` counts the entries that each broker holds for its neighbours, ``local`` those for its clients,
    ``advertisements`` the advertisements it holds for its neighbours; ``traffic`` the notifications over each link.
    ``relations_asked`` counts what brokers asked about filters, ``relations_decided`` what was not known yet,
    ``relation_checks`` the pairs of filters compared for that, ``relations_seconds`` the CPU time it took.
    """

    published: int
    delivered: int
    forwarded: int
    wasted: int
    lost: int
    bytes: int
    hops_mean: float
    hops_most: int
    latency_mean: float
    latency_most: float
    control: Mapping[str, int]
    tables: Mapping[str, int]
    local: Mapping[str, int]
    advertisements: Mapping[str, int]
    traffic: Mapping[tuple[str, str], int]
    relations_asked: Mapping[str, int]
    relations_decided: Mapping[str, int]
    relation_checks: int
    relations_seconds: float
    dead_letters: Mapping[str, int]
    problems: Mapping[str, int]

    @property
    def table_entries(self) -> int:
        """Entries for neighbours, over all brokers."""
        return sum(self.tables.values())

    @property
    def control_messages(self) -> int:
        """Messages between brokers that are not events."""
        return sum(self.control.values())

    def summary(self) -> dict[str, Any]:
        """The figures without those of single brokers and links, ready for JSON."""
        whole = asdict(self)
        for part in ("tables", "local", "advertisements", "traffic"):
            del whole[part]
        per_broker = list(self.tables.values())
        return {
            **whole,
            "table_entries": self.table_entries,
            "table_most": max(per_broker, default=0),
            "local_entries": sum(self.local.values()),
            "advertisement_entries": sum(self.advertisements.values()),
            "control_messages": self.control_messages,
        }
