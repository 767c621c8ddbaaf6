"""Durable subscriptions that are read: pulled from the log, so that what waits takes no memory.

Any number of threads and coroutines may read one; each event goes to one of them. Nothing is acknowledged but by
``ack``.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from conceptpubsub.errors import HubError
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.durable import DurableSubscription
from conceptpubsub.hub.queues import BoundedQueue


class PulledSubscription(DurableSubscription):
    """A durable subscription without a callback."""

    def __init__(self, *given: Any, **place: Any) -> None:
        super().__init__(*given, **place)
        self._ahead: deque[tuple[int, Any]] = deque()
        self._pulling = threading.Lock()
        self._bell = BoundedQueue(1, "drop_newest")

    def offer(self, item: Any, first: int, last: int) -> None:
        """Wake a reader; the event itself comes from the log."""
        self._bell.put(True)

    def get(self, timeout: float | None = None) -> Any:
        """The next event from the log, waiting for one."""
        until = None if timeout is None else time.monotonic() + timeout
        while (found := self._pull()) is None:
            try:
                self._bell.get(None if until is None else max(0.0, until - time.monotonic()))
            except EOFError:
                raise HubError(f"the subscription {self.name} has ended", name=self.name) from None
            except TimeoutError:
                raise TimeoutError(f"no event within {timeout} s") from None
        return found

    def drain(self) -> list[Any]:
        """Every event in the log that was not handed over yet."""
        return list(iter(self._pull, None))

    def __next__(self) -> Any:
        try:
            return self.get()
        except HubError:
            if self.active:
                raise
            raise StopIteration from None

    async def __anext__(self) -> Any:
        while (found := self._pull()) is None:
            try:
                await self._bell.get_async()
            except EOFError:
                raise StopAsyncIteration from None
        return found

    def _pull(self) -> Any:
        with self._pulling:
            if not self.active:
                return None
            self._ahead.extend(self._missed())
            while not self._ahead and (segment := self.past.segment(self.next)) is not None:
                self._ahead.extend(self._made(segment, segment.offsets(self.wish, self.next)))
                self.next = segment.stop
            if not self._ahead:
                return None
            self.offset, found = self._taken() if self.batch else self._ahead.popleft()
            more = bool(self._ahead) or self.next < self.store.end
        if more:
            self._bell.put(True)  # for another reader, who may be waiting for what this one leaves
        self.count(found)
        return found

    def _taken(self) -> tuple[int, Batch]:
        """All that was read ahead, as a batch."""
        offsets = [offset for offset, _ in self._ahead]
        batch = Batch([event for _, event in self._ahead], offsets=offsets)
        self._ahead.clear()
        return offsets[-1], batch

    def end(self) -> None:
        """No more events come; the place stays in the store."""
        super().end()
        self._bell.close()
