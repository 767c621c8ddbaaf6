"""RDF terms as plain Python values, and the IRIs that the ontology compiler reads.

An IRI is a ``str``, a blank node a ``str`` that starts with ``_:``, a literal a ``Literal``. Nothing here imports
rdflib, so that an ontology reopened from the cache does not pay for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Literal(NamedTuple):
    """A literal by its own spelling; numbers are never parsed before someone asks for them.

    >>> Literal("12.50", None, XSD + "decimal").text
    '12.50'
    """

    text: str
    language: str | None
    datatype: str | None


Term: TypeAlias = str | Literal
Triple: TypeAlias = tuple[str, str, Term]


@dataclass(frozen=True, slots=True)
class Document:
    """What one file says: its triples, its prefixes, its own IRI and what it imports."""

    name: str
    iri: str | None
    imports: tuple[str, ...]
    prefixes: Mapping[str, str]
    triples: tuple[Triple, ...]


def is_blank(term: Term) -> bool:
    """Whether a term is a blank node.

    >>> is_blank("_:b1"), is_blank("http://example.org/a")
    (True, False)
    """
    return isinstance(term, str) and term.startswith("_:")


def split_iri(iri: str) -> tuple[str, str]:
    """Namespace and local name, cut after the last ``#``, else ``/``, else ``:``.

    >>> split_iri("http://example.org/v#Odometer")
    ('http://example.org/v#', 'Odometer')
    """
    for mark in "#/:":
        at = iri.rfind(mark)
        if at >= 0:
            return iri[: at + 1], iri[at + 1 :]
    return "", iri


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
QUDT = "http://qudt.org/schema/qudt/"
SCHEMA = ("http://schema.org/", "https://schema.org/")
CPS = "https://w3id.org/conceptpubsub/core#"
KIND = "https://w3id.org/conceptpubsub/kind#"

BUILT_IN = (RDF, RDFS, OWL, XSD)

TYPE = RDF + "type"
FIRST, REST, NIL = RDF + "first", RDF + "rest", RDF + "nil"
SUBCLASS, SUBPROPERTY = RDFS + "subClassOf", RDFS + "subPropertyOf"
LABEL, COMMENT, DOMAIN, RANGE = RDFS + "label", RDFS + "comment", RDFS + "domain", RDFS + "range"
DATATYPE = RDFS + "Datatype"
THING, NOTHING = OWL + "Thing", OWL + "Nothing"
IMPORTS, ONTOLOGY = OWL + "imports", OWL + "Ontology"

VALUE_TYPES = {
    **dict.fromkeys(("decimal", "float", "double"), "real"),
    **dict.fromkeys(
        (
            *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"),
            *("nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
        ),
        "int",
    ),
    **dict.fromkeys(("string", "normalizedString", "token", "language", "anyURI", "Name", "NCName"), "text"),
    **dict.fromkeys(("duration", "dayTimeDuration", "yearMonthDuration", "time"), "text"),
    **dict.fromkeys(("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "base64Binary", "hexBinary"), "text"),
    "boolean": "bool",
    **dict.fromkeys(("dateTime", "dateTimeStamp", "date"), "instant"),
}
"""Value types by the local name of their XML Schema datatype."""

VALUE_TYPE_NAMES = ("real", "int", "text", "bool", "instant", "concept", "complex")


def value_type_of(term: Term) -> str | None:
    """The value type that a datatype IRI, a ``cps:`` name or a plain word means.

    >>> value_type_of(XSD + "double"), value_type_of(CPS + "Instant"), value_type_of(Literal("text", None, None))
    ('real', 'instant', 'text')
    """
    if isinstance(term, Literal):
        word = term.text
    elif term.startswith(XSD):
        return VALUE_TYPES.get(term[len(XSD) :])
    elif term in (RDF + "langString", RDF + "PlainLiteral"):
        return "text"
    elif term in (OWL + "real", OWL + "rational"):
        return "real"
    elif term.startswith(CPS):
        word = term[len(CPS) :]
    else:
        return None
    word = word.lower()
    return word if word in VALUE_TYPE_NAMES else None
