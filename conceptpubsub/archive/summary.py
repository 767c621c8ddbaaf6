"""Summaries: what a run, or one task of it, did; counts that add up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted; the sum of the counts of all tasks is that of the run."""

    rows: int = 0
    """Rows and lines seen, whether an event could be made of them or not."""
    events: int = 0
    deliveries: int = 0
    by_subscription: Mapping[str, int] = field(default_factory=dict)
    by_concept: Mapping[str, int] = field(default_factory=dict)
    """Events of each concept."""
    delivered_by_concept: Mapping[str, int] = field(default_factory=dict)
    by_day: Mapping[str, int] = field(default_factory=dict)
    """Events of each day, UTC; ``none`` without a time."""
    delivered_by_day: Mapping[str, int] = field(default_factory=dict)
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    """Faults by reason."""
    missing_attributes: Mapping[str, int] = field(default_factory=dict)
    """Under ``total``: events that lack what the filter of a subscription names, by subscription."""

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """The sum of parts.

        >>> Counts.total([Counts(rows=1, by_day={"none": 1}), Counts(rows=2, by_day={"none": 2})]).by_day
        {'none': 3}
        """
        numbers: Counter[str] = Counter()
        tables: dict[str, Counter[str]] = {}
        for part in parts:
            for one in fields(cls):
                found = getattr(part, one.name)
                if isinstance(found, int):
                    numbers[one.name] += found
                else:
                    tables.setdefault(one.name, Counter()).update(found)
        whole: dict[str, Any] = {**numbers, **{name: dict(sorted(table.items())) for name, table in tables.items()}}
        return cls(**whole)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did. Two runs over the same archive compare equal, whichever engine and whether resumed or not."""

    counts: Counts
    out: str = field(compare=False)
    engine: str = field(compare=False)
    files: int = 0
    tasks: int = 0
    resumed: int = field(default=0, compare=False)
    """Tasks that an earlier, interrupted run had finished."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def events(self) -> int:
        """How many events were matched."""
        return self.counts.events

    @property
    def deliveries(self) -> int:
        """How many (event, subscription) pairs were delivered."""
        return self.counts.deliveries

    @property
    def dead_letters(self) -> int:
        """How many faults were set aside."""
        return sum(self.counts.dead_letters.values())

    def to_json(self) -> str:
        """As it is written beside the deliveries."""
        return json.dumps({"summary": 1, **asdict(self)}, indent=1, sort_keys=True)
