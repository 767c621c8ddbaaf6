"""Tables whose units stand row by row, with headers that filters ask for: every row as the evaluator judges it."""

from typing import Any

import pyarrow as pa
import pytest

from conceptpubsub import Matcher
from conceptpubsub.filters import Filter
from conceptpubsub.model.codecs import table_to_events

UNITS = ["degC", "degF", None, "K", "degX", "degF"] * 5
VALUES = [20.0, 86.0, 3.0, 303.15, 5.0, None] * 5
IDS = [str(row) for row in range(30)]
ASKED = (
    "t > 15 degC",
    "t = 30 degC",
    "t IS NULL",
    "t < 100",
    "EVENT.id = '7'",
    "EVENT.source > 'b'",
    "NOT t > 15 degC",
)


def _coded(values: list[Any], index: Any) -> pa.Array:
    known = sorted({value for value in values if value is not None})
    places = pa.array([None if value is None else known.index(value) for value in values], index)
    return pa.DictionaryArray.from_arrays(places, pa.array(known))


@pytest.mark.parametrize("index", [None, pa.int8(), pa.uint8(), pa.uint32(), pa.int64()])
def test_rows_in_their_own_units(index: Any) -> None:
    units = pa.array(UNITS) if index is None else _coded(UNITS, index)
    sources = pa.array(["a", "b", None] * 10) if index is None else _coded(["a", "b", None] * 10, index)
    scales = pa.array([None, 1.0, 10.0] * 10)
    table = pa.table({"@id": IDS, "@source": sources, "t": VALUES, "t@unit": units, "t@scale": scales})
    _judged(table)


def test_aspects_that_no_context_holds() -> None:
    table = pa.table({"t": VALUES, "t@unit": UNITS, "t@mark": [[1], None, [2]] * 10})
    _judged(table, {row for row in range(30) if row % 3 != 1 and VALUES[row] is not None})


def test_an_empty_table_in_units() -> None:
    _judged(pa.table({"@id": IDS, "t": VALUES, "t@unit": UNITS}).slice(0, 0))


def _judged(table: pa.Table, bad: frozenset[int] | set[int] = frozenset()) -> None:
    filters = [Filter.parse(text) for text in ASKED]
    matcher = Matcher()
    matcher.add_many(enumerate(filters))
    found = matcher.match_batch(table)
    events, errors = table_to_events(table)
    assert {row for row, _ in errors} == bad == {error.row for error in found.errors}
    good = iter(events)
    expected = [
        [] if row in bad else [key for key, one in enumerate(filters) if one.matches(event)]
        for row in range(table.num_rows)
        if row in bad or (event := next(good))
    ]
    assert [found.keys[a:b].tolist() for a, b in zip(found.offsets, found.offsets[1:], strict=False)] == expected
