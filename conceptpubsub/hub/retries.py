"""Calling callbacks: each call that raises is tried again later, by its subscription's policy, then a dead letter.

Rule 1  A failure never reaches the publisher nor another subscriber; the first of each subscription is logged.
Rule 2  Waiting is done by one timer thread for all; what is due is called in the *lane* of its subscription, a thread
        that lives while there is something to try again, so that a callback which hangs holds up its own retries only.
Rule 3  Events that came in between are not held back, so a retried event may arrive after younger ones. Where order
        matters, use a queue (its own thread retries in order) or a durable subscription (which stands still until the
        event is through).
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.letters import DeadLetter, DeadLetters

if TYPE_CHECKING:
    from conceptpubsub.hub.subscription import Subscription


_LOGGER = logging.getLogger("conceptpubsub.hub")


class Timer:
    """Runs functions later, in one daemon thread that starts with the first of them."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Run an action after so many seconds."""
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), action))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="conceptpubsub retries", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due or (left := self._due[0][0] - time.monotonic()) > 0:
                    if not self._changed.wait(left if self._due else 5.0) and not self._due:
                        self._thread = None  # nothing to do: the next action starts a new thread
                        return
                action = heapq.heappop(self._due)[2]
            try:
                action()  # starts a thread, at most
            except RuntimeError:  # of which there are too many just now
                self.later(1.0, action)


class Caller:
    """Hands items to callbacks."""

    def __init__(self, letters: DeadLetters) -> None:
        self.letters, self.timer = letters, Timer()
        self._lanes: dict[int, deque[tuple[Any, int]]] = {}
        self._failing = 0
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether nothing is to be tried again."""
        return not self._failing

    def call(self, sub: Subscription, item: Any, failed: int = 0, catch: type[BaseException] = Exception) -> None:
        """Call once; on failure again later, or give up."""
        assert sub.callback is not None
        try:
            sub.callback(item)
        except catch as error:
            failed += 1
            if failed >= sub.retry.attempts or not sub.active:
                self.give_up(sub, item, error, failed)
            else:
                with self._lock:
                    self._failing += 1
                self.timer.later(sub.retry.pause(failed), lambda: self._again(sub, item, failed))
            return
        sub.count(item)

    def _again(self, sub: Subscription, item: Any, failed: int) -> None:
        """Put an item that is due into the subscription's lane, which has a thread while there is something in it."""
        with self._lock:
            lane = self._lanes.get(sub.number)
            if lane is not None:
                lane.append((item, failed))
                return
            self._lanes[sub.number] = deque([(item, failed)])
        threading.Thread(target=self._run, args=(sub,), name=f"conceptpubsub {sub.name}", daemon=True).start()

    def _run(self, sub: Subscription) -> None:
        while True:
            with self._lock:
                if not self._lanes[sub.number]:
                    del self._lanes[sub.number]
                    return
                item, failed = self._lanes[sub.number][0]
            self.call(sub, item, failed, catch=BaseException)
            with self._lock:
                self._lanes[sub.number].popleft()
                self._failing -= 1

    def call_in_order(self, sub: Subscription, item: Any) -> None:
        """As ``call``, waiting between attempts in the subscription's own thread."""
        assert sub.callback is not None
        for failed in range(1, sub.retry.attempts + 1):
            try:
                sub.callback(item)
            except BaseException as error:  # nothing ends this thread but the end of the subscription
                if failed == sub.retry.attempts:
                    self.give_up(sub, item, error, failed)
                else:
                    time.sleep(sub.retry.pause(failed))
            else:
                sub.count(item)
                return

    async def await_in_order(self, sub: Subscription, item: Any) -> None:
        """As ``call_in_order``, for a coroutine function."""
        assert sub.callback is not None
        for failed in range(1, sub.retry.attempts + 1):
            try:
                await sub.callback(item)
            except asyncio.CancelledError as error:
                self.give_up(sub, item, error, failed)
                raise
            except Exception as error:
                if failed == sub.retry.attempts:
                    self.give_up(sub, item, error, failed)
                else:
                    await asyncio.sleep(sub.retry.pause(failed))
            else:
                sub.count(item)
                return

    def give_up(
        self, sub: Subscription, item: Any, error: BaseException, attempts: int, offset: int | None = None
    ) -> None:
        """A dead letter for an item that a callback would not take; the first of a subscription is logged."""
        if not sub.failed:
            _LOGGER.warning(
                "the callback of %s failed %d times, and its event became a dead letter, as will others: %s: %s",
                sub.name, attempts, type(error).__name__, error, exc_info=error,
            )  # fmt: skip
        sub.failed += len(item) if type(item) is Batch else 1
        self.letters.add(DeadLetter(item, f"{type(error).__name__}: {error}", sub.name, attempts, offset))
