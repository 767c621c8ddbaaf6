"""Quenching: whether anyone could want what a publisher advertises.

Rule 1  Silence is advised only where it loses nothing: whatever cannot be decided counts as wanted.
Rule 2  A durable subscription that is away wants its events as much as one that is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conceptpubsub.errors import ConceptPubSubError, IncompatibleFilters

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.hub.hub import Hub


def wanted(hub: Hub, offered: Filter) -> bool:
    """Whether an event of the advertisement could match a subscription."""
    if any(_overlap(wish, offered) for wish in {sub.filter for sub in hub.subscriptions}):
        return True
    return hub.log is not None and any(_wants(hub, name, offered) for name in hub.log.store.names())


def _wants(hub: Hub, name: str, offered: Filter) -> bool:
    """Whether a durable subscription could want it, as far as the store knows its filter."""
    assert hub.log is not None
    place = hub.log.store.place(name)
    if place is None or hub.log.is_open(name):
        return False
    try:
        wish = hub.filter(place.filter)
    except ConceptPubSubError:  # of another ontology
        return True
    return wish.digest != place.digest or _overlap(wish, offered)


def _overlap(one: Filter, other: Filter) -> bool:
    try:
        return one.overlaps(other)
    except IncompatibleFilters:
        return True
