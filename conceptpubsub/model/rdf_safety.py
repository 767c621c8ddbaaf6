"""What is refused before an RDF parser sees a file: document types, remote JSON-LD contexts, deep nesting, floods
of escapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from conceptpubsub.errors import LimitExceeded, OntologyError

MAX_DEPTH = 200
MAX_ATTRIBUTES = 1000
MAX_ESCAPE_WORK = 2 * 10**12
"""Escapes times bytes in a Turtle file: rdflib copies what it has read of a literal at each of its escapes."""
_CHUNK = 65_536


def check_text(name: str, data: bytes) -> None:
    """Raise when Turtle or N-Triples is not text, or escapes so much that reading it would take minutes.

    >>> check_text("ok.ttl", b"@prefix : <#> .")
    """
    if b"\x00" in data:
        raise OntologyError(f"{name} is not text: it holds zero bytes", source=name)
    escapes = data.count(b"\\")
    if escapes * len(data) > MAX_ESCAPE_WORK:
        raise LimitExceeded(
            f"{name} holds {escapes:,} escapes: write the characters themselves, or save it as RDF/XML",
            source=name,
            escapes=escapes,
        )


def check_xml(name: str, data: bytes) -> None:
    """Raise when an XML document has a DOCTYPE, in whatever encoding, nests or widens too far, or is malformed.

    >>> check_xml("ok.rdf", b"<a/>")
    """
    parser = expat.ParserCreate()
    depth = 0

    def doctype(*_: Any) -> None:
        raise OntologyError(
            f"{name} has a DOCTYPE, which is refused because entities can expand without bound: "
            "remove it and write the namespaces out, or save the ontology as Turtle",
            source=name,
        )

    def opened(_: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if len(attributes) > MAX_ATTRIBUTES:
            raise LimitExceeded(f"{name} has an element with {len(attributes):,} attributes", source=name)
        if depth > MAX_DEPTH:
            raise LimitExceeded(f"{name} nests deeper than {MAX_DEPTH}", source=name, limit=MAX_DEPTH)

    def closed(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    try:
        for start in range(0, len(data), _CHUNK):
            parser.Parse(data[start : start + _CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise OntologyError(f"{name} is not well-formed XML: {error}", source=name) from None


def load_json_ld(name: str, data: bytes, contexts: Mapping[str, Any]) -> Any:
    """JSON-LD with every context given in place; a context named by IRI is looked up, never fetched.

    >>> load_json_ld("a.jsonld", b'{"@context": "urn:c"}', {"urn:c": {"a": "urn:a"}})
    {'@context': {'a': 'urn:a'}}
    """
    try:
        document = json.loads(data, parse_constant=_no_constant)
    except RecursionError:
        raise LimitExceeded(f"{name} nests too deeply to be read", source=name) from None
    except ValueError as error:
        raise OntologyError(f"{name} is not JSON: {error}", source=name) from None
    if not isinstance(document, dict | list):
        raise OntologyError(f"{name} is not JSON-LD: it holds neither an object nor a list", source=name)
    return _inline(name, document, contexts, 0, ())


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _inline(name: str, node: Any, contexts: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> Any:
    if depth > MAX_DEPTH:
        raise LimitExceeded(f"{name} nests deeper than {MAX_DEPTH}", source=name, limit=MAX_DEPTH)
    if isinstance(node, list):
        return [_inline(name, item, contexts, depth + 1, within) for item in node]
    if not isinstance(node, dict):
        return node
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "@context":
            made[key] = _context(name, value, contexts, depth + 1, within)
        elif key == "@import":
            raise OntologyError(f"{name} imports the JSON-LD context {value!r}: write it out instead", source=name)
        else:
            made[key] = _inline(name, value, contexts, depth + 1, within)
    return made


def _context(name: str, value: Any, contexts: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_context(name, item, contexts, depth + 1, within) for item in value]
    if not isinstance(value, str):
        return _inline(name, value, contexts, depth, within)
    if value not in contexts or value in within:
        raise OntologyError(
            f"{name} names the remote JSON-LD context {value!r}, which is never fetched: "
            f"write it out, or map it to a local file with catalog={{{value!r}: 'path.jsonld'}}",
            source=name,
            context=value,
        )
    local = contexts[value]
    if isinstance(local, dict) and "@context" in local:
        local = local["@context"]
    return _context(name, local, contexts, depth + 1, (*within, value))
