"""Simple routing: every subscription goes to every broker, under the key of the client that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conceptpubsub.filters import Filter
from conceptpubsub.routing.comparing import Comparison
from conceptpubsub.routing.strategy import Member, Reduction, Strategy


@dataclass(frozen=True, slots=True)
class Simple(Strategy):
    """Tell every filter, whatever else is told."""

    name: ClassVar[str] = "simple"

    def subscriptions(self, comparison: Comparison) -> Reduction:
        return Everything()


class Everything(Reduction):
    """Tells each filter under its own key; of two that claim one key, the first counts while it is here.

    >>> told = Everything()
    >>> told.change([(("C1", "C1/1/a"), Filter.parse("x > 5"))]).announce
    [('C1/1/a', Filter.parse('x > 5'))]
    >>> told.change([], [("C1", "C1/1/a")]).withdraw
    ['C1/1/a']
    """

    def __init__(self) -> None:
        super().__init__()
        self._claims: dict[str, dict[Member, Filter]] = {}

    def __contains__(self, member: object) -> bool:
        return isinstance(member, tuple) and member in self._claims.get(member[1], ())

    def is_empty(self) -> bool:
        return not (self._claims or self.told)

    def take(self, member: Member, filter: Filter) -> None:
        claims = self._claims.setdefault(member[1], {})
        claims[member] = filter
        self.tell(member[1], next(iter(claims.values())))

    def release(self, member: Member) -> None:
        key = member[1]
        claims = self._claims[key]
        del claims[member]
        if claims:
            self.tell(key, next(iter(claims.values())))
        else:
            del self._claims[key]
            self.untell(key)
