"""Hostile unit texts: a clear error, at once, whatever the text."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters, Unit, resolve
from conceptpubsub.errors import UnknownUnit

HOSTILE = [
    "9**9**9*m",
    "m**9**9**9",
    "m^9^9^9",
    "m" * 100_000,
    "10*999999999",
    "10**999999999*m",
    "1e999999999 m",
    "m**999999999",
    "(((((km^24)^24)^24)^24)^24)^24",
    "((9^20)^24)^24*m",
    "*".join(["Ym^24"] * 33),
    "(" * 150 + "m" + ")" * 40,
    "m/" * 90,
    "kilo" * 15 + "meter",
    "µ" * 64,
    "ucum:10*999999999",
    "ucum:m" + "9" * 100,
    "ucum:" + ".".join(["Ym24"] * 38),
    "ucum:" + "(" * 100,
    "ucum:" + "k" * 100_000,
    "unit:" + "-".join(["KiloM9"] * 25),
    "unit:" + "A" * 100_000,
    "unece:" + "Z" * 100_000,
    "__import__('os').system('true')",
    "m\x00",
    "",
    " ",
    "ucum:",
    "unit:",
    "unece:",
    "nothing:m",
    "0 m",
    "m^0",
    "m^(1/0)",
    "nan",
    "inf m",
    "-1 m",
]


@pytest.fixture
def impatient() -> Iterator[None]:
    """A test that hangs fails instead."""

    def give_up(*_: object) -> None:
        raise TimeoutError("still parsing after ten seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:24]))
@pytest.mark.usefixtures("impatient")
def test_hostile_text_is_refused_at_once(text: str) -> None:
    with pytest.raises(UnknownUnit) as caught:
        resolve(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", [None, 5, b"m", ["m"], 1.5])
def test_what_is_no_text_is_no_unit(text: object) -> None:
    with pytest.raises(UnknownUnit, match="text"):
        resolve(text)  # type: ignore[arg-type]


@given(st.text(alphabet="mkgsh19.*/^()-{}[]'%°µ _ePUCTN:", max_size=40))
def test_any_text_is_a_unit_or_refused(text: str) -> None:
    for prefix in ("", "ucum:", "unit:"):
        try:
            found = resolve(prefix + text)
        except UnknownUnit:
            continue
        assert isinstance(found, Unit)
        assert found.factor > 0


@given(st.text(max_size=30))
def test_any_text_as_a_unit_leaves_the_value_missing_or_measured(text: str) -> None:
    conv = Converters()
    value, problem = conv.canonical(None, 5, {"unit": text}), conv.problem(None, 5, {"unit": text})
    assert (value is None) != (problem is None)
