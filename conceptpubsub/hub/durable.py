"""Durable subscriptions: named places in the store's log, which outlive the process.

Rule 1  A durable subscription sees every matching event from its place on, in order, once for each time it is opened.
Rule 2  What was acknowledged never comes again, whatever is killed when; what was not comes again after a restart.
Rule 3  All durable subscriptions see one order: that in which the events were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conceptpubsub.hub.past import Segment, Wish
from conceptpubsub.hub.store import Store
from conceptpubsub.hub.subscription import Subscription

if TYPE_CHECKING:
    from conceptpubsub.hub.catch_up import Shortest
    from conceptpubsub.model import SemanticEvent


class DurableSubscription(Subscription):
    """A subscription with a place in the store: called (``pumping``) or read (``pulling``).

    ``offset`` is that of the event handed over last.
    """

    def __init__(self, *given: Any, store: Store, start: int, manual: bool, catch_up: Shortest | None) -> None:
        super().__init__(*given)
        assert self.hub.log is not None
        self.store, self.order, self.manual = store, self.hub.log.order, manual
        self.past, self.wish = self.hub.log.past, Wish(self.filter)
        self.next = start
        """The first offset not yet handed over."""
        self.live = False
        """Whether it has seen all there is, so that a publisher's event is handed to it directly."""
        self.offset: int | None = None
        self._catch_up, self._opened_at = catch_up, store.end

    def ack(self, offset: int | None = None) -> None:
        """Everything up to this offset, by default that of the event handed over last, never comes again."""
        upto = self.offset if offset is None else offset
        if upto is not None:
            self.store.acknowledge([(self.name, upto + 1)])

    @property
    def acknowledged(self) -> int:
        """The first offset that would come again after a restart."""
        place = self.store.place(self.name)
        return self.next if place is None else place.next

    def begin(self) -> None:
        """Called by the hub, holding nothing: the subscription has been entered."""

    def offer(self, item: Any, first: int, last: int) -> int | None:
        """Called by the hub: what was just published and matches; gives the offset to acknowledge up to, if any."""
        raise NotImplementedError

    def interrupted(self, first: int) -> None:
        """Called by the hub: a round that began at this offset was broken off."""

    def _missed(self) -> list[tuple[int, Any]]:
        """The shortest sequence for what was missed, asked for once; only its last event is worth acknowledging."""
        if self._catch_up is None:
            return []
        wanted, self._catch_up = self._catch_up, None
        start, end = self.next, self._opened_at
        events = [] if start == end else wanted.sequence(self.hub, self, start, end)
        self.next = end
        if not events:
            self.ack(end - 1)
        last = len(events) - 1
        return [(end - 1 if place == last else start - 1, event) for place, event in enumerate(events)]

    def _made(self, segment: Segment, offsets: list[int]) -> list[tuple[int, SemanticEvent]]:
        """Events of a segment in the context of this subscription."""
        plans, shapes, to = self.hub.plans, self.hub.shapes, self.context_number
        return [(offset, plans.deliver(event, shapes.of(event), to)) for offset, event in segment.events(offsets)]
