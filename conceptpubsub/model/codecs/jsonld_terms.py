"""The names of a JSON-LD document, by its inline ``@context``. Nothing is ever fetched.

The subset that event payloads use: terms, prefixes, ``@vocab``, ``{"@id": …, "@type": …}`` definitions and lists of
inline contexts. The prefixes sosa, qudt, unit, cps, rdf, rdfs, schema, and xsd are known without being declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conceptpubsub.errors import CodecError
from conceptpubsub.model.codecs.strict_json import pointer
from conceptpubsub.model.rdf_terms import CPS, QUDT, RDF, RDFS, XSD

SOSA = "http://www.w3.org/ns/sosa/"
SCHEMA_ORG = "https://schema.org/"
KNOWN: Mapping[str, str] = {
    "cps": CPS,
    "qudt": QUDT,
    "rdf": RDF,
    "rdfs": RDFS,
    "schema": SCHEMA_ORG,
    "sosa": SOSA,
    "unit": "http://qudt.org/vocab/unit/",
    "xsd": XSD,
}
_MOST_STEPS = 8  # of a term that is defined by a term that is defined by a term …


@dataclass(frozen=True, slots=True)
class Terms:
    """What the words of a document stand for.

    >>> terms = Terms.read({"ex": "http://example.org/", "reading": "ex:Reading"}, "/data/@context")
    >>> terms.name("reading"), terms.name("ex:Room"), terms.name("sosa:Observation"), terms.name("Plain")
    ('http://example.org/Reading', 'http://example.org/Room', 'http://www.w3.org/ns/sosa/Observation', 'Plain')
    """

    defined: Mapping[str, str]
    coerced: Mapping[str, str]
    vocabulary: str = ""

    @classmethod
    def read(cls, tree: Any, place: str) -> Terms:
        """The terms of a ``@context``; a CodecError where it would have to be fetched."""
        defined: dict[str, str] = {}
        coerced: dict[str, str] = {}
        vocabulary = ""
        for context in tree if isinstance(tree, list) else [tree]:
            if isinstance(context, str):
                raise CodecError(
                    f"at {place}: the context {context[:200]!r} lies elsewhere and is never fetched: write it inline",
                    place=place,
                    context=context,
                )
            if not isinstance(context, dict | None):
                raise CodecError(f"at {place}: a context is an object", place=place)
            for term, definition in (context or {}).items():
                if term.startswith("@") and term not in ("@vocab", "@import"):
                    continue
                iri = definition.get("@id") if isinstance(definition, dict) else definition
                if term == "@import" or not isinstance(iri, str | None):
                    raise CodecError(f"at {pointer(place, term)}: not a definition of a term", place=place)
                if term == "@vocab":
                    vocabulary = iri or ""
                elif iri is not None:
                    defined[term] = iri
                kind = definition.get("@type") if isinstance(definition, dict) else None
                if isinstance(kind, str):
                    coerced[term] = kind
        return cls(defined, coerced, vocabulary)

    def name(self, word: str) -> str:
        """The IRI of a key or type; a word that stands for none is itself."""
        for _ in range(_MOST_STEPS):
            found = self.defined.get(word)
            if found is None or found == word:
                break
            word = found
        iri = self.iri(word)
        return self.vocabulary + iri if iri == word and ":" not in word else iri

    def iri(self, text: str) -> str:
        """The IRI of a reference: prefixes are written out, anything else stays."""
        prefix, colon, rest = text.partition(":")
        if not colon or rest.startswith("//"):
            return text
        base = self.defined.get(prefix) or KNOWN.get(prefix)
        return text if base is None else base + rest

    def datatype(self, key: str) -> str | None:
        """The type that the context gives to the values of a key, if any: an IRI or ``@id``."""
        kind = self.coerced.get(key)
        return kind if kind is None or kind.startswith("@") else self.name(kind)
