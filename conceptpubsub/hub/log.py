"""Publishing through the store: written first, then delivered, in one order for all.

An event that a callback publishes is written at once and delivered when the round that is under way has ended.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import HubError, QueueFull
from conceptpubsub.hub.catch_up import Shortest
from conceptpubsub.hub.durable import DurableSubscription, opened, resolved
from conceptpubsub.hub.edge import Shape
from conceptpubsub.hub.past import Past, Wish
from conceptpubsub.hub.rounds import Round
from conceptpubsub.hub.store import Store

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.hub.hub import Hub
    from conceptpubsub.model import SemanticEvent

Serve = Callable[[Round, int], None]


class Log:
    """The store of a hub, and the order of what is published."""

    def __init__(self, hub: Hub, store: Store) -> None:
        self.hub, self.store, self.past = hub, store, Past(store)
        self.order = threading.RLock()
        self._pending: deque[tuple[int, Serve, Round]] = deque()
        self.serving = False

    def publish(self, events: list[tuple[SemanticEvent, Shape]], gather: bool) -> tuple[int, int]:
        """Write events, then deliver them; gives the offset of the first and the number of deliveries."""

        def serve(round: Round, first: int) -> None:
            for offset, (event, shape) in enumerate(events, first):
                round.serve(event, shape, offset)

        with self.order:
            return self._take_turn(self.store.append(event for event, _ in events), serve, gather)

    def publish_table(self, table: Any) -> tuple[int, int]:
        """Write a table, then deliver it."""
        from conceptpubsub.hub.tables import serve_table

        with self.order:
            first = self.store.append_table(table)
            return self._take_turn(first, lambda round, first: serve_table(round, table, first), True)

    def _take_turn(self, first: int, serve: Serve, gather: bool) -> tuple[int, int]:
        mine = Round(self.hub, gather)
        self._pending.append((first, serve, mine))
        if self.serving:
            return first, 0
        self.serving, full = True, None
        try:
            while self._pending:
                offset, work, round = self._pending.popleft()
                work(round, offset)
                try:
                    round.finish()
                except QueueFull as error:
                    full = error
        finally:
            self.serving = False
        if full is not None:
            raise full
        return first, mine.matched

    # ------------------------------------------------------------------ subscribers

    def subscribe(
        self,
        given: tuple[Any, ...],
        name: str,
        filter: Filter,
        start: Any,
        ack: str,
        replace: bool,
        catch_up: Shortest | None,
    ) -> DurableSubscription:
        """Open a durable subscription at its place; ``given`` are the parts that every subscription has."""
        if ack not in ("auto", "manual"):
            raise HubError(f"a durable subscription acknowledges 'auto' or 'manual', not {ack!r}", value=ack)
        if any(isinstance(sub, DurableSubscription) and sub.name == name for sub in self.hub.subscriptions):
            raise HubError(f"the durable subscription {name!r} is open in this hub already", name=name)
        offset = opened(self.store, name, filter, start, replace)
        sub = DurableSubscription(*given, store=self.store, start=offset, manual=ack == "manual")
        if catch_up is not None:
            end = self.store.end
            sub.catch_up([] if offset == end else catch_up.sequence(self.hub, sub, offset, end), end)
        return sub

    def replay(
        self, filter: Filter, start: Any, end: Any, context: Mapping[Any, Any] | None
    ) -> Iterator[tuple[int, SemanticEvent]]:
        """Past events that match, with their offsets."""
        number = self.hub.plans.number(context)
        until = None if end is None else resolved(self.store, end)
        for offset, event in self.past.matching(Wish(filter), resolved(self.store, start), until):
            yield offset, self.hub.plans.deliver(event, self.hub.shapes.of(event), number)

    def trim(self) -> int:
        """Drop what all durable subscriptions have acknowledged."""
        gone = self.store.trim()
        self.past.forget()
        return gone
