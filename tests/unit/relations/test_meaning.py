"""Meaning, not spelling: units, concepts, ranges, currencies, complex objects."""

from __future__ import annotations

from typing import Any

import pytest

from conceptpubsub.converters import Converters
from conceptpubsub.errors import IncompatibleFilters
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology
from conceptpubsub.relations import satisfiable
from tests.worlds import world

ENGINES = (None, "z3")
VEHICLES = Ontology.bundled("vehicles")


def vehicles(text: str, **scope: Any) -> Filter:
    return Filter.parse(text, ontology=VEHICLES, **scope)


def plant(text: str, **scope: Any) -> Filter:
    return Filter.parse(text, ontology=world("plant").ontology, **scope)


@pytest.mark.parametrize("engine", ENGINES)
def test_units_are_compared_by_what_they_mean(engine: Any) -> None:
    assert vehicles("Temperature > 86 degF").identical(vehicles("Temperature > 30 degC"), engine=engine)
    assert vehicles("Odometer > 1 mile").covers(vehicles("Odometer > 1.7 km"), engine=engine)
    assert not vehicles("Odometer > 1 mile").covers(vehicles("Odometer > 1.6 km"), engine=engine)
    assert Filter.parse("d > 1 km").identical(Filter.parse("d > 1000 m"), engine=engine)
    assert not Filter.parse("d > 1 km").overlaps(Filter.parse("d > 1"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_concept_covers_those_below_it(engine: Any) -> None:
    assert vehicles("Temperature > 20 degC").covers(vehicles("InTemperature > 80 degF"), engine=engine)
    assert not vehicles("InTemperature > 20 degC").covers(vehicles("Temperature > 80 degF"), engine=engine)
    assert vehicles("Temperature > 20 degC OR Odometer > 5 km").covers(
        vehicles("OutTemperature > 30 degC AND Odometer > 1 km"), engine=engine
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_one_reference_speaks_of_one_attribute(engine: Any) -> None:
    apart = vehicles("Temperature > 30 degC AND Temperature < 20 degC")
    assert not apart.satisfiable(engine=engine)
    assert vehicles("Temperature > 30 degC").overlaps(vehicles("Temperature < 20 degC"), engine=engine)
    assert not vehicles("InTemperature > 30 degC").overlaps(vehicles("InTemperature < 20 degC"), engine=engine)
    both = vehicles("Temperature > 30 degC AND InTemperature < 20 degC")
    assert both.satisfiable(engine=engine), "two attributes may be meant"
    witness: Any = vehicles("InTemperature > 30 degC").witness(both)
    assert len(witness.attributes) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_reference_is_unbound_only_if_nothing_below_it_is_there(engine: Any) -> None:
    assert vehicles("InTemperature IS NULL").covers(vehicles("Temperature IS NULL"), engine=engine)
    assert not vehicles("Temperature IS NULL").covers(vehicles("InTemperature IS NULL"), engine=engine)
    assert not vehicles("Temperature IS NULL").overlaps(vehicles("InTemperature > 0 degC"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_equivalent_concepts_are_the_same(engine: Any) -> None:
    assert plant("Inlet > 20 degC").identical(plant("Warmth > 20 degC"), engine=engine)
    assert plant("Fault ISA Valve").identical(plant("Fault ISA Tap"), engine=engine)
    assert plant("Fault = 'Valve'").identical(plant("Fault = 'Tap'"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_disjoint_concepts_never_overlap(engine: Any) -> None:
    assert not vehicles("PartFailure ISA Engine").overlaps(vehicles("PartFailure ISA Brake"), engine=engine)
    assert not vehicles("EVENT ISA VehicleStatus").overlaps(vehicles("EVENT ISA VehicleAlarm"), engine=engine)
    assert vehicles("PartFailure ISA Drivetrain").overlaps(vehicles("PartFailure ISA Engine"), engine=engine)
    assert vehicles("PartFailure ISA Drivetrain").covers(vehicles("PartFailure = 'Ignition'"), engine=engine)
    assert vehicles("EVENT ISA VehicleEvent").covers(vehicles("EVENT ISA Breakdown"), engine=engine)
    assert not vehicles("Car IS NULL OR Car ISA Truck").covers(vehicles("Vehicle ISA Car"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_declared_ranges_and_values_exclude_what_cannot_be(engine: Any) -> None:
    assert not vehicles("FuelLevel > 200 percent").satisfiable(engine=engine)
    assert vehicles("FuelLevel <= 100 percent").identical(vehicles("FuelLevel IS NOT NULL"), engine=engine)
    assert not vehicles("Occupants > 1 AND Occupants < 2").satisfiable(engine=engine)
    assert not vehicles("Occupants < 0").satisfiable(engine=engine)
    assert not plant("Mode = 'c'").satisfiable(engine=engine)
    assert plant("Mode IN ('a', 'b', 'ab')").identical(plant("Mode IS NOT NULL"), engine=engine)
    assert not plant("Fault ISA Report").satisfiable(engine=engine), "no declared value is a report"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_advertisement_can_prove_that_a_subscription_never_matches(engine: Any) -> None:
    sensor = vehicles("EVENT ISA VehicleStatus AND InTemperature BETWEEN -20 degC AND 60 degC")
    assert not sensor.overlaps(vehicles("InTemperature > 150 degF"), engine=engine)
    assert not sensor.overlaps(vehicles("EVENT ISA Breakdown"), engine=engine)
    assert sensor.overlaps(vehicles("Temperature > 100 degF"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_currencies_compare_only_if_it_holds_for_every_rate(engine: Any) -> None:
    euros, dollars = Filter.parse("p > 0 EUR"), Filter.parse("p > 0 USD")
    assert euros.covers(dollars, engine=engine)
    assert dollars.covers(euros, engine=engine)
    hundred = Filter.parse("p > 100 EUR")
    assert not hundred.covers(Filter.parse("p > 100 USD"), engine=engine)
    assert not Filter.parse("p > 100 USD").covers(hundred, engine=engine)
    assert hundred.overlaps(Filter.parse("p < 1 USD"), engine=engine)
    assert not Filter.parse("p > 1 EUR").overlaps(Filter.parse("p < -1 USD"), engine=engine)
    assert hundred.covers(Filter.parse("p > 200 EUR"), engine=engine)
    assert not Filter.parse("p > 1 EUR AND p < 1 USD AND p > 2 USD").satisfiable(engine=engine)


def test_two_currencies_have_a_witness_with_rates_and_without() -> None:
    without = Filter.parse("p > 100 EUR").witness(Filter.parse("p > 100 USD"))
    assert without is not None
    rated = Converters().register("currency", {"USD": 1.25}, pivot="EUR")
    one = Filter.parse("p > 100 EUR", converters=rated)
    other = Filter.parse("p > 100 USD", converters=rated)
    event: Any = one.witness(other)
    assert other.matches(event)
    assert not one.matches(event)


@pytest.mark.parametrize("engine", ENGINES)
def test_paths_lead_into_complex_objects(engine: Any) -> None:
    assert vehicles("Vehicle.Odometer > 5 km").covers(vehicles("Car.Odometer > 6 km"), engine=engine)
    assert not vehicles("Car.Odometer > 5 km").covers(vehicles("Vehicle.Odometer > 6 km"), engine=engine)
    assert vehicles("Vehicle IS NOT NULL").covers(vehicles("Car.Odometer > 6 km"), engine=engine)
    assert not vehicles("Vehicle IS NULL").overlaps(vehicles("Vehicle.Odometer > 6 km"), engine=engine)
    assert not vehicles("Odometer > 6 km").covers(vehicles("Vehicle.Odometer > 6 km"), engine=engine)
    assert Filter.parse("o.a IS NULL").covers(Filter.parse("o > 5"), engine=engine), "a number has nothing inside"


@pytest.mark.parametrize("engine", ENGINES)
def test_types_declared_by_one_filter_only(engine: Any) -> None:
    whole, open_ = Filter.parse("x > 5", types={"x": "int"}), Filter.parse("x > 5")
    assert open_.covers(whole, engine=engine)
    assert not whole.covers(open_, engine=engine), "2.5 is no integer, and so counts as missing"
    assert Filter.parse("x IS NULL", types={"x": "int"}).covers(Filter.parse("x = 'a'"), engine=engine)


@pytest.mark.parametrize("question", ["covers", "overlaps", "identical", "witness", "merge"])
def test_two_ontologies_have_no_common_ground(question: str) -> None:
    with pytest.raises(IncompatibleFilters, match="ontolog"):
        getattr(vehicles("Temperature > 5 degC"), question)(plant("Temperature > 5 degC"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_reference_near_the_root_of_a_large_ontology_stays_cheap(engine: Any, tmp_path: Any) -> None:
    lines = ["@prefix : <urn:x#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."]
    lines += ["@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    lines += ["@prefix cps: <https://w3id.org/conceptpubsub/core#> .", ":C0 a owl:Class ; cps:valueType cps:Real ."]
    lines += [f":C{i} a owl:Class ; rdfs:subClassOf :C{(i - 1) // 3} ." for i in range(1, 600)]
    source = tmp_path / "large.ttl"
    source.write_text("\n".join(lines))
    large = Ontology.load(source, cache=False)

    def parse(text: str) -> Filter:
        return Filter.parse(text, ontology=large)

    assert parse("C0 > 5").covers(parse("C1 > 7 AND C2 > 8 AND C0 > 3"), engine=engine)
    assert not parse("C1 > 5").covers(parse("C0 > 7"), engine=engine)
    assert parse("C0 > 5 AND C1 < 9").covers(parse("C4 > 6 AND C4 < 7"), engine=engine)
    assert parse("C0 > 5").overlaps(parse("C0 < 3 AND C500 = 1"), engine=engine)
    assert not parse("C0 IS NULL").overlaps(parse("C599 = 1"), engine=engine)


@pytest.mark.parametrize("engine", [None, "domain", "z3"])
def test_what_is_there_under_a_lower_concept_is_not_missing(engine):
    onto = Ontology.bundled("vehicles")
    for text in ("InTemperature > 5 degC AND Temperature IS NULL", "InTemperature IS NOT NULL AND Temperature IS NULL"):
        assert not satisfiable(Filter.parse(text, ontology=onto), engine=engine)
    assert satisfiable(Filter.parse("InTemperature IS NULL AND Temperature > 5 degC", ontology=onto), engine=engine)
