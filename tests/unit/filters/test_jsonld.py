"""Filters as JSON-LD: what is written, that anybody can read it, and what is refused."""

import json
from typing import Any

import pytest
import rdflib

from conceptpubsub.errors import ConceptPubSubError, FilterError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, Ontology, SemanticObject

VEHICLES = Ontology.bundled("vehicles")
CORE, VEH = "https://w3id.org/conceptpubsub/core#", "https://w3id.org/conceptpubsub/vehicles#"


def test_a_filter_carries_concepts_and_contexts() -> None:
    f = Filter.parse("Temperature > 86 degF AND NOT PartFailure = 'Engine'", ontology=VEHICLES)
    document = f.to_json()
    assert document["@type"] == "SemanticFilter"
    assert document["semantics"] == "sql"
    comparison, negation = document["expression"]["operands"]
    assert comparison == {
        "@type": "BinaryExpression",
        "left": {"@type": "ValueRef", "path": [CORE + "Temperature"]},
        "operator": ">",
        "right": {"@type": "SemanticObject", "concept": CORE + "Temperature", "rdf:value": 86, "cps:unit": "degF"},
    }
    assert negation["operand"]["right"]["rdf:value"] == "Engine"


def test_any_reader_of_json_ld_makes_triples_of_it() -> None:
    f = Filter.parse("Temperature > 86 degF OR PartFailure ISA Engine", ontology=VEHICLES)
    graph = rdflib.Graph().parse(data=json.dumps(f.to_json()), format="json-ld")
    node = rdflib.Namespace("https://w3id.org/conceptpubsub/filter#")
    assert (None, rdflib.RDF.type, node.SemanticFilter) in graph
    assert (None, node.concept, rdflib.URIRef(VEH + "Engine")) in graph
    assert (None, rdflib.URIRef(CORE + "unit"), rdflib.Literal("degF")) in graph


@pytest.mark.parametrize(
    "text",
    [
        "",
        "TRUE",
        "a",
        "NOT a",
        "a = 5 EUR AND b = 'x' {language: de}",
        "a / b - c * 2 > -5 km",
        "a - (b - c) = +d",
        "a NOT IN (1, 2.5, 1e30, 123456789012345678901234567890)",
        "s LIKE 'a!%' ESCAPE '!'",
        'a.b."c d" = FALSE',
        "EVENT.time > TIMESTAMP '2026-01-01T00:00:00.000000001Z'",
        "EVENT ISA alarm",
        "a BETWEEN b AND 2 {unit: 'km/h', scale: 10}",
        "a * (1 / b) = 1",
        "a > 0.1 [in]",
        "s MATCHES 'a|b'",
        "a = TIMESTAMP '2026-07-01T12:00' {timezone: 'Europe/Berlin'}",
    ],
)
def test_reading_what_was_written(text: str) -> None:
    f = Filter.parse(text)
    for document in (f.to_json(), json.dumps(f.to_json()), json.dumps(f.to_json()).encode()):
        assert Filter.from_json(document) == f


def test_semantics_types_and_defaults_come_along() -> None:
    warm = SemanticObject("w", 86, Context(unit="degF"))
    f = Filter.parse("x > 5 OR w > 20 degC", semantics="default", types={"x": "int"}, defaults={"x": 7, "w": warm})
    again = Filter.from_json(json.dumps(f.to_json()))
    assert again == f
    assert again.evaluate({}) is True
    assert again.scope.given_types == {"x": "int"}


def test_the_ontology_is_given_by_the_caller() -> None:
    document = Filter.parse("Odometer > 5 km", ontology=VEHICLES).to_json()
    with pytest.raises(FilterError, match="ontology="):
        Filter.from_json(document)
    assert Filter.from_json(document, ontology=VEHICLES).evaluate({"Odometer": 6}) is True
    assert Filter.from_json(document, ontology=VEHICLES, semantics="strict").semantics == "strict"


def _filter(expression: Any, **more: Any) -> dict[str, Any]:
    return {"@type": "SemanticFilter", "expression": expression, **more}


