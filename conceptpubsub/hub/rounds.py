"""A round: one publish, from matching to the last subscriber.

Everybody is served before anything is raised: that a queue refused, full under the policy ``error`` or never to be
read, is told to the publisher by ``check``. What durable subscriptions acknowledged is written in one transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError, HubError
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.durable import DurableSubscription
from conceptpubsub.hub.edge import Shape
from conceptpubsub.hub.letters import DeadLetter
from conceptpubsub.hub.subscription import Subscription

if TYPE_CHECKING:
    from conceptpubsub.hub.hub import Hub
    from conceptpubsub.model import SemanticEvent


class Round:
    """Serves the subscribers of a hub; with ``gather``, batch callbacks are called once, at the end."""

    __slots__ = ("acknowledged", "done", "for_another", "gather", "gathered", "hub", "matched", "refused")

    def __init__(self, hub: Hub, gather: bool = False) -> None:
        self.hub, self.gather = hub, gather
        self.matched, self.done = 0, False
        self.for_another = False
        """Whether it is served by another thread than its publisher's."""
        self.refused: HubError | None = None
        self.gathered: dict[int, list[tuple[Any, SemanticEvent]]] = {}
        self.acknowledged: dict[str, int] = {}

    def serve(self, event: SemanticEvent, shape: Shape, offset: int = -1) -> None:
        """Hand a valid event to everyone it matches; the offset is its place in the store, if there is one."""
        hub = self.hub
        try:
            found = hub.matcher.match(event)
        except ConceptPubSubError as error:
            hub.refuse(event, (str(error),))
            return
        made: dict[int, SemanticEvent] = {}
        for number in found:
            sub = hub.subscription(number)
            if sub is None:  # ended in this very moment
                continue
            self.matched += 1
            to = sub.context_number
            mine = made.get(to)
            if mine is None:
                mine = made[to] = hub.plans.deliver(event, shape, to)
            if not sub.batch:
                self.hand(sub, mine, offset, offset)
            elif self.gather:
                self.gathered.setdefault(sub.number, []).append((offset, mine))
            else:
                self.hand(sub, Batch([mine], offsets=[offset]), offset, offset)

    def hand(self, sub: Subscription, item: Any, first: int, last: int) -> None:
        """Give a subscription what is its own."""
        if isinstance(sub, DurableSubscription):
            upto = sub.offer(item, first, last)
            if upto is not None:
                self.acknowledged[sub.name] = upto
        elif sub.queue is None:
            self.hub.caller.call(sub, item)
        else:
            try:
                dropped = sub.queue.put(item, self.for_another)
            except HubError as error:
                self.refused = error
                return
            if dropped is not None:
                reason = f"the queue of {sub.queue.size} was full ({sub.queue.policy})"
                self.hub.dead_letters.add(DeadLetter(dropped, reason, sub.name))

    def finish(self) -> None:
        """Hand over what was gathered, write what was acknowledged."""
        for number, mine in self.gathered.items():
            sub = self.hub.subscription(number)
            if sub is not None:
                offsets = [offset for offset, _ in mine]
                self.hand(sub, Batch([event for _, event in mine], offsets=offsets), offsets[0], offsets[-1])
        if self.acknowledged and self.hub.log is not None:
            self.hub.log.acknowledge(self.acknowledged)

    def check(self) -> int:
        """The number of deliveries; raises where a queue refused its own."""
        if self.refused is not None:
            raise self.refused
        return self.matched
