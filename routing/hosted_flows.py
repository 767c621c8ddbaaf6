"""A flow graph mapped on a network without rewriting: every derived space sits at a broker of its own.

The obvious mapping, and the one to compare with: a host subscribes to everything its arcs read, computes, and publishes
the result anew. All events travel to the host, wanted or not.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError, FlowError
from conceptpubsub.filters import Filter
from conceptpubsub.flow.arcs import Arc, Map, Select
from conceptpubsub.flow.collapse import as_event
from conceptpubsub.flow.events import enter, leave
from conceptpubsub.flow.functions import Failed
from conceptpubsub.flow.running import DeadLetter
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing.flows import Reader

if TYPE_CHECKING:
    from conceptpubsub.flow import FlowGraph
    from conceptpubsub.routing.clients import Client
    from conceptpubsub.routing.simulation import Simulation


class HostedFlows:
    """Selects and transforms of a graph, each target space hosted by a client at some broker."""

    def __init__(self, graph: FlowGraph, simulation: Simulation, seed: int = 0) -> None:
        self.graph, self.simulation = graph, simulation
        self.dead_letters: list[DeadLetter] = []
        self.readers: list[Reader] = []
        self._publishers: dict[tuple[str, str], Client] = {}
        rng = random.Random(seed)
        brokers = list(simulation.network.brokers)
        self._hosts: list[tuple[Client, list[Arc]]] = []
        self._seen: dict[str, int] = {}
        for name in dict.fromkeys(arc.target for arc in graph.arcs if isinstance(arc, Select | Map)):
            arcs = [arc for arc in graph.arcs if arc.target == name]
            host = simulation.client(rng.choice(brokers))
            for source in dict.fromkeys(arc.source for arc in arcs):
                host.subscribe(_tagged(source))
            self._hosts.append((host, arcs))

    def publish(self, space: str, event: Any, broker: str) -> None:
        """Publish an event to a source at a broker."""
        known = self.graph.spaces[space]
        if not known.is_source:
            raise FlowError(f"'{space}' is no source", name=space)
        try:
            entered = enter(event, known.schema, self.graph.converters, space)
        except (Failed, ConceptPubSubError) as error:
            self.dead_letters.append(DeadLetter(f"source {space}", event, str(error)))
            return
        if (space, broker) not in self._publishers:
            self._publishers[space, broker] = self.simulation.client(broker)
        self._publishers[space, broker].publish(
            SemanticEvent(space, as_event(entered.values), time=entered.time, id=entered.id, source=entered.source)
        )

    def subscribe(self, space: str, broker: str) -> Reader:
        """Subscribe to a space at a broker."""
        client = self.simulation.client(broker)
        client.subscribe(_tagged(self.graph.space(space).name))
        reader = Reader(space, (), client, [])
        self.readers.append(reader)
        return reader

    def settle(self) -> None:
        """Run until nothing moves: hosts answer what reached them, until none has anything new."""
        self.simulation.run()
        while self._answer():
            self.simulation.run()
        for reader in self.readers:
            schema = self.graph.spaces[reader.space].schema
            for delivery in reader.client.deliveries[reader.seen :]:
                entered = enter(delivery.event, schema, self.graph.converters, reader.space)
                reader.received.append(leave(entered, schema, reader.space))
            reader.seen = len(reader.client.deliveries)

    def _answer(self) -> bool:
        new = False
        for host, arcs in self._hosts:
            deliveries = host.deliveries[self._seen.get(host.name, 0) :]
            self._seen[host.name] = len(host.deliveries)
            new = new or bool(deliveries)
            for delivery in deliveries:
                for arc in arcs:
                    if arc.source == delivery.event.concept:
                        self._along(arc, delivery.event, host)
        return new

    def _along(self, arc: Arc, event: SemanticEvent, host: Client) -> None:
        if isinstance(arc, Select):
            if arc.filter.matches(event):
                host.publish(event.replace(concept=arc.target))
            return
        assert isinstance(arc, Map)
        try:
            entered = enter(event, self.graph.spaces[arc.source].schema, self.graph.converters, arc.source)
            rate = self.graph.converters.rate
            values = arc.transform.apply(entered.values, lambda a, b: rate(a, b, entered.time))
        except (Failed, ConceptPubSubError) as error:
            self.dead_letters.append(DeadLetter(str(arc), event, str(error)))
            return
        host.publish(event.replace(concept=arc.target, attributes=as_event(values)))


def _tagged(space: str) -> Filter:
    quoted = space.replace("'", "''")
    return Filter.parse(f"EVENT ISA '{quoted}'")