_REF = {"@type": "ValueRef", "path": ["a"]}
_FIVE = {"@type": "SemanticObject", "rdf:value": 5}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([], "top"),
        ({}, "/@type"),
        ("{", "not JSON"),
        ('{"@type": "SemanticFilter", "expression": {"@type": "Holds", "operand": NaN}}', "/expression/operand"),
        (_filter(None), "/expression"),
        (_filter({"@type": "Xor", "operands": []}), "/expression"),
        (_filter({"@type": "And", "operands": 5}), "/expression"),
        (_filter({"@type": "And", "operands": [5]}), "/expression/operands/0"),
        (_filter({"@type": "Not"}), "/expression"),
        (_filter({"@type": "BinaryExpression", "left": _REF, "operator": "~", "right": _FIVE}), "/expression"),
        (_filter({"@type": "BinaryExpression", "left": _REF, "operator": "<"}), "/expression"),
        (_filter({"@type": "Holds", "operand": {"@type": "ValueRef", "path": []}}), "/expression/operand"),
        (_filter({"@type": "Holds", "operand": {"@type": "ValueRef", "path": [5]}}), "/expression/operand/path/0"),
        (
            _filter({"@type": "Holds", "operand": {"@type": "EventRef", "part": "id = 'x' OR TRUE"}}),
            "/expression/operand",
        ),
        (_filter({"@type": "Holds", "operand": {"@type": "SemanticObject"}}), "/expression/operand"),
        (_filter({"@type": "In", "operand": _REF, "values": []}), "/expression"),
        (_filter({"@type": "Sum", "operands": []}), "/expression"),
        (_filter({"@type": "TextTest", "operand": _REF, "operator": "SOUNDS LIKE", "pattern": "x"}), "/expression"),
        (_filter({"@type": "TextTest", "operand": _REF, "operator": "LIKE", "pattern": 5}), "/expression/pattern"),
        (_filter({"@type": "Holds", "operand": {**_FIVE, "cps:unit: m} OR {x": 1}}), "/expression/operand"),
        (_filter({"@type": "Holds", "operand": _REF}, semantics=5), "/semantics"),
        (_filter({"@type": "Holds", "operand": _REF}, types=[]), "/types"),
        (_filter({"@type": "Holds", "operand": _REF}, tpyes={}), "/tpyes"),
        (_filter({"@type": "Holds", "operand": _REF}, defaults=[{"name": 5}]), "/defaults/0/name"),
    ],
)
def test_a_broken_document_is_refused_with_its_place(document: Any, place: str) -> None:
    with pytest.raises(FilterError, match=place):
        Filter.from_json(document)


def test_names_and_texts_cannot_smuggle_syntax_in() -> None:
    name = 'a = 1 OR TRUE OR "b'
    hostile = {"@type": "ValueRef", "path": [name]}
    text = {
        "@type": "SemanticObject",
        "rdf:value": "x' OR 'a' = 'a",
        "cps:language": "de} OR TRUE OR a = 'x' {language: de",
    }
    f = Filter.from_json(_filter({"@type": "BinaryExpression", "left": hostile, "operator": "=", "right": text}))
    assert [ref.path for ref in f.references] == [(name,)]
    assert f.evaluate({name: "y"}) is False


def test_depth_and_size_are_bounded() -> None:
    deep: Any = {"@type": "Holds", "operand": _REF}
    for _ in range(100_000):
        deep = {"@type": "Not", "operand": deep}
    with pytest.raises(ConceptPubSubError, match="levels"):
        Filter.from_json(_filter(deep))
    with pytest.raises(ConceptPubSubError):
        Filter.from_json('{"@type": "SemanticFilter", "expression": ' + '{"@type": "Not", "operand": ' * 50_000)
    with pytest.raises(ConceptPubSubError):
        Filter.from_json("[" * 200_000)
    while isinstance(deep.get("operand"), dict) and deep["@type"] == "Not":  # taken apart by hand, from the outside in
        deep = deep["operand"]
