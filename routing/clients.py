"""A client of a simulated network: what an application calls, and the little it must remember to roam.

Rule 1  A client is attached, on its way (its broker has not answered yet), or cut off (its broker is down); what it
        publishes meanwhile waits here, what it subscribes is said when it attaches. It leaves when nothing waits.
Rule 2  Each attachment has an epoch of its own; sessions not known to be closed stand on the trail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import NetworkError
from conceptpubsub.filters import Filter
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing import messages as m

if TYPE_CHECKING:
    from conceptpubsub.routing.simulation import Simulation


class Client:
    """A subscriber or publisher, or both; `Simulation.client` makes them."""

    def __init__(self, simulation: Simulation, name: str, broker: str) -> None:
        self.name = name
        self.broker = broker
        self.epoch = 0
        self.attached = False
        self.connected = False
        self.leaving = False
        self.left = False
        self.deliveries: list[m.Deliver] = []
        self.problems: list[m.Problem] = []
        self.published = 0
        self._simulation = simulation
        self._subscriptions: dict[str, m.Subscribe] = {}
        self._advertisements: dict[str, m.Advertise] = {}
        self._trail: list[tuple[str, int]] = []
        self._outbox: list[SemanticEvent] = []
        self._last: dict[str, int] = {}
        self._named = 0

    # ------------------------------------------------------------------ what applications call

    @property
    def received(self) -> list[SemanticEvent]:
        """The events received, in order, each in the context of its subscription."""
        return [delivery.event for delivery in self.deliveries]

    def subscribe(self, filter: Filter | str, context: m.DeliveryContext = None, name: str | None = None) -> str:
        """Ask for the events of a filter, in a context if one is given; returns the subscription's name."""
        message = m.Subscribe(self._name("s", name), _filter(filter), context)
        self._subscriptions[message.key] = message
        self._say(message)
        return message.key

    def unsubscribe(self, subscription: str | Filter) -> None:
        """Withdraw a subscription, by its name or its filter."""
        name = self._found(subscription, self._subscriptions, "subscription")
        del self._subscriptions[name]
        self._say(m.Unsubscribe(name))

    def advertise(self, filter: Filter | str, name: str | None = None) -> str:
        """Say which events this client will publish; returns the advertisement's name."""
        message = m.Advertise(self._name("a", name), _filter(filter))
        self._advertisements[message.key] = message
        self._say(message)
        return message.key

    def unadvertise(self, advertisement: str | Filter) -> None:
        """Withdraw an advertisement, by its name or its filter."""
        name = self._found(advertisement, self._advertisements, "advertisement")
        del self._advertisements[name]
        self._say(m.Unadvertise(name))

    def publish(self, event: SemanticEvent | Mapping[str, Any]) -> int:
        """Publish an event; returns its sequence number."""
        self._check()
        self._outbox.append(as_event(event))
        sequence = self.published + len(self._outbox)
        if self.attached:
            self._flush()
        return sequence

    def roam(self, broker: str) -> None:
        """Move to another broker; what is on its way follows."""
        self._check()
        if broker == self.broker:
            return
        self._simulation.network.known(broker)
        if self.connected:
            self._simulation.say(self, m.Detach(self.name))
            self.disconnect()
        self._simulation.move(self, broker)
        self.connect()

    def leave(self) -> None:
        """Leave for good: nothing more is received, and what was published before is published still."""
        self._check()
        self.leaving = True
        if self._outbox:
            for name in self._subscriptions:
                self._say(m.Unsubscribe(name))
            self._subscriptions = {}
        else:
            self._depart()

    def _depart(self) -> None:
        self._subscriptions, self._advertisements = {}, {}
        self._say(m.Leave(self.name))

    # ------------------------------------------------------------------ what the simulation calls

    def connect(self) -> None:
        """Attach to the broker, if it is there; it asks the older sessions for what they hold."""
        if self.connected or self.left or not self._simulation.is_up(self.broker):
            return
        self.epoch += 1
        self.connected = True
        self._simulation.say(
            self,
            m.Attach(
                self.name,
                self.epoch,
                tuple(self._subscriptions.values()),
                tuple(self._advertisements.values()),
                tuple(self._trail),
                tuple(self._last.items()),
                self.published,
            ),
        )
        if self.leaving and not (self.left or self.attached or self._outbox):
            self._depart()

    def disconnect(self) -> None:
        """The session at the broker may live on, but not with this client."""
        if self.connected:
            self.connected = self.attached = False
            self._trail.append((self.broker, self.epoch))

    def receive(self, message: m.Message) -> None:
        """What the broker sends."""
        match message:
            case m.Deliver(_, publisher, sequence):
                self._last[publisher] = sequence
                if self._simulation.record:
                    self.deliveries.append(message)
            case m.Problem():
                self.problems.append(message)
            case m.Attached(_, epoch) if epoch == self.epoch:
                self.attached = True
                self._trail.clear()
                self._flush()
                if self.leaving:
                    self._depart()
            case m.Left():
                self.left, self.connected, self.attached = True, False, False
                self._simulation.forget(self)
            case _:
                raise AssertionError(f"no client is sent a {type(message).__name__}")

    def _flush(self) -> None:
        while self._outbox and self.attached:
            self.published += 1
            self._simulation.publish(self, m.Publish(self.name, self.published, self._outbox.pop(0)))

    def _say(self, message: m.Message) -> None:
        if self.connected:
            self._simulation.say(self, message)

    def _check(self) -> None:
        if self.leaving:
            raise NetworkError(f"client {self.name} has left", client=self.name)

    def _name(self, letter: str, given: str | None) -> str:
        self._check()
        self._named += 1
        name = f"{letter}{self._named}" if given is None else given
        if name in self._subscriptions or name in self._advertisements:
            raise NetworkError(f"client {self.name} already uses the name '{name}'", name=name)
        return name

    def _found(self, what: str | Filter, held: Mapping[str, m.Subscribe | m.Advertise], kind: str) -> str:
        self._check()
        if isinstance(what, Filter):
            found = next((name for name, message in held.items() if message.filter == what), None)
        else:
            found = what if what in held else None
        if found is None:
            raise NetworkError(f"client {self.name} has no {kind} '{str(what)[:200]}'", client=self.name)
        return found

    def __repr__(self) -> str:
        return f"<Client {self.name} at {self.broker}>"


def _filter(filter: Filter | str) -> Filter:
    return filter if isinstance(filter, Filter) else Filter.parse(filter)


def as_event(event: SemanticEvent | Mapping[str, Any]) -> SemanticEvent:
    """A semantic event as it is; of a plain mapping, one whose ``@concept``, ``@time`` and so on speak of itself."""
    if isinstance(event, SemanticEvent):
        return event
    parts = {key: value for key, value in event.items() if not key.startswith("@")}
    about = {key: event.get(f"@{key}") for key in ("time", "id", "source")}
    return SemanticEvent(event.get("@concept", "Event"), parts, **about)
