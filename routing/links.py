"""Links of the simulator: two channels, each first in, first out, with latency and bandwidth.

Rule 1  A message leaves when those before it have left and its bytes have passed, and arrives a latency later.
Rule 2  What is on its way when a link goes down is lost; what comes after is carried by a new generation of the link.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from conceptpubsub.routing.messages import Message, Publish
from conceptpubsub.routing.network import Link
from conceptpubsub.routing.wire import Wire

KEPT_SIZES = 65_536


@dataclass(slots=True)
class Channel:
    """One direction of a link.

    >>> channel = Channel(latency=0.5, bandwidth=100.0)
    >>> channel.arrival(now=0.0, size=50), channel.arrival(now=0.0, size=50)
    (1.0, 1.5)
    """

    latency: float
    bandwidth: float | None
    free: float = 0.0

    def arrival(self, now: float, size: int) -> float:
        """When a message of that size, sent now, arrives."""
        leaves = self.free if self.free > now else now
        if self.bandwidth is not None:
            leaves += size / self.bandwidth
        self.free = leaves
        return leaves + self.latency


@dataclass(slots=True)
class Wires:
    """A link at work: its two channels, whether it is meant to be up, and how often it has gone down."""

    link: Link
    intact: bool = True
    up: bool = True
    generation: int = 0
    channels: dict[str, Channel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """New channels, with nothing on its way."""
        link = self.link
        self.channels = {end: Channel(link.latency, link.bandwidth) for end in (link.a, link.b)}


class Sizes:
    """The sizes of messages on the wire; each event and filter is written out once."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._known: dict[object, int] = {}

    def of(self, message: Message) -> int:
        """The bytes of a message."""
        if isinstance(message, Publish):
            key: object = message.identity
        else:
            filter = getattr(message, "filter", None)
            if filter is None:
                return len(self._wire.encode(message))
            key = type(message), filter.digest, len(message.key)  # type: ignore[union-attr]
        size = self._known.get(key)
        if size is None:
            if len(self._known) >= KEPT_SIZES:
                self._known.clear()
            size = self._known[key] = len(self._wire.encode(message))
        return size
