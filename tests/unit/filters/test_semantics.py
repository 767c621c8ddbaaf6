"""DESIGN section 3, sentence by sentence: each test is named after what it holds the evaluator to."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from conceptpubsub.converters import Converters
from conceptpubsub.errors import FilterError, InvalidEvent, InvalidValue, LimitExceeded, MissingAttribute
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, Instant, Ontology, SemanticEvent, SemanticObject
from tests.worlds import world

VEHICLES = Ontology.bundled("vehicles")
PLANT = world("plant").ontology


def value(text: str, event: Any, **scope: Any) -> bool | None:
    return Filter.parse(text, **scope).evaluate(event)


def in_unit(concept: str, number: Any, unit: str) -> SemanticObject:
    return SemanticObject(concept, number, Context(unit=unit))


class TestAttributes:
    def test_the_key_of_an_attribute_is_its_concept(self) -> None:
        event = SemanticEvent("VehicleStatus", {"Odometer": in_unit("Distance", 5, "mile")})
        assert value("Odometer = 5 mile", event, ontology=VEHICLES) is True
        assert value("TripDistance = 5 mile", event, ontology=VEHICLES) is None

    def test_null_is_missing(self) -> None:
        assert value("x IS NULL", {"x": None}) is True
        assert value("x = 1", {"x": None}) is None

    def test_a_list_is_an_error_with_a_hint(self) -> None:
        with pytest.raises(InvalidEvent, match="one value"):
            value("x = 1", {"x": [1, 2]})

    def test_only_dotted_paths_enter_complex_objects(self) -> None:
        event = {"Vehicle": {"Odometer": 5}}
        assert value("Odometer = 5", event, ontology=VEHICLES) is None
        assert value("Vehicle.Odometer = 5", event, ontology=VEHICLES) is True
        assert value("o.a = 1", {"o": {"a": 1}}) is True
        assert value("a = 1", {"o": {"a": 1}}) is None

    def test_each_step_of_a_path_sees_sub_concepts(self) -> None:
        event = {"Car": {"Odometer": 5}, "Truck": {"TripDistance": 7}}
        assert value("Vehicle.Distance = 7", event, ontology=VEHICLES) is True
        assert value("Vehicle.Distance = 5", event, ontology=VEHICLES) is True
        assert value("Car.Distance = 7", event, ontology=VEHICLES) is False

    def test_a_path_is_one_reference(self) -> None:
        f = Filter.parse("Vehicle.Odometer > 1 AND Vehicle.Odometer < 9 AND Odometer > 1", ontology=VEHICLES)
        assert [ref.path for ref in f.references] == [("Vehicle", "Odometer"), ("Odometer",)]

    def test_without_an_ontology_every_name_is_a_plain_attribute(self) -> None:
        assert value('anything = 1 AND "any thing" = 2', {"anything": 1, "any thing": 2}) is True

    def test_with_an_ontology_an_unknown_name_is_an_error_that_offers_near_names(self) -> None:
        with pytest.raises(FilterError, match="Did you mean 'Odometer'") as caught:
            Filter.parse("Odometr > 1", ontology=VEHICLES)
        assert "Odometer" in caught.value.near

    def test_event_speaks_of_the_event_itself(self) -> None:
        event = SemanticEvent("Breakdown", {}, time="2026-11-18T05:00Z", id="e1", source="truck 7")
        for text in (
            "EVENT ISA VehicleAlarm",
            "EVENT = 'Breakdown'",
            "EVENT.time = TIMESTAMP '2026-11-18T06:00+01:00'",
            "EVENT.time >= '2026-11-18T05:00:00Z'",
            "EVENT.source LIKE 'truck%'",
            "EVENT.id = 'e1'",
        ):
            assert value(text, event, ontology=VEHICLES) is True, text
        assert value("EVENT ISA VehicleStatus", event, ontology=VEHICLES) is False
        assert value("EVENT.id = 'e1' AND EVENT ISA alarm", {"@id": "e1", "@concept": "alarm"}) is True
        assert value("EVENT.time > TIMESTAMP '2026-01-01T00:00Z'", {}) is None
        assert value("EVENT.source IS NULL", {}) is True

    def test_an_event_of_an_unknown_concept_has_no_concept(self) -> None:
        event = SemanticEvent("NoSuchThing", {})
        assert value("EVENT ISA VehicleEvent", event, ontology=VEHICLES) is None
        assert value("EVENT IS NULL", event, ontology=VEHICLES) is True

    def test_isa_goes_by_the_key_of_a_complex_attribute(self) -> None:
        event = {"Car": SemanticObject("Vehicle", {"Odometer": 1})}
        assert value("Vehicle ISA Car", event, ontology=VEHICLES) is True
        assert value("Vehicle ISA Truck", event, ontology=VEHICLES) is False

    def test_isa_goes_by_the_value_of_a_concept_valued_attribute(self) -> None:
        assert value("PartFailure ISA Drivetrain", {"PartFailure": "Ignition"}, ontology=VEHICLES) is True
        assert value("PartFailure ISA Brake", {"PartFailure": "Ignition"}, ontology=VEHICLES) is False
        assert value("PartFailure ISA Brake", {}, ontology=VEHICLES) is None

    def test_equality_of_concepts_is_not_subsumption(self) -> None:
        iri = "https://w3id.org/conceptpubsub/vehicles#Engine"
        assert value("PartFailure = 'Engine'", {"PartFailure": iri}, ontology=VEHICLES) is True
        assert value("PartFailure = 'Engine'", {"PartFailure": "Ignition"}, ontology=VEHICLES) is False
        assert value("Fault = 'Tap'", {"Fault": "Valve"}, ontology=PLANT) is True  # equivalent concepts


class TestBinding:
    def test_a_reference_binds_to_any_attribute_at_or_below_its_concept(self) -> None:
        for key in ("Temperature", "InTemperature", "OutTemperature"):
            assert value("Temperature > 20", {key: 25}, ontology=VEHICLES) is True
        assert value("InTemperature > 20", {"Temperature": 25}, ontology=VEHICLES) is None

    def test_a_repeated_reference_is_bound_once(self) -> None:
        event = {"InTemperature": 10, "OutTemperature": 40}
        assert value("Temperature > 20 AND Temperature < 30", event, ontology=VEHICLES) is False
        assert value("Temperature > 20 AND OutTemperature > 30", event, ontology=VEHICLES) is True

    def test_equivalent_concepts_are_one_reference(self) -> None:
        f = Filter.parse("Inlet > 20 AND Warmth < 30", ontology=PLANT)
        assert len(f.references) == 1
        assert f.evaluate({"Warmth": 25}) is True
        assert f.evaluate({"Inlet": 25}) is True

    def test_some_binding_that_is_true_wins(self) -> None:
        event = {"InTemperature": 10, "OutTemperature": 40}
        assert value("Temperature > 30", event, ontology=VEHICLES) is True
        assert value("NOT Temperature > 30", event, ontology=VEHICLES) is True

    def test_else_some_binding_that_is_unknown(self) -> None:
        event = {"Anything": "text", "Crew": 2}
        assert value("Crew > 3 AND Anything > 1", event, ontology=PLANT) is False
        assert value("Crew > 1 AND Anything > 1", event, ontology=PLANT) is None

    def test_a_reference_is_unbound_only_if_the_event_has_none(self) -> None:
        event = {"InTemperature": "hot", "OutTemperature": 40}
        assert value("Temperature IS NULL", event, ontology=VEHICLES) is False
        assert value("Temperature IS NULL", {"InTemperature": "hot"}, ontology=VEHICLES) is True

    def test_too_many_bindings_are_refused(self) -> None:
        event = {c.name: 1 for c in VEHICLES if c.is_a(VEHICLES["Quantity"]) and c.canonical_unit}
        names = ["Quantity", "Distance", "Length", "Temperature", "Pressure", "Speed", "Duration", "Ratio"]
        text = " AND ".join(f"{name} IS NOT NULL" for name in names)
        with pytest.raises(LimitExceeded, match="narrower concepts"):
            Filter.parse(text, ontology=VEHICLES).evaluate(event)


class TestTruth:
    def test_sql_an_atom_over_an_unbound_reference_is_unknown(self) -> None:
        for text in (
            "x = 1",
            "x <> 1",
            "NOT x = 1",
            "x LIKE 'a%'",
            "x IN (1)",
            "x NOT IN (1)",
            "x BETWEEN 1 AND 2",
            "x",
        ):
            assert value(text, {}) is None, text

    def test_sql_three_valued_tables(self) -> None:
        known = {"t": True, "f": False}
        table = {
            "t AND u": None,
            "f AND u": False,
            "u AND u": None,
            "t OR u": True,
            "f OR u": None,
            "u OR u": None,
            "NOT u": None,
        }
        for text, expected in table.items():
            assert value(text, known) is expected, text

    def test_sql_is_null(self) -> None:
        assert value("x IS NULL", {}) is True
        assert value("x IS NULL", {"x": 0}) is False
        assert value("x IS NOT NULL", {"x": 0}) is True

    def test_sql_negation_of_a_comparison_is_the_opposite_comparison(self) -> None:
        assert Filter.parse("NOT x < 5") == Filter.parse("x >= 5")
        assert Filter.parse("NOT (x < 5 OR y = 1)") == Filter.parse("x >= 5 AND y <> 1")

    def test_strict_is_unknown_unless_every_named_reference_is_bound(self) -> None:
        f = Filter.parse("x = 1 OR y = 2", semantics="strict")
        assert f.evaluate({"x": 1}) is None
        assert f.evaluate({"x": 1, "y": 5}) is True

    def test_strict_counts_the_references_of_is_null(self) -> None:
        f = Filter.parse("x IS NULL OR TRUE", semantics="strict")
        assert f.evaluate({}) is None
        assert f.evaluate({"x": 1}) is True
        assert Filter.parse("x IS NULL", semantics="strict").evaluate({}) is None

    def test_strict_names_survive_simplification(self) -> None:
        f = Filter.parse("price < 1000 OR price > 500", semantics="strict")
        assert f.evaluate({}) is None
        assert f.evaluate({"price": 700}) is True
        assert Filter.parse("TRUE OR x = 1", semantics="strict").names == {"$x"}
        assert Filter.parse("TRUE OR x = 1", semantics="strict") != Filter.parse("TRUE", semantics="strict")
        assert Filter.parse("TRUE OR x = 1") == Filter.parse("TRUE")

    def test_total_an_event_that_lacks_a_named_reference_is_an_error(self) -> None:
        f = Filter.parse("x = 1 OR y = 2", semantics="total")
        with pytest.raises(MissingAttribute) as caught:
            f.evaluate({"x": 1})
        assert caught.value.missing == ("y",)
        assert f.evaluate({"x": 0, "y": 2}) is True

    def test_default_a_declared_default_stands_in_for_a_missing_value(self) -> None:
        scope = {"semantics": "default", "defaults": {"x": 5}}
        assert value("x = 5", {}, **scope) is True
        assert value("x = 5", {"x": 6}, **scope) is False
        assert value("x IS NULL", {}, **scope) is False
        assert value("x IS NOT NULL", {}, **scope) is True
        assert value("x = 5", {"x": None}, **scope) is True

    def test_default_any_other_unknown_atom_is_false(self) -> None:
        assert value("x = 5", {}, semantics="default") is False
        assert value("x < 5", {"x": "text"}, semantics="default") is False

    def test_default_not_is_classical(self) -> None:
        for text in (
            "NOT x = 5",
            "x <> 5",
            "NOT x < 5",
            "NOT x LIKE 'a'",
            "x NOT IN (1)",
            "NOT x",
            "NOT (x = 1 AND y = 2)",
        ):
            assert value(text, {}, semantics="default") is True, text
        assert value("x >= 5", {}, semantics="default") is False
        assert Filter.parse("NOT x < 5", semantics="default") != Filter.parse("x >= 5", semantics="default")
        assert value("x IS NULL", {}, semantics="default") is True

    def test_default_values_stand_in_their_context(self) -> None:
        scope = {"ontology": VEHICLES, "semantics": "default"}
        warm = {"InTemperature": in_unit("Temperature", 86, "degF")}
        assert value("InTemperature = 30 degC", {}, defaults=warm, **scope) is True
        assert value("InTemperature = 30", {}, defaults={"InTemperature": 30}, **scope) is True

    def test_defaults_belong_to_the_semantics_default(self) -> None:
        with pytest.raises(FilterError, match="defaults are part of"):
            Filter.parse("x = 1", defaults={"x": 1})
        with pytest.raises(FilterError, match="cannot be used"):
            Filter.parse("x = 1", semantics="default", types={"x": "int"}, defaults={"x": "one"})

    def test_no_other_semantics(self) -> None:
        with pytest.raises(FilterError, match="Did you mean 'strict'"):
            Filter.parse("x = 1", semantics="stric")

    def test_the_empty_filter_matches_everything(self) -> None:
        for semantics in ("sql", "strict", "total", "default"):
            assert value("", {}, semantics=semantics) is True
            assert value("  \n", {"x": 1}, semantics=semantics) is True


class TestUnknownNeverWrong:
    @pytest.mark.parametrize(
        ("text", "event"),
        [
            ("x = 1", {"x": "1"}),
            ("x = '1'", {"x": 1}),
            ("x = TRUE", {"x": 1}),
            ("x = 1", {"x": True}),
            ("x < 5", {"x": "a"}),
            ("x LIKE '1%'", {"x": 1}),
            ("x", {"x": 1}),
            ("x", {"x": "TRUE"}),
            ("x + 1 > 0", {"x": "1"}),
            ("x = TIMESTAMP '2026-01-01T00:00Z'", {"x": "2026-01-01T00:00Z"}),
            ("x > y", {"x": 1, "y": "a"}),
            ("o > 1", {"o": {"a": 1}}),
        ],
    )
    def test_a_comparison_between_types_is_unknown(self, text: str, event: Any) -> None:
        assert value(text, event) is None

    def test_a_missing_rate_is_unknown(self) -> None:
        event = {"p": SemanticObject("p", 5, Context(currency="USD"))}
        assert value("p > 1 EUR", event) is None
        rated = Converters.default().register("currency", {"USD": 2}, pivot="EUR")
        assert value("p > 2 EUR", event, converters=rated) is True
        assert value("p = 2.5 EUR", event, converters=rated) is True

    def test_rates_are_those_of_the_events_time(self) -> None:
        rates = {"2026-01-01": {"USD": 1}, "2026-02-01": {"USD": 2}}
        rated = Converters.default().register("currency", rates, pivot="EUR")
        held = {"p": SemanticObject("p", 10, Context(currency="USD"))}
        early, late = (SemanticEvent("Trade", held, time=f"2026-0{month}-02T12:00Z") for month in (1, 2))
        f = Filter.parse("p >= 10 EUR", converters=rated)
        assert (f.evaluate(early), f.evaluate(late)) == (True, False)
        assert f.evaluate(SemanticEvent("Trade", held)) is None

    def test_an_inconvertible_unit_is_unknown(self) -> None:
        assert value("x > 1 km", {"x": in_unit("x", 5, "kg")}) is None
        assert value("x > 1 km", {"x": in_unit("x", 5, "no such unit")}) is None

    def test_a_division_by_zero_is_unknown(self) -> None:
        assert value("1 / x > 0", {"x": 0}) is None
        assert value("y / x > 0", {"x": in_unit("x", 0, "s"), "y": in_unit("y", 1, "m")}) is None
        assert value("1 / 0 > 0 OR TRUE", {}) is True

    def test_a_value_outside_its_declared_type_counts_as_missing(self) -> None:
        assert value("i IS NULL", {"i": 1.5}, types={"i": "int"}) is True
        assert value("i IS NULL", {"i": 2.0}, types={"i": "int"}) is False
        assert value("s IS NULL", {"s": 5}, types={"s": "text"}) is True
        assert value("b IS NULL", {"b": 1}, types={"b": "bool"}) is True
        assert value("r IS NULL", {"r": True}, types={"r": "real"}) is True
        assert value("FuelLevel IS NULL", {"FuelLevel": 101}, ontology=VEHICLES) is True
        assert value("Occupants IS NULL", {"Occupants": 1.5}, ontology=VEHICLES) is True
        assert value("Mode IS NULL", {"Mode": "c"}, ontology=PLANT) is True
        assert value("Odometer IS NULL", {"Odometer": in_unit("Distance", 1, "kg")}, ontology=VEHICLES) is True
        assert value("PartFailure IS NULL", {"PartFailure": "NoSuchPart"}, ontology=VEHICLES) is True

    def test_a_range_rejects_no_constant(self) -> None:
        assert value("FuelLevel < 200", {"FuelLevel": 50}, ontology=VEHICLES) is True
        assert value("Occupants > -1.5", {"Occupants": 0}, ontology=VEHICLES) is True
        assert value("Mode < 'c'", {"Mode": "b"}, ontology=PLANT) is True

    def test_text_declared_to_be_an_instant_is_read_as_one(self) -> None:
        types = {"w": "instant"}
        assert value("w > '2026-01-01T00:00Z'", {"w": "2026-01-01T02:00+01:00"}, types=types) is True
        assert value("w IS NULL", {"w": "yesterday"}, types=types) is True
        assert (
            value("LastService < '2026-01-01T00:00Z'", {"LastService": "2025-12-31T00:00Z"}, ontology=VEHICLES) is True
        )

    def test_text_is_ordered_by_code_point(self) -> None:
        assert value("x < 'a'", {"x": "Z"}) is True
        assert value("x > 'z'", {"x": "é"}) is True
        assert value("x > '\uffff'", {"x": "\U00010000"}) is True

    def test_booleans_are_unordered_and_are_not_numbers(self) -> None:
        with pytest.raises(FilterError, match="no order"):
            Filter.parse("x < TRUE")
        assert value("x > y", {"x": True, "y": False}) is None
        assert value("x = y", {"x": True, "y": True}) is True
        assert value("x + 1 = 2", {"x": True}) is None


class TestNumbers:
    def test_constants_are_rationals(self) -> None:
        assert value("x / 3 = 1 / 3", {"x": 1}) is True
        assert value("x = 0.1 + 0.2", {"x": 0.3}) is True

    def test_a_float_means_its_shortest_decimal(self) -> None:
        assert value("x = 0.03", {"x": 0.03}) is True
        assert value("x > 0.03", {"x": 0.03}) is False
        assert value("x = 0.1", {"x": np.float32(0.1)}) is True
        assert value("x = 0.1", {"x": Decimal("0.10")}) is True
        assert value("x * 3 = 1", {"x": Fraction(1, 3)}) is True

    def test_large_integers_stay_exact(self) -> None:
        assert value("x = 9007199254740993", {"x": 2**53 + 1}) is True
        assert value("x = 9007199254740992", {"x": 2**53 + 1}) is False

    @pytest.mark.parametrize("semantics", ["sql", "strict"])
    def test_thirty_celsius_is_eightysix_fahrenheit(self, semantics: str) -> None:
        scope: dict[str, Any] = {"ontology": VEHICLES, "semantics": semantics}
        fahrenheit = Filter.parse("Temperature > 86 degF", **scope)
        celsius = Filter.parse("Temperature > 30 degC", **scope)
        assert fahrenheit == celsius
        assert fahrenheit.normal == celsius.normal
        assert hash(fahrenheit) == hash(celsius)
        for f in (fahrenheit, celsius):
            assert f.evaluate({"InTemperature": in_unit("Temperature", 86, "degF")}) is False
            assert f.evaluate({"InTemperature": in_unit("Temperature", 86.0000001, "degF")}) is True

    def test_integer_typed_attributes_range_over_integers(self) -> None:
        types = {"x": "int"}
        assert all(value("x > 1 AND x < 2", {"x": x}, types=types) is not True for x in (1, 1.5, 2, "1.5"))

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), np.float32("inf")])
    def test_nan_and_infinities_are_refused_at_entry(self, number: Any) -> None:
        with pytest.raises(InvalidValue):
            value("x > 1", {"x": number})

    def test_instants_are_exact_points_in_utc(self) -> None:
        noon = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
        assert value("w = TIMESTAMP '2026-01-01T13:00:00.000000000+01:00'", {"w": noon}) is True
        assert value("w < TIMESTAMP '2026-01-01T12:00:00.000000001Z'", {"w": noon}) is True
        assert value("w = DATE '2026-01-01'", {"w": Instant.parse("2026-01-01T00:00Z")}) is True

    def test_a_naive_instant_needs_a_time_zone(self) -> None:
        with pytest.raises(FilterError, match="no time zone"):
            Filter.parse("w > TIMESTAMP '2026-07-01T12:00'")
        berlin = Filter.parse("w > TIMESTAMP '2026-07-01T12:00' {timezone: 'Europe/Berlin'}")
        assert berlin == Filter.parse("w > TIMESTAMP '2026-07-01T10:00Z'")
        naive = {"LastService": SemanticObject("LastService", "2026-07-01T12:00", Context(timezone="Europe/Berlin"))}
        assert value("LastService = '2026-07-01T10:00Z'", naive, ontology=VEHICLES) is True
        assert value("LastService IS NULL", {"LastService": "2026-07-01T12:00"}, ontology=VEHICLES) is True

    def test_instant_minus_instant_is_a_duration(self) -> None:
        event = SemanticEvent("VehicleStatus", {"LastService": "2026-01-01T00:00Z"}, time="2026-01-01T01:30Z")
        assert value("EVENT.time - LastService = 90 min", event, ontology=VEHICLES) is True
        assert value("LastService + 2 h > EVENT.time", event, ontology=VEHICLES) is True


class TestContext:
    def test_a_values_own_context_then_its_concepts_default_then_the_canonical_unit(self) -> None:
        assert value("TyrePressure = 2 bar", {"TyrePressure": 2}, ontology=VEHICLES) is True
        assert (
            value("TyrePressure = 200000 Pa", {"TyrePressure": in_unit("Pressure", 200, "kPa")}, ontology=VEHICLES)
            is True
        )
        assert value("Odometer = 5 km", {"Odometer": 5}, ontology=VEHICLES) is True

    def test_bare_constants_likewise(self) -> None:
        assert value("TyrePressure = 2", {"TyrePressure": in_unit("Pressure", 200, "kPa")}, ontology=VEHICLES) is True
        assert value("Odometer = 5", {"Odometer": in_unit("Distance", 5000, "m")}, ontology=VEHICLES) is True

    @pytest.mark.parametrize("given", [{}, {"unit": "km"}, {"unit": "m"}, {"scale": 1}, {"unit": "km", "scale": 10}])
    @pytest.mark.parametrize("concept", ["Way", "Leg", "Temperature", "Price", "Load", "Crew"])
    def test_the_same_constant_in_filter_and_event_is_the_same_value(self, concept: str, given: dict[str, Any]) -> None:
        if "unit" in given and concept not in ("Way", "Leg"):
            given = {aspect: v for aspect, v in given.items() if aspect != "unit"}
        braces = " {" + ", ".join(f"{k}: {v}" for k, v in given.items()) + "}" if given else ""
        event = {concept: SemanticObject(concept, 2, Context(given))}
        assert value(f"{concept} IS NULL OR {concept} = 2{braces}", event, ontology=PLANT) is True

    def test_scale_multiplies(self) -> None:
        near, far = (SemanticObject("Distance", n, Context(unit="mile", scale=s)) for n, s in ((3850, 1), (3.85, 1000)))
        for held in (near, far):
            assert value("Odometer = 3850 mile", {"Odometer": held}, ontology=VEHICLES) is True
            assert value("Odometer = 3.85 {unit: mile, scale: 1000}", {"Odometer": held}, ontology=VEHICLES) is True
            assert value("Odometer = 3.85 mile {scale: 1000}", {"Odometer": held}, ontology=VEHICLES) is True

    def test_without_an_ontology_values_with_and_without_unit_do_not_compare(self) -> None:
        assert value("x > 1", {"x": in_unit("x", 5, "km")}) is None
        assert value("x > 1 km", {"x": 5}) is None
        assert value("x > 1 km", {"x": in_unit("x", 5, "km")}) is True

    @pytest.mark.parametrize(("one", "other"), [("N*m", "J"), ("rpm", "Hz"), ("delta_degC", "degC"), ("Bq", "Hz")])
    def test_quantity_kinds_are_guarded_not_dimensions(self, one: str, other: str) -> None:
        assert value(f"x > 0 [{other}]", {"x": in_unit("x", 5, one)}) is None

    def test_a_temperature_difference_is_not_a_temperature(self) -> None:
        event = {"InTemperature": 30, "OutTemperature": 20}
        f = Filter.parse("InTemperature - OutTemperature >= 10 delta_degC", ontology=VEHICLES)
        assert f.evaluate(event) is True
        assert value("InTemperature - OutTemperature = 10", event, ontology=VEHICLES) is True
        with pytest.raises(FilterError):
            Filter.parse("InTemperature - OutTemperature > 10 degC", ontology=VEHICLES)
        assert value("InTemperature + 5 delta_degC = 35", event, ontology=VEHICLES) is True
        assert value("InTemperature + 5 = 35 degC", event, ontology=VEHICLES) is True

    def test_arithmetic_works_with_units(self) -> None:
        event = {"Odometer": in_unit("Distance", 100, "km"), "TripDuration": in_unit("Duration", 90, "min")}
        assert value("Odometer / TripDuration > 50 [km/h]", event, ontology=VEHICLES) is True
        assert value("Odometer / TripDuration > 70 [km/h]", event, ontology=VEHICLES) is False
        assert value("2 * Odometer = 200 km", event, ontology=VEHICLES) is True
        assert value("Odometer + 5 mile < 109 km", event, ontology=VEHICLES) is True
        assert value("Odometer + 5 = 105", event, ontology=VEHICLES) is True

    def test_currency_is_an_aspect_not_a_unit(self) -> None:
        five = {"p": SemanticObject("p", 5, Context(currency="EUR"))}
        assert value("p = 5 EUR", five) is True
        assert value("p = 5", five) is None
        assert value("p = 5 {currency: EUR}", five) is True
        assert value("Price = 5", {"Price": 5}, ontology=PLANT) is True
        assert value("Price = 5 EUR", {"Price": 5}, ontology=PLANT) is True
