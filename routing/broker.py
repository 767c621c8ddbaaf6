"""A broker, sans-IO: messages in, messages out; no clock, no socket, no thread.

Rule 1  ``receive(message, from_)`` returns what to send, as (to, message) pairs in order, to neighbours and clients.
Rule 2  Links keep order and lose nothing while they are up; one that was lost comes back with LinkUp and knows nothing.
Rule 3  Whatever others say, the broker keeps serving: what cannot be used is counted under its reason in
        ``dead_letters``, and a client is told.
Rule 4  ``HANDLERS`` and ``CLIENT_HANDLERS`` are the whole protocol: a message not listed for its sender is refused.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from conceptpubsub.errors import ConceptPubSubError, MessageError
from conceptpubsub.routing import messages as m
from conceptpubsub.routing.border import Border
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.delivering import faults
from conceptpubsub.routing.forwarding import Forwarding, OwnForwarding
from conceptpubsub.routing.handover import Sessions
from conceptpubsub.routing.strategy import Strategy
from conceptpubsub.routing.tables import Outputs, Tables
from conceptpubsub.routing.wire import Wire

KEPT_LETTERS = 100


class Broker:
    """One broker of a tree.

    >>> from conceptpubsub.filters import Filter
    >>> from conceptpubsub.routing.covering import Covering
    >>> broker = Broker("B1", ["B2", "B3"], Covering())
    >>> wide, narrow = Filter.parse("x > 5"), Filter.parse("x > 6")
    >>> [to for to, _ in broker.receive(m.Subscribe("a", wide), "B2")]
    ['B3']
    >>> broker.receive(m.Subscribe("b", narrow), "B2")
    []
    >>> broker.receive(m.Unsubscribe("c"), "B9"), broker.dead_letters
    ([], Counter({'unknown sender': 1}))
    """

    def __init__(
        self,
        name: str,
        neighbours: Iterable[str],
        strategy: Strategy,
        *,
        advertisements: bool = False,
        route: Callable[[str], str] | None = None,
        comparison: Comparison | None = None,
        forwarding: Forwarding | None = None,
        connected: bool = True,
    ) -> None:
        self.name = name
        self.neighbours = frozenset(neighbours)
        self.tables = Tables(
            strategy,
            Comparison() if comparison is None else comparison,
            OwnForwarding() if forwarding is None else forwarding,
            advertisements,
        )
        self.sessions = Sessions(name, self.tables, route or (lambda to: to))
        self.border = Border(self.tables, self.sessions, advertisements)
        self.dead_letters: Counter[str] = Counter()
        self.letters: deque[tuple[str, str]] = deque(maxlen=KEPT_LETTERS)
        if connected:
            for neighbour in sorted(self.neighbours):
                self.tables.connect(neighbour)

    # ------------------------------------------------------------------ receiving

    def receive(self, message: m.Message, from_: str) -> Outputs:
        """Take in a message and say what to send where."""
        said = type(message)
        neighbour = from_ in self.neighbours
        if neighbour:
            handler = HANDLERS.get(said)
            if from_ not in self.tables.told and said is not m.LinkUp:
                return self._refuse("link is down", f"{said.__name__} from {from_}")
        else:
            handler = CLIENT_HANDLERS.get(said)
            if from_ not in self.sessions.present and said is not m.Attach:
                return self._refuse("unknown sender", f"{said.__name__} from {from_!r:.80}")
        if handler is None:
            return self._refuse("unexpected message", f"{said.__name__} from {from_!r:.80}")
        try:
            return handler(self, message, from_)
        except MessageError as error:
            outputs = self._refuse(error.reason, str(error))
            return outputs if neighbour else [*outputs, (from_, m.Problem(error.about, str(error)))]

    def receive_bytes(self, data: bytes, from_: str, wire: Wire) -> Outputs:
        """Take in a message in wire form; malformed data is a dead letter."""
        try:
            message = wire.decode(data)
        except MessageError as error:
            return self._refuse("malformed message", f"from {from_!r:.80}: {error}")
        return self.receive(message, from_)

    def _refuse(self, reason: str, detail: str) -> Outputs:
        self.dead_letters[reason] += 1
        self.letters.append((reason, detail))
        return []

    # ------------------------------------------------------------------ from neighbours

    def _subscribe(self, message: m.Subscribe, from_: str) -> Outputs:
        if message.key in self.tables.subscriptions.get(from_, ()):
            return self._refuse("duplicate key", f"{from_} already holds a subscription {message.key[:80]!r}")
        return self.tables.subscribe(from_, [(message.key, message.filter)])

    def _unsubscribe(self, message: m.Unsubscribe, from_: str) -> Outputs:
        if message.key not in self.tables.subscriptions.get(from_, ()):
            return self._refuse("unknown key", f"{from_} holds no subscription {message.key[:80]!r}")
        return self.tables.unsubscribe(from_, [message.key])

    def _advertise(self, message: m.Advertise, from_: str) -> Outputs:
        if message.key in self.tables.advertisements.get(from_, ()):
            return self._refuse("duplicate key", f"{from_} already holds an advertisement {message.key[:80]!r}")
        return self.tables.advertise(from_, [(message.key, message.filter)])

    def _unadvertise(self, message: m.Unadvertise, from_: str) -> Outputs:
        if message.key not in self.tables.advertisements.get(from_, ()):
            return self._refuse("unknown key", f"{from_} holds no advertisement {message.key[:80]!r}")
        return self.tables.unadvertise(from_, [message.key])

    def _publish(self, message: m.Publish, from_: str) -> Outputs:
        """Forward an event to the interfaces that want it, and deliver it to the clients among them."""
        try:
            wanted = self.tables.forwarding.interfaces(message.event)
        except ConceptPubSubError as error:
            return self._refuse("event cannot be matched", f"{message.publisher}/{message.sequence}: {error}")
        outputs: Outputs = []
        clients: list[tuple[str, int]] = []
        if self.tables.strategy.floods:
            outputs += [(neighbour, message) for neighbour in self.tables.told if neighbour != from_]
        for interface in wanted:
            if isinstance(interface, tuple):
                clients.append(interface)
            elif interface != from_:
                outputs.append((interface, message))
        outputs.sort(key=_destination)  # a set has no order, a run has one
        for client in sorted(clients):
            outputs += self.sessions.hand(self.sessions.all[client], message)
        for session in self.sessions.total.values():
            if session.open:
                outputs += [(session.client, problem) for problem in faults(session, message)]
        return outputs

    def _link_up(self, message: m.LinkUp, from_: str) -> Outputs:
        lost = self.tables.disconnect(from_)
        return lost + self.tables.connect(from_) + self.sessions.again(from_)

    def _link_down(self, message: m.LinkDown, from_: str) -> Outputs:
        return self.tables.disconnect(from_)

    # ------------------------------------------------------------------ from clients

    def _client_subscribe(self, message: m.Subscribe, from_: str) -> Outputs:
        outputs = self.border.subscribe(message, from_)
        if not self.tables.comparison.satisfiable(message.filter):
            sentence = f"no event can match {str(message.filter)[:200]}"
            self._refuse("never matches", sentence)
            outputs.append((from_, m.Problem(message.key, sentence)))
        return outputs

    def _client_publish(self, message: m.Publish, from_: str) -> Outputs:
        self.border.check(message, from_)
        return self._publish(message, from_)


def _destination(output: tuple[str, m.Message]) -> str:
    return output[0]


Handler = Callable[[Broker, Any, str], Outputs]
HANDLERS: dict[type, Handler] = {
    m.Subscribe: Broker._subscribe,
    m.Unsubscribe: Broker._unsubscribe,
    m.Advertise: Broker._advertise,
    m.Unadvertise: Broker._unadvertise,
    m.Publish: Broker._publish,
    m.Handover: lambda broker, message, from_: broker.sessions.handover(message),
    m.Replay: lambda broker, message, from_: broker.sessions.replay(message),
    m.LinkUp: Broker._link_up,
    m.LinkDown: Broker._link_down,
}
CLIENT_HANDLERS: dict[type, Handler] = {
    m.Attach: lambda broker, message, from_: broker.border.attach(message, from_),
    m.Subscribe: Broker._client_subscribe,
    m.Unsubscribe: lambda broker, message, from_: broker.border.unsubscribe(message, from_),
    m.Advertise: lambda broker, message, from_: broker.border.advertise(message, from_),
    m.Unadvertise: lambda broker, message, from_: broker.border.unadvertise(message, from_),
    m.Publish: Broker._client_publish,
    m.Detach: lambda broker, message, from_: broker.border.detach(message, from_),
    m.Leave: lambda broker, message, from_: broker.border.leave(message, from_),
}
