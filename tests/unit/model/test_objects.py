"""Semantic objects and events: immutable, by meaning equal, strict about what a value may be."""

import copy
import datetime as dt
import math
import pickle
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from conceptpubsub.errors import ConceptPubSubError, InvalidEvent, InvalidValue, LimitExceeded
from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject
from conceptpubsub.model.objects import MAX_DEPTH


@dataclass(frozen=True)
class Named:
    """Anything with a name, as a Concept has."""

    name: str


def vehicle() -> SemanticEvent:
    return SemanticEvent(
        "VehicleStatus",
        {
            "Odometer": SemanticObject("Distance", 3850, Context(unit="mile", scale=1)),
            "PartFailure": "Engine",
            "Engine": {"Speed": 0.1, "Parked": True},
            "Gone": None,
            "Lost": SemanticObject("Lost", None),
        },
        time="2026-11-18T05:00Z",
        id=7,
        source="car/1",
    )


def test_an_event_holds_objects_under_their_keys() -> None:
    event = vehicle()
    assert list(event) == ["Odometer", "PartFailure", "Engine"]
    assert event["Odometer"].concept == "Distance"
    assert event["PartFailure"] == SemanticObject("PartFailure", "Engine")
    assert event["Engine"].is_complex
    assert event["Engine"].value["Speed"].value == 0.1
    assert event.get("Gone") is None
    assert "Gone" not in event
    assert (event.id, event.source, event.time) == ("7", "car/1", Instant.parse("2026-11-18T05:00Z"))


def test_events_are_values() -> None:
    event = vehicle()
    assert event == vehicle()
    assert hash(event) == hash(vehicle())
    assert pickle.loads(pickle.dumps(event)) == event == copy.deepcopy(event)
    assert event.replace(id="8") != event
    assert event.replace(id="8").replace(id="7") == event
    with pytest.raises(AttributeError):
        event.id = "8"  # type: ignore[misc]
    with pytest.raises(TypeError):
        event.attributes["Odometer"] = 5  # type: ignore[index]


@pytest.mark.parametrize("tenth", [0.1, Decimal("0.1"), Decimal("0.10"), Fraction(1, 10), np.float32(0.1)])
def test_equal_in_meaning_is_equal(tenth: Any) -> None:
    one, other = SemanticObject("X", tenth), SemanticObject("X", 0.1)
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(True, 1), (1, "1"), (0.1, "0.1"), (0.1, 0.1 + 1e-17 + 1e-16), (dt.date(2026, 1, 1), dt.datetime(2026, 1, 1))],
)
def test_different_in_meaning_is_different(one: Any, other: Any) -> None:
    assert SemanticObject("X", one) != SemanticObject("X", other)


@pytest.mark.parametrize(
    ("given", "held"),
    [
        (np.int64(5), 5),
        (np.float32(0.1), 0.1),
        (np.float32(2), 2.0),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), Instant.parse("2026-01-01Z")),
        (np.datetime64("2026-01-01"), Instant.parse("2026-01-01Z")),
        (pd.Timestamp("2026-01-01T00:00:00.000000001Z"), Instant.parse("2026-01-01T00:00:00.000000001Z")),
        (pd.Timestamp("2026-01-01"), dt.datetime(2026, 1, 1)),
        (dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1)),
        (dt.date(2026, 1, 1), dt.date(2026, 1, 1)),
    ],
)
def test_foreign_scalars_become_plain_ones(given: Any, held: Any) -> None:
    value = SemanticObject("X", given).value
    assert value == held
    assert type(value) is type(held)


@pytest.mark.parametrize(
    "bad",
    [
        math.nan,
        math.inf,
        np.float32("nan"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        pd.NaT,
        pd.NA,
        np.datetime64("NaT"),
        b"bytes",
        1j,
        object(),
        dt.timedelta(1),
        np.timedelta64(1, "s"),
        np.array([1.0]),
        10**4200,
        Fraction(1, 10**4200),
        Decimal("1e99999"),
        [1],
        (1,),
        {1},
    ],
)
def test_what_is_no_value_is_refused_and_named(bad: Any) -> None:
    with pytest.raises(ConceptPubSubError, match="Speed"):
        SemanticEvent("E", {"Speed": bad})


def test_a_list_is_an_error_with_a_hint() -> None:
    with pytest.raises(InvalidEvent, match="one event a value"):
        SemanticEvent("E", {"Speed": [1, 2]})


def test_a_duration_is_told_its_unit() -> None:
    with pytest.raises(InvalidValue, match="second"):
        SemanticObject("Trip", dt.timedelta(hours=1))


def test_a_too_long_number_is_refused() -> None:
    with pytest.raises(LimitExceeded):
        SemanticObject("X", 10**4096)
    assert SemanticObject("X", 10**4095).value == 10**4095


def test_depth_is_bounded_however_an_object_is_built() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(InvalidEvent, match="deeper"):
        SemanticEvent("E", loop)
    grown = SemanticObject("X", 1)
    for _ in range(MAX_DEPTH):
        grown = SemanticObject("X", {"X": grown})
    assert SemanticEvent("E", {"X": grown})["X"] == grown
    with pytest.raises(InvalidEvent, match="deeper"):
        SemanticObject("X", {"X": grown})


def test_names_come_from_text_or_concepts() -> None:
    concept = Named("Odometer")
    assert SemanticEvent(concept, {concept: 1})["Odometer"].concept == "Odometer"  # type: ignore[dict-item]
    with pytest.raises(InvalidEvent, match="two attributes"):
        SemanticEvent("E", {concept: 1, "Odometer": 2})  # type: ignore[dict-item]
    for bad in ("", None, 5):
        with pytest.raises(InvalidValue):
            SemanticEvent(bad)


@pytest.mark.parametrize("bad", [[], "", 5, [("a", 1)]])
def test_attributes_are_a_mapping(bad: Any) -> None:
    with pytest.raises(InvalidEvent, match="mapping"):
        SemanticEvent("E", bad)


def test_the_context_of_an_object() -> None:
    assert SemanticObject("X", 1, {"unit": "km"}) == SemanticObject("X", 1, Context(unit="km"))
    local = SemanticObject("X", np.datetime64("2026-07-01T12:00"), Context(timezone="Europe/Berlin"))
    assert local.value == Instant.parse("2026-07-01T10:00Z")
    with pytest.raises(InvalidValue):
        SemanticObject("X", 1, "km")  # type: ignore[arg-type]
