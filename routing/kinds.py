"""Which filters are identical, found without comparing each with each.

Rule 1  A tree of probe events: two filters stand at one leaf only if they agree on every probe above it.
Rule 2  Two filters at a leaf that are not identical are told apart by a witness, which becomes the next probe.
Rule 3  Where no witness is to be had, a leaf keeps several filters and each is compared: slower, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from conceptpubsub import relations
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters import Filter
from conceptpubsub.model import SemanticEvent


@dataclass(slots=True)
class _Place:
    """A leaf with filters of different kinds, or a probe with one place for those that match it and one for others."""

    filters: list[tuple[Filter, int]] = field(default_factory=list)
    probe: SemanticEvent | None = None
    matching: _Place | None = None
    others: _Place | None = None


class Kinds:
    """Numbers for filters, equal for identical ones.

    >>> kinds = Kinds(relations.identical)
    >>> a, b, c = (Filter.parse(text) for text in ("x > 5", "x > 5 AND x > 3", "x > 6"))
    >>> kinds.of(a) == kinds.of(b), kinds.of(a) == kinds.of(c)
    (True, False)
    """

    def __init__(self, identical: Callable[[Filter, Filter], bool]) -> None:
        self._identical = identical
        self._roots: dict[Hashable, _Place] = {}
        self._known: dict[str, int] = {}
        self._count = 0

    def of(self, filter: Filter, group: Hashable = None) -> int:
        """The number of a filter's kind; filters of different groups are never of one kind."""
        known = self._known.get(filter.digest)
        if known is None:
            known = self._known[filter.digest] = self._find(filter, self._roots.setdefault(group, _Place()))
        return known

    def _find(self, filter: Filter, place: _Place) -> int:
        while True:
            if place.probe is None:
                for alike, kind in place.filters:
                    if self._identical(alike, filter):
                        return kind
                self._count += 1
                place.filters.append((filter, self._count))
                self._split(place)
                return self._count
            below = place.matching if _matches(filter, place.probe) else place.others
            assert below is not None
            place = below

    def _split(self, place: _Place) -> None:
        """Put a probe where the newcomer and an older filter differ, if one is easily found."""
        if len(place.filters) < 2:
            return
        (old, _), (new, _) = place.filters[0], place.filters[-1]
        probe = _witness(old, new) or _witness(new, old)
        if probe is None or _matches(old, probe) == _matches(new, probe):
            return
        place.probe, place.matching, place.others = probe, _Place(), _Place()
        for filter, kind in place.filters:
            below = place.matching if _matches(filter, probe) else place.others
            below.filters.append((filter, kind))
        place.filters = []


def _matches(filter: Filter, event: SemanticEvent) -> bool:
    try:
        return filter.matches(event)
    except ConceptPubSubError:  # under ``total`` the event lacks a reference: as good a difference as any
        return False


def _witness(f: Filter, g: Filter) -> SemanticEvent | None:
    try:
        return relations.witness(f, g)
    except ConceptPubSubError:
        return None
