"""Currency rates: by the day of the event, never older than allowed, consistent across three currencies."""

import datetime as dt
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters, RateTable, is_currency
from conceptpubsub.errors import ConverterFailed, InvalidValue, NoConversion
from conceptpubsub.model import Context, Instant, SemanticObject

FRIDAY, SUNDAY, MONDAY = (Instant.parse(f"2026-11-{day}T15:00Z") for day in (13, 15, 16))


def test_codes() -> None:
    assert all(is_currency(code) for code in ("EUR", "USD", "JPY", "DEM"))
    assert not any(is_currency(code) for code in ("km", "eur", "", "XYZ"))


def test_a_price_converts_by_the_rate_of_its_own_day(conv: Converters) -> None:
    price = SemanticObject("Price", 10, Context(currency="USD"))
    by_day = [conv.convert(price, Context(currency="EUR"), at=at, exact=True).value for at in (FRIDAY, SUNDAY, MONDAY)]
    assert by_day == [8, 8, Fraction(25, 3)]


def test_old_rates_are_no_rates(conv: Converters) -> None:
    assert conv.rate("EUR", "USD", Instant.parse("2026-11-24T15:00Z")) == Fraction(8, 5)
    assert conv.rate("EUR", "USD", Instant.parse("2026-11-25T15:00Z")) is None
    assert conv.rate("EUR", "USD", Instant.parse("2026-11-12T15:00Z")) is None
    assert conv.rate("EUR", "USD", None) is None
    with pytest.raises(NoConversion, match="USD") as caught:
        conv.convert(SemanticObject("Price", 1, Context(currency="USD")), Context(currency="JPY"), at=MONDAY)
    assert caught.value.registered


def test_the_day_is_that_of_the_tables_zone() -> None:
    rates = {"2026-11-13": {"USD": 2}, "2026-11-14": {"USD": 4}}
    late = Instant.parse("2026-11-13T23:30Z")
    assert Converters().register("currency", rates, pivot="EUR").rate("EUR", "USD", late) == 2
    berlin = Converters().register("currency", rates, pivot="EUR", timezone="Europe/Berlin")
    assert berlin.rate("EUR", "USD", late) == 4


@given(st.lists(st.decimals("0.0001", "10000", places=4), min_size=3, max_size=3))
def test_rates_are_consistent(numbers: list[Any]) -> None:
    conv = Converters().register("currency", dict(zip(("USD", "GBP", "JPY"), numbers, strict=True)), pivot="EUR")
    for a in ("USD", "GBP", "EUR"):
        for b in ("JPY", "EUR", "USD"):
            there, onward, direct = conv.rate(a, b), conv.rate(b, "GBP"), conv.rate(a, "GBP")
            assert there is not None
            assert onward is not None
            assert there * onward == direct


@pytest.mark.parametrize(
    "rates",
    [
        {"USD": 1.25, "GBP": "0.8"},
        {"2026-11-16": {"USD": 1.25, "GBP": 0.8}},
        {dt.date(2026, 11, 16): {"USD": 1.25, "GBP": 0.8}},
        {"USD": {"2026-11-16": 1.25}, "GBP": {dt.date(2026, 11, 16): 0.8}},
        {("EUR", "USD"): 1.25, ("GBP", "EUR"): 1.25},
        {("EUR", "USD"): {"2026-11-16": 1.25}, ("EUR", "GBP"): {MONDAY: 0.8}},
    ],
)
def test_shapes_of_tables(rates: Any) -> None:
    conv = Converters().register("currency", rates, pivot="EUR")
    assert conv.rate("GBP", "USD", MONDAY) == Fraction(25, 16)


@pytest.mark.parametrize(
    ("rates", "pivot", "why"),
    [
        ({}, "EUR", "without a rate"),
        ({"USD": 1.25}, None, "pivot"),
        ({"USD": 0}, "EUR", "above zero"),
        ({"USD": float("nan")}, "EUR", "finite"),
        ({("USD", "GBP"): 1.0, ("EUR", "USD"): 1.0}, "EUR", "pivot"),
        ({"USD": {"someday": 1.0}}, "EUR", "not a day"),
        (5, None, "mapping"),
    ],
)
def test_bad_tables_are_refused(rates: Any, pivot: str | None, why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        Converters().register("currency", rates, pivot=pivot)


def test_a_table_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("date,currency,rate\n2026-11-13,USD,1.25\n2026-11-16,USD,1.5\n", "utf-8")
    table = RateTable.read(path, "EUR")
    assert table.rate("EUR", "USD", SUNDAY) == Fraction(5, 4)
    assert RateTable.read(path, "EUR").digest == table.digest
    assert pickle.loads(pickle.dumps(table)) == table


def test_a_function_is_told_the_time() -> None:
    conv = Converters()

    @conv.converter("currency")
    def yearly(source: str, target: str, at: Instant | None) -> float | None:
        return None if at is None or (source, target) != ("EUR", "USD") else at.datetime().year / 1000

    assert conv.rate("EUR", "USD", MONDAY) == Fraction(2026, 1000)
    assert conv.rate("USD", "EUR", MONDAY) is None


def test_the_newest_source_is_asked_first() -> None:
    conv = (
        Converters()
        .register("currency", {"USD": 2, "GBP": 3}, pivot="EUR")
        .register("currency", {"USD": 4}, pivot="EUR")
    )
    assert (conv.rate("EUR", "USD"), conv.rate("EUR", "GBP")) == (4, 3)


def test_a_source_that_fails_is_no_rate_but_an_error_when_converting() -> None:
    def broken(source: str, target: str, at: Instant | None) -> float:
        raise RuntimeError("the line is down")

    conv = Converters().register("currency", broken)
    assert conv.rate("EUR", "USD", MONDAY) is None
    with pytest.raises(ConverterFailed, match="the line is down") as caught:
        conv.convert(SemanticObject("Price", 1, Context(currency="EUR")), Context(currency="USD"), at=MONDAY)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_rates_of_the_european_central_bank() -> None:
    module = pytest.importorskip("currency_converter")
    conv = Converters().register("currency", module.CurrencyConverter())
    friday, sunday = Instant.parse("2016-02-26T12:00Z"), Instant.parse("2016-02-28T12:00Z")
    assert conv.rate("EUR", "USD", friday) == Fraction("1.1006")
    assert conv.rate("EUR", "USD", sunday) == conv.rate("EUR", "USD", friday)
    there, onward = conv.rate("USD", "JPY", friday), conv.rate("JPY", "GBP", friday)
    assert there is not None
    assert onward is not None
    assert there * onward == conv.rate("USD", "GBP", friday)
    assert conv.rate("EUR", "USD", Instant.parse("1990-01-01T12:00Z")) is None
    assert conv.rate("EUR", "XAU", friday) is None
    restored = pickle.loads(pickle.dumps(conv))
    assert restored.rate("EUR", "USD", friday) == Fraction("1.1006")
