"""Numbers are exact in meaning, and reading one is bounded."""

import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import InvalidValue, LimitExceeded
from conceptpubsub.model.values import MAX_DIGITS, decimal_text, exact, exact_decimal, to_float


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (0.03, Fraction(3, 100)),
        (2.0, 2),
        (-0.0, 0),
        (1e22, 10**22),
        (5e-324, Fraction(5, 10**324)),
        (2**53 + 1, 2**53 + 1),
        (9007199254740994.0, 9007199254740994),
        (Fraction(6, 3), 2),
        (Decimal("1.10"), Fraction(11, 10)),
        (Decimal("1E+5"), 100_000),
        ("1.5e3", 1500),
        (" -.5 ", Fraction(-1, 2)),
        ("+7.", 7),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.array(1.5), Fraction(3, 2)),
        (np.int64(2**62), 2**62),
        (np.uint64(2**64 - 1), 2**64 - 1),
    ],
)
def test_a_number_means_its_shortest_decimal(given: object, meant: object) -> None:
    result = exact(given)
    assert result == meant
    assert type(result) is type(meant)


@pytest.mark.parametrize(
    "refused",
    [
        True,
        np.True_,
        math.nan,
        math.inf,
        np.float32("nan"),
        np.float32("-inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        "nan",
        "",
        ".",
        "1_000",
        "0x10",
        "1e",
        "٣",
        "1/3",
        None,
        1j,
        b"1",
        np.array([1.0, 2.0]),
        np.timedelta64(1, "s"),
        np.datetime64("2026-01-01"),
    ],
)
def test_what_is_no_number_is_refused(refused: object) -> None:
    with pytest.raises(InvalidValue):
        exact(refused)


@pytest.mark.parametrize(
    "absurd",
    [
        "1e999999999",
        "1e-999999999",
        "0e99999",
        "1e" + "9" * 4000,
        "9" * 5000,
        "1" * 4000 + "e4000",
        "0." + "0" * 4000 + "1e-4000",
        Decimal("1e99999"),
    ],
)
def test_absurd_literals_are_refused_quickly(absurd: object) -> None:
    started = time.process_time()
    with pytest.raises(LimitExceeded):
        exact(absurd)
    assert time.process_time() - started < 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_survives_its_meaning(value: float) -> None:
    assert to_float(exact(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_float32_means_its_own_decimal(value: float) -> None:
    assert np.float32(str(decimal_text(exact(np.float32(value))))) == np.float32(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=20) | st.integers())
def test_decimal_text_reads_back(value: Decimal | int) -> None:
    assert exact_decimal(decimal_text(exact(value))) == exact(value)


@given(st.fractions())
def test_decimal_text_of_any_rational_means_it(value: Fraction) -> None:
    assert Fraction(decimal_text(value)) == value


def test_decimal_text_writes_the_longest_numbers() -> None:
    longest = 10**MAX_DIGITS - 1
    assert exact_decimal(decimal_text(-longest)) == -longest
    assert exact_decimal(decimal_text(Fraction(longest, 10**MAX_DIGITS))) == Fraction(longest, 10**MAX_DIGITS)
    assert len(decimal_text(10**9000)) == 9001  # beyond what str() of an int allows
    assert decimal_text(Fraction(5, 1)) == "5"


def test_to_float_is_infinite_where_no_float_is_near() -> None:
    assert to_float(10**400) == math.inf
    assert to_float(-(10**400)) == -math.inf
    assert to_float(Fraction(1, 3)) == 1 / 3
