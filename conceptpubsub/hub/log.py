"""Publishing through the store: written first, then delivered, in one order for all.

Rule 1  Under ``order`` an event is written and its round lined up, and durable subscriptions come and go. Rounds are
        delivered one at a time, as lined up, by whoever has the turn; a publisher waits until its own is done.
Rule 2  A callback does not wait for its own round, nor for one that may be waiting for the callback: what it publishes
        in the round's thread, or behind a queue, is written at once and delivered when its turn comes.
Rule 3  A round that is broken off (an interrupt) loses nothing: durable subscriptions read the rest from the log.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError, HubError, LimitExceeded
from conceptpubsub.hub.durable import DurableSubscription
from conceptpubsub.hub.edge import Shape
from conceptpubsub.hub.letters import DeadLetter
from conceptpubsub.hub.past import Past, Wish
from conceptpubsub.hub.places import opened, resolved
from conceptpubsub.hub.pulling import PulledSubscription
from conceptpubsub.hub.pumping import PumpedSubscription
from conceptpubsub.hub.queues import being_read
from conceptpubsub.hub.receipt import Receipt
from conceptpubsub.hub.rounds import Round
from conceptpubsub.hub.store import Store
from conceptpubsub.model.codecs.plain_json import to_json
from conceptpubsub.model.codecs.strict_json import MAX_BYTES

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.hub.catch_up import Shortest
    from conceptpubsub.hub.hub import Hub
    from conceptpubsub.model import SemanticEvent

Serve = Callable[[Round, int], None]


class Log:
    """The store of a hub, and the order of what is published."""

    def __init__(self, hub: Hub, store: Store) -> None:
        self.hub, self.store, self.past = hub, store, Past(store, self._unreadable)
        self.order = threading.RLock()
        self._waiting: deque[tuple[int, Serve, Round]] = deque()
        self._turn = threading.Lock()
        self._server: int | None = None
        """The thread that has the turn."""

    @property
    def quiet(self) -> bool:
        """Whether all that was written has been delivered; asked under ``order``."""
        return not self._waiting and self._server is None

    def publish(self, events: list[tuple[SemanticEvent, Shape]], gather: bool) -> Receipt:
        """Write events, then deliver them; one that could not be read again is refused."""
        lines: list[str] = []
        kept: list[tuple[SemanticEvent, Shape]] = []
        problems: list[str] = []
        for event, shape in events:
            try:
                lines.append(_line(event))
                kept.append((event, shape))
            except (ConceptPubSubError, ValueError) as error:
                problems += self.hub.refuse(event, (f"the store cannot keep it: {error}",)).problems
        if not kept:
            return Receipt(0, tuple(problems))

        def serve(round: Round, first: int) -> None:
            for offset, (event, shape) in enumerate(kept, first):
                round.serve(event, shape, offset)

        receipt = self._publish(lambda: self.store.append_lines(lines), serve, Round(self.hub, gather))
        return receipt._replace(problems=tuple(problems))

    def publish_table(self, table: Any) -> Receipt:
        """Write a table, then deliver it."""
        from conceptpubsub.hub.tables import serve_table

        if not table.num_rows:
            return Receipt(0)
        return self._publish(
            lambda: self.store.append_table(table),
            lambda round, first: serve_table(round, table, first),
            Round(self.hub, gather=True),
        )

    def _publish(self, write: Callable[[], int], serve: Serve, mine: Round) -> Receipt:
        with self.order:
            first = write()
            self._waiting.append((first, serve, mine))
        self._deliver(mine)
        return Receipt(mine.check(), (), first)

    def _deliver(self, mine: Round) -> None:
        me = threading.get_ident()
        if self._server == me:
            return
        while self._waiting or not mine.done:
            if not self._turn.acquire(blocking=being_read() is None):
                return  # whoever has the turn looks for more after giving it back
            self._server = me
            try:
                while self._waiting:
                    first, serve, round = self._waiting.popleft()
                    round.for_another = round is not mine
                    self._serve(first, serve, round)
            finally:
                self._server = None
                self._turn.release()

    def _serve(self, first: int, serve: Serve, round: Round) -> None:
        try:
            serve(round, first)
            round.finish()
        except BaseException:
            for sub in self.hub.subscriptions:
                if isinstance(sub, DurableSubscription):
                    sub.interrupted(first)
            raise
        finally:
            round.done = True

    def acknowledge(self, places: dict[str, int]) -> None:
        """Write what a round acknowledged. Where that fails, the events come again after a restart, and no sooner."""
        try:
            self.store.acknowledge(places.items())
        except HubError as error:
            names = ", ".join(places)
            self.hub.dead_letters.add(DeadLetter(None, f"acknowledgments of {names} were not written: {error}"))

    def close(self) -> None:
        """Close the store, after the round that is under way; not where that round is waiting for this very thread."""
        mine = self._server == threading.get_ident() or being_read() is not None
        if not mine:
            with self._turn:
                self.store.close()
            return
        self.store.close()

    # ------------------------------------------------------------------ subscribers

    def subscribe(
        self, given: tuple[Any, ...], start: Any, ack: str, replace: bool, catch_up: Shortest | None
    ) -> DurableSubscription:
        """Open a durable subscription at its place; ``given`` are the parts that every subscription has."""
        name, filter, callback = given[2], given[3], given[5]
        if ack not in ("auto", "manual"):
            raise HubError(f"a durable subscription acknowledges 'auto' or 'manual', not {ack!r}", value=ack)
        if self.is_open(name):
            raise HubError(f"the durable subscription {name!r} is open in this hub already", name=name)
        offset = opened(self.store, name, filter, start, replace)
        kind = PulledSubscription if callback is None else PumpedSubscription
        return kind(*given, store=self.store, start=offset, manual=ack == "manual", catch_up=catch_up)

    def is_open(self, name: str) -> bool:
        """Whether a durable subscription of that name is open."""
        return any(isinstance(sub, DurableSubscription) and sub.name == name for sub in self.hub.subscriptions)

    def replay(
        self, filter: Filter, start: Any, end: Any, context: Mapping[Any, Any] | None
    ) -> Iterator[tuple[int, SemanticEvent]]:
        """Past events that match, with their offsets."""
        number = self.hub.plans.number(context)
        first, until = resolved(self.store, start), self.store.end if end is None else resolved(self.store, end)
        return (
            (offset, self.hub.plans.deliver(event, self.hub.shapes.of(event), number))
            for offset, event in self.past.matching(Wish(filter), first, until)
        )

    def trim(self) -> int:
        """Drop what all durable subscriptions have acknowledged."""
        gone = self.store.trim()
        self.past.forget()
        return gone

    def _unreadable(self, offset: int, reason: str) -> None:
        self.hub.dead_letters.add(DeadLetter(None, f"what the store holds cannot be read: {reason}", offset=offset))


def _line(event: SemanticEvent) -> str:
    """An event as the store keeps it; an error where it could not be read again."""
    line = to_json(event)
    if len(line) > MAX_BYTES:
        raise LimitExceeded(f"an event of {len(line)} bytes; at most {MAX_BYTES} are read", limit=MAX_BYTES)
    return line
