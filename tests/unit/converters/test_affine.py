"""Affine conversions are exact: there and back, through a third unit, and in order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters
from conceptpubsub.errors import NoConversion

CONV = Converters()
FAMILIES = [
    ["degC", "degF", "K", "degR", "ucum:[degRe]"],
    ["mile", "km", "inch", "unit:FT_US", "ucum:[nmi_i]", "unece:SMI", "parsec"],
    ["psi", "psig", "bar", "barg", "mmHg", "atm", "kPa"],
    ["delta_degC", "delta_degF"],
    ["m/s", "km/h", "knot", "unit:MI-PER-HR"],
    ["dBm", "dBW", "ucum:dB[W]"],
    ["dB", "bel", "ucum:cB"],
    ["rpm", "rad/s", "deg/h"],
]
units = st.sampled_from(FAMILIES).flatmap(lambda family: st.tuples(*[st.sampled_from(family)] * 3))
values = st.one_of(st.integers(-(10**12), 10**12), st.fractions(max_denominator=10**6))


@given(units, values)
def test_there_and_back(three: tuple[str, str, str], value: Fraction) -> None:
    factor, offset = CONV.affine(three[0], three[1])
    back, shift = CONV.affine(three[1], three[0])
    assert (value * factor + offset) * back + shift == value


@given(units, values)
def test_through_a_third_unit(three: tuple[str, str, str], value: Fraction) -> None:
    first, second, direct = CONV.affine(*three[:2]), CONV.affine(*three[1:]), CONV.affine(three[0], three[2])
    assert (value * first[0] + first[1]) * second[0] + second[1] == value * direct[0] + direct[1]


@given(units, values, values)
def test_order_is_kept(three: tuple[str, str, str], one: Fraction, other: Fraction) -> None:
    factor, offset = CONV.affine(three[0], three[1])
    assert factor > 0
    assert (one < other) == (one * factor + offset < other * factor + offset)


@given(units, st.floats(-1e9, 1e9))
def test_floats_and_columns_follow_the_exact_map(three: tuple[str, str, str], value: float) -> None:
    factor, offset = CONV.affine(three[0], three[1])
    exact = Fraction(value) * factor + offset
    allowed = (abs(Fraction(value) * factor) + abs(offset)) * Fraction(1, 2**49)
    assert abs(Fraction(CONV.convert_value(value, three[0], three[1])) - exact) <= allowed
    column = CONV.convert_array(np.array([value]), three[0], three[1])
    assert abs(Fraction(float(column[0])) - exact) <= allowed


def test_fahrenheit_is_exact() -> None:
    factor, offset = CONV.affine("degF", "degC")
    assert (factor, offset) == (Fraction(5, 9), Fraction(-160, 9))
    assert 86 * factor + offset == 30
    assert Fraction("72.5") * factor + offset == Fraction(45, 2)
    assert CONV.convert_value(86.0, "degF", "degC") == 30.0


@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        ("N*m", "J", "torque"),
        ("rpm", "Hz", "angular"),
        ("delta_degC", "degC", "difference"),
        ("m", "s", "m is not s"),
        ("dBm", "W", "logarithmic"),
        ("pH", "mol/L", "logarithmic"),
    ],
)
def test_what_is_not_affine_says_why(source: str, target: str, why: str) -> None:
    with pytest.raises(NoConversion, match=why):
        CONV.affine(source, target)
