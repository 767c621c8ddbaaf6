"""The slow, obvious engine: every filter is asked, by the reference evaluator. It judges the fast ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conceptpubsub.errors import LimitExceeded, MissingAttribute
from conceptpubsub.filters.evaluate import MAX_BINDINGS
from conceptpubsub.matching.engine import Engine, Event, Fault
from conceptpubsub.matching.stats import MatcherStats, Work

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter


class ScanEngine(Engine):
    """Asks every filter."""

    name = "scan"

    def __init__(self) -> None:
        self._filters: dict[int, tuple[Filter, tuple[int, ...]]] = {}
        self._work = Work()

    def add(self, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        self._filters[slot] = filter, interfaces

    def remove(self, slot: int) -> None:
        del self._filters[slot]

    def match(self, event: Event, faults: list[Fault] | None = None) -> list[int]:
        found = []
        asked = list(self._filters.items())
        for slot, (filter, _) in asked:
            matched = answer(filter, event)
            if isinstance(matched, str):
                if faults is not None:
                    faults.append(Fault(0, slot, matched))
            elif matched:
                found.append(slot)
        self._work += Work(1, len(asked), len(found), len(asked))
        return found

    def interfaces(self, event: Event) -> set[int]:
        found: set[int] = set()
        for filter, interfaces in list(self._filters.values()):
            if not found.issuperset(interfaces) and answer(filter, event) is True:
                found.update(interfaces)
        return found

    def stats(self) -> MatcherStats:
        return MatcherStats(len(self._filters), {"at every event": len(self._filters)}, work=self._work)


def answer(filter: Filter, event: Event) -> bool | str:
    """Whether a filter matches an event, or why nobody can say; an event that is none raises."""
    try:
        return filter.matches(event)
    except MissingAttribute as error:
        return error.message
    except LimitExceeded as error:
        if error.facts.get("limit") != MAX_BINDINGS:
            raise
        return error.message
