"""Sessions: subscribers of an expanded state who come and go, or cannot keep up.

Rule 1  What was delivered is never taken back; the session keeps the state that its deliveries add up to.
Rule 2  On reconnect a session gets the shortest sequence from that state to the present one, not all it missed.
Rule 3  A connected but slow session holds at most ``most`` events; beyond that, what waits is replaced by the shortest
        sequence with the same interpretation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import FlowError
from conceptpubsub.flow.arcs import Expand
from conceptpubsub.flow.collapse import State
from conceptpubsub.flow.events import Flowing, leave
from conceptpubsub.flow.expand import expand
from conceptpubsub.flow.functions import Failed

if TYPE_CHECKING:
    from conceptpubsub.flow.running import Flow
    from conceptpubsub.model import SemanticEvent


class Session:
    """A subscription to an expansion, which may disconnect, reconnect and lag.

    ``received`` holds what was delivered. With ``most`` set, events wait until `take` fetches them.
    """

    def __init__(self, flow: Flow, space: str, most: int | None = None) -> None:
        arc = next(
            (a for a in flow.graph.arcs if isinstance(a, Expand) and a.target == space and a.outputs is None), None
        )
        if arc is None:
            raise FlowError(f"'{space}' is no expansion of a state by its own events", name=space)
        self.flow, self.space, self.most = flow, space, most
        self.state = flow.states[arc.source]
        self.delivered = State(self.state.rule)
        self.delivered.rows.update(self.state.rows)
        self.connected = True
        self.received: list[SemanticEvent] = []
        self.waiting: deque[Mapping[str, Any]] = deque()
        self.saved = 0
        flow.sessions[space].append(self)

    def arrive(self, event: Flowing) -> None:
        """An event reaches the space."""
        if not self.connected:
            return
        if self.most is None:
            self._deliver(event.values, event)
            return
        self.waiting.append(event.values)
        if len(self.waiting) > self.most:
            self._shorten()

    def disconnect(self) -> None:
        """Stop receiving, without giving up the subscription."""
        self.connected = False

    def reconnect(self) -> int:
        """Receive again; first what brings the session up to date. Gives the number of events that took."""
        self.connected = True
        self.waiting.clear()
        caught_up = expand(self.state.rule, self.delivered.rows, self.state.rows)
        for values in caught_up:
            self._deliver(values, Flowing(values))
        return len(caught_up)

    def take(self, count: int) -> list[SemanticEvent]:
        """Fetch up to ``count`` waiting events, oldest first."""
        before = len(self.received)
        while self.waiting and len(self.received) - before < count:
            values = self.waiting.popleft()
            self._deliver(values, Flowing(values))
        return self.received[before:]

    def close(self) -> None:
        """Give up the subscription."""
        self.flow.sessions[self.space].remove(self)

    def _shorten(self) -> None:
        shorter = expand(self.state.rule, self.delivered.rows, self.state.rows)
        if len(shorter) < len(self.waiting):
            self.saved += len(self.waiting) - len(shorter)
            self.waiting = deque(shorter)

    def _deliver(self, values: Mapping[str, Any], event: Flowing) -> None:
        try:
            self.delivered.update(values)
        except Failed:
            return
        schema = self.flow.graph.spaces[self.space].schema
        self.received.append(leave(event.with_values(values), schema, self.space))
