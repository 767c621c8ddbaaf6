"""Logarithmic units: monotone, exact at powers of ten, and back to the very value they came from."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters, LogScale, resolve
from conceptpubsub.errors import InvalidValue, LimitExceeded
from conceptpubsub.model import Context, SemanticObject

CONV = Converters()
levels = st.decimals(-300, 300, places=6).map(Fraction)
scales = st.sampled_from(["dBm", "dBW", "dBV", "dBSPL", "ucum:B[W]"])


def converted(value: object, source: str, target: str) -> object:
    return CONV.convert(SemanticObject("Level", value, Context(unit=source)), Context(unit=target), exact=True).value


@given(scales, levels)
def test_a_level_comes_back_as_itself(unit: str, level: Fraction) -> None:
    found = resolve(unit)
    assert found.from_base(found.to_base(level)) == level


@given(scales, levels, levels)
def test_levels_keep_their_order(unit: str, one: Fraction, other: Fraction) -> None:
    found = resolve(unit)
    assert (one < other) == (found.to_base(one) < found.to_base(other))


def test_neighbouring_levels_stay_apart() -> None:
    found, step = resolve("dBm"), Fraction(1, 10**30)
    assert found.to_base(20) < found.to_base(20 + step)
    assert found.from_base(found.to_base(20 + step)) == 20 + step


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (30, "dBm", "W", 1),
        (0, "dBW", "dBm", 30),
        (20, "dB", "bel", 2),
        (20, "dB", "dimensionless", 100),
        (1000, "dimensionless", "dB", 30),
        (7, "pH", "mol/L", Fraction(1, 10**7)),
        (Fraction(1, 10**4), "mol/m^3", "pH", 7),
        (0, "dBSPL", "uPa", 20),
        (120, "dBuV", "V", 1),
    ],
)
def test_known_levels(value: object, source: str, target: str, expected: object) -> None:
    assert converted(value, source, target) == expected


def test_acidity_rises_as_the_concentration_falls_and_compares_as_acidity() -> None:
    assert resolve("pH").to_base(8) > resolve("pH").to_base(7)
    assert converted(8, "pH", "mol/L") < converted(7, "pH", "mol/L")  # type: ignore[operator]


def test_a_neper_is_some_decibels() -> None:
    assert float(CONV.affine("Np", "dB")[0]) == pytest.approx(8.685889638065036, rel=1e-15)


def test_only_positive_quantities_have_a_level() -> None:
    with pytest.raises(InvalidValue, match="positive"):
        converted(0, "W", "dBm")
    assert CONV.canonical(None, 10**9, {"unit": "dBm"}) is None


def test_absurd_levels_are_refused() -> None:
    with pytest.raises(LimitExceeded):
        LogScale(10, 1).quantity(10**9)
    assert "powers of ten" in (CONV.problem(None, 10**9, {"unit": "dBm"}) or "")
