"""What the triples say about named things: which exist, what lies below what, what excludes what.

Only axioms between names are read, and those class expressions whose named consequences are plain to see
(intersections, unions, enumerations, complements). The rest is a reasoner's work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from conceptpubsub.errors import LimitExceeded, OntologyError
from conceptpubsub.model.rdf_terms import (
    BUILT_IN,
    CPS,
    DATATYPE,
    FIRST,
    NIL,
    NOTHING,
    OWL,
    QUDT,
    RDF,
    RDFS,
    REST,
    SKOS,
    SUBCLASS,
    SUBPROPERTY,
    TYPE,
    Literal,
    Term,
    Triple,
    is_blank,
)

MAX_LISTED = 1_000_000
_CLASS_TYPES = (OWL + "Class", RDFS + "Class")
_PROPERTY_TYPES = (OWL + "DatatypeProperty", OWL + "ObjectProperty")
_KIND_TYPES = (CPS + "QuantityKind", QUDT + "QuantityKind")
_NOT_THINGS = (
    *_KIND_TYPES,
    OWL + "Ontology",
    OWL + "AnnotationProperty",
    RDF + "Property",
    DATATYPE,
    CPS + "Aspect",
    CPS + "ValueType",
    SKOS + "ConceptScheme",
)


_VOCABULARY = (CPS + "QuantityKind", CPS + "ValueType", CPS + "Aspect")
"""Classes of the vocabulary itself, which no event speaks of."""


class Statements:
    """Triples by subject and predicate, in an order that does not depend on the file's."""

    __slots__ = ("_by_predicate", "_by_subject", "_listed")

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._by_subject: dict[str, dict[str, list[Term]]] = {}
        self._by_predicate: dict[str, list[tuple[str, Term]]] = defaultdict(list)
        self._listed = 0
        for subject, predicate, value in triples:
            self._by_subject.setdefault(subject, {}).setdefault(predicate, []).append(value)
            self._by_predicate[predicate].append((subject, value))

    def of(self, subject: str, *predicates: str) -> list[Term]:
        """Every value of these predicates, in the order of the predicates."""
        known = self._by_subject.get(subject)
        if not known:
            return []
        return [value for predicate in predicates for value in known.get(predicate, ())]

    def pairs(self, predicate: str) -> list[tuple[str, Term]]:
        """Every (subject, value) of a predicate."""
        return self._by_predicate.get(predicate, [])

    def about(self, subject: str) -> dict[str, list[Term]]:
        """Everything said of a subject."""
        return self._by_subject.get(subject, {})

    def typed(self, *types: str) -> set[str]:
        """The named things that have one of these types."""
        return {s for s, o in self.pairs(TYPE) if o in types and not is_blank(s)}

    def items(self, head: Term) -> list[Term]:
        """The members of an RDF list; lists without end, or one list read without end, are an error."""
        found: list[Term] = []
        while isinstance(head, str) and head != NIL:
            found += self.of(head, FIRST)[:1]
            self._listed += 1
            if self._listed > MAX_LISTED:
                raise LimitExceeded(f"RDF lists of more than {MAX_LISTED:,} members together", limit=MAX_LISTED)
            if len(found) > len(self._by_subject):
                raise OntologyError(f"an RDF list that runs in a circle at {head}")
            rest = self.of(head, REST)
            if not rest:
                break
            head = rest[0]
        return found


