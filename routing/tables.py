"""What a broker knows and what it tells: entries by interface, and a reduction for each neighbour.

Rule 1  An entry is a filter under a key, held for the interface it came from; nothing else is state.
Rule 2  A neighbour is told what the strategy makes of the entries of all other interfaces; with advertisements, of
        those that overlap an advertisement from that neighbour.
Rule 3  A subscription that no event can match is held, so that it can be withdrawn, and told to nobody.
Rule 4  When everything is withdrawn, everything here is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conceptpubsub.filters import Filter
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.forwarding import Forwarding
from conceptpubsub.routing.gates import SHUT, Gate
from conceptpubsub.routing.messages import Advertise, Message, Subscribe, Unadvertise, Unsubscribe
from conceptpubsub.routing.strategy import Change, Interface, Member, Reduction, Strategy

Outputs = list[tuple[str, Message]]
Held = tuple[str, Filter]


class Told(NamedTuple):
    """What one neighbour is told."""

    subscriptions: Reduction
    advertisements: Reduction


class Tables:
    """The routing tables of one broker."""

    def __init__(
        self, strategy: Strategy, comparison: Comparison, forwarding: Forwarding, advertisements: bool
    ) -> None:
        self.strategy = strategy
        self.comparison = comparison
        self.forwarding = forwarding
        self.gated = advertisements and not strategy.floods
        self.subscriptions: dict[Interface, dict[str, Filter]] = {}
        self.advertisements: dict[Interface, dict[str, Filter]] = {}
        self.told: dict[str, Told] = {}
        self._gates: dict[str, Gate] = {}

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, interface: Interface, held: Iterable[Held]) -> Outputs:
        """An interface wants the events of these filters."""
        entries = self.subscriptions.setdefault(interface, {})
        fresh: list[Held] = []
        for key, filter in held:
            entries[key] = filter
            self.forwarding.add(interface, key, filter)
            if self.comparison.satisfiable(filter):
                fresh.append((key, filter))
        return self._retell(interface, fresh, ())

    def unsubscribe(self, interface: Interface, keys: Iterable[str]) -> Outputs:
        """An interface no longer wants the events of these filters."""
        entries = self.subscriptions[interface]
        gone = list(keys)
        for key in gone:
            del entries[key]
            self.forwarding.remove(interface, key)
        if not entries:
            del self.subscriptions[interface]
        return self._retell(interface, (), gone)

    def _retell(self, interface: Interface, added: Iterable[Held], removed: Iterable[str]) -> Outputs:
        outputs: Outputs = []
        fresh: list[tuple[Member, Filter]] = [((interface, key), filter) for key, filter in added]
        gone: list[Member] = [(interface, key) for key in removed]
        for neighbour, told in self.told.items():
            if neighbour != interface:
                wanted = [pair for pair in fresh if self._open(neighbour, pair[1])] if self.gated else fresh
                outputs += _subscriptions(neighbour, told.subscriptions.change(wanted, gone))
        return outputs

    # ------------------------------------------------------------------ advertisements

    def advertise(self, interface: Interface, held: Iterable[Held]) -> Outputs:
        """Events of these filters may come from an interface; what overlaps them is wanted there."""
        entries = self.advertisements.setdefault(interface, {})
        fresh = list(held)
        entries.update(fresh)
        outputs = self._readvertise(interface, fresh, ())
        if self.gated and isinstance(interface, str) and interface in self.told:
            self._gates[interface] = self.comparison.gates.of(entries.values())
            subscriptions = self.told[interface].subscriptions
            wanted = [
                (member, filter)
                for member, filter in self._members(interface)
                if member not in subscriptions and self._open(interface, filter)
            ]
            outputs += _subscriptions(interface, subscriptions.change(wanted))
        return outputs

    def unadvertise(self, interface: Interface, keys: Iterable[str]) -> Outputs:
        """Events of these filters no longer come from an interface."""
        entries = self.advertisements[interface]
        gone = list(keys)
        for key in gone:
            del entries[key]
        if not entries:
            del self.advertisements[interface]
        outputs = self._readvertise(interface, (), gone)
        if isinstance(interface, str):
            self._gates.pop(interface, None)
        if self.gated and isinstance(interface, str) and interface in self.told:
            if entries:
                self._gates[interface] = self.comparison.gates.of(entries.values())
            subscriptions = self.told[interface].subscriptions
            idle = [
                member
                for member, filter in self._members(interface)
                if member in subscriptions and not self._open(interface, filter)
            ]
            outputs += _subscriptions(interface, subscriptions.change((), idle))
        return outputs

    def _readvertise(self, interface: Interface, added: Iterable[Held], removed: Iterable[str]) -> Outputs:
        if not self.gated:
            return []
        outputs: Outputs = []
        fresh: list[tuple[Member, Filter]] = [((interface, key), filter) for key, filter in added]
        gone: list[Member] = [(interface, key) for key in removed]
        for neighbour, told in self.told.items():
            if neighbour != interface:
                outputs += _advertisements(neighbour, told.advertisements.change(fresh, gone))
        return outputs

    def _open(self, neighbour: str, filter: Filter) -> bool:
        """Whether something that a subscription wants may come from a neighbour."""
        return self.comparison.gates.lets(self._gates.get(neighbour, SHUT), filter)

    def _members(self, apart_from: Interface) -> Iterator[tuple[Member, Filter]]:
        """The subscriptions of all other interfaces that some event can match."""
        for interface, entries in self.subscriptions.items():
            if interface != apart_from:
                for key, filter in entries.items():
                    if self.comparison.satisfiable(filter):
                        yield (interface, key), filter

    # ------------------------------------------------------------------ neighbours

    def connect(self, neighbour: str) -> Outputs:
        """A neighbour is there and knows nothing: tell it all it is to know."""
        strategy, comparison = self.strategy, self.comparison
        told = Told(strategy.subscriptions(comparison), strategy.advertisements(comparison))
        self.told[neighbour] = told
        outputs: Outputs = []
        if self.gated:
            held = [
                ((interface, key), filter)
                for interface, entries in self.advertisements.items()
                if interface != neighbour
                for key, filter in entries.items()
            ]
            outputs += _advertisements(neighbour, told.advertisements.change(held))
        wanted = [pair for pair in self._members(neighbour) if not self.gated or self._open(neighbour, pair[1])]
        return outputs + _subscriptions(neighbour, told.subscriptions.change(wanted))

    def disconnect(self, neighbour: str) -> Outputs:
        """A neighbour is lost: forget what it said and what it was told."""
        self.told.pop(neighbour, None)
        return self.forget(neighbour)

    def forget(self, interface: Interface) -> Outputs:
        """Withdraw everything that an interface holds."""
        outputs: Outputs = []
        if interface in self.advertisements:
            outputs += self.unadvertise(interface, list(self.advertisements[interface]))
        if interface in self.subscriptions:
            outputs += self.unsubscribe(interface, list(self.subscriptions[interface]))
        return outputs


def _subscriptions(neighbour: str, change: Change) -> Outputs:
    outputs: Outputs = [(neighbour, Subscribe(key, filter)) for key, filter in change.announce]
    return outputs + [(neighbour, Unsubscribe(key)) for key in change.withdraw]


def _advertisements(neighbour: str, change: Change) -> Outputs:
    outputs: Outputs = [(neighbour, Advertise(key, filter)) for key, filter in change.announce]
    return outputs + [(neighbour, Unadvertise(key)) for key in change.withdraw]
