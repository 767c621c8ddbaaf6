"""Ontology: an immutable registry of concepts, compiled once and opened in a moment.

Rule 1  Two ontologies are equal when their digests are: the SHA-256 of what they say, not of how files spell it.
Rule 2  A name is a short name, a prefixed name or an IRI; looking one up is a dictionary access.
Rule 3  Equal ontologies opened in one process are one object, so worker processes restore each once.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from conceptpubsub.errors import OntologyError, UnknownConcept, hint, near
from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.ontology_concepts import Concept, QuantityKind
from conceptpubsub.model.ontology_indexes import Indexes
from conceptpubsub.model.ontology_names import alike
from conceptpubsub.model.values import Exact, exact_decimal, simplest

_NO_NAMES: tuple[str, ...] = ()


class Ontology:
    """The concepts of one or more files, closed under subsumption.

    >>> onto = Ontology.bundled("vehicles")
    >>> onto["InTemperature"].is_a(onto["Temperature"]), "Odometer" in onto, onto.find("Nothing such")
    (True, True, None)
    """

    __slots__ = (
        "__weakref__",
        "_body",
        "_by_index",
        "_by_name",
        "_data",
        "_made",
        "digest",
        "indexes",
        "kinds",
        "warnings",
    )
    _open: ClassVar[weakref.WeakValueDictionary[str, Ontology]] = weakref.WeakValueDictionary()

    digest: str
    indexes: Indexes
    kinds: Mapping[str, QuantityKind]
    warnings: tuple[str, ...]
    _body: bytes
    _data: dict[str, Any]
    _by_name: dict[str, int]
    _by_index: list[list[int]]
    _made: list[Concept | None]

    def __init__(self) -> None:
        raise TypeError("an Ontology is made by Ontology.load(...) or Ontology.bundled(...)")

    @classmethod
    def load(
        cls,
        *sources: str | Path,
        catalog: Mapping[str, str | Path] | None = None,
        reason: bool = False,
        time_limit: float = 60.0,
        cache: bool = True,
        format: str | None = None,
        ignore_missing: bool = False,
        max_bytes: int | None = None,
        max_triples: int | None = None,
    ) -> Ontology:
        """Read local files in Turtle, RDF/XML, N-Triples or JSON-LD.

        ``catalog`` maps the IRIs of imports (and JSON-LD contexts) to local files; nothing is ever fetched. With
        ``reason`` HermiT classifies the ontology first, within ``time_limit`` seconds.
        """
        from conceptpubsub.model.ontology_loading import load

        return load(
            sources,
            catalog=catalog or {},
            reason=reason,
            time_limit=time_limit,
            cache=cache,
            rdf_format=format,
            ignore_missing=ignore_missing,
            max_bytes=max_bytes,
            max_triples=max_triples,
        )

    @classmethod
    def bundled(cls, name: str) -> Ontology:
        """One of the ontologies that come with the package: core, vehicles, observations, trading, flights.

        >>> Ontology.bundled("core").kinds["Temperature"].unit
        'degC'
        """
        from conceptpubsub.model.catalog import bundled_path

        return cls.load(bundled_path(name))

    @classmethod
    def restore(cls, body: bytes, warnings: tuple[str, ...] = ()) -> Ontology:
        """Open a compiled form; the same one twice gives the same object."""
        digest = hashlib.sha256(body).hexdigest()
        known = cls._open.get(digest)
        if known is not None and known.warnings == warnings:
            return known
        made = object.__new__(cls)
        for name, value in _tables(body).items():
            object.__setattr__(made, name, value)
        object.__setattr__(made, "digest", digest)
        object.__setattr__(made, "warnings", warnings)
        return cls._open.setdefault(digest, made) if known is None else made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an Ontology is immutable")

    # looking up

    def find(self, name: str) -> Concept | None:
        """The concept of that short name, prefixed name or IRI; None when there is none."""
        i = self._by_name.get(name)
        if i is None:
            return None
        made = self._made[i]
        return made if made is not None else self._make(i)

    def __getitem__(self, name: str | Concept) -> Concept:
        found = self.translate(name) if isinstance(name, Concept) else self.find(name)
        if found is None:
            shown = str(name)[:200]
            offers = self.near(shown)
            raise UnknownConcept(f"no concept {shown!r} in the ontology.{hint(offers)}", name=shown, near=offers)
        return found

    def __contains__(self, name: object) -> bool:
        return (name.iri if isinstance(name, Concept) else name) in self._by_name

    def __iter__(self) -> Iterator[Concept]:
        return (self._made[i] or self._make(i) for i in range(len(self._made)))

    def __len__(self) -> int:
        return len(self._made)

    def names(self) -> tuple[str, ...]:
        """Every short name, sorted."""
        return tuple(sorted(row[1] for row in self._data["concepts"]))

    def near(self, name: str) -> tuple[str, ...]:
        """Names that a mistyped one resembles; what carries it as a label, or as its last part, comes first."""
        wanted, found = name.casefold(), []
        for row in self._data["concepts"]:
            others = (*(alias.rpartition(":")[2] for alias in row[2]), *row[6].values())
            if any(wanted == other.casefold() for other in others):
                found.append(row[1])
        return tuple(dict.fromkeys((*found[:3], *near(name, alike(name, self.names())))))[:3]

    def translate(self, other: Concept | str) -> Concept | None:
        """This ontology's own concept for a name (an error when unknown) or for another ontology's concept (None)."""
        if isinstance(other, Concept):
            return other if other.ontology is self else self.find(other.iri)
        return self[other]

    def spellings(self) -> dict[str, int]:
        """Every text that names a concept (short name, prefixed name or IRI), with the concept's index."""
        rows = self._data["concepts"]
        return {name: rows[i][4] for name, i in self._by_name.items()}

    # indexes

    @property
    def index_count(self) -> int:
        """How many indexes there are; they run from 0."""
        return len(self._by_index)

    def by_index(self, index: int) -> Concept:
        """The representative of an index."""
        return self._concept(self._by_index[index][0])

    def members(self, indexes: Iterable[int]) -> tuple[Concept, ...]:
        """Every concept with one of these indexes, by name."""
        found = [self._concept(i) for index in indexes for i in self._by_index[index]]
        return tuple(sorted(found, key=lambda concept: concept.name))

    def parents_of(self, index: int) -> tuple[Concept, ...]:
        """The representatives directly above an index."""
        return tuple(self.by_index(i) for i in self.indexes.direct_parents(index))

    @property
    def unsatisfiable(self) -> tuple[Concept, ...]:
        """The concepts that nothing can be: below two disjoint ones, or so found by the reasoner."""
        return self.members(self.indexes.empty)

    @property
    def cycles(self) -> tuple[int, ...]:
        """The indexes that hold a cycle of subclasses which nobody stated to be an equivalence."""
        return tuple(self._data["cycles"])

    # text

    def describe(self, name: str | Concept, language: str = "en") -> str:
        """What the ontology says of a concept, as text for a terminal."""
        from conceptpubsub.model.ontology_text import describe

        return describe(self[name], language)

    def draw(self, root: str | Concept | None = None, most: int = 500) -> str:
        """The hierarchy, or the part below ``root``, as a Mermaid graph of at most so many boxes."""
        from conceptpubsub.model.ontology_text import draw

        return draw(self, None if root is None else self[root], most)

    def check(self, resolve: Callable[[str], Any] | None = None) -> list[str]:
        """What is missing or contradicts itself, a sentence each; give ``converters.resolve`` to check units too."""
        from conceptpubsub.model.ontology_text import check

        return check(self, resolve)

    # identity

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Ontology) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Ontology.restore, (self._body, self.warnings)

    def __repr__(self) -> str:
        return f"<Ontology of {len(self)} concepts, {self.digest[:12]}>"

    def __copy__(self) -> Ontology:
        return self

    def __deepcopy__(self, memo: Any) -> Ontology:
        return self

    # making concepts on first use

    def _concept(self, i: int) -> Concept:
        return self._made[i] or self._make(i)

    def _make(self, i: int) -> Concept:
        iri, name, _, sort, index, facet, labels, definition = self._data["concepts"][i]
        facets = self._data["facets"][facet]
        values = facets.get("values")
        made = Concept(
            iri=iri,
            name=name,
            index=index,
            representative=self._data["concepts"][self._by_index[index][0]][1],
            sort=sort,
            labels=MappingProxyType(labels),
            definition=definition,
            value_type=facets.get("value_type"),
            quantity_kind=self.kinds[facets["kind"]] if "kind" in facets else None,
            canonical_unit=facets.get("unit"),
            default_context=_context(facets.get("context")),
            minimum=_number(facets.get("minimum")),
            maximum=_number(facets.get("maximum")),
            values=None if values is None else tuple(values),
            domain=tuple(facets.get("domain", _NO_NAMES)),
            range=tuple(facets.get("range", _NO_NAMES)),
            satisfiable=index not in self.indexes.empty,
            lineage=self.indexes.above(index),
            ontology=self,
        )
        self._made[i] = made
        return made


