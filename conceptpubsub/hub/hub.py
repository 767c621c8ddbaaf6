"""Hub: publish/subscribe inside one process.

Rule 1  Every subscriber whose filter matches gets the event once, in its own context; the publisher learns how many.
Rule 2  A subscriber's failure is its own: retried by its policy, then a dead letter; nobody else waits for it.
Rule 3  An event that does not validate is refused at the edge: a dead letter and a receipt that says why.
Rule 4  Any thread may call any method at any time. A callback without a queue runs in the publisher's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptpubsub.converters import Converters
from conceptpubsub.errors import ConceptPubSubError, HubError, hint, near
from conceptpubsub.filters import Filter
from conceptpubsub.hub.catch_up import Shortest
from conceptpubsub.hub.durable import DurableSubscription
from conceptpubsub.hub.edge import Edge, Shape, entered
from conceptpubsub.hub.given import check_batch, check_hub, check_subscription
from conceptpubsub.hub.letters import KEPT, DeadLetter, DeadLetters, Retry
from conceptpubsub.hub.log import Log
from conceptpubsub.hub.plans import Plans
from conceptpubsub.hub.quenching import wanted
from conceptpubsub.hub.queues import DEFAULT_SIZE, BoundedQueue, aside
from conceptpubsub.hub.receipt import Receipt
from conceptpubsub.hub.retries import Caller
from conceptpubsub.hub.rounds import Round
from conceptpubsub.hub.store import Store
from conceptpubsub.hub.subscription import Subscription, is_async
from conceptpubsub.matching import Matcher

if TYPE_CHECKING:
    from conceptpubsub.model import Ontology, SemanticEvent

_ONCE = Retry()


class Hub:
    """Publish/subscribe by meaning, inside one process.

    >>> from conceptpubsub import Context, Ontology, SemanticObject
    >>> hub = Hub(ontology=Ontology.bundled("vehicles"))
    >>> got = []
    >>> sub = hub.subscribe("Temperature > 25 degC", got.append, context=Context(unit="kelvin"))
    >>> warm = SemanticObject("Temperature", 86, Context(unit="degF"))
    >>> hub.publish({"@concept": "VehicleStatus", "InTemperature": warm}).matched
    1
    >>> got[0]["InTemperature"].value
    303.15
    >>> hub.publish({"@concept": "VehicleStatus", "InTemprature": warm}).problems
    ("InTemprature: no such concept. Did you mean 'InTemperature' or 'Temperature' or 'OutTemperature'?",)
    >>> hub.unsubscribe(sub)
    """

    def __init__(
        self,
        ontology: Ontology | None = None,
        converters: Converters | None = None,
        *,
        semantics: str = "sql",
        types: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        validate: bool = True,
        retry: Retry = _ONCE,
        dead_letter: Callable[[DeadLetter], Any] | None = None,
        dead_letters_kept: int = KEPT,
        engine: str = "default",
        store: str | Path | None = None,
        sync: str = "full",
    ) -> None:
        self._scope: dict[str, Any] = {"semantics": semantics, "types": types, "defaults": defaults}
        check_hub(ontology, self._scope)
        self.ontology = ontology
        self.converters = converters if converters is not None else Converters.default(ontology)
        self.dead_letters = DeadLetters(dead_letters_kept, dead_letter)
        self.plans = Plans(self.converters)
        self.caller = Caller(self.dead_letters)
        self.closed = False
        self.edge = Edge(ontology if validate else None, self.converters)
        self.shapes = self.edge.shapes
        self._retry = retry
        self.matcher = Matcher(engine)
        self._subscriptions: dict[int, Subscription] = {}
        self._numbers = itertools.count()
        self._lock = threading.RLock()
        self.log = None if store is None else Log(self, Store(store, sync))

    # ------------------------------------------------------------------ subscribers

    def subscribe(
        self,
        filter: str | Filter,
        callback: Callable[[Any], Any] | None = None,
        *,
        context: Mapping[Any, Any] | None = None,
        batch: bool = False,
        name: str | None = None,
        queue: int | None = None,
        policy: str = "block",
        retry: Retry | None = None,
        durable: str | None = None,
        start: Any = None,
        ack: str = "auto",
        replace: bool = False,
        catch_up: Shortest | None = None,
    ) -> Subscription:
        """Deliver what matches to a callback, in a context; without a callback, to be read from the subscription.

        ``batch=True`` hands over a ``Batch`` of events at a time. A ``queue`` of that many events puts a thread (for
        a coroutine function, a task) between publisher and callback; ``policy`` says what happens when it is full:
        block, drop_oldest, drop_newest or error. A context that could never apply is an error here, not later.

        ``durable`` names a place in the hub's store that outlives the process; it needs no queue. ``start`` is an
        offset, a time, "earliest" or "latest" (by default where it stood; new ones at the latest), ``ack`` is "auto"
        or "manual", ``replace`` lets the filter change, ``catch_up`` shortens what was missed.
        """
        check_subscription(callback, context, retry)
        made = self.filter(filter)
        if context is not None:
            self.converters.check_delivery(context)
        awaited = is_async(callback)
        if durable is not None:
            if awaited or queue is not None:
                raise HubError("a durable subscription needs no queue: it calls a function, or is read", name=durable)
            parts = (made, context, callback, batch, retry or self._retry)
            return self._subscribe_durable(durable, parts, start, ack, replace, catch_up)
        if start is not None or ack != "auto" or replace or catch_up is not None:
            raise HubError("start, ack, replace and catch_up are of durable subscriptions: give durable='a name'")
        if awaited:
            _need_loop()
        waits = callback is None or awaited or queue is not None
        held = BoundedQueue(DEFAULT_SIZE if queue is None else queue, policy) if waits else None
        with self._lock:
            self._check_open()
            number = next(self._numbers)
            title = name if name is not None else f"subscription {number}"
            sub = Subscription(self, number, title, made, context, callback, batch, retry or self._retry, held)
            self._subscriptions[number] = sub
            try:
                self.matcher.add(number, made)
            except BaseException:
                del self._subscriptions[number]
                raise
        if held is not None and callback is not None:
            sub.start_reader()
        return sub

    def _subscribe_durable(
        self, name: str, parts: tuple[Any, ...], start: Any, ack: str, replace: bool, catch_up: Shortest | None
    ) -> Subscription:
        log = self._need_log("a durable subscription")
        with log.order, self._lock:
            self._check_open()
            sub = log.subscribe((self, next(self._numbers), name, *parts, None), start, ack, replace, catch_up)
            self.matcher.add(sub.number, sub.filter)
            self._subscriptions[sub.number] = sub
        sub.begin()
        return sub

    def unsubscribe(self, sub: Subscription) -> None:
        """End a subscription; what waits in its queue can still be read.

        A publisher in another thread that has matched an event already may still deliver it.
        """
        with self.log.order if self.log is not None else contextlib.nullcontext():
            with self._lock:
                if self._subscriptions.get(sub.number) is not sub:
                    raise HubError(f"the subscription {sub.name} is not one of this hub, or has ended", name=sub.name)
                del self._subscriptions[sub.number]
                self.matcher.remove(sub.number)
            sub.end()

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """The subscriptions there are, oldest first."""
        with self._lock:
            return tuple(self._subscriptions.values())

    def subscription(self, number: Any) -> Subscription | None:
        """Called by the hub's parts: the subscription of a number, unless it has ended."""
        return self._subscriptions.get(number)

    def wanted(self, advertisement: str | Filter) -> bool:
        """Whether anyone could want events of an advertisement: a publisher may be silent where nobody does.

        Durable subscriptions that are away count as those that are open.

        >>> hub = Hub()
        >>> _ = hub.subscribe("price < 500 AND dest = 'MXP'")
        >>> hub.wanted("price > 800"), hub.wanted("price > 300")
        (False, True)
        """
        return wanted(self, self.filter(advertisement))

    # ------------------------------------------------------------------ publishers

    def publish(self, event: SemanticEvent | Mapping[str, Any]) -> Receipt:
        """Deliver an event to everyone whose filter matches; with a store, it is written there first."""
        self._check_open()
        made, shape, problems = self._judged(event)
        if problems:
            return self.refuse(made, problems)
        if self.log is not None:
            return self.log.publish([(made, shape)], gather=False)
        round = Round(self)
        round.serve(made, shape)
        round.finish()
        return Receipt(round.check())

    def publish_batch(self, events: Any) -> Receipt:
        """Deliver many events at once: an iterable of events, or an Arrow table or record batch with a column a path.

        The receipt counts deliveries. Batch callbacks are called once for all of theirs. With a store, the valid
        events are written in one transaction, and the receipt has the offset of the first.
        """
        self._check_open()
        if type(events).__module__.startswith("pyarrow"):
            return self._publish_table(events)
        check_batch(events)
        problems: list[str] = []
        good: list[tuple[SemanticEvent, Shape]] = []
        for event in events:
            made, shape, found = self._judged(event)
            if found:
                problems += self.refuse(made, found).problems
            else:
                good.append((made, shape))
        if self.log is not None:
            receipt = self.log.publish(good, gather=True)
            return receipt._replace(problems=(*problems, *receipt.problems))
        round = Round(self, gather=True)
        for made, shape in good:
            round.serve(made, shape)
        round.finish()
        return Receipt(round.check(), tuple(problems))

    def _publish_table(self, given: Any) -> Receipt:
        from conceptpubsub.hub.tables import accepted, as_table, serve_table

        table, problems = accepted(self, as_table(given))
        if self.log is not None:
            return self.log.publish_table(table)._replace(problems=problems)
        round = Round(self, gather=True)
        serve_table(round, table)
        round.finish()
        return Receipt(round.check(), problems)

    def _judged(self, event: Any) -> tuple[Any, Shape, tuple[str, ...]]:
        """The event as it will be delivered, its shape, and what is wrong with it."""
        try:
            made = entered(event, "Event")
            shape = self.shapes.of(made)
            return made, shape, self.edge.problems(made, shape)
        except ConceptPubSubError as error:
            return event, -1, (str(error),)

    async def publish_async(self, event: SemanticEvent | Mapping[str, Any]) -> Receipt:
        """As ``publish``, without holding up the event loop where a queue makes the publisher wait."""
        return await aside(self.publish, event)

    async def publish_batch_async(self, events: Any) -> Receipt:
        """As ``publish_batch``, without holding up the event loop."""
        return await aside(self.publish_batch, events)

    def replay(
        self,
        filter: str | Filter,
        start: Any = "earliest",
        end: Any = None,
        *,
        context: Mapping[Any, Any] | None = None,
    ) -> Iterator[tuple[int, SemanticEvent]]:
        """(offset, event) of past events that match, from the store, in a context.

        ``start`` and ``end`` are offsets, times (of publishing), "earliest" or "latest"; the end is not included.
        """
        log = self._need_log("replay")
        if context is not None:
            self.converters.check_delivery(context)
        return log.replay(self.filter(filter), start, end, context)

    def acknowledge(self, durable: str, offset: int) -> None:
        """As ``sub.ack(offset)``, by name: a callback can be called before ``subscribe`` has returned."""
        store = self._need_log("an acknowledgment").store
        if store.place(durable) is None:
            found = hint(near(durable, store.names()))
            raise HubError(f"the store knows no durable subscription {durable!r}.{found}", name=durable)
        store.acknowledge([(durable, offset + 1)])

    def forget(self, durable: str) -> None:
        """Strike out a durable subscription that is not open; its name is free again."""
        log = self._need_log("forget")
        with log.order:
            if log.is_open(durable):
                raise HubError(f"the durable subscription {durable!r} is open: unsubscribe first", name=durable)
            log.store.forget(durable)

    def trim(self) -> int:
        """Drop from the store what all durable subscriptions have acknowledged; gives how many events went."""
        return self._need_log("trim").trim()

    # ------------------------------------------------------------------ life

    def refuse(self, event: Any, problems: tuple[str, ...]) -> Receipt:
        """Called by the hub's parts: a dead letter for an event that is not valid."""
        self.dead_letters.add(DeadLetter(event, "; ".join(problems)))
        return Receipt(0, problems)

    def flush(self, timeout: float | None = 30.0) -> bool:
        """Wait until retries are through and callbacks behind queues have finished; False where time ran out."""
        return self._wait(timeout, self.subscriptions)

    def _wait(self, timeout: float | None, subs: tuple[Subscription, ...]) -> bool:
        until = None if timeout is None else time.monotonic() + timeout
        while not self._idle(subs):
            if until is not None and time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def _idle(self, subs: tuple[Subscription, ...]) -> bool:
        served = [sub.queue for sub in subs if sub.queue is not None and sub.callback is not None]
        behind = any(isinstance(sub, DurableSubscription) and sub.callback and not sub.live for sub in subs)
        return not behind and self.caller.idle and all(queue.idle for queue in served)

    def close(self) -> None:
        """End every subscription; the hub takes no more events.

        What waits behind queues is still delivered while the process lives; call ``flush`` first to wait for it, or use
        the hub in a ``with``, which waits up to half a minute for threads that serve callbacks.
        """
        with self._lock:
            self.closed = True
        for sub in self.subscriptions:
            with contextlib.suppress(HubError):  # ended in this very moment
                self.unsubscribe(sub)
        if self.log is not None:
            self.log.close()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        if kind is None and not self.closed:  # durable subscriptions lose nothing, and tasks may need this very thread
            queues = (sub for sub in self.subscriptions if sub.queue is not None and not is_async(sub.callback))
            self._wait(30.0, tuple(queues))
        self.close()

    def _check_open(self) -> None:
        if self.closed:
            raise HubError("the hub is closed")

    def _need_log(self, what: str) -> Log:
        if self.log is None:
            raise HubError(f"{what} needs a store: Hub(store='events.db')")
        return self.log

    def filter(self, given: str | Filter) -> Filter:
        """A filter as it is; a text, read in the scope of the hub."""
        if isinstance(given, Filter):
            return given
        return Filter.parse(given, ontology=self.ontology, converters=self.converters, **self._scope)


def _need_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise HubError("a coroutine function is subscribed inside a running event loop, which will call it") from None
