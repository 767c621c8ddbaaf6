"""The concepts of an ontology in a row, so that ``ISA`` is a run of places: one comparison, however many concepts.

Rule 1  Each concept stands right before all that a tree of the ontology has below it; equivalent ones share a place.
Rule 2  Where a concept has several parents the tree knows one of them. A concept whose own are then scattered has no
        run, and is tested by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

if TYPE_CHECKING:
    from conceptpubsub.model.ontology import Ontology

_rows: WeakKeyDictionary[Ontology, Row] = WeakKeyDictionary()


class Row:
    """The places of the concepts of one ontology.

    >>> from conceptpubsub.model import Ontology
    >>> onto = Ontology.bundled("vehicles")
    >>> row = Row(onto)
    >>> low, high = row.run(onto["Temperature"])
    >>> low <= row.place("InTemperature") < high, low <= row.place("Odometer") < high, row.place("Nothing such")
    (True, False, None)
    """

    __slots__ = ("_ontology", "_places", "_runs")

    def __init__(self, ontology: Ontology) -> None:
        indexes = ontology.indexes
        below: list[list[int]] = [[] for _ in indexes.parents]
        work: list[int] = []
        for index, supers in enumerate(indexes.parents):
            if supers:  # the lowest of them: what is above that one is above this one, too
                below[max(supers, key=lambda one: (len(indexes.above(one)), -one))].append(index)
            else:
                work.append(index)
        self._ontology = ref(ontology)  # which is a key to this row, and must be able to go
        self._places = [0] * len(below)
        self._runs: dict[int, tuple[int, int] | None] = {}
        count = 0
        while work:
            index = work.pop()
            self._places[index] = count
            count += 1
            work.extend(below[index])

    def place(self, name: str) -> int | None:
        """The place of the concept of that name; None when there is none."""
        ontology = self._ontology()
        found = None if ontology is None else ontology.find(name)
        return None if found is None else self._places[found.index]

    def run(self, concept: Any) -> tuple[int, int] | None:
        """The place of a concept, and the one after the last below it; None where these are scattered."""
        if concept.index not in self._runs:
            places = [self._places[index] for index in concept.ontology.indexes.below(concept.index)]
            low, high = min(places), max(places) + 1
            self._runs[concept.index] = (low, high) if high - low == len(places) else None
        return self._runs[concept.index]


def row_of(ontology: Ontology) -> Row:
    """The row of an ontology, made once."""
    found = _rows.get(ontology)
    if found is None:
        found = _rows[ontology] = Row(ontology)
    return found
