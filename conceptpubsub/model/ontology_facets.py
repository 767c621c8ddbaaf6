"""What a concept says of its values, and how that is inherited.

A facet declared on a concept holds for everything below it until something below declares it anew. Where several
concepts above declare one, the most specific wins; between unrelated ones, the one numbered last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conceptpubsub.errors import LimitExceeded, OntologyError, hint, near
from conceptpubsub.model.ontology_closure import Closure
from conceptpubsub.model.ontology_kinds import CANONICAL_UNIT, KIND_OF, KindRow, text_of
from conceptpubsub.model.owl_axioms import Axioms, Statements
from conceptpubsub.model.rdf_terms import (
    CPS,
    DATATYPE,
    DOMAIN,
    OWL,
    QUDT,
    RANGE,
    SCHEMA,
    XSD,
    Literal,
    Term,
    is_blank,
    split_iri,
    value_type_of,
)
from conceptpubsub.model.values import decimal_text, exact

UNIT_OF = (*CANONICAL_UNIT, QUDT + "hasUnit", QUDT + "unit")
DOMAIN_OF = (DOMAIN, CPS + "attributeOf", *(s + "domainIncludes" for s in SCHEMA))
RANGE_OF = (RANGE, CPS + "valuesFrom", *(s + "rangeIncludes" for s in SCHEMA))

MAX_ASPECTS = 100
BOUNDS = ("minimum", "maximum")

Facets = dict[str, Any]
"""Declared facets by name: value_type, kind, unit, minimum, maximum, values, domain, range, and ``@aspect``."""


@dataclass(frozen=True, slots=True)
class FacetReader:
    """Reads the facets declared on one thing."""

    statements: Statements
    axioms: Axioms
    kinds: dict[str, KindRow]

    def declared(self, iri: str) -> Facets:
        """Everything that is said of this thing itself."""
        said = self.statements
        facets: Facets = {}
        self._ranges(iri, facets)
        for term in said.of(iri, CPS + "valueType"):
            value_type = value_type_of(term)
            if value_type is None:
                raise OntologyError(
                    f"{iri} has the value type {text_of(term)!r}; "
                    "there are real, int, text, bool, instant, concept and complex",
                    concept=iri,
                )
            facets["value_type"] = value_type
        kinds = [k for p in KIND_OF for k in sorted(k for k in said.of(iri, p) if isinstance(k, str))]
        if kinds:
            facets["kind"] = self._kind(iri, kinds[0])
            facets["unit"] = facets["kind"].unit
        units = [text_of(u) for p in UNIT_OF for u in sorted(said.of(iri, p), key=text_of)]
        if units:
            facets["unit"] = units[0]
        for name in BOUNDS:
            for term in said.of(iri, CPS + name):
                facets[name] = number(iri, name, term)
        values = [text_of(v) for head in said.of(iri, CPS + "values") for v in said.items(head)]
        values += [text_of(v) for v in said.of(iri, CPS + "value")]
        if values:
            facets["values"] = sorted(set(values))
        self._known(iri, said.of(iri, CPS + "attributeOf", CPS + "valuesFrom"))
        domain = {name for term in said.of(iri, *DOMAIN_OF) for name in self._classes(term)}
        if domain:
            facets["domain"] = sorted(domain)
        for node in said.of(iri, CPS + "defaultContext"):
            self._context(iri, node, facets)
        return facets

    def _known(self, iri: str, terms: list[Term]) -> None:
        """Our own vocabulary speaks of concepts that exist; a foreign rdfs:domain may not."""
        for term in terms:
            if isinstance(term, str) and not is_blank(term) and term not in self.axioms.sorts:
                offers = near(term, self.axioms.sorts)
                raise OntologyError(f"{iri} speaks of <{term}>, which is no concept.{hint(offers)}", concept=iri)

    def _kind(self, iri: str, kind: str) -> KindRow:
        found = self.kinds.get(kind)
        if found is None:
            raise OntologyError(
                f"{iri} has the quantity kind <{kind}>, which nothing defines: "
                f"declare it a cps:QuantityKind with a cps:canonicalUnit, or use one of core's",
                concept=iri,
                kind=kind,
            )
        return found

    def _ranges(self, iri: str, facets: Facets) -> None:
        classes: set[str] = set()
        for term in self.statements.of(iri, *RANGE_OF):
            if isinstance(term, str) and not self._datatype(iri, term, facets):
                classes.update(self._classes(term))
        if classes:
            facets["range"] = sorted(classes)
            if self.statements.of(iri, CPS + "valuesFrom"):
                facets.setdefault("value_type", "concept")

    def _datatype(self, iri: str, term: str, facets: Facets, depth: int = 0) -> bool:
        """Take what a datatype says; False where the term is none. Restricted datatypes give bounds and values."""
        value_type = value_type_of(term) if term.startswith((XSD, OWL, "http://www.w3.org/1999/02/22")) else None
        if value_type:
            facets.setdefault("value_type", value_type)
            return True
        said = self.statements
        bases = [b for b in said.of(term, OWL + "onDatatype", OWL + "equivalentClass") if isinstance(b, str)]
        literals = [v for head in said.of(term, OWL + "oneOf") for v in said.items(head) if isinstance(v, Literal)]
        if literals:
            facets["values"] = sorted({v.text for v in literals})
            facets.setdefault("value_type", value_type_of(literals[0].datatype or XSD + "string") or "text")
        for head in said.of(term, OWL + "withRestrictions"):
            for node in said.items(head):
                for facet, name in (("minInclusive", "minimum"), ("maxInclusive", "maximum")):
                    for bound in said.of(str(node), XSD + facet):
                        facets[name] = number(iri, name, bound)
        found = bool(literals)
        for base in bases if depth < 8 else ():
            found = self._datatype(iri, base, facets, depth + 1) or found
        return found or DATATYPE in said.of(term, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

    def _classes(self, term: Term) -> list[str]:
        if not isinstance(term, str):
            return []
        if not is_blank(term):
            return [term] if term in self.axioms.sorts else []
        parts = [part for head in self.statements.of(term, OWL + "unionOf") for part in self.statements.items(head)]
        return [part for part in parts if isinstance(part, str) and part in self.axioms.sorts]

    def _context(self, iri: str, node: Term, facets: Facets) -> None:
        if not isinstance(node, str):
            raise OntologyError(f'{iri}: cps:defaultContext takes a node such as [ cps:unit "mile" ]', concept=iri)
        said = self.statements.about(node)
        if len(said) > MAX_ASPECTS:
            raise LimitExceeded(f"{iri} has a default context of {len(said):,} aspects", concept=iri)
        for predicate, values in said.items():
            name = next(
                (text_of(n) for n in self.statements.of(predicate, CPS + "aspectName")), split_iri(predicate)[1]
            )
            if predicate.startswith("http://www.w3.org/1999/02/22") or not name:
                continue
            value = min(values, key=text_of)
            text = text_of(value)
            if isinstance(value, Literal) and value_type_of(value.datatype or "") in ("int", "real"):
                facets["@" + name] = ["number", number(iri, name, value)]
            elif isinstance(value, Literal) and value.datatype == XSD + "boolean":
                facets["@" + name] = ["bool", text]
            else:
                facets["@" + name] = ["text", text]


def number(iri: str, what: str, term: Term) -> str:
    """A bound as a canonical literal.

    >>> number("urn:x", "minimum", Literal("0.50", None, None))
    '0.5'
    """
    try:
        return decimal_text(exact(text_of(term)))
    except ValueError as error:
        raise OntologyError(f"{iri}: the {what} {text_of(term)[:40]!r} is not a number: {error}", concept=iri) from None


def inherit(closure: Closure, reader: FacetReader) -> dict[str, Facets]:
    """The facets of every thing, its own and inherited, by IRI.

    A bound is a number in the canonical unit of the concept that declares it, so it is inherited with that unit and
    dropped where another unit takes over.
    """
    resolved: list[dict[str, tuple[int, Any]]] = []
    found: dict[str, Facets] = {}
    for i, group in enumerate(closure.members):
        shared: dict[str, tuple[int, Any]] = {}
        for parent in closure.parents[i]:
            for name, (origin, value) in resolved[parent].items():
                if name not in shared or shared[name][0] < origin:
                    shared[name] = (origin, value)
        own = {iri: reader.declared(iri) for iri in group}
        units = [facets["unit"] for facets in own.values() if "unit" in facets]
        unit = units[0] if units else shared.get("unit", (0, None))[1]
        for facets in own.values():
            facets.update({name: (facets[name], facets.get("unit", unit)) for name in BOUNDS if name in facets})
        for iri in reversed(group):
            shared.update({name: (i, value) for name, value in own[iri].items()})
        resolved.append(shared)
        for iri in group:
            found[iri] = {**{name: value for name, (_, value) in shared.items()}, **own[iri]}
    for facets in found.values():
        _from_range(facets, found)
    for facets in found.values():
        _complete(facets)
    return found


def _from_range(facets: Facets, found: dict[str, Facets]) -> None:
    """A property takes from its range what nobody said of it."""
    if facets.get("value_type") != "concept":
        for upper in facets.get("range", ()):
            for name, value in found[upper].items():
                if name not in ("domain", "range"):
                    facets.setdefault(name, value)


def _complete(facets: Facets) -> None:
    """What follows from the rest: bounds in the unit that holds, reals for quantities, text for enumerations."""
    for name in BOUNDS:
        if name in facets:
            bound, unit = facets.pop(name)
            if unit == facets.get("unit"):
                facets[name] = bound
    if facets.get("value_type") is None:
        if facets.get("kind") is not None or facets.get("unit") is not None:
            facets["value_type"] = "real"
        elif facets.get("values") is not None:
            facets["value_type"] = "text"
