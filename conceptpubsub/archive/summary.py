"""Summaries: what a run, or one task of it, did; counts that add up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
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
        tally = Tally()
        for part in parts:
            tally.add(part)
        return tally.counts()

    def tree(self) -> dict[str, Any]:
        """As JSON has it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class Tally:
    """A running sum of counts: of many tasks only what they come to is kept."""

    def __init__(self) -> None:
        self._numbers: Counter[str] = Counter()
        self._tables: dict[str, Counter[str]] = {}

    def add(self, part: Counts) -> None:
        """Add what one more task counted."""
        for name, found in part.tree().items():
            if isinstance(found, int):
                self._numbers[name] += found
            else:
                self._tables.setdefault(name, Counter()).update(found)

    def counts(self) -> Counts:
        """The sum so far."""
        tables = {name: dict(sorted(table.items())) for name, table in self._tables.items()}
        return Counts(**{**self._numbers, **tables})  # type: ignore[arg-type]


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
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps({"summary": 1, **own, "counts": self.counts.tree()}, indent=1, sort_keys=True)
