"""The filters behind the keys: kept as objects, or not at all; pickled as text with one scope for all that share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import FilterError

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter


class FilterShelf:
    """Filters by slot. One that came out of a pickle is parsed when it is first asked for."""

    def __init__(self, keeps: bool = True) -> None:
        self.keeps = keeps
        self._filters: dict[int, Any] = {}
        self._scopes: list[tuple[Any, ...]] = []

    def put(self, slot: int, filter: Filter) -> None:
        """Keep a filter, if filters are kept at all."""
        if self.keeps:
            self._filters[slot] = filter

    def drop(self, slot: int) -> None:
        """Forget a filter."""
        self._filters.pop(slot, None)

    def get(self, slot: int) -> Filter:
        """The filter of a slot."""
        held = self._filters.get(slot)
        if held is None:
            raise FilterError("this matcher does not keep its filters (keep_filters=False), so it cannot show them")
        if type(held) is tuple:
            held = self._filters[slot] = _parsed(held[0], self._scopes[held[1]])
        found: Filter = held
        return found

    def renumbered(self, slots: dict[int, int]) -> FilterShelf:
        """The same filters under other slots."""
        made = FilterShelf(self.keeps)
        made._filters = {slots[slot]: held for slot, held in self._filters.items()}
        made._scopes = self._scopes
        return made

    def __getstate__(self) -> dict[str, Any]:
        scopes, numbers, written = list(self._scopes), dict[int, int](), dict[int, Any]()
        for slot, held in list(self._filters.items()):
            if type(held) is not tuple:
                scope = held.scope
                if id(scope) not in numbers:
                    numbers[id(scope)] = len(scopes)
                    scopes.append(held.__reduce__()[1][1:])
                held = (str(held), numbers[id(scope)])
            written[slot] = held
        return {"keeps": self.keeps, "_filters": written, "_scopes": scopes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _parsed(text: str, scope: tuple[Any, ...]) -> Filter:
    from conceptpubsub.filters import Filter

    ontology, converters, semantics, types, defaults = scope
    return Filter.parse(
        text, ontology=ontology, converters=converters, semantics=semantics, types=types, defaults=defaults
    )
