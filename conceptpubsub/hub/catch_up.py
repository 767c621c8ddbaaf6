"""Catching up by meaning: instead of all that was missed, the shortest sequence with the same effect on a flow state.

A subscriber that keeps, say, the highest and the current price of each share needs at most two events a share,
however many were published while it was away. The state is that of a collapse in a flow graph; the sequence is what
``conceptpubsub.flow.expand`` finds from the state at the subscriber's place to the state now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError, FlowError
from conceptpubsub.flow.arcs import Collapse
from conceptpubsub.flow.collapse import State
from conceptpubsub.flow.events import Flowing, enter, leave
from conceptpubsub.flow.expand import expand
from conceptpubsub.flow.functions import Failed

if TYPE_CHECKING:
    from conceptpubsub.flow import FlowGraph
    from conceptpubsub.hub.durable import DurableSubscription
    from conceptpubsub.hub.hub import Hub
    from conceptpubsub.model import SemanticEvent


class Shortest:
    """Catch up with the shortest sequence that leads to the same state.

    >>> from conceptpubsub.flow import FlowGraph
    >>> graph = FlowGraph()
    >>> graph.source("Trades", {"name": "text", "price": "real"})
    >>> graph.collapse("Trades", "Current", key="name", rules=[{"set": {"current": "price"}}])
    >>> Shortest(graph, "Current").rule.columns
    ('current',)
    """

    def __init__(self, graph: FlowGraph, state: str) -> None:
        arc = next((a for a in graph.arcs if isinstance(a, Collapse) and a.target == state), None)
        if arc is None:
            raise FlowError(f"'{state}' is no state of the graph; a state is the target of a collapse", name=state)
        self.rule = arc.rule
        self.space = graph.space(arc.source)

    def sequence(self, hub: Hub, sub: DurableSubscription, start: int, end: int) -> list[SemanticEvent]:
        """The events that take the subscriber from the state before one offset to the state before another."""
        state, concept = State(self.rule), "Event"
        before: dict[Any, Any] | None = None
        for offset, event in sub.past.matching(sub.wish, 0, end):
            if offset >= start and before is None:
                before = state.snapshot()
            concept = event.concept
            self._fold(hub, state, event)
        made = expand(self.rule, before if before is not None else state.snapshot(), state.rows)
        events = [leave(Flowing(values), self.space.schema, self.space.name) for values in made]
        return [self._delivered(hub, sub, event.replace(concept=concept)) for event in events]

    def _fold(self, hub: Hub, state: State, event: SemanticEvent) -> None:
        known = {key: held for key, held in event.attributes.items() if key in self.space.schema}
        try:
            entered = enter(event.replace(attributes=known), self.space.schema, hub.converters, self.space.name)
            state.update(entered.values, lambda one, other: hub.converters.rate(one, other, event.time))
        except (Failed, ConceptPubSubError):  # such an event changes no state, here as in a flow
            return

    def _delivered(self, hub: Hub, sub: DurableSubscription, event: SemanticEvent) -> SemanticEvent:
        return hub.plans.deliver(event, hub.shapes.of(event), sub.context_number)
