"""Concepts and quantity kinds as users hold them: frozen, hashable, quick to compare.

Rule 1  Equivalent concepts share one ``index``; subsumption, disjointness and masks speak of indexes.
Rule 2  What a concept does not declare it takes from the nearest concept above it.
Rule 3  A concept pickles as (its ontology, its IRI), so a thousand of them cost one ontology.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from conceptpubsub.model.context import Context
from conceptpubsub.model.values import Exact

if TYPE_CHECKING:
    from conceptpubsub.model.ontology import Ontology

ValueType: TypeAlias = Literal["real", "int", "text", "bool", "instant", "concept", "complex"]
Sort: TypeAlias = Literal["class", "property", "individual"]


@dataclass(frozen=True, slots=True)
class QuantityKind:
    """What is measured: a length, a torque. Kinds guard conversions where dimensions do not.

    >>> from conceptpubsub.model.ontology import Ontology
    >>> kinds = Ontology.bundled("core").kinds
    >>> kinds["Torque"].unit, kinds["Torque"].is_a(kinds["Energy"])
    ('N*m', False)
    """

    iri: str
    name: str
    unit: str | None
    parents: frozenset[str]

    def is_a(self, other: QuantityKind | str) -> bool:
        """Whether this kind is the other one or lies below it."""
        return (other.name if isinstance(other, QuantityKind) else other) in self.parents


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Concept:
    """One concept of an ontology; made by it, never by hand.

    >>> from conceptpubsub.model.ontology import Ontology
    >>> onto = Ontology.bundled("vehicles")
    >>> onto["InTemperature"].is_a(onto["Temperature"]), onto["InTemperature"].canonical_unit
    (True, 'degC')
    """

    iri: str
    name: str
    index: int
    representative: str
    sort: Sort
    labels: Mapping[str, str]
    definition: str
    value_type: ValueType | None
    quantity_kind: QuantityKind | None
    canonical_unit: str | None
    default_context: Context
    minimum: Exact | None
    maximum: Exact | None
    values: tuple[str, ...] | None
    domain: tuple[str, ...]
    range: tuple[str, ...]
    satisfiable: bool
    lineage: frozenset[int] = field(default=frozenset())
    ontology: Ontology = field(default=None)  # type: ignore[assignment]

    def is_a(self, other: Concept | str) -> bool:
        """Whether this concept is the other one, equivalent to it, or below it."""
        if type(other) is not Concept or other.ontology is not self.ontology:
            found = self.ontology.translate(other)
            return found is not None and found.index in self.lineage
        return other.index in self.lineage

    @property
    def mask(self) -> int:
        """Bits of the indexes of this concept and of all below it."""
        return self.ontology.indexes.mask(self.index)

    @property
    def ancestors(self) -> tuple[Concept, ...]:
        """This concept, those equivalent to it and all above, by name."""
        return self.ontology.members(self.lineage)

    @property
    def descendants(self) -> tuple[Concept, ...]:
        """This concept, those equivalent to it and all below, by name."""
        return self.ontology.members(self.ontology.indexes.below(self.index))

    @property
    def parents(self) -> tuple[Concept, ...]:
        """The concepts directly above, one for each equivalence class."""
        return self.ontology.parents_of(self.index)

    @property
    def children(self) -> tuple[Concept, ...]:
        """The concepts directly below, one for each equivalence class."""
        return tuple(self.ontology.by_index(i) for i in self.ontology.indexes.direct_children(self.index))

    @property
    def equivalents(self) -> tuple[Concept, ...]:
        """This concept and those that mean the same."""
        return self.ontology.members((self.index,))

    def disjoint_with(self, other: Concept | str) -> bool:
        """Whether the ontology says that nothing can be both.

        >>> from conceptpubsub.model.ontology import Ontology
        >>> onto = Ontology.bundled("vehicles")
        >>> onto["Engine"].disjoint_with("Brake"), onto["Odometer"].disjoint_with("Distance")
        (True, False)
        """
        found = self.ontology.translate(other)
        return found is not None and self.ontology.indexes.disjoint(self.index, found.index)

    def label(self, language: str = "en") -> str:
        """The label in that language, else in English, else in any, else the name."""
        labels = self.labels
        return labels.get(language) or labels.get("en") or labels.get("") or next(iter(labels.values()), self.name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Concept):
            return NotImplemented
        return self.iri == other.iri and self.ontology == other.ontology

    def __hash__(self) -> int:
        return hash(self.iri)

    def __repr__(self) -> str:
        return f"<Concept {self.name}>"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _concept, (self.ontology, self.iri)


def _concept(ontology: Ontology, iri: str) -> Concept:
    return ontology[iri]
