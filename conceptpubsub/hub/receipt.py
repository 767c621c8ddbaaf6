"""Receipt: what a publisher gets."""

from __future__ import annotations

from typing import NamedTuple


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
