"""Canonical values: what a value means under its concept and context, and why some count as missing."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters, Money, Quantity, resolve
from conceptpubsub.model import Context, Instant
from conceptpubsub.model.ontology import Ontology

ELEVEN = Instant.parse("2026-11-18T10:00Z")


def measured(value: Any, unit: str) -> Quantity:
    found = resolve(unit)
    return Quantity(found.to_base(value), found.dimension)


@pytest.mark.parametrize(
    ("value", "context", "expected"),
    [
        (5, {}, 5),
        (0.03, {}, Fraction(3, 100)),
        (np.float32(0.1), {}, Fraction(1, 10)),
        (np.int64(7), {}, 7),
        (Decimal("1.50"), {}, Fraction(3, 2)),
        (True, {}, True),
        ("text", {}, "text"),
        (ELEVEN, {}, ELEVEN),
        (dt.datetime(2026, 11, 18, 11), {"timezone": "Europe/Berlin"}, ELEVEN),
        (np.datetime64("2026-11-18T10:00"), {}, ELEVEN),
        (86, {"unit": "degF"}, measured(30, "degC")),
        (3.85, {"unit": "mile", "scale": 1000}, measured(3850, "mile")),
        (5, {"scale": 1000}, 5000),
        (10, {"currency": "USD"}, Money(10, "USD")),
        (2, {"currency": "USD", "scale": 1000}, Money(2000, "USD")),
        ("plain", {"language": "de"}, "plain"),
        ("X", {"scheme": "unheard of"}, "X"),
    ],
)
def test_without_an_ontology(plain: Converters, value: Any, context: dict[str, Any], expected: Any) -> None:
    found = plain.canonical(None, value, Context(context))
    assert found == expected
    assert type(found) is type(expected)
    assert plain.problem(None, value, Context(context)) is None


@pytest.mark.parametrize(
    ("value", "context", "why"),
    [
        (5, {"unit": "furlongs_per_fortnight"}, "no unit"),
        (5, {"unit": 7}, "named by text"),
        ("text", {"unit": "km"}, "a number"),
        (True, {"unit": "km"}, "a number"),
        (5, {"currency": "XYZ"}, "ISO 4217"),
        (5, {"scale": 0}, "above zero"),
        (5, {"scale": -1}, "above zero"),
        (5, {"scale": "big"}, "above zero"),
        (float("nan"), {}, "finite"),
        (float("inf"), {"unit": "km"}, "number"),
        (dt.datetime(2026, 11, 18), {}, "time zone"),
        (dt.datetime(2026, 11, 18), {"timezone": "Mars/Olympus"}, "time zone"),
        (None, {}, "no value"),
        ({"a": 1}, {}, "complex"),
        ([1], {}, "text"),
        (object(), {}, "text"),
    ],
)
def test_bad_data_is_missing_and_says_why(plain: Converters, value: Any, context: dict[str, Any], why: str) -> None:
    assert plain.canonical(None, value, context) is None
    assert why in (plain.problem(None, value, context) or "")


@pytest.mark.parametrize(
    ("name", "value", "context", "expected"),
    [
        ("Fridge", 5, {}, measured(5, "degC")),
        ("Fridge", 41, {"unit": "degF"}, measured(5, "degC")),
        ("Distance", 5, {}, measured(5, "km")),
        ("Price", 5, {}, Money(5, "EUR")),
        ("Price", 5, {"currency": "GBP"}, Money(5, "GBP")),
        ("Fee", 101, {"currency": "USD"}, Money(101, "USD")),
        ("Stock", 5.0, {}, 5),
        ("Delay", 120, {"unit": "s"}, measured(2, "min")),
        ("Rise", 9, {"unit": "delta_degF"}, measured(5, "delta_degC")),
        ("Rise", 5, {"unit": "K"}, measured(5, "delta_degC")),
        ("Moment", 5, {"unit": "N*m"}, measured(5, "N*m")),
        ("Size", "M", {}, "M"),
        ("Open", False, {}, False),
        ("When", "2026-11-18T11:00", {"timezone": "Europe/Berlin"}, ELEVEN),
        ("When", "2026-11-18T10:00Z", {}, ELEVEN),
        ("Sold", "Apple", {}, "https://example.org/shop#Apple"),
        ("Sold", "Pome", {}, "https://example.org/shop#Apple"),
        ("Sold", "Apfel", {"language": "de"}, "https://example.org/shop#Apple"),
        ("Sold", "Birne", {"language": "de"}, "https://example.org/shop#Pear"),
        ("Sold", "https://example.org/shop#Pear", {}, "https://example.org/shop#Pear"),
    ],
)
def test_under_a_concept(
    conv: Converters, shop: Ontology, name: str, value: Any, context: dict[str, Any], expected: Any
) -> None:
    found = conv.canonical(shop[name], value, Context(context), ELEVEN)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "value", "context", "why"),
    [
        ("Fridge", "cold", {}, "a number"),
        ("Fridge", 5, {"unit": "km"}, "does not convert"),
        ("Fridge", 5, {"unit": "delta_degC"}, "does not convert"),
        ("Fridge", 60, {"unit": "degF"}, "at most 10"),
        ("Fridge", -40, {}, "at least -30"),
        ("Rise", 5, {"unit": "degC"}, "does not convert"),
        ("Moment", 5, {"unit": "J"}, "does not convert"),
        ("Work", 5, {"unit": "N*m"}, "does not convert"),
        ("Sourness", 5, {"unit": "mol/L"}, "does not convert"),
        ("Stock", 1.5, {}, "integer"),
        ("Stock", 101, {}, "at most"),
        ("Stock", True, {}, "a number"),
        ("Delay", 90, {"unit": "s"}, "integer"),
        ("Size", "XL", {}, "S"),
        ("Size", 5, {}, "text"),
        ("Open", 1, {}, "Boolean"),
        ("When", 5, {}, "not a number"),
        ("When", "soon", {}, "ISO 8601"),
        ("When", "2026-11-18T11:00", {}, "timezone"),
        ("Sold", "Banana", {}, "Banana"),
        ("Sold", "Bulb", {}, "not one of the values"),
        ("Sold", "Birnen", {"language": "de"}, "Birnen"),
        ("Box", 5, {}, "complex"),
        ("Symbol", "IBM", {"scheme": "NYSE"}, "nothing is registered"),
        ("Distance", 5, {"currency": "EUR"}, "not in money"),
        ("Stock", 5, {"unit": "km"}, "without a unit"),
        ("Stock", 5, {"currency": "EUR"}, "without a currency"),
        ("Fee", -1, {}, "at least 0"),
        ("Fee", -1, {"currency": "USD"}, "at least 0"),
        ("Fee", 101, {}, "at most 100"),
        ("Stock", 10**400, {}, "at most"),
    ],
)
def test_outside_the_declared_type_is_missing(
    conv: Converters, shop: Ontology, name: str, value: Any, context: dict[str, Any], why: str
) -> None:
    assert conv.canonical(shop[name], value, context, ELEVEN) is None
    assert why in (conv.problem(shop[name], value, context, ELEVEN) or "")


def test_a_price_per_unit_meets_only_its_like(conv: Converters, shop: Ontology) -> None:
    per_kilowatt_hour = conv.canonical(shop["Tariff"], 36, {})
    per_joule = conv.canonical(shop["Tariff"], 1, {"unit": "1/MJ", "currency": "EUR"})
    assert isinstance(per_kilowatt_hour, Money)
    assert isinstance(per_joule, Money)
    assert per_kilowatt_hour.value == 10 * per_joule.value
    assert conv.rate(per_kilowatt_hour.currency, per_joule.currency) == 1
    assert conv.rate(per_kilowatt_hour.currency, "EUR") is None


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.datetimes()))
def test_any_value_has_a_meaning_or_a_problem(value: Any) -> None:
    conv = Converters()
    for context in (Context(), Context(unit="degF"), Context(currency="EUR"), Context(timezone="UTC")):
        assert (conv.canonical(None, value, context) is None) == (conv.problem(None, value, context) is not None)
