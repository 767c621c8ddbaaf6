"""Flooding: events go everywhere, subscriptions nowhere.

No broker needs a table beyond its own clients, and every broker sees every event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conceptpubsub.filters import Filter
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.strategy import Member, Reduction, Strategy


@dataclass(frozen=True, slots=True)
class Flooding(Strategy):
    """Tell nobody anything; send every event to every neighbour.

    >>> Flooding().floods
    True
    """

    name: ClassVar[str] = "flooding"
    floods: ClassVar[bool] = True

    def subscriptions(self, comparison: Comparison) -> Reduction:
        return Silence()


class Silence(Reduction):
    """Tells nothing, whatever is held."""

    def __contains__(self, member: object) -> bool:
        return False

    def is_empty(self) -> bool:
        return True

    def take(self, member: Member, filter: Filter) -> None:
        return

    def release(self, member: Member) -> None:
        return
