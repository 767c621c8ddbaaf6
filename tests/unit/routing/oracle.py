"""The central evaluator: what each client of a network must, may and may not receive, by the reference evaluator.

A *window* lies between two moments of rest (nothing on its way). An event must reach a subscription that was settled
when it was published and still stands at the end of the window; it may reach one that stood at any time from then on;
it must not reach any other. With faults, nothing must arrive that was published while the network was broken, and what
may arrive may arrive later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters import Filter
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing import Simulation
from conceptpubsub.routing.clients import Client, as_event

NEVER = 1 << 60


@dataclass
class Promise:
    """A subscription or advertisement: when it was made, settled and withdrawn."""

    filter: Filter
    made: int
    settled: int = NEVER
    withdrawn: int = NEVER

    def matches(self, event: SemanticEvent) -> bool:
        try:
            return self.filter.matches(event)
        except ConceptPubSubError:
            return False


@dataclass
class Published:
    """An event, when it was published, and whether it was while the network was whole."""

    publisher: str
    sequence: int
    event: SemanticEvent
    made: int
    whole: bool


@dataclass
class Oracle:
    """Drives a simulation and says, at each rest, whether every client got what it should have."""

    sim: Simulation
    step: int = 0
    subscriptions: dict[str, dict[str, Promise]] = field(default_factory=dict)
    advertisements: dict[str, dict[str, Promise]] = field(default_factory=dict)
    ended: dict[str, list[tuple[str, Promise]]] = field(default_factory=dict)
    events: list[Published] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    whole: bool = True
    broken: set[object] = field(default_factory=set)

    # ------------------------------------------------------------------ what clients do

    def client(self, broker: str) -> Client:
        made = self.sim.client(broker)
        self.subscriptions[made.name], self.advertisements[made.name], self.ended[made.name] = {}, {}, []
        self.step += 1
        return made

    def subscribe(self, client: Client, filter: Filter) -> None:
        self.step += 1
        self.subscriptions[client.name][client.subscribe(filter)] = Promise(filter, self.step)

    def advertise(self, client: Client, filter: Filter) -> None:
        self.step += 1
        self.advertisements[client.name][client.advertise(filter)] = Promise(filter, self.step)

    def unsubscribe(self, client: Client, name: str) -> None:
        self.step += 1
        client.unsubscribe(name)
        self._end(client, "subscription", self.subscriptions[client.name].pop(name))

    def unadvertise(self, client: Client, name: str) -> None:
        self.step += 1
        client.unadvertise(name)
        self._end(client, "advertisement", self.advertisements[client.name].pop(name))

    def _end(self, client: Client, kind: str, promise: Promise) -> None:
        promise.withdrawn = self.step
        self.ended[client.name].append((kind, promise))

    def publish(self, client: Client, event: object) -> None:
        self.step += 1
        made = as_event(event)  # type: ignore[arg-type]
        self.events.append(Published(client.name, client.publish(made), made, self.step, self.whole))

    def roam(self, client: Client, broker: str) -> None:
        self.step += 1
        client.roam(broker)

    def leave(self, client: Client) -> None:
        self.step += 1
        for held, kind in ((self.subscriptions, "subscription"), (self.advertisements, "advertisement")):
            for promise in held[client.name].values():
                self._end(client, kind, promise)
            held[client.name] = {}
        client.leave()

    # ------------------------------------------------------------------ faults

    def fault(self, what: object, action: object) -> None:
        """Something breaks: whatever is on its way may be lost."""
        self.step += 1
        self.whole = False
        self.broken.add(what)
        for published in self.events:
            published.whole = False
        for held in (*self.subscriptions.values(), *self.advertisements.values()):
            for promise in held.values():
                promise.settled = NEVER
        action()  # type: ignore[operator]

    def repair(self, what: object, action: object) -> None:
        self.step += 1
        self.broken.discard(what)
        action()  # type: ignore[operator]

    # ------------------------------------------------------------------ judging

    def rest(self) -> None:
        """Let everything arrive, then judge."""
        self.sim.run()
        self.step += 1
        for client in self.sim.clients.values():
            self._judge(client)
        if not self.broken:
            self.whole = True
            self.events.clear()
            for held in (*self.subscriptions.values(), *self.advertisements.values()):
                for promise in held.values():
                    promise.settled = min(promise.settled, self.step)
            for ended in self.ended.values():
                ended.clear()
            assert not any(broker.sessions.passing for broker in self.sim.brokers.values())
            assert all(client.attached or client.left for client in self.sim.clients.values())
        else:
            for published in self.events:
                published.whole = False

    def _judge(self, client: Client) -> None:
        fresh = [(d.publisher, d.sequence) for d in client.deliveries]
        assert len(set(fresh)) == len(fresh), f"{client} got an event twice"
        last: dict[str, int] = {}
        for publisher, sequence in fresh:
            assert last.get(publisher, 0) < sequence, f"{client} got events of {publisher} out of order"
            last[publisher] = sequence
        new = set(fresh[self.checked[client.name] :])
        known = {(p.publisher, p.sequence): p for p in self.events}
        assert new <= known.keys(), f"{client} got events of an earlier time: {new - known.keys()}"
        got = set(fresh)
        for identity, published in known.items():
            must, may = self._owed(client, published)
            if must:
                assert identity in got, f"{client} missed {published}"
            if not may:
                assert identity not in got, f"{client} should not have got {published}"
        self.checked[client.name] = len(fresh)

    def _owed(self, client: Client, published: Published) -> tuple[bool, bool]:
        told, might = self._promised(self.advertisements, "advertisement", published.publisher, published)
        if not self.sim.advertisements:
            told, might = True, True
        wanted, perhaps = self._promised(self.subscriptions, "subscription", client.name, published)
        return told and wanted and published.whole, might and perhaps

    def _promised(
        self, held: dict[str, dict[str, Promise]], kind: str, client: str, published: Published
    ) -> tuple[bool, bool]:
        """Whether a promise that stood all the while matches an event, and whether one that stood for a while does."""
        must = may = False
        for promise in held[client].values():
            if promise.matches(published.event):
                may = True
                must |= promise.settled < published.made
        for was, promise in self.ended[client]:
            may |= was == kind and promise.withdrawn > published.made and promise.matches(published.event)
        return must, may

    # ------------------------------------------------------------------ tables

    def check_tables(self) -> None:
        """The tables are those of a network built anew for the clients as they are now."""
        sim = self.sim
        fresh = Simulation(sim.network, sim.strategy, advertisements=sim.advertisements, comparison=sim.comparison.name)
        for old in sim.clients.values():
            if not old.left:
                made = fresh.client(old.broker, old.name)
                for promise in self.advertisements[old.name].values():
                    made.advertise(promise.filter)
                for promise in self.subscriptions[old.name].values():
                    made.subscribe(promise.filter)
        fresh.run()
        assert held(sim) == held(fresh)

    def check_empty(self) -> None:
        """When everything is withdrawn, nothing is left."""
        for client in self.sim.clients.values():
            if not client.leaving:
                self.leave(client)
        self.rest()
        for broker in self.sim.brokers.values():
            tables = broker.tables
            assert not tables.subscriptions
            assert not tables.advertisements
            assert not len(tables.forwarding)
            assert not broker.sessions.all
            assert not broker.sessions.present
            assert not broker.sessions.total
            assert not broker.sessions.passing
            for told in tables.told.values():
                assert told.subscriptions.is_empty()
                assert told.advertisements.is_empty()


def held(sim: Simulation) -> dict[str, dict[str, list[str]]]:
    """For each broker and neighbour, the filters held, as sorted digests of subscriptions and advertisements."""
    made: dict[str, dict[str, list[str]]] = {}
    for name, broker in sim.brokers.items():
        for kind, entries in (("s", broker.tables.subscriptions), ("a", broker.tables.advertisements)):
            for at, filters in entries.items():
                if isinstance(at, str):
                    made.setdefault(f"{name} {kind}", {})[at] = sorted(f.digest for f in filters.values())
    return made
