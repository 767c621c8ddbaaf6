"""Where an event goes: one Matcher for each broker, whose interfaces are neighbours and the sessions of clients.

Rule 1  An interface is in the answer exactly when one of its filters matches the event.
Rule 2  Brokers of one simulation may share the work: `SharedForwarding` matches an event once for all of them, and
        answers as `Forwarding` does.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Protocol

from conceptpubsub.errors import LimitExceeded, MissingAttribute
from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing.strategy import Interface


class Forwarding(Protocol):
    """What a broker asks of its matcher."""

    def add(self, interface: Interface, key: str, filter: Filter) -> None:
        """Hold a filter for an interface."""

    def remove(self, interface: Interface, key: str) -> None:
        """Hold it no longer."""

    def interfaces(self, event: SemanticEvent) -> Set[Interface]:
        """The interfaces of which a filter matches."""

    def matches(self, filter: Filter, event: SemanticEvent) -> bool:
        """Whether a filter that is held matches; a missing reference under ``total`` is no match."""

    def clear(self) -> None:
        """Hold nothing any more."""

    def __len__(self) -> int: ...


class OwnForwarding:
    """A broker's own Matcher.

    >>> forwarding = OwnForwarding()
    >>> forwarding.add("B2", "a", Filter.parse("x > 5"))
    >>> forwarding.interfaces(SemanticEvent("Reading", {"x": 6}))
    {'B2'}
    """

    def __init__(self) -> None:
        self._matcher = Matcher()

    def add(self, interface: Interface, key: str, filter: Filter) -> None:
        self._matcher.add((interface, key), filter, interface)

    def remove(self, interface: Interface, key: str) -> None:
        self._matcher.remove((interface, key))

    def interfaces(self, event: SemanticEvent) -> set[Interface]:
        return self._matcher.interfaces(event)  # type: ignore[return-value]

    def matches(self, filter: Filter, event: SemanticEvent) -> bool:
        try:
            return filter.matches(event)
        except (MissingAttribute, LimitExceeded):
            return False

    def clear(self) -> None:
        self._matcher = Matcher()

    def __len__(self) -> int:
        return len(self._matcher)
