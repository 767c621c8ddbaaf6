"""Forwarding with shared work: the brokers of one simulation match an event once, and each looks up its interfaces.

Rule 1  The answers are those of `OwnForwarding`; tests compare them.
Rule 2  Equal filters of all brokers are one filter here. Which of them an event matches is found once and kept while
        the event is on its way and no filter comes or goes.
"""

from __future__ import annotations

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing.strategy import Interface

KEPT_EVENTS = 8192


class SharedMatching:
    """The distinct filters of all brokers in one Matcher, by number."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._numbers: dict[str, int] = {}
        self._holders: dict[int, int] = {}
        self._next = 0
        self._found: dict[int, tuple[SemanticEvent, frozenset[int]]] = {}

    def hold(self, filter: Filter) -> int:
        """The number of a filter, which one more broker holds."""
        number = self._numbers.get(filter.digest)
        if number is None:
            number = self._numbers[filter.digest] = self._next
            self._next += 1
            self._matcher.add(number, filter)
            self._found.clear()
        self._holders[number] = self._holders.get(number, 0) + 1
        return number

    def release(self, number: int, filter: Filter) -> None:
        """One broker less holds a filter."""
        left = self._holders[number] - 1
        if left:
            self._holders[number] = left
        else:
            del self._holders[number], self._numbers[filter.digest]
            self._matcher.remove(number)
            self._found.clear()

    def number(self, filter: Filter) -> int:
        """The number of a filter that is held."""
        return self._numbers[filter.digest]

    def found(self, event: SemanticEvent) -> frozenset[int]:
        """The numbers of the filters that match an event."""
        known = self._found.get(id(event))
        if known is None:
            if len(self._found) >= KEPT_EVENTS:
                self._found.clear()
            known = self._found[id(event)] = event, frozenset(self._matcher.match(event))  # type: ignore[arg-type]
        return known[1]


class SharedForwarding:
    """One broker's part: which interfaces hold which of the filters.

    >>> shared = SharedMatching()
    >>> one, other = SharedForwarding(shared), SharedForwarding(shared)
    >>> one.add("B2", "a", Filter.parse("x > 5")); other.add("B1", "b", Filter.parse("x > 7"))
    >>> event = SemanticEvent("Reading", {"x": 6})
    >>> one.interfaces(event), other.interfaces(event)
    ({'B2'}, set())
    """

    def __init__(self, shared: SharedMatching) -> None:
        self._shared = shared
        self._held: dict[tuple[Interface, str], tuple[int, Filter]] = {}
        self._holders: dict[int, dict[Interface, int]] = {}

    def add(self, interface: Interface, key: str, filter: Filter) -> None:
        number = self._shared.hold(filter)
        self._held[interface, key] = number, filter
        holders = self._holders.setdefault(number, {})
        holders[interface] = holders.get(interface, 0) + 1

    def remove(self, interface: Interface, key: str) -> None:
        number, filter = self._held.pop((interface, key))
        holders = self._holders[number]
        if holders[interface] > 1:
            holders[interface] -= 1
        else:
            del holders[interface]
            if not holders:
                del self._holders[number]
        self._shared.release(number, filter)

    def interfaces(self, event: SemanticEvent) -> set[Interface]:
        matched, holders = self._shared.found(event), self._holders
        wanted: set[Interface] = set()
        if len(matched) < len(holders):
            for number in matched:
                if number in holders:
                    wanted.update(holders[number])
        else:
            for number, held_for in holders.items():
                if number in matched:
                    wanted.update(held_for)
        return wanted

    def matches(self, filter: Filter, event: SemanticEvent) -> bool:
        return self._shared.number(filter) in self._shared.found(event)

    def clear(self) -> None:
        for interface, key in list(self._held):
            self.remove(interface, key)

    def __len__(self) -> int:
        return len(self._held)
