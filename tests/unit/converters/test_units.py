"""Units: what a text means, what compares with what, and what near names are offered."""

import itertools
import pickle
from fractions import Fraction

import pytest

from conceptpubsub.converters import Unit, resolve
from conceptpubsub.converters.definitions import table
from conceptpubsub.errors import UnknownUnit


def comparable(one: str, other: str) -> bool:
    return resolve(one).dimension.comparable(resolve(other).dimension)


@pytest.mark.parametrize(
    ("text", "factor", "base"),
    [
        ("mile", Fraction(201168, 125), "m"),
        ("km/h", Fraction(5, 18), "m/s"),
        ("miles per hour", Fraction(1397, 3125), "m/s"),
        ("kWh", 3_600_000, "kg*m^2/s^2"),
        ("µg/m³", Fraction(1, 10**9), "kg/m^3"),
        ("m/s²", 1, "m/s^2"),
        ("m s-1", 1, "m/s"),
        ("W m-2", 1, "kg/s^3"),
        ("W/m2", 1, "kg/s^3"),
        ("W/(m^2*K)", 1, "kg/s^3/K"),
        ("cubic feet per minute", Fraction(18435447, 39062500000), "m^3/s"),
        ("V/Hz^0.5", 1, "kg*m^2/s^(5/2)/A"),
        ("J/degC", 1, "kg*m^2/s^2/K"),
        ("1/h", Fraction(1, 3600), "1/s"),
        ("1", 1, "1"),
        ("1000 L", 1, "m^3"),
    ],
)
def test_expressions(text: str, factor: Fraction, base: str) -> None:
    unit = resolve(text)
    assert (unit.factor, unit.dimension.base_unit) == (factor, base)


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("percent", Fraction(1, 100)),
        ("%", Fraction(1, 100)),
        ("ppm", Fraction(1, 10**6)),
        ("ppb", Fraction(1, 10**9)),
        ("ppt", Fraction(1, 10**12)),
        ("bel", 1),
        ("dB", Fraction(1, 10)),
        ("dBA", 1),
        ("NTU", 1),
        ("pH", 1),
        ("var", 1),
        ("kvar", 1000),
        ("gpm", Fraction(157725491, 2500000000000)),
    ],
)
def test_units_that_pint_lacks_or_misreads(text: str, factor: Fraction) -> None:
    assert resolve(text).factor == factor


def test_parts_are_no_picopints_and_acidity_no_picohenry() -> None:
    assert comparable("ppt", "ppm")
    assert not comparable("pH", "henry")


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("Nm", "N*m"),
        ("kNm", "1000 N*m"),
        ("PS", "735.49875 W"),
        ("G", "1e-4 tesla"),
        ("cycle/s", "Hz"),
        ("%RH", "percent"),
    ],
)
def test_names_that_pint_reads_as_something_else(text: str, like: str) -> None:
    found, expected = resolve(text), resolve(like)
    assert (found.factor, found.dimension) == (expected.factor, expected.dimension)


def test_gauge_pressure_counts_from_the_atmosphere() -> None:
    assert resolve("psig").to_base(0) == 101325
    assert resolve("barg").from_base(resolve("bar").to_base(Fraction("1.01325"))) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("N*m", "J"),
        ("lbf*ft", "ft_lb"),
        ("rpm", "Hz"),
        ("rad/s", "Hz"),
        ("rpm", "1/min"),
        ("Bq", "Hz"),
        ("Bq", "rpm"),
        ("delta_degC", "degC"),
        ("delta_degF", "K"),
        ("var", "W"),
        ("VA", "W"),
        ("var", "VA"),
        ("kvarh", "kWh"),
        ("Gy", "Sv"),
        ("Gy", "J/kg"),
        ("rad", "percent"),
        ("dB", "percent"),
        ("dBA", "dB"),
        ("lm", "cd"),
        ("bit/s", "Hz"),
        ("m", "s"),
        ("pH", "1"),
    ],
)
def test_what_is_never_compared(one: str, other: str) -> None:
    assert not comparable(one, other)
    assert not comparable(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("N*m", "lbf*ft"),
        ("kWh", "J"),
        ("kg*m^2/s^2", "J"),
        ("rpm", "deg/s"),
        ("Hz", "1/min"),
        ("Ci", "Bq"),
        ("rem", "mSv"),
        ("delta_degF", "delta_degC"),
        ("degF", "K"),
        ("psig", "Pa"),
        ("dBm", "W"),
        ("dB", "bel"),
        ("Np", "dB"),
        ("kvarh", "Mvar*day"),
        ("W/(m^2*K)", "W/(m^2*delta_degC)"),
        ("lux", "lm/ft^2"),
        ("Mbit/s", "byte/h"),
    ],
)
def test_what_is_compared(one: str, other: str) -> None:
    assert comparable(one, other)
    assert comparable(other, one)


