"""CloudEvents: ours without loss, others' for what they say, and nothing is fetched."""

import json
from fractions import Fraction
from typing import Any

import pytest
import rdflib
from hypothesis import given

from conceptpubsub.converters import Converters
from conceptpubsub.errors import CodecError
from conceptpubsub.model import Context, Instant, Ontology, SemanticEvent, SemanticObject
from conceptpubsub.model.codecs import from_cloudevent, to_cloudevent
from conceptpubsub.model.validation import validate
from tests.unit.model.event_strategies import published

SOSA = "http://www.w3.org/ns/sosa/"
EX = "http://example.org/"


def envelope(data: Any, **more: Any) -> str:
    head = {"specversion": "1.0", "id": "1", "source": "/room/2", "type": "reading"}
    return json.dumps({**head, "data": data, **more})


@given(published)
def test_every_event_reads_back(event: SemanticEvent) -> None:
    assert from_cloudevent(to_cloudevent(event)) == event


def test_the_envelope_is_cloudevents_and_the_payload_json_ld() -> None:
    event = SemanticEvent(
        "VehicleStatus",
        {"Odometer": SemanticObject("Distance", 3850, Context(unit="mile")), "Engine": {"Speed": 2**60}},
        id="7",
        source="/car/1",
        time="2026-11-18T05:00Z",
    )
    tree = json.loads(to_cloudevent(event, vocabulary="https://w3id.org/conceptpubsub/vehicles#"))
    data = tree.pop("data")
    assert tree == {
        "specversion": "1.0",
        "id": "7",
        "source": "/car/1",
        "type": "VehicleStatus",
        "time": "2026-11-18T05:00:00Z",
        "datacontenttype": "application/ld+json",
        "dataschema": "https://w3id.org/conceptpubsub/event/1",
    }
    graph = rdflib.Graph().parse(data=json.dumps(data), format="json-ld")
    found = graph.query(
        """PREFIX v: <https://w3id.org/conceptpubsub/vehicles#> PREFIX cps: <https://w3id.org/conceptpubsub/core#>
        PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
        SELECT ?miles ?unit ?speed WHERE {
            ?e a v:VehicleStatus; v:Odometer [ a v:Distance; rdf:value ?miles; cps:unit ?unit ];
               v:Engine/v:Speed ?speed }
        """
    )
    ((miles, unit, speed),) = found
    assert (miles.toPython(), str(unit), speed.toPython()) == (3850, "mile", 2**60)


@pytest.mark.parametrize(
    "data",
    [
        {
            "@context": {"sosa": SOSA, "qudt": "http://qudt.org/schema/qudt/", "ex": EX},
            "@type": "sosa:Observation",
            "sosa:observedProperty": {"@id": "ex:Temperature"},
            "sosa:hasResult": {
                "@type": "qudt:QuantityValue",
                "qudt:numericValue": {"@type": "http://www.w3.org/2001/XMLSchema#decimal", "@value": "22.5"},
                "qudt:unit": {"@id": "http://qudt.org/vocab/unit/DEG_C"},
            },
            "sosa:hasSimpleResult": "22.5 Cel",
            "sosa:resultTime": {
                "@type": "http://www.w3.org/2001/XMLSchema#dateTime",
                "@value": "2026-11-18T06:00:00.000000001+01:00",
            },
        },
        {
            "@context": [
                {"@version": 1.1, "@vocab": SOSA, "ex": EX, "numericValue": "qudt:numericValue"},
                {"about": {"@id": "sosa:observedProperty", "@type": "@id"}},
                {"unit": {"@id": "qudt:unit", "@type": "@id"}, "resultTime": {"@id": "sosa:resultTime"}},
            ],
            "@type": ["Observation"],
            "about": "ex:Temperature",
            "hasResult": [{"numericValue": 22.5, "unit": "http://qudt.org/vocab/unit/DEG_C"}],
            "resultTime": "2026-11-18T05:00:00.000000001Z",
        },
    ],
)
def test_a_sosa_observation_reads_naturally(data: Any) -> None:
    event = from_cloudevent(envelope(data, time="2026-11-18T09:00:00Z", traceparent="00-1"))
    unit = Context(unit="http://qudt.org/vocab/unit/DEG_C")
    assert event == SemanticEvent(
        SOSA + "Observation",
        {EX + "Temperature": SemanticObject(EX + "Temperature", 22.5, unit)},
        time="2026-11-18T05:00:00.000000001Z",
        id="1",
        source="/room/2",
    )


def test_a_simple_result_and_what_stands_beside_it() -> None:
    data = {
        "@type": ["sosa:Observation", EX + "RoomReading"],
        "sosa:observedProperty": EX + "Occupied",
        "sosa:hasSimpleResult": {"@type": "xsd:boolean", "@value": "true"},
        "sosa:madeBySensor": {"@id": "http://example.org/sensor/4"},
    }
    event = from_cloudevent(envelope(data, time="2026-11-18T09:00:00Z"))
    assert event.concept == EX + "RoomReading"
    assert event[EX + "Occupied"].value is True
    assert event[SOSA + "madeBySensor"].value == "http://example.org/sensor/4"
    assert event.time == Instant.parse("2026-11-18T09:00Z")