def _tables(body: bytes) -> dict[str, Any]:
    """The fields of an ontology from its compiled form."""
    data = json.loads(body)
    rows = data["concepts"]
    by_name: dict[str, int] = {alias: i for i, row in enumerate(rows) for alias in row[2]}
    by_name.update((row[0], i) for i, row in enumerate(rows))
    by_name.update((row[1], i) for i, row in enumerate(rows))
    by_index: list[list[int]] = [[] for _ in data["parents"]]
    for i, row in enumerate(rows):
        by_index[row[4]].append(i)
    kinds: dict[str, QuantityKind] = {}
    for iri, name, unit, parents, aliases in data["kinds"]:
        kinds[name] = kinds[iri] = kind = QuantityKind(iri, name, unit, frozenset(parents))
        for alias in aliases:
            kinds.setdefault(alias, kind)
    return {
        "_body": body,
        "_data": data,
        "_by_name": by_name,
        "_by_index": by_index,
        "_made": [None] * len(rows),
        "indexes": Indexes(data["parents"], data["apart"], data["empty"]),
        "kinds": MappingProxyType(kinds),
    }


def _context(aspects: Mapping[str, Collection[str]] | None) -> Context:
    if not aspects:
        return EMPTY
    made: dict[str, Any] = {}
    for aspect, (form, text) in aspects.items():
        made[aspect] = text if form == "text" else text in ("true", "1") if form == "bool" else _number(text)
    return Context(made)


def _number(text: str | None) -> Exact | None:
    if text is None:
        return None
    top, _, bottom = text.partition("/")
    if bottom:
        return simplest(Fraction(int(top), int(bottom)))
    return exact_decimal(top)


__all__ = ["Concept", "Ontology", "OntologyError", "QuantityKind"]
