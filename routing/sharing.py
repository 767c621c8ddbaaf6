"""Forwarding with shared work: the brokers of one simulation match an event once, and each looks up its interfaces.

Rule 1  The answers are those of `OwnForwarding`; tests compare them.
Rule 2  Equal filters of all brokers are one filter here. Which of them an event matches, and which interfaces of which
        broker want it for that, is found once and kept while the event is on its way and no filter comes or goes.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing.strategy import Interface

KEPT_EVENTS = 1024
NOBODY: frozenset[Interface] = frozenset()


class Found(NamedTuple):
    """What is known of an event: the filters that match it, by number, and by broker the interfaces they are for."""

    event: SemanticEvent
    filters: frozenset[int]
    interfaces: dict[int, set[Interface]]


class SharedMatching:
    """The distinct filters of all brokers in one Matcher, by number, and who holds them."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._numbers: dict[str, int] = {}
        self._holders: dict[int, dict[tuple[int, Interface], int]] = {}
        self._next = 0
        self._brokers = 0
        self._found: dict[int, Found] = {}

    def broker(self) -> int:
        """A number for one more broker."""
        self._brokers += 1
        return self._brokers

    def hold(self, filter: Filter, broker: int, interface: Interface) -> int:
        """The number of a filter, which a broker holds for an interface, once more if it did already."""
        number = self._numbers.get(filter.digest)
        if number is None:
            number = self._numbers[filter.digest] = self._next
            self._next += 1
            self._matcher.add(number, filter)
            self._holders[number] = {}
        holders, holder = self._holders[number], (broker, interface)
        holders[holder] = holders.get(holder, 0) + 1
        self._found.clear()
        return number

    def release(self, number: int, filter: Filter, broker: int, interface: Interface) -> None:
        """A broker holds a filter for an interface once less."""
        holders, holder = self._holders[number], (broker, interface)
        left = holders.pop(holder) - 1
        if left:
            holders[holder] = left
        elif not holders:
            del self._holders[number], self._numbers[filter.digest]
            self._matcher.remove(number)
        self._found.clear()

    def number(self, filter: Filter) -> int:
        """The number of a filter that is held."""
        return self._numbers[filter.digest]

    def found(self, event: SemanticEvent) -> Found:
        """What is known of an event."""
        known = self._found.get(id(event))
        if known is None:
            matched: list[int] = self._matcher.match(event)  # type: ignore[assignment]
            interfaces: dict[int, set[Interface]] = {}
            for number in matched:
                for broker, interface in self._holders[number]:
                    if broker in interfaces:
                        interfaces[broker].add(interface)
                    else:
                        interfaces[broker] = {interface}
            if len(self._found) >= KEPT_EVENTS:
                del self._found[next(iter(self._found))]
            known = self._found[id(event)] = Found(event, frozenset(matched), interfaces)
        return known


class SharedForwarding:
    """One broker's part: which interfaces hold which of the filters.

    >>> shared = SharedMatching()
    >>> one, other = SharedForwarding(shared), SharedForwarding(shared)
    >>> one.add("B2", "a", Filter.parse("x > 5")); other.add("B1", "b", Filter.parse("x > 7"))
    >>> event = SemanticEvent("Reading", {"x": 6})
    >>> set(one.interfaces(event)), set(other.interfaces(event))
    ({'B2'}, set())
    """

    def __init__(self, shared: SharedMatching) -> None:
        self._shared = shared
        self._broker = shared.broker()
        self._held: dict[tuple[Interface, str], tuple[int, Filter]] = {}

    def add(self, interface: Interface, key: str, filter: Filter) -> None:
        self._held[interface, key] = self._shared.hold(filter, self._broker, interface), filter

    def remove(self, interface: Interface, key: str) -> None:
        number, filter = self._held.pop((interface, key))
        self._shared.release(number, filter, self._broker, interface)

    def interfaces(self, event: SemanticEvent) -> Set[Interface]:
        return self._shared.found(event).interfaces.get(self._broker, NOBODY)

    def matches(self, filter: Filter, event: SemanticEvent) -> bool:
        return self._shared.number(filter) in self._shared.found(event).filters

    def clear(self) -> None:
        for interface, key in list(self._held):
            self.remove(interface, key)

    def __len__(self) -> int:
        return len(self._held)
