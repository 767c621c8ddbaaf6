"""JSON-LD that others wrote, read for what it says.

Rule 1  Names become IRIs by the inline context; without one they stay as they are.
Rule 2  A quantity is ``qudt:numericValue`` with ``qudt:unit``, schema.org's ``value`` with ``unitCode``, or
        ``rdf:value`` with ``cps:`` aspects.
Rule 3  A ``sosa:Observation`` is an event whose attribute is the observed property, in the unit of the result; what
        else it says (sensor, feature of interest) stays beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from conceptpubsub.errors import CodecError
from conceptpubsub.model.codecs.jsonld_terms import SCHEMA_ORG, SOSA, Terms
from conceptpubsub.model.codecs.jsonld_values import read_literal
from conceptpubsub.model.codecs.plain_json import build, check_depth, members
from conceptpubsub.model.codecs.strict_json import pointer
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticObject
from conceptpubsub.model.rdf_terms import CPS, QUDT, RDF

_OBSERVATION, _PROPERTY = SOSA + "Observation", SOSA + "observedProperty"
_RESULTS = (SOSA + "hasResult", SOSA + "hasSimpleResult")
_TIMES = (SOSA + "resultTime", SOSA + "phenomenonTime")
_VALUES = (QUDT + "numericValue", QUDT + "value", RDF + "value", SCHEMA_ORG + "value")
_UNITS = {  # the property that names a unit, and the code list that its text comes from
    QUDT + "unit": "",
    QUDT + "hasUnit": "",
    QUDT + "ucumCode": "ucum:",
    SCHEMA_ORG + "unitCode": "unece:",
    SCHEMA_ORG + "unitText": "",
}


@dataclass(frozen=True, slots=True)
class Node:
    """One object of a document, with its members under their full names."""

    place: str
    terms: Terms
    keys: Mapping[str, str]
    tree: Mapping[str, Any]

    @classmethod
    def of(cls, tree: Any, place: str, terms: Terms) -> Node:
        """A node; two keys for one name are an error."""
        check_depth(place, place.count("/"))
        keys: dict[str, str] = {}
        for key in members(tree, place):
            if not key.startswith("@") and keys.setdefault(terms.name(key), key) != key:
                raise CodecError(f"at {pointer(place, key)}: a second name of {terms.name(key)}", place=place)
        return cls(place, terms, keys, tree)

    def at(self, name: str) -> str:
        """The place of a member."""
        return pointer(self.place, self.keys[name])

    def literal(self, name: str, datatype: str | None = None) -> Any:
        """The value of a member, by the type that the context or the reader gives it."""
        key = self.keys[name]
        return read_literal(self.tree[key], self.at(name), self.terms, datatype or self.terms.datatype(key))

    def first(self, names: tuple[str, ...]) -> str | None:
        """The first of these names that the node has."""
        return next((name for name in names if name in self.keys), None)


def read_foreign(tree: Any, place: str) -> tuple[str | None, dict[str, Any], Instant | None]:
    """Concept, attributes and time of an event's node; None where it does not say."""
    terms = Terms.read(members(tree, place).get("@context"), pointer(place, "@context"))
    node = Node.of(tree, place, terms)
    concept = _concept(node)
    if concept == _OBSERVATION or _PROPERTY in node.keys:
        return concept, *_observation(node)
    return concept, _attributes(node), None


def _concept(node: Node) -> str | None:
    """The most telling of a node's types: one that is not just sosa:Observation, where there is a choice."""
    given = node.tree.get("@type")
    kinds = given if isinstance(given, list) else [] if given is None else [given]
    if not all(isinstance(kind, str) and kind for kind in kinds):
        place = pointer(node.place, "@type")
        raise CodecError(f"at {place}: a type is text", place=place)
    names = [node.terms.name(kind) for kind in kinds]
    return next((name for name in names if name != _OBSERVATION), names[0] if names else None)


def _observation(node: Node) -> tuple[dict[str, Any], Instant | None]:
    result = node.first(_RESULTS)
    if _PROPERTY not in node.keys or result is None:
        what = "sosa:observedProperty" if _PROPERTY not in node.keys else "sosa:hasResult or sosa:hasSimpleResult"
        raise CodecError(f"at {node.place}: an observation needs {what}", place=node.place)
    observed = node.literal(_PROPERTY, "@id")
    if not isinstance(observed, str) or not observed:
        raise CodecError(f"at {node.at(_PROPERTY)}: a property is named by its IRI", place=node.at(_PROPERTY))
    timed = node.first(_TIMES)
    time = None if timed is None else build(node.at(timed), lambda: Instant.of(node.literal(timed)))
    attributes = _attributes(node, {_PROPERTY, *_RESULTS, timed})
    attributes[observed] = _object(observed, result, node)
    return attributes, time


def _attributes(node: Node, left_out: Collection[str | None] = ()) -> dict[str, Any]:
    return {name: _object(name, name, node) for name in node.keys if name not in left_out}


def _object(key: str, name: str, parent: Node) -> Any:
    tree, place = parent.tree[parent.keys[name]], parent.at(name)
    if isinstance(tree, list) and len(tree) == 1:
        tree = tree[0]
    if not isinstance(tree, dict) or "@value" in tree or set(tree) in ({"@id"}, {"@id", "@type"}):
        language = tree.get("@language") if isinstance(tree, dict) else None
        context = {"language": language} if isinstance(language, str) else None
        return build(place, lambda: SemanticObject(key, parent.literal(name), context))
    node = Node.of(tree, place, parent.terms)
    valued = node.first(_VALUES)
    if valued is None:
        return build(place, lambda: SemanticObject(key, _attributes(node)))
    return build(place, lambda: SemanticObject(key, node.literal(valued), _aspects(node)))


def _aspects(node: Node) -> dict[str, Any]:
    """The context that stands beside a value."""
    aspects: dict[str, Any] = {}
    for name in node.keys:
        if name.startswith(CPS):
            aspects[name.removeprefix(CPS)] = node.literal(name)
        elif name in _UNITS and "unit" not in aspects:
            text = node.literal(name)
            if not isinstance(text, str):
                raise CodecError(f"at {node.at(name)}: a unit is text or a reference", place=node.at(name))
            aspects["unit"] = node.terms.iri(text if ":" in text else _UNITS[name] + text)
    return aspects
