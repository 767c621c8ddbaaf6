"""UCUM codes and QUDT names: two small languages, read by grammar."""

from fractions import Fraction

import pytest

from conceptpubsub.converters import resolve
from conceptpubsub.errors import UnknownUnit


@pytest.mark.parametrize(
    ("code", "factor", "base"),
    [
        ("[in_i]", Fraction(127, 5000), "m"),
        ("m[H2O]", Fraction(196133, 20), "kg/m/s^2"),
        ("cm[H2O]", Fraction(196133, 2000), "kg/m/s^2"),
        ("m[g]", Fraction(980665, 10**8), "m/s^2"),
        ("kg.m/s2", 1, "kg*m/s^2"),
        ("kg.m.s-2", 1, "kg*m/s^2"),
        ("N.m", 1, "N*m"),
        ("J/kg.K", 1, "m^2*K/s^2"),
        ("J/(kg.K)", 1, "m^2/s^2/K"),
        ("/min", Fraction(1, 60), "1/s"),
        ("10*3/uL", 10**12, "1/m^3"),
        ("10^-3.m", Fraction(1, 1000), "m"),
        ("10*-3.m", Fraction(1, 1000), "m"),
        ("{cells}/uL", 10**9, "1/m^3"),
        ("g{dry}/m2", Fraction(1, 1000), "kg/m^2"),
        ("mm[Hg]", Fraction(26664477483, 2 * 10**8), "kg/m/s^2"),
        ("KiBy", 8192, "bit"),
        ("cal_[15]", Fraction(20929, 5000), "kg*m^2/s^2"),
        ("dB", Fraction(1, 10), "bel"),
        ("k[lb_av]", Fraction(45359237, 10**5), "kg"),
        ("har", 10_000, "m^2"),
        ("10*", 10, "1"),
        ("1", 1, "1"),
    ],
)
def test_ucum(code: str, factor: Fraction, base: str) -> None:
    unit = resolve(f"ucum:{code}")
    assert (unit.factor, unit.dimension.base_unit) == (factor, base)


def test_ucum_is_case_sensitive_and_knows_a_minute_of_arc() -> None:
    assert resolve("ucum:Pa").dimension != resolve("ucum:pA").dimension
    assert resolve("ucum:'").dimension == resolve("rad").dimension
    assert resolve("ucum:Cel").offset == Fraction(5463, 20)
    assert resolve("ucum:J/Cel").offset == 0
    assert resolve("ucum:dB[W]").to_base(30) == 1000


@pytest.mark.parametrize("code", ["KM", "mm in", "m//s", "m.", "kg)", "(kg", "[in_i", "m{", "m+-1", "dday", "m0"])
def test_what_is_no_ucum(code: str) -> None:
    with pytest.raises(UnknownUnit):
        resolve(f"ucum:{code}")


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("KiloM-PER-HR", "km/h"),
        ("MI-PER-HR", "mile/h"),
        ("DEG_F", "degF"),
        ("N-M", "N*m"),
        ("KiloGM-M2-PER-SEC2", "kg*m^2/s^2"),
        ("W-PER-M2-K", "W/(m^2*K)"),
        ("PER-SEC", "1/s"),
        ("CentiM3", "cm^3"),
        ("MicroGM-PER-M3", "ug/m^3"),
        ("KibiBYTE", "8192 bit"),
        ("J-PER-M2-SEC0dot5-K", "J/(m^2*s^0.5*K)"),
        ("KiloV-A_Reactive-HR", "kvar*h"),
        ("BTU_IT-PER-HR", "1055.05585262 J/h"),
        ("DeciB", "dB"),
    ],
)
def test_qudt(name: str, like: str) -> None:
    expected = resolve(like)
    for text in (f"unit:{name}", f"http://qudt.org/vocab/unit/{name}", f"https://qudt.org/2.1/vocab/unit/{name}"):
        unit = resolve(text)
        assert (unit.factor, unit.offset, unit.dimension) == (expected.factor, expected.offset, expected.dimension)


@pytest.mark.parametrize("name", ["PER", "PER-PER", "KiloKiloM", "M99", "km", "-", "M--S", "CCY_USD", "USD-PER-KiloGM"])
def test_what_is_no_qudt_name(name: str) -> None:
    with pytest.raises(UnknownUnit):
        resolve(f"unit:{name}")


def test_trade_codes() -> None:
    assert resolve("unece:SMI").factor == resolve("mile").factor
    assert resolve("unece:CEL").offset == resolve("degC").offset
    assert resolve("unece:NU").dimension == resolve("N*m").dimension
    with pytest.raises(UnknownUnit, match="common"):
        resolve("unece:ZZZ")
