"""Subscription: one subscriber's filter, context and way of receiving; an iterator where there is no callback."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import HubError
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.letters import Retry
from conceptpubsub.hub.queues import BoundedQueue

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.hub.hub import Hub


class Subscription:
    """What ``Hub.subscribe`` gives.

    Without a callback it is read: ``for event in sub``, ``async for event in sub``, ``sub.get(timeout=1)`` or
    ``sub.drain()``. It ends when it is closed, after what waits has been read.

    >>> from conceptpubsub.hub import Hub
    >>> hub = Hub()
    >>> with hub.subscribe("price < 500", queue=10, policy="drop_oldest") as sub:
    ...     _ = hub.publish({"price": 300})
    ...     [event["price"].value for event in sub.drain()]
    [300]
    """

    def __init__(
        self,
        hub: Hub,
        number: int,
        name: str,
        filter: Filter,
        context: Mapping[Any, Any] | None,
        callback: Callable[[Any], Any] | None,
        batch: bool,
        retry: Retry,
        queue: BoundedQueue | None,
    ) -> None:
        self.hub, self.number, self.name, self.filter, self.context = hub, number, name, filter, context
        self.callback, self.batch, self.retry, self.queue = callback, batch, retry, queue
        self.context_number = hub.plans.number(context)
        self.active = True
        self.delivered = 0
        self.failed = 0
        self._counting = threading.Lock()
        self._reader: threading.Thread | asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ reading

    def get(self, timeout: float | None = None) -> Any:
        """The next event; ``TimeoutError`` where none comes in time, ``HubError`` where the subscription has ended."""
        try:
            return self._read().get(timeout)
        except EOFError:
            raise HubError(f"the subscription {self.name} has ended", name=self.name) from None

    def drain(self) -> list[Any]:
        """Every event that waits now."""
        return self._read().drain()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._read().get()
        except EOFError:
            raise StopIteration from None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._read().get_async()
        except EOFError:
            raise StopAsyncIteration from None

    def _read(self) -> BoundedQueue:
        if self.queue is None or self.callback is not None:
            raise HubError(
                f"the subscription {self.name} delivers to its callback; subscribe without one to read it",
                name=self.name,
            )
        return self.queue

    @property
    def waiting(self) -> int:
        """How many events wait in the queue."""
        return 0 if self.queue is None else len(self.queue)

    @property
    def dropped(self) -> int:
        """How many events the queue dropped by its policy."""
        return 0 if self.queue is None else self.queue.dropped

    # ------------------------------------------------------------------ life

    def start_reader(self) -> None:
        """Called by the hub: a thread, or a task for a coroutine function, takes what waits to the callback."""
        if is_async(self.callback):
            self._reader = asyncio.get_running_loop().create_task(self._serve_async())
        else:
            self._reader = threading.Thread(target=self._serve, name=f"conceptpubsub {self.name}", daemon=True)
            self._reader.start()

    def _serve(self) -> None:
        assert self.queue is not None
        self.queue.take_in_hand()
        while True:
            try:
                item = self.queue.get()
            except EOFError:
                return
            self.hub.caller.call_in_order(self, item)
            self.queue.done()

    async def _serve_async(self) -> None:
        assert self.queue is not None
        self.queue.take_in_hand()
        try:
            while True:
                await self.hub.caller.await_in_order(self, await self.queue.get_async())
                self.queue.done()
        except EOFError:
            return
        finally:
            if self.active:  # the task was cancelled, or its loop has ended: a publisher must not wait for it
                self.close()

    def count(self, item: Any) -> None:
        """Called by the hub: the callback has taken an item."""
        number = len(item) if type(item) is Batch else 1
        with self._counting:
            self.delivered += number

    def close(self) -> None:
        """Unsubscribe."""
        self.hub.unsubscribe(self)

    def end(self) -> None:
        """Called by the hub: no more events come."""
        self.active = False
        if self.queue is not None:
            self.queue.close()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *raised: object) -> None:
        if self.active:
            self.close()

    def __repr__(self) -> str:
        return f"<Subscription {self.name}: {self.filter}{'' if self.active else ', ended'}>"


def is_async(callback: Any) -> bool:
    """Whether calling it gives a coroutine: a coroutine function, or an object whose call is one."""
    call = inspect.getattr_static(callback, "__call__", None)
    return inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(call)
