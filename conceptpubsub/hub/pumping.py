"""Durable subscriptions that are called: live on what is published, or pumped from the log.

Rule 1  A subscription is *live* while it has seen all there is; then a publisher's event is handed to it directly. When
        its callback fails it stands still, and is pumped from the log, in a thread of its own, until the event is
        through or, after the last attempt, a dead letter. Nobody waits for it meanwhile.
Rule 2  An event whose callback returned is acknowledged when everybody else has been served (``ack="auto"``), or by
        ``sub.ack()`` (``ack="manual"``).
Rule 3  An offset below ``next`` is never handed over again, so that an event which came from the log while its round
        was still waiting for its turn comes once.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from typing import Any

from conceptpubsub.errors import HubError
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.durable import DurableSubscription
from conceptpubsub.hub.past import Segment

_ACKNOWLEDGE_EVERY = 0.05
"""Seconds between acknowledgments while events come from the log: each is a transaction."""


class PumpedSubscription(DurableSubscription):
    """A durable subscription with a callback."""

    def __init__(self, *given: Any, **place: Any) -> None:
        super().__init__(*given, **place)
        self.attempts = 0
        self._pumping = threading.RLock()
        self._alone = False
        """Whether a thread of its own pumps, which nobody could interrupt or end on purpose."""
        self._sequence: deque[tuple[int, Any]] = deque()

    def begin(self) -> None:
        """Catch up, in the subscriber's own thread."""
        self.pump()

    def offer(self, item: Any, first: int, last: int) -> int | None:
        """Hand over a live event or batch. A failure lets the subscription stand."""
        if not self.live or last < self.next:
            return None
        if self._handed(item, last):
            self.next = last + 1
            return None if self.manual else self.next
        self._stand(first)
        return None

    def interrupted(self, first: int) -> None:
        """What was not handed over in a round that was broken off comes from the log."""
        if self.live:
            self._stand(max(self.next, first))

    def _stand(self, at: int) -> None:
        self.live, self.next = False, at
        self._later()

    def _handed(self, item: Any, last: int) -> bool:
        assert self.callback is not None
        self.offset = last
        try:
            self.callback(item)
        except BaseException as error:
            if not (self._alone or isinstance(error, Exception)):
                raise
            self.attempts += 1
            if self.attempts < self.retry.attempts:
                return False
            self.hub.caller.give_up(self, item, error, self.attempts, last)
        else:
            self.count(item)
        self.attempts = 0
        return True

    def _later(self) -> None:
        pumping = threading.Thread(target=self._pump_alone, name=f"conceptpubsub {self.name}", daemon=True)
        self.hub.caller.timer.later(self.retry.pause(max(self.attempts, 1)), pumping.start)

    def pump(self) -> None:
        """Bring a callback up to date from the log, then let it live on what is published."""
        with self._pumping:
            try:
                self._pump()
            except BaseException as error:
                if self.active:
                    self._later()
                if not isinstance(error, HubError):  # of the store: closed with the hub, or failing for a while
                    raise

    def _pump_alone(self) -> None:
        with self._pumping:
            self._alone = True
            try:
                self.pump()
            finally:
                self._alone = False

    def _pump(self) -> None:
        missed = self._missed()
        if missed and self.batch:
            missed = [(missed[-1][0], Batch([event for _, event in missed]))]
        self._sequence.extend(missed)
        while self.active and not self.live:
            if self._sequence:
                through = self._led_up()
            elif (segment := self.past.segment(self.next)) is not None:
                through = self._pumped(segment)
            else:
                with self.order:
                    self.live = self.past.segment(self.next) is None
                continue
            if not through:
                self._later()
                return

    def _led_up(self) -> bool:
        """Hand over the next event of the shortest sequence; False where its callback failed."""
        offset, item = self._sequence[0]
        if not self._handed(item, offset):
            return False
        self._sequence.popleft()
        if not self._sequence and not self.manual:
            self.ack(offset)
        return True

    def _pumped(self, segment: Segment) -> bool:
        """Hand over what a segment holds for this subscription; False where its callback failed."""
        begun = self.next
        written = time.monotonic()
        try:
            for first, last, item in self._items(segment):
                if not self.active:
                    return True
                if not self._handed(item, last):
                    self.next = first
                    return False
                self.next = last + 1
                if not self.manual and time.monotonic() - written > _ACKNOWLEDGE_EVERY:
                    self.ack(last)
                    written = time.monotonic()
            self.next = segment.stop
            return True
        finally:
            if not self.manual and self.next > begun:
                self.ack(self.next - 1)

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
        made = self._made(segment, offsets)
        return [(made[0][0], made[-1][0], Batch([e for _, e in made], offsets=[n for n, _ in made]))] if made else []

    def end(self) -> None:
        """No more events come; the place stays in the store, beyond what nobody had for it."""
        super().end()
        assert self.hub.log is not None
        if self.live and not self.manual and self.hub.log.quiet:
            with contextlib.suppress(HubError):  # a store that fails now costs a second look at events of others
                self.ack(self.store.end - 1)
