"""A flow graph at work in one process.

Every space keeps one order: events are carried through one at a time, so all subscribers of a space see the same
sequence. An event that cannot be read or transformed goes to the dead letters with the arc and the reason, and the
rest flows on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError, FlowError
from conceptpubsub.flow.arcs import Collapse, Expand, Map, Select
from conceptpubsub.flow.collapse import State, as_event
from conceptpubsub.flow.events import Flowing, enter, leave
from conceptpubsub.flow.functions import Failed
from conceptpubsub.flow.sessions import Session
from conceptpubsub.flow.transforms import Rate, compute

if TYPE_CHECKING:
    from conceptpubsub.flow.graph import FlowGraph
    from conceptpubsub.model import SemanticEvent

Callback = Callable[["SemanticEvent"], None]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that could not go on, where, and why."""

    place: str
    event: Any
    reason: str


class Flow:
    """Carries events through a graph.

    >>> from conceptpubsub.flow import FlowGraph
    >>> g = FlowGraph()
    >>> g.source("Trades", {"price": "real", "volume": "int"})
    >>> g.select("Trades", "Large", "price * volume >= 1000")
    >>> flow = g.run()
    >>> got = flow.subscribe("Large")
    >>> flow.publish("Trades", {"price": 12.5, "volume": 80}); flow.publish("Trades", {"price": 1, "volume": 1})
    >>> [dict(e.attributes)["price"].value for e in got]
    [12.5]
    """

    def __init__(self, graph: FlowGraph) -> None:
        self.graph = graph
        self.dead_letters: list[DeadLetter] = []
        self.states = {arc.target: State(arc.rule) for arc in graph.arcs if isinstance(arc, Collapse)}
        self.passed: dict[str, int] = defaultdict(int)
        self._out = defaultdict(list)
        for arc in graph.arcs:
            self._out[arc.source].append(arc)
        self._subscribers: dict[str, list[Callback]] = defaultdict(list)
        self.sessions: dict[str, list[Session]] = defaultdict(list)

    def subscribe(self, space: str, callback: Callback | None = None) -> list[SemanticEvent]:
        """Receive the events of a space: by a callback, and in the list that is returned."""
        space = self.graph.sides.get(space, space)
        if self.graph.space(space).is_state:
            raise FlowError(f"'{space}' is a state; subscribe to an expansion of it", name=space)
        received: list[SemanticEvent] = []
        self._subscribers[space].append(received.append if callback is None else callback)
        return received

    def session(self, space: str, most: int | None = None) -> Session:
        """Subscribe to the expansion of a state with the right to disconnect, reconnect and lag."""
        return Session(self, self.graph.sides.get(space, space), most)

    def publish(self, space: str, event: Any) -> None:
        """Publish one event to a source."""
        known = self.graph.space(space)
        if not known.is_source:
            raise FlowError(f"'{space}' is no source; sources are {self._sources()}", name=space)
        try:
            entered = enter(event, known.schema, self.graph.converters, space)
        except (Failed, ConceptPubSubError) as error:
            self.dead_letters.append(DeadLetter(f"source {space}", event, str(error)))
            return
        self._arrive(space, entered)

    def publish_all(self, space: str, events: Iterable[Any]) -> None:
        """Publish many events in their order."""
        for event in events:
            self.publish(space, event)

    def _sources(self) -> str:
        return ", ".join(name for name, space in self.graph.spaces.items() if space.is_source)

    def _arrive(self, space: str, event: Flowing) -> None:
        """An event reaches a space, and from there every space below, depth first in the order of the arcs."""
        stack = [(space, event)]
        while stack:
            name, arrived = stack.pop()
            self.passed[name] += 1
            if self._subscribers.get(name):
                self._deliver(name, arrived)
            for session in self.sessions.get(name, ()):
                session.arrive(arrived)
            going: list[tuple[str, Flowing]] = []
            for arc in self._out[name]:
                try:
                    going += self._along(arc, arrived)
                except Failed as failure:
                    self.dead_letters.append(DeadLetter(str(arc), dict(arrived.values), str(failure)))
            stack.extend(reversed(going))

    def _deliver(self, space: str, event: Flowing) -> None:
        made = leave(event, self.graph.spaces[space].schema, space)
        for callback in self._subscribers[space]:
            try:
                callback(made)
            except Exception as error:  # a subscriber's fault stops nobody else
                self.dead_letters.append(DeadLetter(f"subscriber of {space}", made, f"{type(error).__name__}: {error}"))

    def _along(self, arc: Any, event: Flowing) -> list[tuple[str, Flowing]]:
        match arc:
            case Select(_, target, select):
                seen = {**as_event(event.values), "@time": event.time, "@id": event.id, "@source": event.source}
                return [(target, event)] if select.matches(seen) else []
            case Map(_, target, transform):
                return [(target, event.with_values(transform.apply(event.values, self._rate(event))))]
            case Collapse(_, target, rule):
                key, before, after = self.states[target].update(event.values, self._rate(event))
                return self._expansions(target, rule.key, key, before, after, event)
            case _:
                return []

    def _expansions(
        self, state: str, name: str, key: Any, before: Any, after: Any, event: Flowing
    ) -> list[tuple[str, Flowing]]:
        """A connected subscriber of an expansion gets the event that changed the state, or what is derived from it."""
        found = []
        for arc in self._out[state]:
            if not isinstance(arc, Expand) or before == after:
                continue
            if arc.outputs is None:
                found.append((arc.target, event))
                continue
            columns = self.states[state].rule.columns
            row = {name: key, **{c: v for c, v in zip(columns, after, strict=True) if v is not None}}
            rate = self._rate(event)
            values = {n: compute(e, row, arc.functions, rate) for n, e in arc.outputs.items()}
            found.append((arc.target, event.with_values({n: v for n, v in values.items() if v is not None})))
        return found

    def _rate(self, event: Flowing) -> Rate:
        return lambda source, target: self.graph.converters.rate(source, target, event.time)
