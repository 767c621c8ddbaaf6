"""Pairs reasoned out on paper, with the verdicts that the law gives: covers, is covered, overlaps."""

from __future__ import annotations

from typing import Any

import pytest

from conceptpubsub.errors import Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology

TYPES = {"x": "real", "y": "real", "n": "int", "s": "text", "b": "bool", "w": "instant"}
TYPED: dict[str, Any] = {"types": TYPES}
STRICT, DEFAULT, TOTAL = ({"types": TYPES, "semantics": each} for each in ("strict", "default", "total"))
SEVEN = {**DEFAULT, "defaults": {"x": 7}}
OPEN: dict[str, Any] = {}
CARS: dict[str, Any] = {"ontology": Ontology.bundled("vehicles")}
STRICT_CARS, DEFAULT_CARS = ({**CARS, "semantics": each} for each in ("strict", "default"))

SAME, WIDER, NARROWER = (True, True, True), (True, False, True), (False, True, True)
APART, MEETING, ABOVE_NOTHING = (False, False, False), (False, False, True), (True, False, False)
NOTHING, BOTH_NOTHING = (False, True, False), (True, True, False)

NUMBERS = [
    (TYPED, "NOT x = 5", TYPED, "x < 5 OR x > 5", SAME),
    (TYPED, "NOT (x = 5 AND y = 1)", TYPED, "x <> 5", WIDER),
    (TYPED, "x IS NULL OR x <> 5", TYPED, "NOT x = 5", WIDER),
    (TYPED, "x = x", TYPED, "x IS NOT NULL", SAME),
    (TYPED, "x IN (1, 2, 3)", TYPED, "x = 2 OR x = 3", WIDER),
    (TYPED, "x NOT IN (1, 2)", TYPED, "x > 2", WIDER),
    (TYPED, "x BETWEEN 5 AND 1", TYPED, "y = 1", NOTHING),
    (TYPED, "n BETWEEN 1.5 AND 2.5", TYPED, "n = 2", SAME),
    (TYPED, "n > 0.5", TYPED, "n >= 1", SAME),
    (TYPED, "n * 2 = 3", TYPED, "x = 1", NOTHING),
    (TYPED, "n <> 2 AND n > 0 AND n < 4", TYPED, "n IN (1, 3)", SAME),
    (TYPED, "2 * n = 4", TYPED, "n = 2", SAME),
    (TYPED, "x / y = 2", TYPED, "x = 2 * y", NARROWER),
    (TYPED, "x / 0 > 1", TYPED, "FALSE", BOTH_NOTHING),
    (TYPED, "x > 100000000000000000001", TYPED, "x > 100000000000000000000", NARROWER),
    (TYPED, "x = 0.1", TYPED, "x = 0.1000000000000000055511151231257827", APART),
    (TYPED, "x > 0.1 + 0.2", TYPED, "x > 0.3", SAME),
    (TYPED, "", TYPED, "TRUE", SAME),
    (TYPED, "", TYPED, "FALSE", ABOVE_NOTHING),
    (TYPED, "x IS NULL AND x IS NOT NULL", TYPED, "FALSE", BOTH_NOTHING),
    (TYPED, "w >= TIMESTAMP '2026-01-01T00:00Z'", TYPED, "w > TIMESTAMP '2025-12-31T23:59:59.999999999Z'", SAME),
    (TYPED, "w > TIMESTAMP '2026-01-01T01:00+01:00'", TYPED, "w > TIMESTAMP '2026-01-01T00:00Z'", SAME),
    (TYPED, "b = TRUE OR b = FALSE", TYPED, "b IS NOT NULL", SAME),
]
SEMANTICS = [
    (STRICT, "x = 1 OR y = 1", STRICT, "x = 1 AND y IS NOT NULL", WIDER),
    (STRICT, "x = 1 OR x <> 1", STRICT, "x IS NOT NULL", SAME),
    (STRICT, "x IS NULL OR y = 1", STRICT, "y = 1 AND x IS NOT NULL", SAME),
    (TYPED, "x = 1 OR y = 1", STRICT, "x = 1 OR y = 1", WIDER),
    (STRICT, "NOT (x > 5 OR y > 5)", TYPED, "x <= 5 AND y <= 5", SAME),
    (STRICT, "TRUE OR x = 1", STRICT, "x IS NOT NULL", SAME),
    (STRICT, "NOT x / 0 > 1", STRICT, "x = 1", NOTHING),
    (STRICT, "", TYPED, "", SAME),
    (DEFAULT, "NOT x > 5", DEFAULT, "x <= 5 OR x IS NULL", SAME),
    (DEFAULT, "x <> 5 AND x <> 6", TYPED, "x IS NULL", WIDER),
    (DEFAULT, "x = 5", TYPED, "x = 5", SAME),
    (DEFAULT, "x < y", DEFAULT, "NOT x >= y", NARROWER),
    (DEFAULT, "NOT x < y", TYPED, "x IS NULL", WIDER),
    (DEFAULT, "NOT s LIKE 'a%'", TYPED, "s NOT LIKE 'a%'", WIDER),
    (DEFAULT, "NOT x / 0 > 1", DEFAULT, "", SAME),
    (DEFAULT, "x <> 5", STRICT, "x <> 5", WIDER),
    (SEVEN, "x > 5", TYPED, "x > 5 OR x IS NULL", SAME),
    (SEVEN, "x IS NULL", TYPED, "y = 1", NOTHING),
    (SEVEN, "NOT x > 5", TYPED, "x <= 5", SAME),
    (SEVEN, "x = y", TYPED, "x IS NULL AND y = 7", WIDER),
    (SEVEN, "x <> 7", DEFAULT, "x <> 7", NARROWER),
    (TOTAL, "x IS NULL", TOTAL, "x = 1", NOTHING),
    (TOTAL, "x > 0 OR y > 0", TOTAL, "x > 0", WIDER),
    (TOTAL, "x < 5 OR x >= 5", TOTAL, "y = 1", WIDER),
]
TEXTS = [
    (TYPED, "s LIKE 'a%'", TYPED, "s STARTS WITH 'a'", SAME),
    (TYPED, "s LIKE '%'", TYPED, "s IS NOT NULL", SAME),
    (TYPED, "s LIKE 'a\\_%' ESCAPE '\\'", TYPED, "s STARTS WITH 'a_'", SAME),
    (TYPED, "s LIKE '_%'", TYPED, "s <> ''", SAME),
    (TYPED, "s CONTAINS 'ab'", TYPED, "s LIKE '%ab%'", SAME),
    (TYPED, "s WITHIN 'abc'", TYPED, "s IN ('', 'a', 'b', 'c', 'ab', 'bc', 'abc')", SAME),
    (TYPED, "s ENDS WITH 'b' AND s STARTS WITH 'a'", TYPED, "s LIKE 'a%b'", SAME),
    (TYPED, "s ENDS WITH 'a' AND s STARTS WITH 'a'", TYPED, "s LIKE 'a%a'", WIDER),
    (TYPED, "s CONTAINS 'aa'", TYPED, "s CONTAINS 'aaa'", WIDER),
    (TYPED, "s < 'b'", TYPED, "s STARTS WITH 'a'", WIDER),
    (TYPED, "s >= 'a' AND s < 'b'", TYPED, "s STARTS WITH 'a'", SAME),
    (TYPED, "s MATCHES 'a|b'", TYPED, "s IN ('a', 'b')", SAME),
    (TYPED, "s MATCHES 'a{2,3}'", TYPED, "s = 'aa' OR s = 'aaa'", SAME),
    (TYPED, "s MATCHES '[^a]'", TYPED, "s LIKE '_' AND s <> 'a'", SAME),
    (TYPED, "EVENT.source = 'a'", TYPED, "EVENT.source LIKE 'a%'", NARROWER),
]
SORTS = [
    (OPEN, "x = '5'", OPEN, "x = 5", APART),
    (OPEN, "x < 5 OR x >= 5", OPEN, "x IS NOT NULL", NARROWER),
    (OPEN, "x = TRUE", OPEN, "x <> FALSE", SAME),
    (OPEN, "d > 1 km", OPEN, "d > 1 [km/h]", APART),
    (OPEN, "t > 0 degC", OPEN, "t > 32 degF", SAME),
    (OPEN, "t > 0 K", OPEN, "t > 0 degC", WIDER),
    (OPEN, "d > 0 m", OPEN, "d > 0 km", SAME),
    (OPEN, "e > 1 J", OPEN, "e > 1 [N*m]", APART),
    (OPEN, "f > 1 Hz", OPEN, "f > 60 rpm", APART),
    (OPEN, "p > 1 EUR AND p > 1 USD", OPEN, "p > 1 EUR", NARROWER),
    (OPEN, "p > 0 EUR", OPEN, "p > 1 USD", WIDER),
    (OPEN, "p = 0 EUR", OPEN, "p = 0 USD", SAME),
    (OPEN, "p < 0 USD", OPEN, "p > 5 EUR", APART),
    (OPEN, "p >= 1 EUR AND p <= 1 EUR", OPEN, "p = 1 USD", MEETING),
    (OPEN, "p + q > 10 EUR", OPEN, "p > 5 EUR AND q > 5 EUR", WIDER),
    (OPEN, "o.a > 5", OPEN, "o IS NOT NULL AND o.a > 5", SAME),
    (OPEN, "o.a IS NULL", OPEN, "o IS NULL", WIDER),
    (OPEN, "o = 5", OPEN, "o.a = 5", APART),
    (OPEN, "NOT o.a > 5", OPEN, "o.a <= 5", SAME),
]
CONCEPTS = [
    (CARS, "EVENT ISA VehicleEvent", CARS, "EVENT ISA Breakdown", WIDER),
    (CARS, "NOT EVENT ISA VehicleAlarm", CARS, "EVENT ISA VehicleStatus", WIDER),
    (CARS, "PartFailure ISA Engine", CARS, "PartFailure = 'Ignition'", WIDER),
    (CARS, "NOT PartFailure ISA Engine", CARS, "PartFailure ISA Brake", WIDER),
    (CARS, "Temperature > 20 degC AND Temperature < 30 degC", CARS, "InTemperature = 25 degC", WIDER),
    (
        CARS, "Temperature > 20 degC AND InTemperature < 10 degC",
        CARS, "OutTemperature > 25 degC AND InTemperature < 5 degC", WIDER,
    ),
    (CARS, "NOT Temperature > 20 degC", CARS, "InTemperature <= 20 degC", WIDER),
    (CARS, "Temperature <= 20 degC", CARS, "Temperature > 20 degC", MEETING),
    (CARS, "InTemperature <= 20 degC", CARS, "InTemperature > 20 degC", APART),
    (
        STRICT_CARS, "Temperature > 20 degC OR Odometer > 5 km",
        CARS, "InTemperature > 20 degC AND Odometer IS NOT NULL", WIDER,
    ),
    (CARS, "Temperature IS NULL", CARS, "InTemperature IS NULL AND OutTemperature IS NULL", NARROWER),
    (DEFAULT_CARS, "NOT Temperature > 20 degC", CARS, "Temperature IS NULL", WIDER),
    (DEFAULT_CARS, "NOT Temperature > 20 degC", CARS, "InTemperature <= 20 degC AND OutTemperature > 30 degC", WIDER),
    (
        CARS, "Vehicle.Odometer > 5 km AND Vehicle.FuelLevel < 10 percent",
        CARS, "Car.Odometer > 6 km AND Truck.FuelLevel < 5 percent", WIDER,
    ),
    (CARS, "FuelLevel > 50 percent OR FuelLevel <= 50 percent", CARS, "FuelLevel IS NOT NULL", SAME),
    (CARS, "Occupants > 0", CARS, "Occupants >= 1", SAME),
    (CARS, "Occupants * 2 > 3", CARS, "Occupants >= 2", SAME),
    (CARS, "Distance > 5 km", CARS, "Odometer > 5000 m", WIDER),
    (CARS, "InTemperature - OutTemperature > 10 delta_degC", CARS, "InTemperature > OutTemperature", NARROWER),
    (CARS, "Temperature > 20 degC AND Temperature <> InTemperature", CARS, "OutTemperature > 20 degC", MEETING),
]  # fmt: skip


@pytest.mark.parametrize("engine", [None, "domain", "z3"])
@pytest.mark.parametrize(
    ("mine", "one", "theirs", "other", "verdict"), [*NUMBERS, *SEMANTICS, *TEXTS, *SORTS, *CONCEPTS]
)
def test_verdicts(
    mine: dict[str, Any], one: str, theirs: dict[str, Any], other: str, verdict: tuple[bool, ...], engine: Any
) -> None:
    f, g = Filter.parse(one, **mine), Filter.parse(other, **theirs)
    asked = (
        lambda: f.covers(g, engine=engine),
        lambda: g.covers(f, engine=engine),
        lambda: f.overlaps(g, engine=engine),
    )
    for question, expected in zip(asked, verdict, strict=True):
        try:
            assert question() is expected
        except Undecided:
            assert engine is not None, "one of the engines has the answer"
    if engine is None:
        there, back = f.witness(g), g.witness(f)
        assert (there is None, back is None) == verdict[:2]
