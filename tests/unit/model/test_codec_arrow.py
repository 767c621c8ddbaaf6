"""Arrow tables of events: exact both ways, open to others' tables, and a bad cell costs only its row."""

import datetime as dt
import io
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import CodecError, LimitExceeded
from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject
from conceptpubsub.model.codecs import events_to_table, table_to_events
from conceptpubsub.model.codecs.columns import Column
from tests.unit.model.event_strategies import events, names


@given(st.lists(events, max_size=4))
def test_every_batch_reads_back(batch: list[SemanticEvent]) -> None:
    table = events_to_table(batch)
    assert table_to_events(table) == (batch, [])
    assert table.num_rows == len(batch)


@given(st.lists(events, min_size=1, max_size=3))
def test_a_batch_survives_parquet(batch: list[SemanticEvent]) -> None:
    file = io.BytesIO()
    pq.write_table(events_to_table(batch), file)
    file.seek(0)
    assert table_to_events(pq.read_table(file)) == (batch, [])


@given(st.lists(names, min_size=1, max_size=4), st.none() | names)
def test_column_names_read_back(path: list[str], aspect: str | None) -> None:
    column = Column(tuple(path), aspect)
    assert Column.parse(column.name) == column


def test_the_schema_is_the_one_documented() -> None:
    def car(miles: float, unit: str, failure: str | None) -> SemanticEvent:
        return SemanticEvent(
            "VehicleStatus",
            {
                "Odometer": SemanticObject("Distance", miles, Context(unit=unit, scale=1000)),
                "Temperature": SemanticObject("Temperature", 86, Context(unit="degF")),
                "PartFailure": failure,
                "Engine": {"Speed": Instant(5)},
            },
            id="1",
        )

    table = events_to_table([car(3.85, "mile", None), car(7, "km", "Engine")])
    assert table.schema.names == [
        *("@concept", "@time", "@id", "@source", "Odometer", "Odometer@@concept", "Odometer@unit"),
        *("Temperature", "Engine.Speed", "PartFailure"),
    ]
    assert table.field("Odometer").metadata == {b"scale": b"1000"}
    assert table.field("Temperature").metadata == {b"unit": b"degF"}
    assert table.field("Temperature").type == pa.int64()
    assert table.field("Odometer").type == pa.float64()
    assert table.field("Engine.Speed").type == pa.timestamp("ns", "UTC")
    assert table.column("Odometer@unit").to_pylist() == ["mile", "km"]
    assert table.column("PartFailure").to_pylist() == [None, "Engine"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int64()),
        ([1, 2.5], pa.float64()),
        ([Decimal("0.1"), Fraction(1, 4)], pa.float64()),
        ([2**53 + 1, 0.5], pa.string()),
        ([2**63, 1], pa.string()),
        ([Fraction(1, 3), 1], pa.string()),
        ([True, False], pa.bool_()),
        ([True, 1], pa.string()),
        (["a", 1], pa.string()),
        ([Instant(10**28), Instant(0)], pa.string()),
        ([dt.datetime(2026, 1, 1), dt.datetime(1, 1, 1)], pa.timestamp("us")),
        ([dt.date(2026, 1, 1), dt.date(9999, 1, 1)], pa.date32()),
    ],
)
def test_a_native_type_only_where_it_is_exact(values: list[Any], kind: pa.DataType) -> None:
    batch = [SemanticEvent("A", {"x": value}) for value in values]
    table = events_to_table(batch)
    assert table.field("x").type == kind
    assert table_to_events(table).events == batch


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (pa.array([0.1], pa.float32()), 0.1),
        (pa.array([0.1], pa.float16()), 0.1),
        (pa.array([200], pa.uint8()), 200),
        (pa.array([Decimal("1.10")], pa.decimal128(9, 2)), Decimal("1.1")),
        (pa.array(["a"]).dictionary_encode(), "a"),
        (pa.array(["a"], pa.large_string()), "a"),
        (pa.array(["a"], pa.string_view()), "a"),
        (pa.array([1], pa.timestamp("s", "Europe/Berlin")), Instant(10**9)),
        (pa.array([1], pa.timestamp("ms")), dt.datetime(1970, 1, 1, 0, 0, 0, 1000)),
        (pa.array([86_400_000], pa.date64()), dt.date(1970, 1, 2)),
        (pa.array([{"y": 1, "z": None}]), {"y": 1}),
    ],
)
def test_the_columns_others_write(array: pa.Array, value: Any) -> None:
    for table in (pa.table({"x": array}), pa.record_batch({"x": array})):
        assert table_to_events(table, concept="A") == ([SemanticEvent("A", {"x": value})], [])


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array([1.0, float("nan"), 2.0]), "finite"),
        (pa.array([None, [1], None]), "one value a cell"),
        (pa.array([None, b"a", None]), "binary"),
        (pa.array([None, 1, None], pa.duration("s")), "duration"),
        (pa.array([0, 1, 0], pa.timestamp("ns")), "time zone"),
        (pa.array([0, 2**62, 0], pa.timestamp("s")), "."),
        (pa.array([0, 2**31 - 1, 0], pa.date32()), "."),
    ],
)
def test_a_bad_cell_costs_its_row(column: pa.Array, says: str) -> None:
    events, errors = table_to_events(pa.table({"x": column, "@id": ["0", "1", "2"]}))
    assert [event.id for event in events] == ["0", "2"]
    ((row, reason),) = errors
    assert row == 1
    assert reason
    assert says in reason or says == "."


