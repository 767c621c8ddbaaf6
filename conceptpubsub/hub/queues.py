"""A bounded queue between publishers and one reader, with a stated policy for when it is full.

===========  ==================================================================================
block        the publisher waits for room (back-pressure)
drop_oldest  the oldest waiting event makes room; it is counted and becomes a dead letter
drop_newest  the arriving event is dropped; it is counted and becomes a dead letter
error        the publisher gets ``QueueFull`` after everybody else has been served
===========  ==================================================================================

The reader may be a thread or a coroutine. Closing lets the reader have what waits, then ends it, and frees publishers.
A publisher never waits for itself: where the reader's own callback or event loop would have to wait, an error says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from conceptpubsub.errors import HubError, InvalidValue, QueueFull, hint, near

POLICIES = ("block", "drop_oldest", "drop_newest", "error")
DEFAULT_SIZE = 1024
Gives = TypeVar("Gives")
_being_read: ContextVar[BoundedQueue | None] = ContextVar("being_read", default=None)


def being_read() -> BoundedQueue | None:
    """The queue whose item the running callback has in hand; threads that it starts with asyncio know it, too."""
    return _being_read.get()


class BoundedQueue:
    """Events for one reader.

    >>> queue = BoundedQueue(2, "drop_oldest")
    >>> [queue.put(n) for n in (1, 2, 3)]
    [None, None, 1]
    >>> queue.drain(), queue.dropped
    ([2, 3], 1)
    """

    def __init__(self, size: int = DEFAULT_SIZE, policy: str = "block") -> None:
        if policy not in POLICIES:
            raise InvalidValue(
                f"no queue policy {policy!r}.{hint(near(str(policy), POLICIES))} Policies are {', '.join(POLICIES)}.",
                value=policy,
            )
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise InvalidValue(f"a queue holds at least one event, not {size!r}", value=repr(size)[:80])
        self.size, self.policy = size, policy
        self.dropped = 0
        self.closed = False
        self._unfinished = 0
        self._items: deque[Any] = deque()
        self._lock = threading.Lock()
        self._filled = threading.Condition(self._lock)
        self._freed = threading.Condition(self._lock)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: list[asyncio.Future[None]] = []

    def __len__(self) -> int:
        return len(self._items)

    # ------------------------------------------------------------------ publishers

    def put(self, item: Any, for_another: bool = False) -> Any:
        """Add an item; gives back what was dropped for it, if something was. Raises ``QueueFull`` under ``error``.

        A callback that delivers ``for_another`` publisher what its own queue has no room for lets it in all the same.
        """
        dropped = None
        with self._lock:
            if len(self._items) >= self.size and not self.closed:
                if self.policy == "block":
                    if not (for_another and being_read() is self):
                        self._wait_for_room()
                elif self.policy == "error":
                    raise QueueFull(
                        f"the queue of a subscription is full ({self.size} events wait); read faster, make it larger, "
                        "or choose the policy block, drop_oldest or drop_newest",
                        size=self.size,
                    )
                else:
                    self.dropped += 1
                    if self.policy == "drop_newest":
                        return item
                    dropped = self._items.popleft()
            if self.closed:
                return dropped
            self._items.append(item)
            self._filled.notify()
            self._wake()
        return dropped

    def _wait_for_room(self) -> None:
        if self._loop is not None and self._loop is _running():
            raise HubError(
                "publish() would wait for a reader of this very event loop, for ever: await publish_async() instead"
            )
        if being_read() is self:
            raise HubError(
                f"the callback behind a full queue of {self.size} publishes to itself and would wait for ever; "
                "make the queue larger, or choose the policy drop_oldest, drop_newest or error",
                size=self.size,
            )
        while len(self._items) >= self.size and not self.closed:
            self._freed.wait()

    def _wake(self) -> None:
        for waiter in self._waiters:
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits there any more
                waiter.get_loop().call_soon_threadsafe(_finish, waiter)
        self._waiters.clear()

    def close(self) -> None:
        """No more items; whoever waits is freed."""
        with self._lock:
            self.closed = True
            self._filled.notify_all()
            self._freed.notify_all()
            self._wake()

    # ------------------------------------------------------------------ the reader

    def get(self, timeout: float | None = None) -> Any:
        """The oldest item, waiting for one; ``TimeoutError`` after ``timeout`` seconds, ``EOFError`` when closed."""
        until = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            while not self._items:
                if self.closed:
                    raise EOFError
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(f"no event within {timeout} s")
                self._filled.wait(left)
            return self._take()

    async def get_async(self) -> Any:
        """As ``get``, for a coroutine."""
        loop = asyncio.get_running_loop()
        self._loop = loop
        while True:
            with self._lock:
                if self._items:
                    return self._take()
                if self.closed:
                    raise EOFError
                waiter: asyncio.Future[None] = loop.create_future()
                self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                with self._lock, contextlib.suppress(ValueError):
                    self._waiters.remove(waiter)
                raise

    def drain(self) -> list[Any]:
        """Everything that waits now, oldest first."""
        with self._lock:
            found = list(self._items)
            self._items.clear()
            self._freed.notify_all()
        return found

    def _take(self) -> Any:
        item = self._items.popleft()
        self._unfinished += 1
        self._freed.notify()
        return item

    def take_in_hand(self) -> None:
        """Said by the thread or task that reads for a callback."""
        _being_read.set(self)

    def done(self) -> None:
        """The reader has finished with what it took; only asked of readers that serve a callback."""
        with self._lock:
            self._unfinished -= 1

    @property
    def idle(self) -> bool:
        """Whether nothing waits and the reader has finished."""
        with self._lock:
            return not self._items and self._unfinished <= 0


async def aside(function: Callable[[Any], Gives], given: Any) -> Gives:
    """Call a function in another thread.

    For a callback behind a queue it is a thread of its own: asyncio's may all be waiting for room in that very queue.
    """
    if being_read() is None:
        return await asyncio.to_thread(function, given)
    with contextlib.ExitStack() as ending:
        one = ThreadPoolExecutor(1)
        ending.callback(one.shutdown, wait=False)
        return await asyncio.get_running_loop().run_in_executor(one, copy_context().run, function, given)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _finish(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
