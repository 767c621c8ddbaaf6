"""Flow graphs on a broker network: selects become subscriptions in the interior, transforms run at the border.

A rewritten path is a subscription to its source with its select; the broker network routes it like any other. What
arrives is transformed at the subscriber's border, by the path that its source is tagged with. A subscription to a
derived space with a predicate of its own is rewritten when it arrives.

Order: every subscriber of a history sees one total order. A tree of FIFO links keeps each publisher's order, so a
history with one publisher needs nothing more, and `Flows.order` says so; the others go through one sequencing client,
whose own order every subscriber then sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError, FlowError
from conceptpubsub.filters import Filter
from conceptpubsub.flow.collapse import as_event
from conceptpubsub.flow.events import Flowing, enter, leave
from conceptpubsub.flow.expressions import Attribute, substitute
from conceptpubsub.flow.functions import Failed
from conceptpubsub.flow.normal_form import Path, normalised, publishers
from conceptpubsub.flow.predicates import read
from conceptpubsub.flow.running import DeadLetter
from conceptpubsub.flow.schema import Schema
from conceptpubsub.flow.steps import Prepare, Setting, Step
from conceptpubsub.flow.substitution import exchanged
from conceptpubsub.flow.transforms import Transform, compute
from conceptpubsub.model import SemanticEvent

if TYPE_CHECKING:
    from conceptpubsub.flow import FlowGraph
    from conceptpubsub.routing.clients import Client
    from conceptpubsub.routing.simulation import Simulation

RAW = " unsequenced"


@dataclass(slots=True)
class Reader:
    """A subscriber of a space somewhere in the network."""

    space: str
    paths: tuple[Path, ...]
    client: Client
    received: list[SemanticEvent]
    seen: int = 0


class Flows:
    """A rewritten flow graph at work on a simulated broker network.

    >>> from conceptpubsub.flow import FlowGraph
    >>> from conceptpubsub.routing import Network, Simulation
    >>> g = FlowGraph()
    >>> g.source("Trades", {"price": "real", "volume": "int"})
    >>> g.transform("Trades", "Capital", {"capital": "price * volume"})
    >>> flows = Flows(g.rewrite(), Simulation(Network.line(3)))
    >>> got = flows.subscribe("Capital", "B3", where="capital > 100")
    >>> flows.settle()
    >>> flows.publish("Trades", {"price": 30, "volume": 10}, "B1"); flows.settle()
    >>> [event["capital"].value for event in got.received], flows.order["Capital"]
    ([300], 'one publisher: FIFO links suffice')
    """

    def __init__(self, graph: FlowGraph, simulation: Simulation, sequencer: str | None = None) -> None:
        if not graph.paths:
            raise FlowError("give a rewritten graph: FlowGraph.rewrite()")
        self.graph, self.simulation = graph, simulation
        self.dead_letters: list[DeadLetter] = []
        self.readers: list[Reader] = []
        self._publishers: dict[tuple[str, str], Client] = {}
        self._prepared: dict[str, list[Prepare]] = {}
        self.paths = [self._renamed(path, number) for number, path in enumerate(graph.paths)]
        self.order = self._orders()
        self._sequenced = {p.source for p in self.paths if self.order[p.target].startswith("sequenced")}
        self._sequencer: Client | None = None
        self._sequencer_seen = 0
        if self._sequenced:
            at = sequencer or next(iter(simulation.network.brokers))
            self._sequencer = simulation.client(at, "sequencer")
            for source in sorted(self._sequenced):
                self._sequencer.subscribe(Filter.parse(f"EVENT ISA '{_text(source + RAW)}'"))
                if simulation.advertisements:
                    self._sequencer.advertise(Filter.parse(f"EVENT ISA '{_text(source)}'"))

    def _orders(self) -> dict[str, str]:
        """For each space, how its total order comes about."""
        feeding: dict[str, set[str]] = {}
        for path in self.paths:
            feeding.setdefault(path.target, set()).add(path.source)
        return {
            space: "one publisher: FIFO links suffice"
            if len(sources) == 1
            else f"sequenced: fed by {', '.join(sorted(sources))}"
            for space, sources in feeding.items()
        }

    def _renamed(self, path: Path, number: int) -> Path:
        """The path with auxiliary attributes of its own names: an event carries those of every path from its source."""
        prepare = path.prepare
        if prepare is None:
            return path
        names = {name: f"{name}_{number}" for name in prepare.outputs}
        exprs = {old: Attribute(new) for old, new in names.items()}
        setting = Setting(self.graph.spaces[path.source].schema, self.graph.converters)
        made = Prepare({names[name]: expr for name, expr in prepare.outputs.items()}, prepare.functions)
        self._prepared.setdefault(path.source, []).append(made)
        steps: list[Step] = [made]
        for step in path.steps[1:]:
            if isinstance(step, Filter):
                text = step
                for old, new in exprs.items():
                    text = setting.filter(exchanged(text, Attribute(old), new), str(path), _both(prepare, made))
                steps.append(text)
            elif isinstance(step, Transform):
                outputs = {name: substitute(expr, exprs) for name, expr in step.outputs.items()}
                checks = tuple(substitute(check, exprs) for check in step.checks)
                steps.append(Transform(outputs, checks, step.functions))
        return Path(path.source, path.target, path.through, tuple(steps))

    # ------------------------------------------------------------------ what applications call

    def publish(self, space: str, event: Any, broker: str) -> None:
        """Publish an event to a source at a broker; what is computed ahead is computed there."""
        if space not in publishers(self.graph):
            raise FlowError(f"'{space}' is no source", name=space)
        known = self.graph.spaces[space]
        try:
            entered = enter(event, known.schema, self.graph.converters, space)
            values = dict(entered.values)
            for prepare in self._prepared.get(space, ()):
                made = {
                    n: compute(e, entered.values, prepare.functions, self._rate(entered))
                    for n, e in prepare.outputs.items()
                }
                values.update((name, value) for name, value in made.items() if value is not None)
        except (Failed, ConceptPubSubError) as error:
            self.dead_letters.append(DeadLetter(f"source {space}", event, str(error)))
            return
        concept = space + RAW if space in self._sequenced else space
        self._publisher(space, broker).publish(
            SemanticEvent(concept, as_event(values), time=entered.time, id=entered.id, source=entered.source)
        )

    def subscribe(self, space: str, broker: str, where: str | None = None) -> Reader:
        """Subscribe to a space at a broker, with a predicate over the space's attributes if given."""
        paths = [path for path in self.paths if path.target == space]
        if not paths:
            self.graph.space(space)
            raise FlowError(f"no path leads to '{space}' from any source", name=space)
        if where is not None:
            predicate = read(where, self.graph.spaces[space].schema, self.graph.converters, f"subscription to {space}")
            paths = [self._narrowed(path, predicate) for path in paths]
        client = self.simulation.client(broker)
        for path in paths:
            client.subscribe(self._subscription(path))
        reader = Reader(space, tuple(paths), client, [])
        self.readers.append(reader)
        return reader

    def settle(self) -> None:
        """Run the network until nothing moves, and carry what arrived to its readers."""
        while True:
            self.simulation.run()
            if not self._resequence():
                break
        for reader in self.readers:
            deliveries = reader.client.deliveries
            for delivery in deliveries[reader.seen :]:
                self._arrived(reader, delivery.event)
            reader.seen = len(deliveries)

    # ------------------------------------------------------------------ inside

    def _publisher(self, space: str, broker: str) -> Client:
        found = self._publishers.get((space, broker))
        if found is None:
            found = self._publishers[space, broker] = self.simulation.client(broker)
            if self.simulation.advertisements:
                concept = space + RAW if space in self._sequenced else space
                found.advertise(Filter.parse(f"EVENT ISA '{_text(concept)}'"))
                self.simulation.run()  # subscriptions come to an advertisement before the first event does
        return found

    def _resequence(self) -> bool:
        """The sequencer passes on what it got, in the order it got it."""
        if self._sequencer is None:
            return False
        new = self._sequencer.deliveries[self._sequencer_seen :]
        self._sequencer_seen += len(new)
        for delivery in new:
            event = delivery.event
            self._sequencer.publish(event.replace(concept=event.concept.removesuffix(RAW)))
        return bool(new)

    def _narrowed(self, path: Path, predicate: Filter) -> Path:
        prepare = path.prepare
        plain = Path(path.source, path.target, path.through, (*path.steps, predicate))
        made = normalised(plain, self.graph)
        if made.prepare != prepare:
            raise FlowError(
                f"a subscription to {path.target} that tests what an opaque function computes: "
                "add a select to the graph, so that its sources compute it ahead",
                name=path.target,
            )
        return made

    def _subscription(self, path: Path) -> Filter:
        tag = f"EVENT ISA '{_text(path.source)}'"
        text = tag if path.select is None or not str(path.select) else f"{tag} AND ({path.select})"
        scope = None if path.select is None else path.select.scope
        types = None if scope is None else {n: {"number": "real"}.get(k, k) for n, k in scope.types.items()}
        return Filter.parse(text, converters=self.graph.converters, types=types or None)

    def _schema(self, source: str) -> Schema:
        setting = Setting(self.graph.spaces[source].schema, self.graph.converters)
        kinds: dict[str, Any] = dict(setting.schema)
        for prepare in self._prepared.get(source, ()):
            kinds.update(setting.extended(prepare, source))
        return kinds

    def _arrived(self, reader: Reader, event: SemanticEvent) -> None:
        """At the border: every path of the reader that starts at the event's source selects and transforms it."""
        for path in reader.paths:
            if path.source != event.concept:
                continue
            try:
                entered = enter(event, self._schema(path.source), self.graph.converters, path.source)
                if path.select is not None and not path.select.matches(event):
                    continue
                values: Mapping[str, Any] = entered.values
                if path.transform is not None:
                    values = path.transform.apply(values, self._rate(entered))
                else:
                    values = {
                        name: value for name, value in values.items() if name in self.graph.spaces[path.source].schema
                    }
                made = leave(entered.with_values(values), self.graph.spaces[path.target].schema, path.target)
            except (Failed, ConceptPubSubError) as error:
                self.dead_letters.append(DeadLetter(str(path), event, str(error)))
                continue
            reader.received.append(made)

    def _rate(self, event: Flowing) -> Any:
        return lambda source, target: self.graph.converters.rate(source, target, event.time)


def _both(one: Prepare, other: Prepare) -> Prepare:
    return Prepare({**one.outputs, **other.outputs}, {**one.functions, **other.functions})


def _text(name: str) -> str:
    return name.replace("'", "''")
