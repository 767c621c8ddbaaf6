"""Where durable subscriptions start, and which filters the store knows: what is asked of a store's places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import HubError
from conceptpubsub.hub.store import Place, Store

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter


def opened(store: Store, name: str, filter: Filter, start: Any, replace: bool) -> int:
    """The offset where a durable subscription goes on, or starts; entered in the store."""
    known = store.place(name)
    if known is not None and known.digest != filter.digest and not replace:
        raise HubError(
            f"the durable subscription {name!r} exists with the filter {known.filter}; "
            "choose another name, or give replace=True to keep its place with the new filter",
            name=name,
            filter=known.filter,
        )
    offset = known.next if known is not None and start is None else resolved(store, start)
    store.move(name, Place(offset, str(filter), filter.digest))
    return offset


def resolved(store: Store, start: Any) -> int:
    """An offset, a time, "earliest" or "latest" (also None) as an offset."""
    if start is None or start == "latest":
        return store.end
    if start == "earliest":
        return 0
    if isinstance(start, int) and not isinstance(start, bool):
        if start < 0:
            raise HubError(f"offsets count from 0, not from {start}", offset=start)
        return min(start, store.end)
    return store.offset_at(start)
