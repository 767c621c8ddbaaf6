"""Delivery at the border: which of a client's subscriptions an event is for, and the event in its context.

Rule 1  A client gets an event once, for the first of its subscriptions that matches, in that subscription's context.
Rule 2  What cannot be converted is delivered as it came; its own context says what it is.
Rule 3  Under ``total`` an event that lacks a reference is an error of that subscription: reported, never delivered.
"""

from __future__ import annotations

from collections.abc import Iterator

from conceptpubsub.errors import LimitExceeded, MissingAttribute
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing.forwarding import Forwarding
from conceptpubsub.routing.messages import Deliver, Problem, Publish, Subscribe
from conceptpubsub.routing.sessions import Session


def delivery(session: Session, publish: Publish, forwarding: Forwarding) -> Deliver | None:
    """What a client is sent of an event; None where none of its subscriptions matches (any more)."""
    event = publish.event
    for name, subscription in session.subscriptions.items():
        if forwarding.matches(subscription.filter, event):
            return Deliver(name, publish.publisher, publish.sequence, converted(event, subscription))
    return None


def converted(event: SemanticEvent, subscription: Subscribe) -> SemanticEvent:
    """The event in a subscription's context.

    >>> from conceptpubsub.filters import Filter
    >>> from conceptpubsub.model import Context, SemanticObject
    >>> warm = Subscribe("warm", Filter.parse("t > 25 degC"), Context(unit="kelvin"))
    >>> converted(SemanticEvent("Reading", {"t": SemanticObject("t", 30, Context(unit="degC"))}), warm)["t"].value
    303.15
    """
    if not subscription.context:
        return event
    return subscription.filter.converters.deliver(event, subscription.context)


def faults(session: Session, publish: Publish) -> Iterator[Problem]:
    """For each subscription under ``total`` that cannot be judged on an event, the reason."""
    for name, subscription in session.subscriptions.items():
        if subscription.filter.semantics == "total":
            try:
                subscription.filter.matches(publish.event)
            except (MissingAttribute, LimitExceeded) as error:
                yield Problem(name, f"event {publish.publisher}/{publish.sequence}: {error}")
