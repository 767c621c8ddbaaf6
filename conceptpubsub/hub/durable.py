"""Durable subscriptions: named places in the store's log, which outlive the process.

Rule 1  A durable subscription sees every matching event from its place on, in order. It is *live* while it has seen
        all there is; then a publisher's event is handed to it directly. When its callback fails it stands still, and
        is pumped from the log until the event is through or, after the last attempt, a dead letter.
Rule 2  What was acknowledged never comes again, whatever is killed when. An event whose callback returned is
        acknowledged when everybody else has been served (``ack="auto"``), or by ``sub.ack()`` (``ack="manual"``;
        always, where it is read). What was not acknowledged comes again after a restart.
Rule 3  Publishing to a hub with a store is serialised, and an event published by a callback waits its turn, so that
        all durable subscriptions see one order.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import HubError
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.past import Segment, Wish
from conceptpubsub.hub.queues import BoundedQueue
from conceptpubsub.hub.store import Place, Store
from conceptpubsub.hub.subscription import Subscription

if TYPE_CHECKING:
    from conceptpubsub.model import SemanticEvent

_ACKNOWLEDGE_EVERY = 0.05
"""Seconds between acknowledgments while events come from the log: each is a transaction."""


class DurableSubscription(Subscription):
    """A subscription with a place in the store. Read, it is pulled from the log: what waits takes no memory.

    ``offset`` is that of the event handed over last.
    """

    def __init__(self, *given: Any, store: Store, start: int, manual: bool) -> None:
        super().__init__(*given)
        assert self.hub.log is not None
        self.store, self.order, self.manual = store, self.hub.log.order, manual
        self.past, self.wish = self.hub.log.past, Wish(self.filter)
        self.next = start
        """The first offset not yet handed over; counts while the subscription is not live."""
        self.live = False
        self.offset: int | None = None
        self.attempts = 0
        self.pumping = threading.RLock()
        self._ahead: deque[tuple[int, Any]] = deque()
        self._bell = BoundedQueue(1, "drop_newest")

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

    # ------------------------------------------------------------------ reading

    def ring(self) -> None:
        """Something was published that this subscription wants."""
        self._bell.put(True)

    def get(self, timeout: float | None = None) -> Any:
        """The next event from the log, waiting for one."""
        self._read()
        until = None if timeout is None else time.monotonic() + timeout
        while (found := self._pull()) is None:
            try:
                self._bell.get(None if until is None else max(0.0, until - time.monotonic()))
            except EOFError:
                raise HubError(f"the subscription {self.name} has ended", name=self.name) from None
        return found

    def drain(self) -> list[Any]:
        """Every event in the log that was not handed over yet."""
        self._read()
        return list(iter(self._pull, None))

    def __next__(self) -> Any:
        try:
            return self.get()
        except HubError:
            raise StopIteration from None

    async def __anext__(self) -> Any:
        self._read()
        while (found := self._pull()) is None:
            try:
                await self._bell.get_async()
            except EOFError:
                raise StopAsyncIteration from None
        return found

    def _read(self) -> BoundedQueue:
        if self.callback is not None:
            raise HubError(f"the subscription {self.name} delivers to its callback", name=self.name)
        return self._bell

    def _pull(self) -> Any:
        if not self.active:
            return None
        while not self._ahead and (segment := self.past.segment(self.next)) is not None:
            self._ahead.extend(self._made(segment, segment.offsets(self.wish, self.next)))
            self.next = segment.stop
        if not self._ahead:
            return None
        self.offset, event = self._ahead.popleft()
        self.delivered += 1
        return event

    def catch_up(self, events: list[Any], end: int) -> None:
        """Hand over a sequence that stands for all before ``end``; only its last event is worth acknowledging."""
        last = len(events) - 1
        numbered = [(end - 1 if place == last else self.next - 1, event) for place, event in enumerate(events)]
        if self.callback is None:
            self._ahead.extend(numbered)
        else:
            for offset, item in [(end - 1, Batch(events))] if self.batch and events else numbered:
                while not self._handed(item, offset):
                    time.sleep(self.retry.pause(self.attempts))
        self.next = end
        if (self.callback is not None and not self.manual) or not events:
            self.ack(end - 1)

    def end(self) -> None:
        """No more events come; the place stays in the store."""
        super().end()
        self._bell.close()
        assert self.hub.log is not None
        with self.order:  # in the middle of a round there may be more to come, which must come again
            if self.live and not self.manual and not self.hub.log.serving:
                self.ack(self.store.end - 1)

    # ------------------------------------------------------------------ callbacks

    def offer(self, item: Any, first: int, last: int) -> tuple[str, int] | None:
        """Hand over a live event or batch; gives the place to acknowledge. A failure lets the subscription stand."""
        if self.callback is None:
            self.ring()
            return None
        if not self.live:
            return None
        if self._handed(item, last):
            return None if self.manual else (self.name, last + 1)
        self.live, self.next = False, first
        self._later()
        return None

    def _handed(self, item: Any, last: int) -> bool:
        assert self.callback is not None
        self.offset = last
        try:
            self.callback(item)
        except Exception as error:
            self.attempts += 1
            if self.attempts < self.retry.attempts:
                return False
            self.hub.caller.give_up(self, item, error, self.attempts, last)
        else:
            self.delivered += len(item) if isinstance(item, Batch) else 1
        self.attempts = 0
        return True

    def _later(self) -> None:
        pumping = threading.Thread(target=self.pump, name=f"conceptpubsub {self.name}", daemon=True)
        self.hub.caller.timer.later(self.retry.pause(max(self.attempts, 1)), pumping.start)

    def pump(self) -> None:
        """Bring a callback up to date from the log, then let it live on what is published."""
        with self.pumping:
            try:
                self._pump()
            except HubError:
                if self.active:  # else the hub was closed meanwhile, and its store with it
                    raise

    def _pump(self) -> None:
        while self.active and not self.live:
            segment = self.past.segment(self.next)
            if segment is None:
                with self.order:
                    self.live = self.past.segment(self.next) is None
            elif self._pumped(segment):
                self.next = segment.stop
            else:
                self._later()
                return

    def _pumped(self, segment: Segment) -> bool:
        """Hand over what a segment holds for this subscription; False where its callback failed."""
        begun = done = self.next
        written = time.monotonic()
        try:
            for first, last, item in self._items(segment):
                if not self.active:
                    return True
                if not self._handed(item, last):
                    self.next = first
                    return False
                done = last + 1
                if not self.manual and time.monotonic() - written > _ACKNOWLEDGE_EVERY:
                    self.ack(last)
                    written = time.monotonic()
            done = segment.stop
            return True
        finally:
            if not self.manual and done > begun:
                self.ack(done - 1)

    def _items(self, segment: Segment) -> list[tuple[int, int, Any]]:
        """(first offset, last offset, what the callback takes)."""
        offsets = segment.offsets(self.wish, self.next)
        if not self.batch:
            return [(offset, offset, event) for offset, event in self._made(segment, offsets)]
        if not offsets:
            return []
        if segment.is_table:
            from conceptpubsub.hub.tables import taken

            table = taken(self.hub, segment.table, [n - segment.first for n in offsets], self.context_number)
            return [(offsets[0], offsets[-1], Batch(table=table, offsets=offsets))]
        events = [event for _, event in self._made(segment, offsets)]
        return [(offsets[0], offsets[-1], Batch(events, offsets=offsets))]

    def _made(self, segment: Segment, offsets: list[int]) -> list[tuple[int, SemanticEvent]]:
        """Events of a segment in the context of this subscription."""
        plans, shapes, to = self.hub.plans, self.hub.shapes, self.context_number
        return [(offset, plans.deliver(event, shapes.of(event), to)) for offset, event in segment.events(offsets)]


def opened(store: Store, sub_name: str, filter: Any, start: Any, replace: bool) -> int:
    """The offset where a durable subscription goes on, or starts; entered in the store."""
    known = store.place(sub_name)
    if known is not None and known.digest != filter.digest and not replace:
        raise HubError(
            f"the durable subscription {sub_name!r} exists with the filter {known.filter}; "
            "choose another name, or give replace=True to keep its place with the new filter",
            name=sub_name,
            filter=known.filter,
        )
    offset = known.next if known is not None and start is None else resolved(store, start)
    store.move(sub_name, Place(offset, str(filter), filter.digest))
    return offset


def resolved(store: Store, start: Any) -> int:
    """An offset, a time, "earliest" or "latest" (also None) as an offset."""
    if start is None or start == "latest":
        return store.end
    if start == "earliest":
        return 0
    if isinstance(start, int) and not isinstance(start, bool):
        if start < 0:
            raise HubError(f"offsets count from 0, not from {start}", offset=start)
        return min(start, store.end)
    return store.offset_at(start)
