"""What users and files get wrong: the rest is processed, or the error says what to do; never a traceback."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import conceptpubsub as cps
from conceptpubsub.archive import Subscription, Summary, reprocess
from conceptpubsub.cli import main
from conceptpubsub.converters import RateTable
from conceptpubsub.errors import ArchiveError, InvalidValue

_WARM = [Subscription("warm", "Temperature > 25 degC", cps.Context(unit="kelvin")), Subscription("all", "")]
_MAPPING: dict[str, Any] = {
    "concept": {"column": "kind", "codes": {"w": "VehicleStatus"}},
    "time": {"column": "when", "timezone": "Europe/Berlin"},
    "columns": {"temp": {"attribute": "InTemperature", "unit": "degF"}},
}


def _run(path: Path, asked: Any = None, **options: Any) -> Summary:
    onto = cps.Ontology.bundled("vehicles")
    return reprocess(path, asked or _WARM, path.parent / "out", ontology=onto, processes=1, **options)


def _line(value: Any, unit: str = "degF") -> str:
    return json.dumps({"concept": "VehicleStatus", "attributes": {"InTemperature": {"value": value, "unit": unit}}})


def _delivered(summary: Summary, subscription: str) -> list[dict[str, Any]]:
    folder = Path(summary.out) / "deliveries" / f"subscription={subscription}"
    return [row for path in sorted(folder.iterdir()) for row in pq.ParquetFile(path).read().to_pylist()]


def test_a_value_that_no_float_holds_is_delivered_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(_line(90) + "\n" + _line(1).replace("1,", "1e999,") + "\n")
    found = _run(path)
    assert (found.events, found.dead_letters) == (2, 0)
    assert [row["InTemperature@unit"] for row in _delivered(found, "warm")] == ["kelvin", "degF"]


def test_a_conversion_beyond_all_floats_leaves_the_value_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"d": [1.0, 1.5e308], "d@unit": ["km", "km"]}), path)
    found = reprocess(path, [Subscription("a", "", cps.Context(unit="m"))], tmp_path / "out", processes=1)
    rows = _delivered(found, "a")
    assert [(row["d"], row["d@unit"]) for row in rows] == [(1000.0, "m"), (1.5e308, "km")]


def test_more_names_than_a_table_has_columns(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    wide = [{"concept": "R", "attributes": {f"a{n}_{m}": m for m in range(100)}} for n in range(50)]
    wide.append({"concept": "R", "attributes": {f"b{n}": n for n in range(5000)}})
    path.write_text("\n".join(map(json.dumps, [*wide, {"concept": "R", "attributes": {"a1_1": 1}}])))
    found = reprocess(path, {"one": "a1_1 = 1", "all": ""}, tmp_path / "out", processes=1)
    assert dict(found.counts.by_subscription) == {"one": 2, "all": 51}
    assert dict(found.counts.dead_letters) == {"malformed": 1}


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.map_(pa.string(), pa.int64())])
def test_columns_of_lists_refuse_the_rows_that_have_one(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "events.parquet"
    full: Any = [1.0] if pa.types.is_list(kind) else [("a", 1)]
    held = pa.array([full, None, full], kind)
    pq.write_table(pa.table({"@concept": ["VehicleStatus"] * 3, "InTemperature": held}), path)
    found = _run(path)
    assert (found.events, dict(found.counts.dead_letters)) == (1, {"malformed": 2})
    assert dict(found.counts.by_subscription) == {"all": 1}


def test_units_and_concepts_that_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"@concept": [7, 8], "InTemperature": [1.0, 2.0], "InTemperature@unit": [1, 2]}), path)
    assert dict(_run(path).counts.dead_letters) == {"unknown concept": 2, "unknown unit": 2}


def test_an_array_of_events_and_packed_files_say_what_to_do(tmp_path: Path) -> None:
    array = tmp_path / "events.json"
    array.write_text("\n [" + _line(1) + "]")
    good = tmp_path / "good.jsonl"
    good.write_text(_line(90))
    onto = cps.Ontology.bundled("vehicles")
    found = reprocess([array, good], _WARM, tmp_path / "out", ontology=onto, processes=1)
    assert (found.events, dict(found.counts.dead_letters)) == (1, {"unreadable": 1})
    letters = pq.ParquetFile(next((tmp_path / "out" / "dead_letters").iterdir())).read().to_pylist()
    assert "an event a line" in letters[0]["detail"]
    packed = tmp_path / "events.jsonl.gz"
    packed.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(ArchiveError, match="unpack it first"):
        _run(packed)


def test_ids_longer_than_names_of_files(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(_line(90))
    ids = ["x" * 300 + "a", "x" * 300 + "b", "../../evil", "."]
    found = _run(path, [Subscription(one, "") for one in ids])
    assert dict(found.counts.by_subscription) == dict.fromkeys(ids, 1)
    folders = list((tmp_path / "out" / "deliveries").iterdir())
    assert len(folders) == 4
    held = [pq.ParquetFile(file).read().column("@subscription")[0].as_py() for one in folders for file in one.iterdir()]
    assert sorted(held) == sorted(ids)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"columns": {"temp": {"attribute": "InTemprature"}}},
            "no concept 'InTemprature'. Did you mean 'InTemperature'",
        ),
        ({"columns": {"temp": {"attribute": "InTemperature", "unit": "blurb"}}}, "column 'temp': no unit 'blurb'"),
        ({"columns": {"temp": {"attribute": "InTemperature", "unit": "km"}}}, "which km does not convert to"),
        ({"concept": "VehicleStatuss"}, "no concept 'VehicleStatuss'. Did you mean 'VehicleStatus'"),
        ({"concept": {"column": "kind", "codes": {"w": "Weathr"}}}, "no concept 'Weathr'"),
        ({"concept": {"column": "kind", "codes": 5}}, "codes are a table"),
        ({"time": {"column": "when", "timezone": "Mars/Base"}}, "no time zone 'Mars/Base'"),
        ({"columns": {"temp": "InTemperature", "kind": "InTemperature"}}, "hold the same attribute"),
        ({"columns": 5}, "a table of columns"),
        ({"null": 5}, "null: a text or a list"),
        ({"separator": "ab"}, "separator: one character"),
    ],
)
def test_a_mapping_that_cannot_be_right_is_an_error_at_once(tmp_path: Path, change: Any, said: str) -> None:
    path = tmp_path / "events.csv"
    path.write_text("kind,when,temp\nw,2026-01-01 00:00,90\n")
    with pytest.raises(ArchiveError) as caught:
        _run(path, mapping={**_MAPPING, **change})
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_an_empty_table_among_others_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "good.csv").write_text("kind,when,temp\nw,2026-01-01 00:00,90\n")
    onto = cps.Ontology.bundled("vehicles")
    files = [tmp_path / "empty.csv", tmp_path / "good.csv"]
    found = reprocess(files, _WARM, tmp_path / "out", ontology=onto, mapping=_MAPPING, processes=1)
    assert (found.events, found.deliveries, found.dead_letters) == (1, 2, 0)


def test_subscriptions_with_fields_of_the_wrong_form(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(_line(90))
    for field, said in (("types", "types are a table"), ("defaults", "defaults are a table"), ("semantics", "is text")):
        with pytest.raises(ArchiveError, match=said):
            _run(path, [{"id": "x", "filter": "", field: 5}])


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,b\n1\n", "no column 'date'"), ("date,currency,rate\n2026-01-01,USD\n", "line 2: too few"),
     ("date,currency,rate\n2026-01-01,USD,x\n", "rates.csv: 'x' is not a decimal")],
)  # fmt: skip
def test_rates_that_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "rates.csv"
    path.write_text(text)
    with pytest.raises(InvalidValue) as caught:
        RateTable.read(path, "EUR")
    assert said in str(caught.value)


def test_the_command_line_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, asked = tmp_path / "good.jsonl", tmp_path / "bad.jsonl", tmp_path / "asked.toml"
    good.write_text(_line(90))
    bad.write_text(_line(90) + "\n{")
    asked.write_text('[[subscription]]\nid = "a"\nfilter = "Temperature > 25 degC"\n')
    common = ["--subscriptions", str(asked), "--ontology", "vehicles", "--processes", "1", "--out"]
    assert main(["reprocess", str(good), *common, str(tmp_path / "one")]) == 0
    assert main(["reprocess", str(bad), *common, str(tmp_path / "two")]) == 1
    assert main(["reprocess", str(tmp_path / "none.jsonl"), *common, str(tmp_path / "three")]) == 2
    asked.write_text('[[subscription]]\nid = "a"\nfilter = "Temperature > 26 degC"\n')
    assert main(["reprocess", str(good), *common, str(tmp_path / "one")]) == 2
    assert "another" in capsys.readouterr().err
