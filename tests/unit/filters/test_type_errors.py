"""What a filter cannot mean is refused, at its place, with the way out."""

import pickle

import pytest

from conceptpubsub.errors import FilterError, FilterTypeError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology

VEHICLES = Ontology.bundled("vehicles")


def refused(text: str) -> FilterTypeError:
    with pytest.raises(FilterTypeError) as caught:
        Filter.parse(text, ontology=VEHICLES)
    return caught.value


@pytest.mark.parametrize(
    ("text", "pointed"),
    [
        ("Temperature > 30 kg", "30"),
        ("30 kg < Temperature", "30"),
        ("DoorOpen AND Temperature > 5 EUR", "5"),
        ("Temperature > 30 degCC", "degCC"),
        ("Temprature > 5", "Temprature"),
        ("Vehicle.Odometr > 5", "Vehicle.Odometr"),
        ("PartFailure = 'Engin'", "'Engin'"),
        ("PartFailure ISA Engin", "Engin"),
        ("PartFailure = 'Temperature'", "'Temperature'"),
        ("PartFailure > 'Engine'", "PartFailure"),
        ("Temperature > 'hot'", "'hot'"),
        ("LicensePlate IN ('a', 5)", "5"),
        ("Odometer BETWEEN 1 km AND 7 kg", "7"),
        ("Odometer > Temperature", "Temperature"),
        ("EngineTorque > 5 J", "5"),
        ("EngineSpeed > 5 Hz", "5"),
        ("Odometer + 5 kg > 1 km", "+"),
        ("InTemperature + OutTemperature > 5", "+"),
        ("-InTemperature > 5", "-"),
        ("Odometer / TripDuration > 50", "50"),
        ("Odometer / TripDuration > 50 kg", "50"),
        ("LicensePlate * 2 > 1", "*"),
        ("Odometer LIKE 'a%'", "Odometer"),
        ("Odometer NOT LIKE 'a%'", "Odometer"),
        ("Odometer ISA Engine", "Odometer"),
        ("DoorOpen > TRUE", "DoorOpen"),
        ("Odometer > 5 {unt: mile}", "{unt: mile}"),
        ("Odometer > 5 {scale: 0}", "5"),
        ("LastService > 'yesterday'", "'yesterday'"),
        ("LastService + 5 > EVENT.time", "+"),
        ("EVENT.tme > 5", "EVENT.tme"),
        ("DoorOpen AND Temperature", "Temperature"),
        ("Vehicle = 'x'", "'x'"),
    ],
)
def test_the_caret_stands_under_what_is_wrong(text: str, pointed: str) -> None:
    error = refused(text)
    assert text[error.column - 1 :].startswith(pointed)
    shown, caret = str(error).splitlines()[-2:]
    start = caret.index("^")
    assert shown[start:].startswith(pointed)
    assert caret[start:] == "^" * len(pointed)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Temprature > 5", "Temperature"),
        ("PartFailure = 'Engin'", "Engine"),
        ("PartFailure ISA Engin", "Engine"),
        ("Temperature > 5 degCC", "degC"),
        ("Odometer > 5 {unt: mile}", "unit"),
        ("EVENT ISA VehicleStatsu", "VehicleStatus"),
        ("EVENT = 'VehicleStatsu'", "VehicleStatus"),
    ],
)
def test_near_names_are_offered(text: str, near: str) -> None:
    error = refused(text)
    assert near in error.near
    assert f"'{near}'" in str(error)


def test_errors_pickle_and_carry_their_reason() -> None:
    error = pickle.loads(pickle.dumps(refused("DoorOpen AND\n Temperature > 30 kg")))
    assert (error.line, error.column) == (2, 16)
    assert error.reason in str(error)
    assert isinstance(error, TypeError | ValueError)


def test_kinds_are_guarded_in_sums_and_comparisons() -> None:
    for text in ("Height > Odometer", "Height + Odometer > 5 km", "Torque > Energy"):
        assert "kind" in str(refused(text))
    Filter.parse("Length > Odometer AND Odometer + TripDistance > 5 km", ontology=VEHICLES)


def test_what_may_turn_out_to_fit_is_let_through() -> None:
    for text in ("x > 5 km AND x > 5", "x > 'a' OR x > 1", "x + y > z", "x LIKE 'a%'", "x ISA y", "1 = 'a'"):
        Filter.parse(text)
    Filter.parse("Quantity > 5 km", ontology=VEHICLES)


def test_joining_filters_of_different_scopes_is_refused() -> None:
    with pytest.raises(FilterError, match="bind"):
        Filter.parse("a = 1") & Filter.parse("a = 1", semantics="strict")
