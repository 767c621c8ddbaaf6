"""Under ``total``, which filters an event has too little for: found by their names, not one by one."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from conceptpubsub.matching.engine import Fault

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

_Names = tuple[tuple[int, str], ...]


class Missing:
    """Filters under ``total``, by the references they name.

    >>> from conceptpubsub.filters import Filter
    >>> missing = Missing()
    >>> missing.add(7, Filter.parse("x > 1 AND y > 1", semantics="total"), (0, 1))
    >>> missing.faults({0: 5})[0].reason
    "the event lacks y, and under 'total' every reference must be present"
    """

    def __init__(self) -> None:
        self._slots: dict[_Names, dict[int, None]] = {}
        self._names: dict[int, _Names] = {}

    def add(self, slot: int, filter: Filter, numbers: tuple[int, ...]) -> None:
        """Take a filter and the numbers of its references."""
        names = tuple((number, ref.shown) for number, ref in zip(numbers, filter.references, strict=True))
        self._names[slot] = names
        self._slots.setdefault(names, {})[slot] = None

    def remove(self, slot: int) -> None:
        """Forget a filter."""
        del self._slots[self._names.pop(slot)][slot]

    def faults(self, bound: Container[int]) -> list[Fault]:
        """A fault for each filter that names a reference which is not bound."""
        found: list[Fault] = []
        for names, slots in list(self._slots.items()):
            lacking = [shown for number, shown in names if number not in bound]
            if lacking:
                reason = f"the event lacks {', '.join(lacking)}, and under 'total' every reference must be present"
                found.extend(Fault(0, slot, reason) for slot in list(slots))
        return found
