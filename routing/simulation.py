"""The simulator: brokers on a tree of links, driven by one clockwork. The same seed gives the same run.

Rule 1  The simulator is a driver: it moves messages and keeps time, and every decision is a broker's.
Rule 2  Clients sit at their broker: what they say and what they are sent takes no time. Links take theirs.
Rule 3  Faults are the driver's too: a link or broker that fails loses what is on its way; both ends are told, and told
        again when it is back. A broker that restarts knows nothing, and its clients attach anew.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from conceptpubsub.errors import NetworkError
from conceptpubsub.model import Ontology
from conceptpubsub.routing import messages as m
from conceptpubsub.routing.broker import Broker
from conceptpubsub.routing.clients import Client
from conceptpubsub.routing.comparing import comparison as comparison_of
from conceptpubsub.routing.forwarding import Forwarding, OwnForwarding
from conceptpubsub.routing.kernel import Kernel
from conceptpubsub.routing.links import Sizes, Wires
from conceptpubsub.routing.metrics import Metrics, Tally
from conceptpubsub.routing.network import Network
from conceptpubsub.routing.sharing import SharedForwarding, SharedMatching
from conceptpubsub.routing.strategies import strategy as strategy_of
from conceptpubsub.routing.strategy import Strategy
from conceptpubsub.routing.wire import NAMES, Wire


class Simulation:
    """A network of brokers at work.

    >>> sim = Simulation(Network.line(3), strategy="covering")
    >>> warm, sensor = sim.client("B1"), sim.client("B3")
    >>> name = warm.subscribe("t > 25")
    >>> sim.run()
    2
    >>> number = sensor.publish({"t": 30})
    >>> sim.run(), [event["t"].value for event in warm.received]
    (2, [30])
    >>> sim.metrics.table_entries, sim.metrics.forwarded
    (2, 2)
    """

    def __init__(
        self,
        network: Network,
        strategy: str | Strategy = "covering",
        *,
        advertisements: bool = False,
        seed: int = 0,
        comparison: str = "semantic",
        sharing: bool = False,
        encode: bool = False,
        ontologies: Iterable[Ontology] = (),
        record: bool = True,
        **options: Any,
    ) -> None:
        self.network = network
        self.strategy = strategy_of(strategy, **options)
        self.advertisements = advertisements
        self.seed = seed
        self.record = record
        self.kernel = Kernel()
        self.tally = Tally()
        self.comparison = comparison_of(comparison, time.process_time)
        self.clients: dict[str, Client] = {}
        self._encode = encode
        shared = SharedMatching() if sharing else None
        self._forwarding: Callable[[], Forwarding] = (
            OwnForwarding if shared is None else lambda: SharedForwarding(shared)
        )
        self._wire = Wire(ontologies)
        self._sizes = Sizes(self._wire)
        self._at: dict[str, dict[str, Client]] = {broker: {} for broker in network.brokers}
        self._links: dict[tuple[str, str], Wires] = {}
        for link in network.links:
            self._links[link.a, link.b] = self._links[link.b, link.a] = Wires(link)
        self._published_at: dict[tuple[str, int], float] = {}
        self._fallen: Counter[str] = Counter()
        self.brokers: dict[str, Broker] = {name: self._broker(name, True) for name in network.brokers}

    def _broker(self, name: str, connected: bool) -> Broker:
        network = self.network
        return Broker(
            name,
            network.neighbours(name),
            self.strategy,
            advertisements=self.advertisements,
            route=lambda to: network.next_hop(name, to),
            comparison=self.comparison,
            forwarding=self._forwarding(),
            connected=connected,
        )

    # ------------------------------------------------------------------ running

    @property
    def now(self) -> float:
        """The simulated time, in seconds."""
        return self.kernel.now

    def run(self, until: float = math.inf) -> int:
        """Run until nothing is left to do, or to a time; returns how many steps that took."""
        return self.kernel.run(until)

    def at(self, moment: float, action: Callable[[], None]) -> None:
        """Do something at a simulated time."""
        self.kernel.at(moment, action)

    def client(self, broker: str, name: str | None = None) -> Client:
        """A new client at a broker."""
        self.network.known(broker)
        name = f"C{len(self.clients) + 1}" if name is None else name
        if name in self.clients or name in self.network.brokers:
            raise NetworkError(f"there is a client or broker '{name}' already", name=name)
        made = self.clients[name] = Client(self, name, broker)
        self._at[broker][name] = made
        made.connect()
        return made

    # ------------------------------------------------------------------ what clients ask of the driver

    def is_up(self, broker: str) -> bool:
        """Whether a broker runs."""
        return broker in self.brokers

    def say(self, client: Client, message: m.Message) -> None:
        """A client speaks to its broker."""
        self._receive(client.broker, message, client.name, 0)

    def publish(self, client: Client, message: m.Publish) -> None:
        """A client publishes."""
        self.tally.published += 1
        self._published_at[message.identity] = self.now
        self._receive(client.broker, message, client.name, 0)

    def move(self, client: Client, broker: str) -> None:
        """A client goes to another broker."""
        del self._at[client.broker][client.name]
        client.broker = broker
        self._at[broker][client.name] = client

    def forget(self, client: Client) -> None:
        """A client has left."""
        self._at[client.broker].pop(client.name, None)

    # ------------------------------------------------------------------ messages

    def _receive(self, at: str, message: m.Message, from_: str, hops: int) -> None:
        broker = self.brokers.get(at)
        if broker is None:
            self.tally.lost += 1
            return
        if self._encode:
            outputs = broker.receive_bytes(self._wire.encode(message), from_, self._wire)
        else:
            outputs = broker.receive(message, from_)
        used = False
        for to, made in outputs:
            if to in broker.neighbours:
                used |= type(made) is m.Publish
                self._send(at, to, made, hops + 1)
            else:
                used |= type(made) is m.Deliver
                self._deliver(to, made, hops)
        if hops and not used and type(message) is m.Publish:
            self.tally.wasted += 1

    def _send(self, at: str, to: str, message: m.Message, hops: int) -> None:
        wires = self._links[at, to]
        size = self._sizes.of(message)
        tally = self.tally
        tally.bytes += size
        if type(message) is m.Publish:
            tally.forwarded += 1
            tally.traffic[at, to] += 1
        else:
            tally.control[NAMES[type(message)]] += 1
        generation = wires.generation

        def arrive() -> None:
            if wires.generation == generation:
                self._receive(to, message, at, hops)
            else:
                tally.lost += 1

        self.kernel.at(wires.channels[at].arrival(self.now, size), arrive)

    def _deliver(self, to: str, message: m.Message, hops: int) -> None:
        if type(message) is m.Deliver:
            self.tally.delivery(hops, self.now - self._published_at[message.publisher, message.sequence])
        elif type(message) is m.Problem:
            self.tally.problems[message.about] += 1
        self.clients[to].receive(message)

    # ------------------------------------------------------------------ faults

    def link_down(self, a: str, b: str) -> None:
        """A link fails, with everything on its way."""
        self._wires(a, b).intact = False
        self._update(a, b)

    def link_up(self, a: str, b: str) -> None:
        """A link is repaired."""
        self._wires(a, b).intact = True
        self._update(a, b)

    def crash(self, broker: str) -> None:
        """A broker fails and forgets everything."""
        self.network.known(broker)
        fallen = self.brokers.pop(broker, None)
        if fallen is None:
            return
        self._fallen += fallen.dead_letters
        fallen.tables.forwarding.clear()
        for client in self._at[broker].values():
            client.disconnect()
        for neighbour in self.network.neighbours(broker):
            self._update(broker, neighbour)

    def restart(self, broker: str) -> None:
        """A broker that failed starts anew; its clients attach again."""
        self.network.known(broker)
        if broker in self.brokers:
            return
        self.brokers[broker] = self._broker(broker, False)
        for neighbour in self.network.neighbours(broker):
            self._update(broker, neighbour)
        for client in list(self._at[broker].values()):
            client.connect()

    def _wires(self, a: str, b: str) -> Wires:
        self.network.link(a, b)
        return self._links[a, b]

    def _update(self, a: str, b: str) -> None:
        """Tell both ends of a link when it has gone, or has come back."""
        wires = self._wires(a, b)
        up = wires.intact and a in self.brokers and b in self.brokers
        if up == wires.up:
            return
        wires.up = up
        if not up:
            wires.generation += 1
            wires.reset()
        notice = m.LinkUp() if up else m.LinkDown()
        for end in (a, b):
            if end in self.brokers:
                self._receive(end, notice, wires.link.other(end), 0)

    # ------------------------------------------------------------------ figures

    @property
    def tables(self) -> dict[str, dict[str, dict[str, str]]]:
        """What each broker holds for each neighbour: filters as text, by digest; empty neighbours are left out."""
        return {
            name: {
                neighbour: {filter.digest: str(filter) for filter in entries.values()}
                for neighbour, entries in broker.tables.subscriptions.items()
                if isinstance(neighbour, str)
            }
            for name, broker in self.brokers.items()
        }

    @property
    def metrics(self) -> Metrics:
        """The figures as they stand."""
        tally, comparison = self.tally, self.comparison
        dead = sum((broker.dead_letters for broker in self.brokers.values()), self._fallen)
        return Metrics(
            published=tally.published,
            delivered=tally.delivered,
            forwarded=tally.forwarded,
            wasted=tally.wasted,
            lost=tally.lost,
            bytes=tally.bytes,
            hops_mean=sum(hops * count for hops, count in tally.hops.items()) / max(1, tally.delivered),
            hops_most=max(tally.hops, default=0),
            latency_mean=tally.latency_sum / max(1, tally.delivered),
            latency_most=tally.latency_most,
            control=dict(tally.control),
            tables=self._entries("subscriptions", str),
            local=self._entries("subscriptions", tuple),
            advertisements=self._entries("advertisements", str),
            traffic=dict(tally.traffic),
            relations_asked=dict(comparison.asked),
            relations_decided=dict(comparison.decided),
            relation_checks=comparison.checks,
            relations_seconds=comparison.seconds,
            dead_letters=dict(dead),
            problems=dict(tally.problems),
        )

    def _entries(self, kind: str, of: type) -> dict[str, int]:
        return {
            name: sum(len(held) for at, held in getattr(broker.tables, kind).items() if isinstance(at, of))
            for name, broker in self.brokers.items()
        }