def test_rows_that_contradict_themselves() -> None:
    table = pa.table({"A": [1, None], "A.B": [2, 3], "@time": ["2026-11-18T05:00Z", "soon"]})
    events, errors = table_to_events(table)
    assert events == []
    assert [row for row, _ in errors] == [0, 1]
    assert "both" in errors[0][1]
    assert "ISO 8601" in errors[1][1]


def test_bad_encoded_cells_are_bad_rows() -> None:
    field = pa.field("x", pa.string(), metadata={"conceptpubsub:encoding": "json"})
    cells = ["1", "NaN", '{"value": "1/3", "type": "rational"}', "[1]", "{", '{"value": "1/0", "type": "rational"}']
    events, errors = table_to_events(pa.table([cells], schema=pa.schema([field])))
    assert [event["x"].value for event in events] == [1, Fraction(1, 3)]
    assert [row for row, _ in errors] == [1, 3, 4, 5]


def test_metadata_is_context_and_foreign_metadata_is_not() -> None:
    field = pa.field("x", pa.int64(), metadata={"unit": "km", "scale": "1000", "PARQUET:field_id": "7"})
    zoned = pa.field("@time", pa.timestamp("us"), metadata={"timezone": "Europe/Berlin"})
    when = dt.datetime(2026, 7, 1, 12)
    ((event,), errors) = table_to_events(pa.table([[1], [when]], schema=pa.schema([field, zoned])))
    assert errors == []
    assert event["x"].context == Context(unit="km", scale=1000)
    assert event.time == Instant.parse("2026-07-01T10:00Z")


def test_a_naive_time_column_needs_a_zone() -> None:
    events, errors = table_to_events(pa.table({"@time": [dt.datetime(2026, 7, 1)]}))
    assert events == []
    assert "time zone" in errors[0][1]


@pytest.mark.parametrize("name", ["@colour", "A..B", ".A", "A.", 'a"b', '"a', "<a", "A@", "@", "", "<a>b", '"a"b'])
def test_a_column_that_cannot_be_read_is_named(name: str) -> None:
    with pytest.raises(CodecError) as caught:
        table_to_events(pa.table([[1]], names=[name]))
    assert caught.value.column == name


def test_the_same_column_twice_is_an_error() -> None:
    for names_ in (["A", "A"], ["A@unit", '"A"@unit'], ["@id", "@id"]):
        with pytest.raises(CodecError, match="two columns"):
            table_to_events(pa.table([["1"], ["2"]], names=names_))


def test_writing_is_bounded_and_names_what_it_cannot_write() -> None:
    with pytest.raises(LimitExceeded, match="columns"):
        events_to_table(SemanticEvent("A", {f"x{i}": 1}) for i in range(5000))
    with pytest.raises(CodecError, match="'x'"):
        events_to_table([SemanticEvent("A", {"x": "\ud800"})])
