"""Sessions: a client at a broker, and how it moves to another without losing or doubling an event.

The law of the handover. Let a client go from O to N, and let its subscriptions at O be settled.
1  N subscribes for it, then sends a Handover along the path to O; links keep order, so when the Handover reaches O,
   each broker v on the path sends the client's events both ways, to N and to O.
2  Until then O has kept whatever came. O answers with a Replay of that, and only then withdraws its subscriptions.
3  An event that passed v before the Handover is in the Replay; one that passed v after it goes to N as well. N holds
   back what comes until the Replay is complete, delivers the Replay, then what it held and was not in it.
4  A publisher that moves publishes nothing until the Replay is there: whatever it published at O has then passed each
   broker on the path, so nothing overtakes.
5  A session that is asked for while it still waits itself answers when its own Replay is complete. One that a crash has
   erased is answered for with ``known=False``, and the session before it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from conceptpubsub.routing.messages import Advertise, Handover, Publish, Replay, Subscribe

MAX_REPLAYED = 256
"""Events in one part of a Replay."""


@dataclass(slots=True)
class Session:
    """A client at this broker. Open: attached and not waiting; else events are held for it."""

    client: str
    epoch: int
    subscriptions: dict[str, Subscribe]
    advertisements: dict[str, Advertise]
    trail: list[tuple[str, int]] = field(default_factory=list)
    received: dict[str, int] = field(default_factory=dict)
    published: int = 0
    attached: bool = True
    leaving: bool = False
    waiting: tuple[str, int] | None = None
    asked_by: Handover | None = None
    replayed: list[Publish] = field(default_factory=list)
    held: list[Publish] = field(default_factory=list)

    @property
    def interface(self) -> tuple[str, int]:
        """The name of this session among the broker's interfaces."""
        return self.client, self.epoch

    @property
    def open(self) -> bool:
        """Whether events are delivered as they come."""
        return self.attached and self.waiting is None

    @property
    def total(self) -> bool:
        """Whether a subscription here must report events that it cannot be judged on."""
        return any(subscription.filter.semantics == "total" for subscription in self.subscriptions.values())

    def key(self, name: str) -> str:
        """The key under which a subscription or advertisement of this session is known to all brokers."""
        client = self.client.replace("%", "%25").replace("/", "%2F")  # so that no two sessions share a key
        return f"{client}/{self.epoch}/{name}"

    def backlog(self) -> list[Publish]:
        """What was replayed, then what was held, each event once and in its publisher's order; both are emptied."""
        last, made = self.received, []
        for event in (*self.replayed, *self.held):
            if event.sequence > last.get(event.publisher, 0):
                last[event.publisher] = event.sequence
                made.append(event)
        self.replayed, self.held, self.received = [], [], {}
        return made


def replays(asked: Handover, events: Iterable[Publish]) -> list[Replay]:
    """The answer to a Handover, in parts of bounded size."""
    held = tuple(events)
    starts = range(0, len(held), MAX_REPLAYED) or range(1)
    parts = [Replay(asked.client, asked.epoch, asked.to, held[at : at + MAX_REPLAYED], last=False) for at in starts]
    final = parts[-1]
    return [*parts[:-1], Replay(final.client, final.epoch, final.to, final.events)]