@dataclass(slots=True)
class Axioms:
    """The named skeleton of an ontology."""

    sorts: dict[str, str] = field(default_factory=dict)
    """What each thing is: class, property or individual."""
    above: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Direct supers by IRI; equivalence is both directions."""
    apart: list[tuple[str, ...]] = field(default_factory=list)
    """Groups whose members are pairwise disjoint."""
    empty: set[str] = field(default_factory=set)
    """Classes said to have no members."""
    same: set[tuple[str, str]] = field(default_factory=set)
    """Pairs stated to be the same."""

    def below(self, lower: str, upper: str) -> None:
        """Note that one lies below the other; owl:Thing says nothing and owl:Nothing says all."""
        if upper == NOTHING:
            self.empty.add(lower)
        elif lower != upper and not lower.startswith(BUILT_IN) and not upper.startswith(BUILT_IN):
            self.above[lower].add(upper)

    def equal(self, one: str, other: str) -> None:
        """Note that two names mean the same."""
        self.same.add((one, other))
        self.below(one, other)
        self.below(other, one)


def read_axioms(statements: Statements) -> Axioms:
    """The skeleton of what the statements say.

    >>> found = read_axioms(Statements([("urn:A", SUBCLASS, "urn:B")]))
    >>> sorted(found.sorts), dict(found.above)
    (['urn:A', 'urn:B'], {'urn:A': {'urn:B'}})
    """
    axioms = Axioms()
    _name_things(statements, axioms)
    for lower, upper in statements.pairs(SUBCLASS):
        if not is_blank(lower):
            _subclass(statements, axioms, lower, upper)
        elif isinstance(upper, str) and not is_blank(upper):
            for part in _union(statements, lower):
                axioms.below(part, upper)
    for one, other in statements.pairs(OWL + "equivalentClass"):
        if is_blank(one) and isinstance(other, str):
            one, other = other, one
        if is_blank(one) or not isinstance(other, str):
            continue
        if is_blank(other):
            _subclass(statements, axioms, one, other)
            for part in _union(statements, other):
                axioms.below(part, one)
        else:
            axioms.equal(one, other)
    _properties(statements, axioms)
    _definitions_in_place(statements, axioms)
    _disjointness(statements, axioms)
    for lower, uppers in list(axioms.above.items()):
        for name in (lower, *uppers):
            axioms.sorts.setdefault(name, "class")
    return axioms


def _name_things(statements: Statements, axioms: Axioms) -> None:
    classes = statements.typed(*_CLASS_TYPES)
    for predicate in (SUBCLASS, OWL + "equivalentClass", OWL + "disjointWith"):
        for subject, value in statements.pairs(predicate):
            classes.update(name for name in (subject, value) if isinstance(name, str) and not is_blank(name))
    classes -= statements.typed(DATATYPE)
    properties = statements.typed(*_PROPERTY_TYPES)
    for predicate in (SUBPROPERTY, OWL + "equivalentProperty"):
        for subject, value in statements.pairs(predicate):
            if subject in properties and isinstance(value, str) and not is_blank(value):
                properties.add(value)
    other = statements.typed(*_NOT_THINGS)
    individuals = statements.typed(OWL + "NamedIndividual")
    for subject, value in statements.pairs(TYPE):
        if isinstance(value, str) and value in classes and not is_blank(subject):
            individuals.add(subject)
    for sort, names in (("individual", individuals), ("property", properties), ("class", classes)):
        for name in names:
            if name.startswith(BUILT_IN) or name in _VOCABULARY or (sort == "individual" and name in other):
                continue
            axioms.sorts[name] = sort
    for subject, value in statements.pairs(TYPE):
        if axioms.sorts.get(subject) == "individual" and isinstance(value, str) and value in axioms.sorts:
            axioms.below(subject, value)
    _same_individuals(statements, axioms)


def _same_individuals(statements: Statements, axioms: Axioms) -> None:
    """owl:sameAs in both directions; a name known only from there is of the sort of what it equals."""
    beside: dict[str, list[str]] = defaultdict(list)
    for one, two in statements.pairs(OWL + "sameAs"):
        if isinstance(two, str) and not is_blank(one) and not is_blank(two):
            beside[one].append(two)
            beside[two].append(one)
    work = [name for name in beside if name in axioms.sorts]
    for name in work:
        for other in beside[name]:
            if other not in axioms.sorts:
                axioms.sorts[other] = axioms.sorts[name]
                work.append(other)
            axioms.equal(name, other)


def _subclass(statements: Statements, axioms: Axioms, lower: str, upper: Term) -> None:
    if not isinstance(upper, str):
        return
    if not is_blank(upper):
        axioms.below(lower, upper)
        return
    for listed in statements.of(upper, OWL + "intersectionOf"):
        for part in statements.items(listed):
            if isinstance(part, str) and not is_blank(part):
                axioms.below(lower, part)
    for other in statements.of(upper, OWL + "complementOf"):
        if isinstance(other, str) and not is_blank(other):
            axioms.apart.append((lower, other))


def _union(statements: Statements, node: str) -> Iterator[str]:
    """The named parts of a union or an enumeration."""
    for listed in statements.of(node, OWL + "unionOf", OWL + "oneOf"):
        for part in statements.items(listed):
            if isinstance(part, str) and not is_blank(part):
                yield part


def _properties(statements: Statements, axioms: Axioms) -> None:
    for lower, upper in statements.pairs(SUBPROPERTY):
        if axioms.sorts.get(lower) == "property" and isinstance(upper, str) and not is_blank(upper):
            axioms.below(lower, upper)
    for one, two in statements.pairs(OWL + "equivalentProperty"):
        if axioms.sorts.get(one) == "property" and isinstance(two, str) and not is_blank(two):
            axioms.equal(one, two)


def _definitions_in_place(statements: Statements, axioms: Axioms) -> None:
    """Class expressions written on the class itself: unionOf, oneOf, intersectionOf, disjointUnionOf."""
    for predicate in (OWL + "unionOf", OWL + "oneOf", OWL + "disjointUnionOf"):
        for subject, listed in statements.pairs(predicate):
            if is_blank(subject) or subject not in axioms.sorts:
                continue
            parts = [part for part in statements.items(listed) if isinstance(part, str) and not is_blank(part)]
            for part in parts:
                axioms.sorts.setdefault(part, "individual" if predicate.endswith("oneOf") else "class")
                axioms.below(part, subject)
            if predicate.endswith("disjointUnionOf"):
                axioms.apart.append(tuple(parts))
    for subject, parts_of in statements.pairs(OWL + "intersectionOf"):
        if not is_blank(subject):
            for member in statements.items(parts_of):
                if isinstance(member, str) and not is_blank(member):
                    axioms.below(subject, member)


def _disjointness(statements: Statements, axioms: Axioms) -> None:
    pairs = (OWL + "disjointWith", OWL + "complementOf", OWL + "propertyDisjointWith", OWL + "differentFrom")
    for predicate in pairs:
        for one, two in statements.pairs(predicate):
            if not is_blank(one) and isinstance(two, str) and not is_blank(two):
                axioms.apart.append((one, two))
    groups = (OWL + "AllDisjointClasses", OWL + "AllDisjointProperties", OWL + "AllDifferent")
    for subject, kind in statements.pairs(TYPE):
        if kind in groups:
            for listed in statements.of(subject, OWL + "members", OWL + "distinctMembers"):
                axioms.apart.append(
                    tuple(m for m in statements.items(listed) if isinstance(m, str) and not is_blank(m))
                )


def texts(values: Iterable[Term]) -> dict[str, str]:
    """Literals by language, the first in code-point order where a language has several.

    >>> texts([Literal("Weg", "de", None), Literal("distance", "en", None)])
    {'de': 'Weg', 'en': 'distance'}
    """
    found: dict[str, str] = {}
    for value in sorted((v for v in values if isinstance(v, Literal)), key=lambda v: (v.language or "", v.text)):
        found.setdefault((value.language or "").lower(), value.text)
    return found
