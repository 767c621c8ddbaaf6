"""Columns: NumPy and Arrow, nulls and slices, widths and levels."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.converters import Converters
from conceptpubsub.errors import InvalidValue, NoConversion

CONV = Converters()


def test_numpy_keeps_width_and_shape_and_leaves_its_input_alone() -> None:
    given_values = np.array([[32.0, 86.0], [-40.0, 212.0]], dtype=np.float32)
    made = CONV.convert_array(given_values, "degF", "degC")
    assert made.dtype == np.float32
    assert made == pytest.approx(np.array([[0.0, 30.0], [-40.0, 100.0]]), rel=1e-6)
    assert given_values[0, 1] == 86.0
    whole = CONV.convert_array(np.array([1, 2], dtype=np.int64), "km", "m")
    assert (whole.dtype, whole.tolist()) == (np.float64, [1000.0, 2000.0])
    assert CONV.convert_array(np.arange(10.0)[::3], "km", "m").tolist() == [0.0, 3000.0, 6000.0, 9000.0]
    assert CONV.convert_array(np.array([5.0]), "K", "K").tolist() == [5.0]
    assert np.isnan(CONV.convert_array(np.array([np.nan]), "degF", "degC")[0])


@pytest.mark.parametrize("kind", [pa.float64(), pa.int64(), pa.int8(), pa.decimal128(10, 2)])
def test_arrow_keeps_nulls_through_slices_and_chunks(kind: pa.DataType) -> None:
    column = pa.array([None, 32, None, 86, 50, None, 104], type=kind)
    expected = [None, 0.0, None, 30.0, 10.0, None, 40.0]
    assert CONV.convert_array(column, "degF", "degC").to_pylist() == expected
    assert CONV.convert_array(column[2:6], "degF", "degC").to_pylist() == expected[2:6]
    assert CONV.convert_array(column[3:5], "degF", "degC").to_pylist() == expected[3:5]
    chunked = pa.chunked_array([column[:3], column[3:]])
    assert CONV.convert_array(chunked, "degF", "degC").to_pylist() == expected
    assert CONV.convert_array(column[:0], "degF", "degC").to_pylist() == []
    assert CONV.convert_array(pa.chunked_array([], type=kind), "degF", "degC").to_pylist() == []


def test_levels() -> None:
    assert CONV.convert_array(np.array([0.0, 30.0]), "dBm", "W") == pytest.approx([0.001, 1.0])
    assert CONV.convert_array(np.array([0.001, 1.0]), "W", "dBm") == pytest.approx([0.0, 30.0])
    assert CONV.convert_array(np.array([7.0]), "pH", "mol/L") == pytest.approx([1e-7])
    assert CONV.convert_array(np.array([1e-7]), "mol/L", "pH") == pytest.approx([7.0])
    assert CONV.convert_array(np.array([0.0]), "dBm", "dBW") == pytest.approx([-30.0])


@given(st.lists(st.one_of(st.none(), st.floats(-1e12, 1e12)), max_size=40), st.integers(0, 5))
def test_arrow_agrees_with_one_by_one(values: list[float | None], start: int) -> None:
    column = pa.array(values, type=pa.float64())[start:]
    made = CONV.convert_array(column, "mile", "km").to_pylist()
    assert [value is None for value in made] == [value is None for value in values[start:]]
    expected = [CONV.convert_value(value, "mile", "km") for value in values[start:] if value is not None]
    assert [value for value in made if value is not None] == pytest.approx(expected, rel=1e-15)


def test_arrow_of_single_floats_stays_single() -> None:
    made = CONV.convert_array(pa.array([None, 86], type=pa.float32()), "degF", "degC")
    assert made.type == pa.float32()
    assert made[0].as_py() is None
    assert made[1].as_py() == pytest.approx(30.0, rel=1e-6)


def test_what_holds_no_numbers_is_refused() -> None:
    with pytest.raises(InvalidValue, match="no numbers"):
        CONV.convert_array(np.array(["a"]), "km", "m")
    with pytest.raises(InvalidValue, match="no numbers"):
        CONV.convert_array(pa.array(["a"]), "km", "m")
    with pytest.raises(NoConversion):
        CONV.convert_array(np.array([1.0]), "km", "kg")
