"""What is refused before an RDF parser sees a file: document types, remote JSON-LD contexts, deep nesting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from conceptpubsub.errors import LimitExceeded, OntologyError

MAX_JSON_DEPTH = 200
_CHUNK = 65_536


class _Seen(Exception):
    """The prologue ended without a document type."""


def refuse_doctype(name: str, data: bytes) -> None:
    """Raise when an XML document has a DOCTYPE, in whatever encoding; reads no further than the root element.

    >>> refuse_doctype("ok.rdf", b"<a/>")
    """
    parser = expat.ParserCreate()

    def doctype(*_: Any) -> None:
        raise OntologyError(
            f"{name} has a DOCTYPE, which is refused because entities can expand without bound: "
            "remove it and write the namespaces out",
            source=name,
        )

    def element(*_: Any) -> None:
        raise _Seen

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = element
    try:
        for start in range(0, len(data), _CHUNK):
            parser.Parse(data[start : start + _CHUNK], start + _CHUNK >= len(data))
        if not data:
            parser.Parse(b"", True)
    except _Seen:
        return
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
    return _inline(name, document, contexts, 0, ())


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _inline(name: str, node: Any, contexts: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> Any:
    if depth > MAX_JSON_DEPTH:
        raise LimitExceeded(f"{name} nests deeper than {MAX_JSON_DEPTH}", source=name, limit=MAX_JSON_DEPTH)
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
