"""Validation: one sentence for each thing that is wrong with an event."""

from typing import Any

import pytest

from conceptpubsub.model import Context, Ontology, SemanticEvent, SemanticObject
from conceptpubsub.model.validation import validate


@pytest.fixture
def onto() -> Ontology:
    return Ontology.bundled("vehicles")


def faults(onto: Ontology, attributes: dict[str, Any], concept: str = "VehicleStatus") -> tuple[str, ...]:
    return validate(SemanticEvent(concept, attributes), onto)


def test_a_valid_event_has_no_faults(onto: Ontology) -> None:
    assert faults(onto, {"Odometer": 3, "PartFailure": "Engine", "Vehicle": {"InTemperature": 20}}) == ()
    assert faults(onto, {"veh:Odometer": 3}, "veh:VehicleStatus") == ()
    assert validate(SemanticObject("Vehicle", {"Odometer": 3}), onto) == ()
    assert validate(SemanticObject("Odometer", 3), onto) == ()


@pytest.mark.parametrize(
    ("attributes", "fault"),
    [
        ({"Odometr": 3}, "Odometr: no such concept. Did you mean 'Odometer'"),
        ({"Vehicle": {"Odometr": 3}}, "Vehicle.Odometr: no such concept"),
        ({"Odometer": SemanticObject("Distanz", 3)}, "Odometer: Distanz: no such concept. Did you mean 'Distance'"),
        ({"Odometer": SemanticObject("Speed", 3)}, "Odometer: holds a Speed, which is neither Odometer nor above it"),
        ({"Distance": SemanticObject("Odometer", 3)}, "Distance: holds a Odometer"),
        ({"Odometer": {"Speed": 3}}, "Odometer: takes numbers, not a set of attributes"),
        ({"Vehicle": 3}, "Vehicle: is complex; it takes a set of attributes, not 3"),
        ({"PartFailure": "Enigne"}, "PartFailure: 'Enigne' names no concept. Did you mean 'Engine'"),
        ({"PartFailure": 3}, "PartFailure: 3 names no concept."),
        ({"PartFailure": "Odometer"}, "PartFailure: Odometer does not lie below VehiclePart"),
        ({"Odometer": 3, "veh:Odometer": 4}, "veh:Odometer: is the same concept as 'Odometer'"),
    ],
)
def test_each_fault_is_one_sentence(onto: Ontology, attributes: dict[str, Any], fault: str) -> None:
    (said,) = faults(onto, attributes)
    assert said.startswith(fault)


def test_an_object_under_a_key_may_be_of_a_concept_above(onto: Ontology) -> None:
    assert faults(onto, {"Odometer": SemanticObject("Distance", 3, Context(unit="mile"))}) == ()
    assert faults(onto, {"Odometer": SemanticObject("Length", 3)}) == ()


def test_the_event_itself_is_judged(onto: Ontology) -> None:
    assert faults(onto, {}, "VehicleStatsu")[0].startswith(
        "VehicleStatsu: no such concept. Did you mean 'VehicleStatus'"
    )
    assert faults(onto, {}, "Odometer") == ("Odometer: takes numbers, so it cannot hold attributes",)


def test_an_attribute_in_the_wrong_place(onto: Ontology) -> None:
    assert faults(onto, {"PartFailure": "Engine"}, "Event") == ()
    assert faults(onto, {"PartFailure": "Engine"}, "Breakdown") == ()
    trading = Ontology.bundled("trading")
    (said,) = faults(trading, {"Exchange": "NYSE"}, "IssueState")
    assert said == "Exchange: belongs to MarketEvent, not to IssueState"


def test_enumerated_values_are_judged_without_help(onto: Ontology) -> None:
    trading = Ontology.bundled("trading")
    assert faults(trading, {"Side": "hold"}, "Trade") == ("Side: 'hold' is none of buy, sell",)


def test_values_are_judged_by_who_knows_them(onto: Ontology) -> None:
    event = SemanticEvent("VehicleStatus", {"Odometer": "far", "Speedometer": 3, "PartFailure": "Engine"})

    def canonical(concept: Any, value: Any, context: Context, at: Any) -> Any:
        return None if isinstance(value, str) else value

    def problem(concept: Any, value: Any, context: Context, at: Any) -> str | None:
        return f"{value!r} is not a number" if isinstance(value, str) else None

    assert validate(event, onto, canonical) == ("Odometer: 'far' is no value of Odometer, which takes numbers",)
    assert validate(event, onto, problem=problem) == ("Odometer: 'far' is not a number",)
    assert validate(event, onto) == ()


def test_the_registry_of_converters_knows_values(onto: Ontology) -> None:
    converters = pytest.importorskip("conceptpubsub.converters").Converters.default(onto)
    event = SemanticEvent(
        "VehicleStatus",
        {"Odometer": SemanticObject("Odometer", 3, Context(unit="kg")), "InTemperature": 20, "Occupants": 1.5},
    )
    said = validate(event, onto, problem=converters.problem)
    assert [line.partition(":")[0] for line in said] == ["Odometer", "Occupants"]
    assert len(validate(event, onto, converters.canonical)) == 2


def test_a_concept_that_nothing_can_be_is_a_fault(ontology: Any) -> None:
    onto = ontology(":A owl:disjointWith :B . :C rdfs:subClassOf :A , :B .")
    (said,) = validate(SemanticEvent("A", {"C": 3}), onto)
    assert "contradicts itself on C" in said
