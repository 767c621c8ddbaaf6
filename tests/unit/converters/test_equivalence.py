"""Equivalence: the same after both are taken to a common context."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters
from conceptpubsub.model import Context, SemanticEvent, SemanticObject


def obj(concept: str, value: Any, **context: Any) -> SemanticObject:
    return SemanticObject(concept, value, Context(context))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (obj("Distance", 3850, unit="mile", scale=1), obj("Distance", 3.85, unit="mile", scale=1000)),
        (obj("Fridge", 41, unit="degF"), obj("Fridge", 5, unit="degC")),
        (obj("Fridge", 5), obj("Fridge", 278.15, unit="unit:K")),
        (obj("Price", 5), obj("Price", 5, currency="EUR")),
        (obj("Price", 5), obj("Price", 6, currency="USD")),
        (obj("Sold", "Apfel", language="de"), obj("Sold", "Pome")),
        (obj("When", "2026-11-18T11:00", timezone="Europe/Berlin"), obj("When", "2026-11-18T10:00Z")),
        (
            obj("Box", {"Stock": 5, "Distance": 5}),
            obj("Box", {"Distance": obj("Distance", 5000, unit="m"), "Stock": 5.0}),
        ),
    ],
)
def test_the_same(conv: Converters, one: SemanticObject, other: SemanticObject) -> None:
    assert conv.equivalent(one, other, at="2026-11-16T00:00Z")
    assert conv.equivalent(other, one, at="2026-11-16T00:00Z")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (obj("Distance", 3850, unit="mile"), obj("Distance", 3850, unit="km")),
        (obj("Distance", 5, unit="km"), obj("Fridge", 5, unit="degC")),
        (obj("Price", 5), obj("Price", 6, currency="JPY")),
        (obj("Moment", 5, unit="N*m"), obj("Work", 5, unit="J")),
        (obj("Open", True), obj("Stock", 1)),
        (obj("Box", {"Stock": 5}), obj("Box", {"Stock": 5, "Open": True})),
        (obj("Box", {"Stock": 5}), obj("Box", {"Distance": 5})),
        (obj("Box", {"Stock": 5}), obj("Box", {"Stock": {"Stock": 5}})),
        (obj("Fridge", "cold"), obj("Fridge", "warm")),
    ],
)
def test_not_the_same(conv: Converters, one: SemanticObject, other: SemanticObject) -> None:
    assert not conv.equivalent(one, other, at="2026-11-16T00:00Z")
    assert not conv.equivalent(other, one, at="2026-11-16T00:00Z")


def test_events_compare_by_their_parts_at_their_time(conv: Converters) -> None:
    one = SemanticEvent("Sale", {"Price": obj("Price", 5)}, time="2026-11-16T00:00Z", id="a")
    other = SemanticEvent("Sale", {"Price": obj("Price", 6, currency="USD")}, time="2026-11-16T00:00Z", id="b")
    assert conv.equivalent(one, other)
    assert not conv.equivalent(one, other, at="2026-11-17T00:00Z")
    assert not conv.equivalent(one, "no event")


def test_fahrenheit_and_celsius_without_an_ontology(plain: Converters) -> None:
    assert plain.equivalent(obj("T", 86, unit="degF"), obj("T", 30, unit="degC"))
    assert plain.equivalent(obj("T", 72.5, unit="degF"), obj("T", 22.5, unit="degC"))
    assert not plain.equivalent(obj("T", 86, unit="degF"), obj("T", 30.000001, unit="degC"))


@given(st.floats(-1e6, 1e6), st.sampled_from(["degC", "degF", "K", "degR"]), st.integers(1, 1000))
def test_converting_exactly_keeps_the_meaning(value: float, unit: str, scale: int) -> None:
    conv = Converters()
    one = obj("T", value, unit="degC")
    assert conv.equivalent(one, conv.convert(one, Context(unit=unit, scale=scale), exact=True))
