"""Values in JSON-LD: typed literals both ways.

Rule 1  ``read_literal(write_literal(v))`` equals v; what JSON-LD processors would round is a typed literal.
Rule 2  XML Schema's types are read as others write them; a type that is not known leaves its text as it is.
"""

from __future__ import annotations

import re
from typing import Any

from conceptpubsub.errors import CodecError
from conceptpubsub.model.codecs import literals
from conceptpubsub.model.codecs.jsonld_terms import Terms
from conceptpubsub.model.codecs.plain_json import build
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.rdf_terms import CPS, VALUE_TYPES, XSD

_EXACT_IN_JSON = 1 << 53
_XSD = {literals.DATETIME: "dateTime", literals.DATE: "date", literals.DECIMAL: "decimal", literals.INTEGER: "integer"}
_ZONED = re.compile(r"T.*([Zz]|[+-][0-9]{2}:?[0-9]{2})\Z")


def write_literal(value: Any) -> Any:
    """A value as JSON-LD writes it.

    >>> write_literal(0.5), write_literal(Instant(0))
    (0.5, {'@type': 'xsd:dateTime', '@value': '1970-01-01T00:00:00Z'})
    """
    if literals.is_native(value) and not (type(value) is int and abs(value) > _EXACT_IN_JSON):
        return value
    kind, text = literals.typed(value)
    if kind == literals.INSTANT and text.endswith("Z"):
        return {"@type": "xsd:dateTime", "@value": text}
    return {"@type": f"xsd:{_XSD[kind]}" if kind in _XSD else f"cps:{kind}", "@value": text}


def read_literal(tree: Any, place: str, terms: Terms, datatype: str | None = None) -> Any:
    """The value of a literal: native, ``{"@value": …, "@type": …}``, or ``{"@id": …}``, which is its IRI."""
    if isinstance(tree, list):
        if len(tree) == 1:
            return read_literal(tree[0], place, terms, datatype)
        raise CodecError(f"at {place}: a list; an attribute holds one value: write one event a value", place=place)
    if isinstance(tree, dict):
        if "@value" in tree:
            kind = tree.get("@type")
            return read_literal(tree["@value"], place, terms, terms.name(kind) if isinstance(kind, str) else None)
        if isinstance(tree.get("@id"), str):
            return terms.iri(tree["@id"])
        raise CodecError(f"at {place}: neither a value nor a reference", place=place)
    if datatype == "@id" and isinstance(tree, str):
        return terms.iri(tree)
    if datatype is None or datatype == "@vocab" or not isinstance(tree, str):
        return tree
    return build(place, lambda: _typed(tree, datatype))


def _typed(text: str, datatype: str) -> Any:
    if datatype.startswith(CPS):
        return literals.read(datatype.removeprefix(CPS), text)
    word = datatype.removeprefix(XSD) if datatype.startswith(XSD) else ""
    kind = VALUE_TYPES.get(word)
    if kind in ("real", "int"):
        number = literals.read(literals.DECIMAL, text)
        return float(number) if word in ("double", "float") and abs(number) < 1e300 else number
    if kind == "bool" and text in ("true", "false", "1", "0"):
        return text in ("true", "1")
    if word == "date":
        return literals.read(literals.DATE, text) if len(text) == 10 else Instant.parse(text)
    if kind == "instant":
        return Instant.parse(text) if _ZONED.search(text) else literals.read(literals.DATETIME, text)
    return text
