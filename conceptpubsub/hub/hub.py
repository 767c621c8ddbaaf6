"""Hub: publish/subscribe inside one process.

Rule 1  Every subscriber whose filter matches gets the event once, in its own context; the publisher learns how many.
Rule 2  A subscriber's failure is its own: retried by its policy, then a dead letter; nobody else waits for it.
Rule 3  An event that does not validate is refused at the edge: a dead letter and a receipt that says why.
Rule 4  Any thread may call any method at any time. A callback without a queue runs in the publisher's thread.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from conceptpubsub.converters import Converters
from conceptpubsub.errors import ConceptPubSubError, HubError, IncompatibleFilters, QueueFull
from conceptpubsub.filters import Filter
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.edge import Edge, Shape, entered
from conceptpubsub.hub.letters import KEPT, DeadLetter, DeadLetters, Retry
from conceptpubsub.hub.plans import Plans
from conceptpubsub.hub.queues import DEFAULT_SIZE, BoundedQueue
from conceptpubsub.hub.retries import Caller
from conceptpubsub.hub.subscription import Subscription
from conceptpubsub.matching import Matcher

if TYPE_CHECKING:
    from conceptpubsub.model import Ontology, SemanticEvent

_ONCE = Retry()


class Receipt(NamedTuple):
    """What a publisher gets: how many subscriptions matched, and what was wrong with the event if it was refused."""

    matched: int
    problems: tuple[str, ...] = ()
    offset: int | None = None
    """Where the event stands in the store, if the hub has one: it is safe there from now on."""

    @property
    def accepted(self) -> bool:
        """Whether the event was valid."""
        return not self.problems


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
    ) -> None:
        self.ontology = ontology
        self.converters = converters if converters is not None else Converters.default(ontology)
        self.dead_letters = DeadLetters(dead_letters_kept, dead_letter)
        self.plans = Plans(self.converters)
        self.caller = Caller(self.dead_letters)
        self.closed = False
        self._scope: dict[str, Any] = {"semantics": semantics, "types": types, "defaults": defaults}
        self.edge = Edge(ontology if validate else None, self.converters)
        self.shapes = self.edge.shapes
        self._retry = retry
        self.matcher = Matcher(engine)
        self._subscriptions: dict[int, Subscription] = {}
        self._numbers = itertools.count()
        self._lock = threading.RLock()

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
    ) -> Subscription:
        """Deliver what matches to a callback, in a context; without a callback, to be read from the subscription.

        ``batch=True`` hands over a ``Batch`` of events at a time. A ``queue`` of that many events puts a thread (for
        a coroutine function, a task) between publisher and callback; ``policy`` says what happens when it is full:
        block, drop_oldest, drop_newest or error. A context that could never apply is an error here, not later.
        """
        made = self._filter(filter)
        if context is not None:
            self.converters.check_delivery(context)
        is_async = inspect.iscoroutinefunction(callback)
        if is_async:
            _need_loop()
        waits = callback is None or is_async or queue is not None
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

    def unsubscribe(self, sub: Subscription) -> None:
        """End a subscription; what waits in its queue can still be read."""
        with self._lock:
            if self._subscriptions.pop(sub.number, None) is None:
                raise HubError(f"the subscription {sub.name} is not one of this hub, or has ended", name=sub.name)
            self.matcher.remove(sub.number)
        sub.end()

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """The subscriptions there are, oldest first."""
        return tuple(self._subscriptions.values())

    def subscription(self, number: int) -> Subscription | None:
        """The subscription of a number, unless it has ended."""
        return self._subscriptions.get(number)

    def wanted(self, advertisement: str | Filter) -> bool:
        """Whether anyone could want events of an advertisement: a publisher may be silent where nobody does.

        >>> hub = Hub()
        >>> _ = hub.subscribe("price < 500 AND dest = 'MXP'")
        >>> hub.wanted("price > 800"), hub.wanted("price > 300")
        (False, True)
        """
        offered = self._filter(advertisement)
        return any(_overlap(wish, offered) for wish in {sub.filter for sub in self.subscriptions})

    # ------------------------------------------------------------------ publishers

    def publish(self, event: SemanticEvent | Mapping[str, Any]) -> Receipt:
        """Deliver an event to everyone whose filter matches."""
        self._check_open()
        try:
            made = entered(event, "Event")
        except ConceptPubSubError as error:
            return self.refuse(event, (str(error),))
        shape = self.shapes.of(made)
        problems = self.edge.problems(made, shape)
        if problems:
            return self.refuse(made, problems)
        return Receipt(self.deliver(made, shape))

    def publish_batch(self, events: Any) -> Receipt:
        """Deliver many events at once: an iterable of events, or an Arrow table or record batch with a column a path.

        The receipt counts deliveries. Batch callbacks are called once for all of theirs.
        """
        self._check_open()
        if type(events).__module__.startswith("pyarrow"):
            return self._publish_table(events)
        return self._publish_list(events)

    def _publish_list(self, events: Iterable[Any]) -> Receipt:
        matched = 0
        problems: list[str] = []
        gathered: dict[int, list[SemanticEvent]] = {}
        for event in events:
            try:
                made = entered(event, "Event")
                shape = self.shapes.of(made)
                found = self.edge.problems(made, shape)
            except ConceptPubSubError as error:
                made, found = event, (str(error),)
            if found:
                problems += self.refuse(made, found).problems
                continue
            matched += self.deliver(made, shape, gathered)
        for number, mine in gathered.items():
            sub = self._subscriptions.get(number)
            if sub is not None:
                self.hand(sub, Batch(mine))
        return Receipt(matched, tuple(problems))

    def _publish_table(self, given: Any) -> Receipt:
        from conceptpubsub.hub.tables import accepted, as_table, deliver_table

        table, problems = accepted(self, as_table(given))
        return Receipt(deliver_table(self, table), problems)

    async def publish_async(self, event: SemanticEvent | Mapping[str, Any]) -> Receipt:
        """As ``publish``, without holding up the event loop where a queue makes the publisher wait."""
        return await asyncio.to_thread(self.publish, event)

    async def publish_batch_async(self, events: Any) -> Receipt:
        """As ``publish_batch``, without holding up the event loop."""
        return await asyncio.to_thread(self.publish_batch, events)

    # ------------------------------------------------------------------ delivery

    def deliver(
        self, event: SemanticEvent, shape: Shape, gathered: dict[int, list[SemanticEvent]] | None = None
    ) -> int:
        """Hand a valid event to everyone it matches; what batch callbacks will get may be gathered instead."""
        try:
            found = self.matcher.match(event)
        except ConceptPubSubError as error:
            self.refuse(event, (str(error),))
            return 0
        made: dict[int, SemanticEvent] = {}
        subscriptions, full = self._subscriptions, None
        for number in found:
            sub = subscriptions.get(number)  # type: ignore[call-overload]
            if sub is None:  # ended in this very moment
                continue
            to = sub.context_number
            mine = made.get(to)
            if mine is None:
                mine = made[to] = self.plans.deliver(event, shape, to)
            if not sub.batch:
                full = self.hand(sub, mine) or full
            elif gathered is not None:
                gathered.setdefault(sub.number, []).append(mine)
            else:
                full = self.hand(sub, Batch([mine])) or full
        if full is not None:
            raise full
        return len(found)

    def hand(self, sub: Subscription, item: Any) -> QueueFull | None:
        """Give a subscription what is its own; a full queue under the policy error is given back, to be raised last."""
        if sub.queue is None:
            self.caller.call(sub, item)
            return None
        try:
            dropped = sub.queue.put(item)
        except QueueFull as error:
            return error
        if dropped is not None:
            reason = f"the queue of {sub.queue.size} was full ({sub.queue.policy})"
            self.dead_letters.add(DeadLetter(dropped, reason, sub.name))
        return None

    def refuse(self, event: Any, problems: tuple[str, ...]) -> Receipt:
        """A dead letter for an event that is not valid."""
        self.dead_letters.add(DeadLetter(event, "; ".join(problems)))
        return Receipt(0, problems)

    # ------------------------------------------------------------------ life

    def flush(self, timeout: float | None = 30.0) -> bool:
        """Wait until retries are through and callbacks behind queues have finished; False where time ran out."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self._idle():
            if until is not None and time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def _idle(self) -> bool:
        served = [sub.queue for sub in self.subscriptions if sub.queue is not None and sub.callback is not None]
        return self.caller.timer.idle and all(queue.idle for queue in served)

    def close(self) -> None:
        """End every subscription; the hub takes no more events."""
        with self._lock:
            self.closed = True
            for sub in self.subscriptions:
                self.unsubscribe(sub)

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self.closed:
            raise HubError("the hub is closed")

    def _filter(self, given: str | Filter) -> Filter:
        if isinstance(given, Filter):
            return given
        return Filter.parse(given, ontology=self.ontology, converters=self.converters, **self._scope)


def _overlap(one: Filter, other: Filter) -> bool:
    try:
        return one.overlaps(other)
    except IncompatibleFilters:  # nothing can be said, so nobody is told to be silent
        return True


def _need_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise HubError("a coroutine function is subscribed inside a running event loop, which will call it") from None
