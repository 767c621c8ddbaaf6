"""Filters built in Python are the filters one would have written."""

import datetime as dt
from fractions import Fraction

import pytest

import conceptpubsub as cps
from conceptpubsub.errors import FilterError
from conceptpubsub.filters import Filter, quantity, ref

x = ref("x")


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (ref("Temperature") > quantity(86, "degF"), "Temperature > 86 degF"),
        (x == 5, "x = 5"),
        (x != 5, "x <> 5"),
        (x <= 2.5, "x <= 2.5"),
        (5 < x, "x > 5"),  # noqa: SIM300
        (x + 1 > 2, "x + 1 > 2"),
        (1 - x / 2 > -x, "1 - x / 2 > -x"),
        ((x - 1) * 2 >= 4, "(x - 1) * 2 >= 4"),
        (2 / x < 1, "2 / x < 1"),
        (x == "it's", "x = 'it''s'"),
        (x == True, "x = TRUE"),  # noqa: E712
        (x.between(1, quantity(5, "km")), "x BETWEEN 1 AND 5 km"),
        (x.isin([1, 2]), "x IN (1, 2)"),
        (x.like("a%", "!"), "x LIKE 'a%' ESCAPE '!'"),
        (x.contains("a") | x.within("abc"), "x CONTAINS 'a' OR x WITHIN 'abc'"),
        (x.startswith("a") & ~x.endswith("b"), "x STARTS WITH 'a' AND NOT x ENDS WITH 'b'"),
        (x.matches("a+"), "x MATCHES 'a+'"),
        (x.isnull(), "x IS NULL"),
        (ref("EVENT").isa("VehicleStatus"), "EVENT ISA VehicleStatus"),
        (ref("EVENT.time") > dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "EVENT.time > TIMESTAMP '2026-01-01T00:00:00Z'"),
        (ref("Vehicle.Odometer") > 5, "Vehicle.Odometer > 5"),
        (ref("Vehicle", "Odometer") > 5, "Vehicle.Odometer > 5"),
        (ref("in") > quantity(5, "in"), '"in" > 5 [in]'),
        (ref("odd name") == 1, '"odd name" = 1'),
        (ref("https://example.org/a.b") == 1, "<https://example.org/a.b> = 1"),
        (x == quantity(100, "EUR"), "x = 100 EUR"),
        (x == quantity(3.85, "mile", scale=1000), "x = 3.85 mile {scale: 1000}"),
        (x == quantity("Motor", language="de"), "x = 'Motor' {language: de}"),
        (x > quantity(Fraction(1, 3), "km"), "x > 1 km {scale: 1/3}"),
        (x > cps.SemanticObject("x", 86, cps.Context(unit="degF")), "x > 86 degF"),
        (quantity(5, "km") < x, "x > 5 km"),
    ],
)
def test_built_is_written(built: Filter, text: str) -> None:
    assert built == Filter.parse(text)
    assert str(built) == text


def test_fractions_are_exact() -> None:
    assert (x == Fraction(1, 3)).evaluate({"x": Fraction(1, 3)}) is True
    assert (x * 3 == 1).evaluate({"x": Fraction(1, 3)}) is True


def test_an_expression_has_no_truth_and_no_list_is_a_constant() -> None:
    with pytest.raises(FilterError, match=r"& \| ~"):
        bool(x)
    with pytest.raises(FilterError, match="isin"):
        x == [1, 2]  # noqa: B015


def test_joining_the_empty_filter() -> None:
    everything, some = Filter.parse(""), Filter.parse("a = 1")
    assert (everything & some) == some
    assert (everything | some) == everything
    assert (~everything).evaluate({}) is False


def test_many_joined_one_by_one_stay_flat() -> None:
    whole = Filter.parse("a = 0")
    for number in range(1, 400):
        whole = whole | (ref("a") == number)
    assert str(whole).count("(") == 0
    assert whole.evaluate({"a": 399}) is True


def test_the_package_exports_what_builds_filters() -> None:
    assert cps.ref is ref
    assert cps.quantity is quantity
    assert cps.Filter is Filter