def test_comparable_is_an_equivalence_between_units() -> None:
    names = [
        "J",
        "N*m",
        "W*h",
        "Hz",
        "rpm",
        "Bq",
        "1/s",
        "K",
        "degC",
        "delta_degC",
        "W",
        "var",
        "VA",
        "dBm",
        "rad",
        "1",
    ]
    dimensions = [resolve(name).dimension for name in names]
    for one, other, third in itertools.product(dimensions, repeat=3):
        assert one.comparable(one)
        assert one.comparable(other) == other.comparable(one)
        assert not (one.comparable(other) and other.comparable(third)) or one.comparable(third)


def test_results_of_arithmetic_compare_with_every_tag() -> None:
    work = resolve("N").dimension * resolve("m").dimension
    assert work.derived
    assert work.comparable(resolve("J").dimension)
    assert work.comparable(resolve("N*m").dimension)
    assert (work / resolve("s").dimension).comparable(resolve("var").dimension)
    assert (resolve("m").dimension ** 2).comparable(resolve("acre").dimension)
    assert not work.comparable(resolve("W").dimension)


def test_every_definition_resolves_and_its_base_unit_leads_back() -> None:
    for text in table("units"):
        _leads_back(resolve(text))


@pytest.mark.parametrize("scheme", ["ucum", "unece"])
def test_every_code_resolves(scheme: str) -> None:
    for code in table(scheme):
        _leads_back(resolve(f"{scheme}:{code}"))


def test_every_qudt_name_resolves() -> None:
    for name in table("qudt"):
        _leads_back(resolve(f"unit:{name}"))


def _leads_back(unit: Unit) -> None:
    base = resolve(unit.dimension.base_unit)
    assert (base.dimension, base.factor, base.offset, base.log) == (unit.dimension, 1, 0, None)


def test_one_unit_by_four_names() -> None:
    texts = ["mile/h", "unit:MI-PER-HR", "http://qudt.org/vocab/unit/MI-PER-HR", "ucum:[mi_i]/h", "unece:HM"]
    assert {resolve(text).factor for text in texts} == {Fraction(1397, 3125)}
    assert len({resolve(text).dimension for text in texts}) == 1


def test_units_pickle() -> None:
    for text in ("degF", "N*m", "dBm"):
        assert pickle.loads(pickle.dumps(resolve(text))) == resolve(text)


def test_near_names_are_offered() -> None:
    with pytest.raises(UnknownUnit, match="mile") as caught:
        resolve("mille")
    assert "mile" in caught.value.near
    with pytest.raises(UnknownUnit) as again:  # failures are kept: the same words the second time
        resolve("mille")
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("text", ["EUR", "USD", "EUR/kg", "unit:CCY_EUR"])
def test_a_currency_is_not_a_unit(text: str) -> None:
    with pytest.raises(UnknownUnit, match="currency"):
        resolve(text)


def test_an_ambiguous_product_is_refused() -> None:
    with pytest.raises(UnknownUnit, match="brackets"):
        resolve("J/kg K")


def test_a_level_with_a_reference_stands_alone() -> None:
    with pytest.raises(UnknownUnit, match="stands alone"):
        resolve("dBm/Hz")
    assert resolve("dB/km").factor == Fraction(1, 10_000)