@pytest.mark.parametrize(
    ("given", "value", "context"),
    [
        ({"qudt:numericValue": 5, "qudt:ucumCode": "[mi_i]"}, 5, {"unit": "ucum:[mi_i]"}),
        ({"schema:value": 5, "schema:unitCode": "SMI"}, 5, {"unit": "unece:SMI"}),
        ({"rdf:value": 5, "cps:unit": "mile", "cps:scale": 1000}, 5, {"unit": "mile", "scale": 1000}),
        ({"@value": "Motor", "@language": "de"}, "Motor", {"language": "de"}),
        ({"@value": "1.50", "@type": "xsd:decimal"}, 1.5, {}),
        ({"@value": "2026-11-18T05:00:00Z", "@type": "xsd:dateTime"}, Instant.parse("2026-11-18T05:00Z"), {}),
        ({"@value": "PT5S", "@type": "xsd:duration"}, "PT5S", {}),
        ({"@id": "ex:Engine"}, "ex:Engine", {}),
    ],
)
def test_values_as_others_write_them(given: Any, value: Any, context: dict[str, Any]) -> None:
    event = from_cloudevent(envelope({"@type": "Status", "x": given}))
    assert event == SemanticEvent("Status", {"x": SemanticObject("x", value, context)}, id="1", source="/room/2")


def test_plain_json_payloads_and_nested_nodes() -> None:
    event = from_cloudevent(envelope({"a": {"b": 1}, "c": None}, datacontenttype="application/json; charset=utf-8"))
    assert event == SemanticEvent("reading", {"a": {"b": 1}}, id="1", source="/room/2")
    assert from_cloudevent(envelope(None)) == SemanticEvent("reading", id="1", source="/room/2")


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        (envelope({"@context": "https://schema.org/"}), "/data/@context", "never fetched"),
        (envelope({"@context": [{}, "http://example.org/c"]}), "/data/@context", "never fetched"),
        (envelope({"@context": {"@import": "http://example.org/c"}}), "/data/@context", "not a definition"),
        (envelope({"@context": {"a": 5}}), "/data/@context", "not a definition"),
        (envelope({"@type": 5}), "/data/@type", "text"),
        (envelope({"@type": "sosa:Observation"}), "/data", "observedProperty"),
        (envelope({"sosa:observedProperty": "a"}), "/data", "hasResult"),
        (envelope({"sosa:observedProperty": 5, "sosa:hasResult": 1}), "/data/sosa:observedProperty", "IRI"),
        (
            envelope({"sosa:observedProperty": "a", "sosa:hasResult": 1, "sosa:resultTime": "now"}),
            "/data/sosa:resultTime",
            "ISO 8601",
        ),
        (envelope({"x": [1, 2]}), "/data/x", "one event a value"),
        (envelope({"x": {"qudt:numericValue": 1, "qudt:unit": 5}}), "/data/x/qudt:unit", "unit"),
        (envelope({"x": {"@value": "many", "@type": "xsd:integer"}}), "/data/x", "decimal"),
        (envelope({"x": {"@value": "INF", "@type": "xsd:double"}}), "/data/x", "decimal"),
        (envelope({"sosa:x": 1, SOSA + "x": 2}), "/data", "second name"),
        (envelope([]), "/data", "a list"),
        (envelope(""), "/data", "text"),
        (envelope({}, specversion="0.3"), "/specversion", "CloudEvent"),
        (envelope({}, id=""), "/id", "empty"),
        (envelope({}, source=5), "/source", "text"),
        (envelope({}, time="2026-11-18T05:00"), "/time", "time zone"),
        (envelope({}, datacontenttype="text/xml"), "/data", "text/xml"),
        (envelope({}, data_base64="AA=="), "/data", "JSON"),
        ('{"specversion": "1.0", "id": "1", "source": "s", "type": "t", "ext": NaN}', "/ext", "NaN"),
        ("5", "", "object"),
    ],
)
def test_bad_input_is_refused_with_its_place(text: str, place: str, says: str) -> None:
    with pytest.raises(CodecError, match=says) as caught:
        from_cloudevent(text)
    assert caught.value.place == place


def test_nesting_is_bounded() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = {"x": deep}
    with pytest.raises(CodecError, match="nested"):
        from_cloudevent(envelope(deep))
    with pytest.raises(CodecError, match="nested"):
        from_cloudevent(envelope(deep, dataschema="https://w3id.org/conceptpubsub/event/1"))


def test_a_cyclic_context_ends() -> None:
    event = from_cloudevent(envelope({"@context": {"a": "b", "b": "a"}, "@type": "t", "a": 1}))
    assert len(event.attributes) == 1


@pytest.mark.parametrize("missing", ["id", "source"])
def test_what_cloudevents_demand_is_asked_for(missing: str) -> None:
    event = SemanticEvent("A", id="1", source="s").replace(**{missing: None})
    with pytest.raises(CodecError, match=f"needs the {missing}"):
        to_cloudevent(event)
    with pytest.raises(CodecError, match="years"):
        to_cloudevent(SemanticEvent("A", id="1", source="s", time=Instant(10**28)))


def test_an_observation_means_what_the_ontology_says() -> None:
    onto = Ontology.bundled("observations")
    conv = Converters.default(onto)
    data = {
        "@type": "sosa:Observation",
        "sosa:observedProperty": {"@id": onto["AirTemperature"].iri},
        "sosa:hasResult": {"qudt:numericValue": 72.5, "qudt:unit": {"@id": "unit:DEG_F"}},
        "sosa:madeBySensor": {"@id": "http://example.org/sensor/4"},
    }
    event = from_cloudevent(envelope(data))
    assert validate(event, onto, problem=conv.problem) == ()
    assert conv.convert(event[onto["AirTemperature"].iri], Context(unit="degC"), exact=True).value == Fraction(45, 2)
    assert onto[event.concept] == onto["Observation"]
