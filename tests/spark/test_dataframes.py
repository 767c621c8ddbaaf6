"""The DataFrame API against the reference evaluator."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conceptpubsub import Context, Converters, Ontology
from conceptpubsub.archive import Subscription
from conceptpubsub.filters import Filter
from conceptpubsub.model.codecs import table_to_events
from tests.archives import same_event

pytestmark = pytest.mark.spark

SIMPLE = (
    "t > 30 degC", "t >= 30 degC AND s = 'a'", "n < 2.5", "n <> 3", "n = 3", "n <= 2", "x > 0.3", "x <= 0.3 AND n > 1",
    "s IN ('a', 'c')", "EVENT.id = '3'", "s > 'a'", "nothing = 1", "t = 86 degF", "t < 1000000 [kelvin]",
)  # fmt: skip


def table() -> pa.Table:
    """Readings with nulls, a NaN, and values on the edges of the filters."""
    make = random.Random(3)
    count = 200

    def pick(*values: Any) -> list[Any]:
        return [make.choice(values) for _ in range(count)]

    return pa.Table.from_arrays(
        [
            pa.array([str(place) for place in range(count)]),
            pa.array(pick("E", "F", None)),
            pa.array(pick(86.0, 85.99999999999999, 86.00000000000001, 0.0, None, float("nan"))),
            pa.array(pick(1, 2, 3, None), pa.int64()),
            pa.array(pick(0.3, 0.1 + 0.2, 0.29999999999999993, -0.0, None)),
            pa.array(pick("a", "b", "c", "é", None)),
        ],
        schema=pa.schema(
            [
                ("@id", pa.string()), ("@concept", pa.string()),
                pa.field("t", pa.float64(), metadata={"unit": "degF"}),
                ("n", pa.int64()), ("x", pa.float64()), ("s", pa.string()),
            ]
        ),
    )  # fmt: skip


def frame(spark: Any, path: Path, made: pa.Table) -> Any:
    """The table as a DataFrame; the metadata of fields are given to Spark by hand, for Parquet's are Arrow's own."""
    pq.write_table(made, path)
    df = spark.read.parquet(str(path))
    for described in made.schema:
        if described.metadata:
            told = {key.decode(): value.decode() for key, value in described.metadata.items()}
            df = df.withMetadata(described.name, told)
    return df


def test_match_equals_the_reference(spark: Any, tmp_path: Path) -> None:
    from conceptpubsub.archive.spark import condition, match

    made = table()
    df = frame(spark, tmp_path / "a.parquet", made)
    events, errors = table_to_events(made)
    assert errors
    filters = {text: Filter.parse(text) for text in SIMPLE}
    expected = {(text, event.id) for text, asked in filters.items() for event in events if asked.matches(event)}
    found = match(df, {text: text for text in SIMPLE})
    assert {(row["@subscription"], row["@id"]) for row in found.collect()} == expected
    tests = {text: condition(asked, df) for text, asked in filters.items()}  # the same by plain tests of columns
    assert all(test is not None for test in tests.values())
    told = df.select("@id", *[test.alias(text) for text, test in tests.items()]).toArrow().to_pylist()
    assert {(text, row["@id"]) for row in told for text in SIMPLE if row[text]} == expected
    for text in ("t > 30 degC OR n = 1", "n IS NULL", "n + x > 2"):
        assert condition(Filter.parse(text), df) is None


def test_enrich_and_deliver(spark: Any, tmp_path: Path) -> None:
    from conceptpubsub.archive.spark import deliver, enrich

    onto = Ontology.bundled("vehicles")
    conv = Converters.default(onto)
    made = pa.table(
        {
            "@id": ["1", "2", "3"],
            "@concept": ["VehicleStatus", "Nonsense", None],
            "InTemperature": [86.0, None, 300.0],
            "InTemperature@unit": ["degF", None, "kelvin"],
            "PartFailure": ["Engine", None, "Engine"],
        }
    )
    df = frame(spark, tmp_path / "v.parquet", made)
    rich = {row["@id"]: row for row in enrich(df, onto).collect()}
    assert rich["1"]["InTemperature@canonical"] == pytest.approx(30)
    assert rich["3"]["InTemperature@canonical"] == pytest.approx(26.85)
    assert rich["2"]["InTemperature@canonical"] is None
    assert "Event" in rich["1"]["@closure"]
    assert rich["2"]["@closure"] is None
    wanted = Subscription("k", "Temperature > 25 degC", Context(unit="kelvin"))
    got = deliver(df, wanted, ontology=onto).toArrow()
    events, _ = table_to_events(got)
    given, _ = table_to_events(made)
    expected = [conv.deliver(event, wanted.context) for event in given if wanted.parsed(onto, conv).matches(event)]
    assert len(events) == len(expected) == 2
    assert all(map(same_event, events, expected))
