"""Events as JSON-LD nodes of our own shape, both ways without loss.

A node is ``{"@type": concept, key: attribute, …}``; an attribute is a literal, or ``{"rdf:value": 86, "cps:unit":
"degF"}`` with its aspects and, where it is not the key, its concept as ``@type``; a complex one holds attributes.
A name that JSON-LD would misread (``@type``, ``cps:unit``) has its first character percent-encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from conceptpubsub.model.codecs.jsonld_terms import KNOWN, Terms
from conceptpubsub.model.codecs.jsonld_values import read_literal, write_literal
from conceptpubsub.model.codecs.plain_json import build, check_depth, members, text_member
from conceptpubsub.model.codecs.strict_json import pointer
from conceptpubsub.model.objects import SemanticEvent, SemanticObject

NAMES = "https://w3id.org/conceptpubsub/name#"
_VALUE, _ASPECT = "rdf:value", "cps:"
_TERMS = Terms({}, {})


def write_node(event: SemanticEvent, vocabulary: str = NAMES) -> dict[str, Any]:
    """The JSON-LD node of an event, with its context inline; id, time and source are the envelope's."""
    return {
        "@context": {"@vocab": vocabulary, **{prefix: KNOWN[prefix] for prefix in ("cps", "rdf", "xsd")}},
        "@type": _escape(event.concept),
        **_write_attributes(event.attributes),
    }


def read_node(tree: Any, place: str) -> tuple[str | None, dict[str, Any]]:
    """The concept and the attributes of a node that ``write_node`` wrote."""
    node = members(tree, place)
    return _concept(node, place), _read_attributes(node, place)


def _escape(name: str) -> str:
    misread = name[0] in "@%" or name == _VALUE or name.startswith(_ASPECT)
    return f"%{ord(name[0]):02X}{name[1:]}" if misread else name


def _unescape(key: str) -> str:
    return unquote(key[:3]) + key[3:] if key.startswith("%") else key


def _write_attributes(attributes: Mapping[str, SemanticObject]) -> dict[str, Any]:
    return {_escape(key): _write_object(key, under) for key, under in attributes.items()}


def _write_object(key: str, under: SemanticObject) -> Any:
    node: dict[str, Any] = {} if under.concept == key else {"@type": _escape(under.concept)}
    if under.is_complex:
        node |= _write_attributes(under.value)
    elif not node and not under.context:
        return write_literal(under.value)
    else:
        node[_VALUE] = write_literal(under.value)
    return node | {_ASPECT + aspect: write_literal(value) for aspect, value in under.context.items()}


def _concept(node: Mapping[str, Any], place: str) -> str | None:
    kind = text_member(node, "@type", place)
    return _unescape(kind) if kind else None


def _read_attributes(node: Mapping[str, Any], place: str) -> dict[str, Any]:
    check_depth(place, place.count("/"))
    return {
        _unescape(key): _read_object(_unescape(key), tree, pointer(place, key))
        for key, tree in node.items()
        if not key.startswith(("@", _ASPECT))
    }


def _read_object(name: str, tree: Any, place: str) -> Any:
    if not isinstance(tree, dict) or "@value" in tree:
        return read_literal(tree, place, _TERMS)
    context = {
        key.removeprefix(_ASPECT): read_literal(value, pointer(place, key), _TERMS)
        for key, value in tree.items()
        if key.startswith(_ASPECT)
    }
    simple = _VALUE in tree
    value = read_literal(tree[_VALUE], pointer(place, _VALUE), _TERMS) if simple else _read_attributes(tree, place)
    return build(place, lambda: SemanticObject(_concept(tree, place) or name, value, context))
