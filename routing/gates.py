"""Which advertisements a subscription overlaps: decided once a pair for all brokers, and kept as bits of a number.

Rule 1  A broker asks for each subscription and neighbour whether any of the neighbour's advertisements overlaps: with
        bits that is one AND, whatever their number.
Rule 2  Bits are for the first advertisements; beyond `MOST` each pair is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from conceptpubsub.filters import Filter
from conceptpubsub.relations.compiled import compiled
from conceptpubsub.relations.outlines import outline

MOST = 1024


class Gates:
    """Bits for advertisements, and for each subscription the bits of those it overlaps.

    >>> gates = Gates(lambda f, g: f.overlaps(g))
    >>> cold, hot = Filter.parse("t < 10"), Filter.parse("t > 20")
    >>> gates.lets(gates.of([hot]), Filter.parse("t > 5 AND x = 1")), gates.lets(gates.of([cold]), hot)
    (True, False)
    """

    def __init__(self, overlaps: Callable[[Filter, Filter], bool]) -> None:
        self._overlaps = overlaps
        self._bits: dict[str, int] = {}
        self._advertisements: list[Filter] = []
        self._masks: dict[str, tuple[int, int]] = {}

    def of(self, advertisements: Iterable[Filter]) -> Gate:
        """The gate that some advertisements open."""
        mask, others = 0, []
        for advertisement in advertisements:
            bit = self._bits.get(advertisement.digest)
            if bit is None and len(self._bits) < MOST:
                bit = self._bits[advertisement.digest] = len(self._bits)
                self._advertisements.append(advertisement)
            if bit is None:
                others.append(advertisement)
            else:
                mask |= 1 << bit
        return Gate(mask, tuple(others))

    def lets(self, gate: Gate, subscription: Filter) -> bool:
        """Whether a subscription overlaps one of a gate's advertisements."""
        if gate.mask:
            known, mask = self._masks.get(subscription.digest, (0, 0))
            if known < len(self._advertisements):
                for bit in range(known, len(self._advertisements)):
                    if self._meet(subscription, self._advertisements[bit]):
                        mask |= 1 << bit
                self._masks[subscription.digest] = len(self._advertisements), mask
            if mask & gate.mask:
                return True
        return any(self._meet(subscription, advertisement) for advertisement in gate.others)

    def _meet(self, f: Filter, g: Filter) -> bool:
        return not apart(f, g) and self._overlaps(f, g)


class Gate:
    """Advertisements as bits, and those that have none."""

    __slots__ = ("mask", "others")

    def __init__(self, mask: int = 0, others: tuple[Filter, ...] = ()) -> None:
        self.mask = mask
        self.others = others


SHUT = Gate()


def apart(f: Filter, g: Filter) -> bool:
    """Whether two filters need values of one attribute that lie apart, seen at a glance; False says nothing.

    A reference to a concept may be bound to different attributes, so only plain names and the parts of an event count.

    >>> apart(Filter.parse("s = 'a' AND x > 1"), Filter.parse("s = 'b'"))
    True
    >>> apart(Filter.parse("x > 1"), Filter.parse("y < 1"))
    False
    """
    if compiled(f).currency != compiled(g).currency:
        return False  # amounts compare only at a rate
    mine, others = outline(f).hulls, outline(g).hulls
    plain = f.ontology is None and g.ontology is None
    for key, (low, high) in mine.items():
        if plain or key.startswith("EVENT"):
            other = others.get(key)
            if other is not None and (high < other[0] or other[1] < low):
                return True
    return False
