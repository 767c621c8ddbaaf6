"""Filters as semantic objects, in JSON-LD: a tree of expressions that carries concepts and contexts.

After figure 3 of the REBECA paper: a SemanticFilter holds an expression; a BinaryExpression compares a ValueRef, which
names concepts, with a SemanticObject, which has a value and its context. The context of the document is inline, so any
JSON-LD reader makes triples of it. Reading checks the structure, writes it as text and hands that to the parser: there
is one judge of what a filter means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conceptpubsub.filters.filter import Filter
from conceptpubsub.filters.lexer import is_text
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.operands import Raw
from conceptpubsub.filters.reader import Reader
from conceptpubsub.filters.scope import Scope
from conceptpubsub.filters.syntax import (
    All,
    Below,
    Between,
    Comparison,
    Constant,
    Flag,
    Inverse,
    Member,
    Minus,
    Null,
    Over,
    Pattern,
    Some,
    Times,
    Total,
    postorder,
)
from conceptpubsub.model import SemanticObject
from conceptpubsub.model.codecs.jsonld_values import write_literal
from conceptpubsub.model.rdf_terms import CPS, RDF, XSD
from conceptpubsub.model.values import exact, to_float

FILTER = "https://w3id.org/conceptpubsub/filter#"
_CONTEXT: dict[str, Any] = {
    "@vocab": FILTER,
    "cps": CPS,
    "rdf": RDF,
    "xsd": XSD,
    "operands": {"@id": FILTER + "operands", "@container": "@list"},
    "values": {"@id": FILTER + "values", "@container": "@list"},
    "path": {"@id": FILTER + "path", "@container": "@list"},
    "types": {"@id": FILTER + "types", "@type": "@json"},
}
_CONCEPTS: dict[str, Any] = {
    "ontology": {"@id": FILTER + "ontology", "@type": "@id"},
    "concept": {"@id": FILTER + "concept", "@type": "@id"},
    "path": {"@id": FILTER + "path", "@container": "@list", "@type": "@id"},
}
"""With an ontology, names are IRIs."""


def to_json(f: Filter) -> dict[str, Any]:
    """The filter as a JSON-LD document of plain dicts and lists."""
    scope = f.scope
    context = _CONTEXT if scope.ontology is None else {**_CONTEXT, **_CONCEPTS}
    document: dict[str, Any] = {"@context": context, "@type": "SemanticFilter", "semantics": scope.semantics}
    if scope.ontology is not None:
        document["ontology"] = f"urn:sha256:{scope.ontology.digest}"
    if scope.given_types:
        document["types"] = dict(scope.given_types)
    if scope.given_defaults:
        document["defaults"] = [
            {"@type": "Default", "name": name, "value": _default(name, value)}
            for name, value in scope.given_defaults.items()
        ]
    document["expression"] = _condition(f)
    return document


def from_json(document: Mapping[str, Any] | str | bytes, **scope: Any) -> Filter:
    """The filter of a document; ``ontology`` and ``converters`` are given by the caller."""
    from conceptpubsub.filters.jsonld_reading import read

    return read(document, scope)


def _condition(f: Filter) -> dict[str, Any]:
    done: list[dict[str, Any]] = []
    for node in postorder(f.tree):
        match node:
            case All(args) | Some(args):
                parts = done[len(done) - len(args) :]
                del done[len(done) - len(args) :]
                done.append({"@type": "And" if isinstance(node, All) else "Or", "operands": parts})
            case Inverse():
                done.append({"@type": "Not", "operand": done.pop()})
            case _:
                done.append(_atom(node, f.scope))
    return done.pop()


def _atom(node: Any, scope: Scope) -> dict[str, Any]:
    match node:
        case Comparison(op, left, right):
            return {
                "@type": "BinaryExpression",
                "left": _term(left, right, scope),
                "operator": op,
                "right": _term(right, left, scope),
            }
        case Between(term, low, high):
            bounds = {"low": _term(low, term, scope), "high": _term(high, term, scope)}
            return {"@type": "Between", "operand": _term(term, low, scope), **bounds}
        case Member(term, items):
            values = [_term(item, term, scope) for item in items]
            return {"@type": "In", "operand": _term(term, None, scope), "values": values}
        case Pattern(op, term, text, escape):
            made = {"@type": "TextTest", "operand": _term(term, None, scope), "operator": op, "pattern": text}
            return made if escape is None else {**made, "escape": escape}
        case Null(ref):
            return {"@type": "IsNull", "operand": _term(ref, None, scope)}
        case Below(ref, concept, name):
            iri = concept.iri if concept is not None else name
            return {"@type": "IsA", "operand": _term(ref, None, scope), "concept": iri}
        case Flag(term):
            return {"@type": "Holds", "operand": _term(term, None, scope)}
        case _:
            raise AssertionError(f"no atom is a {type(node).__name__}")


def _term(term: Any, beside: Any, scope: Scope) -> dict[str, Any]:
    match term:
        case Ref(event=True):
            return {"@type": "EventRef", "part": term.path[-1]} if len(term.path) > 1 else {"@type": "EventRef"}
        case Ref():
            return {"@type": "ValueRef", "path": [step.iri for step in term.steps] or list(term.path)}
        case Constant():
            raw = raw_of(term, scope)
            concept = beside.concept.iri if isinstance(beside, Ref) and beside.concept is not None else None
            return _object(concept, raw.value, raw.context)
        case Minus(arg) | Over(arg):
            kind = "Negative" if isinstance(term, Minus) else "Reciprocal"
            return {"@type": kind, "operand": _term(arg, beside, scope)}
        case Total(args) | Times(args):
            kind = "Sum" if isinstance(term, Total) else "Product"
            return {"@type": kind, "operands": [_term(arg, None, scope) for arg in args]}
        case _:
            raise AssertionError(f"no term is a {type(term).__name__}")


def raw_of(constant: Constant, scope: Scope) -> Raw:
    """The value and the context that a constant was written with."""
    reader = Reader(constant.text, scope)
    token = reader.tokens[0]
    if token == "-":
        reader.at = 1
        return reader.number().negated()
    if token in ("TRUE", "FALSE"):
        return reader.truth(token)
    if token == "TIMESTAMP":
        return reader.instant(token)
    return reader.quoted() if is_text(token) else reader.number()


def _object(concept: str | None, value: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """A semantic object: concept, value and one member for each aspect of its context."""
    made: dict[str, Any] = {"@type": "SemanticObject"}
    if concept is not None:
        made["concept"] = concept
    made["rdf:value"] = _literal(value)
    return made | {f"cps:{aspect}": _literal(given) for aspect, given in context.items()}


def _literal(value: Any) -> Any:
    """A number that JSON renders exactly stands as it is; the rest is typed."""
    if hasattr(value, "denominator") and not isinstance(value, int):
        nearest = to_float(value)
        if abs(nearest) < 1e15 and exact(nearest) == value:
            return nearest
    return write_literal(value)


def _default(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, SemanticObject):
        return _object(value.concept, value.value, value.context)
    return _object(None, value, {})
