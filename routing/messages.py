"""What brokers and clients say to each other: frozen values, nothing else.

Rule 1  A message is a value: it can be compared, pickled, logged and sent by `conceptpubsub.routing.wire`.
Rule 2  Between brokers a filter travels under a key that is unique on its link; between a client and its broker under
        the client's own name for it.
Rule 3  An event is named by its publisher and the publisher's sequence number, for as long as it is on its way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, SemanticEvent

DeliveryContext: TypeAlias = Context | Mapping[str, Context] | None


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Whoever sends this wants the events of ``filter``; a client may say in which context.

    >>> Subscribe("s1", Filter.parse("Temperature > 25")).key
    's1'
    """

    key: str
    filter: Filter
    context: DeliveryContext = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """The subscription of that key is withdrawn."""

    key: str


@dataclass(frozen=True, slots=True)
class Advertise:
    """Events of ``filter`` may come from where this comes from."""

    key: str
    filter: Filter


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """The advertisement of that key is withdrawn."""

    key: str


@dataclass(frozen=True, slots=True)
class Publish:
    """An event on its way; ``sequence`` rises by one with each event of a publisher.

    >>> Publish("C1", 7, SemanticEvent("Reading", {"Temperature": 30})).identity
    ('C1', 7)
    """

    publisher: str
    sequence: int
    event: SemanticEvent

    @property
    def identity(self) -> tuple[str, int]:
        """What names the event on its way."""
        return self.publisher, self.sequence


@dataclass(frozen=True, slots=True)
class Attach:
    """A client arrives: its subscriptions and advertisements, where it was before, and what it has already received.

    ``trail`` lists the (broker, epoch) pairs of sessions not yet known to be closed, oldest first; ``received`` gives
    the last sequence number received of each publisher, ``published`` the client's own last.
    """

    client: str
    epoch: int
    subscriptions: tuple[Subscribe, ...] = ()
    advertisements: tuple[Advertise, ...] = ()
    trail: tuple[tuple[str, int], ...] = ()
    received: tuple[tuple[str, int], ...] = ()
    published: int = 0


@dataclass(frozen=True, slots=True)
class Attached:
    """To a client: the handover is complete, everything before it is delivered, publish now."""

    client: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Detach:
    """A client has gone and will attach elsewhere: keep its events for it."""

    client: str


@dataclass(frozen=True, slots=True)
class Leave:
    """A client has gone for good."""

    client: str


@dataclass(frozen=True, slots=True)
class Left:
    """To a client that leaves: no session of it is left anywhere."""

    client: str


@dataclass(frozen=True, slots=True)
class Deliver:
    """To a client: an event that one of its subscriptions matches, in that subscription's context."""

    subscription: str
    publisher: str
    sequence: int
    event: SemanticEvent


@dataclass(frozen=True, slots=True)
class Problem:
    """To a client: what it said cannot be done, or (``total``) an event cannot be judged; the reason as a sentence."""

    about: str
    reason: str


@dataclass(frozen=True, slots=True)
class Handover:
    """To the broker ``at``: the client's session ``epoch`` ends; send what it holds to the broker ``to``."""

    client: str
    epoch: int
    at: str
    to: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The answer to a Handover, in parts: the events held, and whether this part is the last.

    ``known`` is False where the session was not found, as after a crash: then ask the one before it.
    """

    client: str
    epoch: int
    to: str
    events: tuple[Publish, ...] = ()
    known: bool = True
    last: bool = True


@dataclass(frozen=True, slots=True)
class LinkUp:
    """From the transport: the link to this neighbour is new; nothing said before counts."""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """From the transport: the link to this neighbour is lost, with everything on its way."""


Message: TypeAlias = (
    Subscribe
    | Unsubscribe
    | Advertise
    | Unadvertise
    | Publish
    | Attach
    | Attached
    | Detach
    | Leave
    | Left
    | Deliver
    | Problem
    | Handover
    | Replay
    | LinkUp
    | LinkDown
)
CONTROL = (Subscribe, Unsubscribe, Advertise, Unadvertise, Handover, Replay)
