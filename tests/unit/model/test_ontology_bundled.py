"""The bundled ontologies: labelled, defined, in order, with units that exist."""

from fractions import Fraction

import pytest

from conceptpubsub.model import Context, Ontology, SemanticEvent, SemanticObject
from conceptpubsub.model.catalog import BUNDLED, bundled_path
from conceptpubsub.model.rdf_reader import parse
from conceptpubsub.model.rdf_terms import CPS
from conceptpubsub.model.validation import validate


@pytest.fixture(params=BUNDLED)
def onto(request: pytest.FixtureRequest) -> Ontology:
    return Ontology.bundled(request.param)


def test_every_concept_is_labelled_in_english_and_german_and_defined(onto: Ontology) -> None:
    for concept in onto:
        assert concept.labels.get("en"), concept
        assert concept.labels.get("de"), concept
        assert concept.definition.endswith("."), concept
        assert concept.sort == "class"


def test_nothing_is_wrong_with_it_units_included(onto: Ontology) -> None:
    converters = pytest.importorskip("conceptpubsub.converters")
    assert onto.check(converters.resolve) == []
    assert onto.unsatisfiable == ()
    assert onto.warnings == ()


def test_every_value_has_a_type_unless_it_is_only_ever_a_value(onto: Ontology) -> None:
    untyped = {c.name for c in onto if c.value_type is None}
    values = {below.name for c in onto for top in c.range for below in onto[top].descendants}
    assert untyped <= values


def test_quantities_have_kinds_whose_units_are_of_one_dimension(onto: Ontology) -> None:
    resolve = pytest.importorskip("conceptpubsub.converters").resolve
    for concept in onto:
        if concept.is_a("Quantity") and concept.name != "Quantity":
            assert concept.quantity_kind is not None
            assert concept.quantity_kind.unit is not None
            assert concept.canonical_unit is not None
            kind, own = resolve(concept.quantity_kind.unit), resolve(concept.canonical_unit)
            assert kind.dimension.comparable(own.dimension), concept


@pytest.mark.parametrize("name", BUNDLED)
def test_only_words_of_the_vocabulary_are_used(name: str) -> None:
    """A typing error in a cps: property would otherwise go unnoticed."""
    known = {s for s, _, _ in parse("core.ttl", bundled_path("core").read_bytes()).triples}
    used = {p for _, p, _ in parse(f"{name}.ttl", bundled_path(name).read_bytes()).triples if p.startswith(CPS)}
    assert used <= known


def test_all_together_hold_one_name_for_each_thing_of_their_own() -> None:
    both = Ontology.load(*(bundled_path(name) for name in BUNDLED if name != "core"))
    assert [name for name in both.names() if ":" in name] == ["cps:Volume"]
    assert both["InTemperature"].is_a("Temperature")
    assert both["AirportTemperature"].is_a("Temperature")


def test_core_keeps_kinds_apart_that_share_a_dimension() -> None:
    core = Ontology.bundled("core")
    assert core["Torque"].disjoint_with("Energy")
    assert core["RotationalSpeed"].disjoint_with("Frequency")
    assert core["Temperature"].disjoint_with("TemperatureDifference")
    assert not core.kinds["Torque"].is_a("Energy")
    assert core.kinds["http://qudt.org/vocab/quantitykind/Torque"] is core.kinds["Torque"]
    assert core["Temperature"].minimum == Fraction(-27315, 100)


def test_the_vehicles_of_the_paper() -> None:
    onto = Ontology.bundled("vehicles")
    for lower, upper in [
        ("Odometer", "Distance"),
        ("TripDistance", "Distance"),
        ("Speedometer", "Speed"),
        ("InTemperature", "Temperature"),
        ("OutTemperature", "Temperature"),
        ("VehicleStatus", "Event"),
        ("Engine", "VehiclePart"),
    ]:
        assert onto[lower].is_a(upper)
    assert onto["InTemperature"].disjoint_with("OutTemperature")
    assert onto["Ignition"].disjoint_with("FrontBrake")
    assert onto["EngineSpeed"].canonical_unit == "rpm"
    event = SemanticEvent(
        "VehicleStatus",
        {
            "Odometer": SemanticObject("Distance", 3850, Context(unit="mile", scale=1)),
            "PartFailure": "Engine",
            "Vehicle": {"Speedometer": 80, "PartFailure": "Clutch"},
        },
    )
    assert validate(event, onto) == ()


def test_observations_answer_to_the_names_of_sosa_and_qudt() -> None:
    onto = Ontology.bundled("observations")
    assert onto["sosa:Observation"] is onto["http://www.w3.org/ns/sosa/Observation"] is onto["Observation"]
    assert onto["http://qudt.org/vocab/quantitykind/Temperature"].name == "Temperature"
    assert onto["WindGust"].is_a("Speed")
    assert onto["WindGust"].default_context == Context(unit="m/s")
    assert onto["CO2"].canonical_unit == "ppm"
    assert onto["Occupancy"].value_type == "int"


def test_trades_as_in_the_gryphon_paper() -> None:
    onto = Ontology.bundled("trading")
    assert onto["Price"].default_context == onto["Capital"].default_context == Context(currency="USD")
    assert (onto["Volume"].value_type, onto["Volume"].canonical_unit) == ("int", None)
    assert onto["IssueCode"].default_context == Context(scheme="common")
    assert onto["NYSE"].disjoint_with("NASDAQ")
    assert onto["Side"].values == ("buy", "sell")
    trade = SemanticEvent("Trade", {"Exchange": "NYSE", "Issue": "IBM", "Price": 119, "Volume": 100, "Side": "buy"})
    assert validate(trade, onto) == ()


def test_flights_have_the_units_of_the_records() -> None:
    onto = Ontology.bundled("flights")
    units = {
        "DepartureDelay": "minute",
        "ArrivalDelay": "minute",
        "AirTime": "minute",
        "FlightDistance": "mile",
        "AirportTemperature": "degF",
        "AirportDewPoint": "degF",
        "AirportWindSpeed": "mph",
        "AirportWindGust": "mph",
        "AirportPrecipitation": "inch",
        "AirportPressure": "mbar",
        "AirportVisibility": "mile",
    }
    assert {name: onto[name].default_context["unit"] for name in units} == units
    assert onto["AirportHumidity"].canonical_unit == "percent"
    assert onto["AirportWindDirection"].maximum == 360
    assert onto["Fare"].default_context == Context(currency="USD")
    assert onto["Weather"].disjoint_with("Flight")
