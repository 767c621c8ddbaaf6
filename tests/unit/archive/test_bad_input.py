"""Bad input: each fault is a dead letter under its reason, counted exactly, and the rest is processed."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conceptpubsub import Converters, Ontology
from conceptpubsub.archive import reprocess
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.tasks import Task
from conceptpubsub.errors import ArchiveError
from tests.archives import delivered, rows

ASKED = {"warm": "AirportTemperature > 20 degC", "dear": "Fare > 100 EUR", "all": ""}


def conv() -> Converters:
    """Flights, with rates of two days."""
    rates = {"2013-01-01": {"USD": 1.25}, "2013-01-02": {"USD": 1.3}}
    return Converters.default(Ontology.bundled("flights")).register("currency", rates, pivot="EUR", look_back=1)


def run(events: Any, out: Path, **options: Any) -> Any:
    """Reprocess with flights."""
    mine = conv()
    options = {"processes": 1, **options}
    return reprocess(events, ASKED, out, ontology=mine.ontology, converters=mine, **options)


def line(concept: str = "Flight", time: str = "2013-01-01T12:00Z", **held: Any) -> str:
    """An event as plain JSON."""
    return json.dumps({"concept": concept, "time": time, "attributes": held})


def test_planted_lines_are_counted_exactly(tmp_path: Path) -> None:
    good = [
        line(AirportTemperature={"value": 86, "unit": "degF"}, Fare={"value": 150, "currency": "USD"}),
        line(AirportTemperature={"value": 10, "unit": "degC"}),
    ]
    planted = {
        "malformed": ["{broken", "[1]", line(time="yesterday"), '{"concept": "Flight", "attributes": {"Fare": [1]}}'],
        "unknown concept": [line("Fligth"), line(Farre=3)],
        "unknown unit": [line(AirportTemperature={"value": 1, "unit": "degX"})] * 3,
        "unknown currency": [line(Fare={"value": 1, "currency": "XQX"})],
        "missing rate": [
            line(Fare={"value": 500, "currency": "JPY"}),
            line(time="2013-02-01T00:00Z", Fare={"value": 500, "currency": "USD"}),
        ],
        "out of type": [
            line(Seats=-3), line(FlightNumber=1.5), line(Origin=7), line(AirportTemperature={"value": 1, "unit": "kg"}),
        ],
    }  # fmt: skip
    lines = [*good, *(text for texts in planted.values() for text in texts), *good]
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n\n")
    found = run(tmp_path / "events.jsonl", tmp_path / "out")
    assert found.counts.dead_letters == {reason: len(texts) for reason, texts in planted.items()}
    assert found.counts.rows == len(lines)
    assert found.events == len(lines) - len(planted["malformed"])
    assert found.counts.by_subscription == {"warm": 2, "dear": 2, "all": found.events}
    letters = rows(tmp_path / "out", "dead_letters")
    assert {lines[letter["row"]] for letter in letters} == {text for texts in planted.values() for text in texts}
    assert all(letter["detail"] and letter["record"] for letter in letters)
    [misspelt] = [letter for letter in letters if "Farre" in letter["detail"]]
    assert "Did you mean 'Fare'" in misspelt["detail"]


def test_the_same_faults_in_a_table(tmp_path: Path) -> None:
    table = pa.table(
        {
            "@concept": ["Flight", "Fligth", "Flight", "Flight", "Flight", None],
            "AirportTemperature": [86.0, 1.0, float("nan"), None, 50.0, 90.0],
            "AirportTemperature@unit": ["degF", "degX", "degF", None, "degF", None],
            "Seats": [100, 100, 100, -1, 12, None],
            "Fare": [150.0, None, None, 3.0, 9.0, None],
            "Fare@currency": ["USD", None, None, "XQX", "JPY", "JPY"],
            "@time": pa.array([1356998400] * 6, pa.timestamp("s", "UTC")),
            "comment": ["a"] * 6,
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=4)
    found = run(tmp_path / "t.parquet", tmp_path / "out")
    assert found.counts.dead_letters == {
        "malformed": 1, "missing rate": 1, "out of type": 1, "unknown concept": 1, "unknown currency": 1,
        "unknown unit": 1,
    }  # fmt: skip
    assert found.counts.by_subscription == {"warm": 2, "dear": 1, "all": 5}
    assert found.counts.by_concept == {"Flight": 4, "Fligth": 1, "none": 1}
    assert found.counts.by_day == {"2013-01-01": 6}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    table = pa.table({"FlightNumber": list(range(1000))})
    for name in ("a", "b", "c"):
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=500)
    (folder / "b.parquet").write_bytes((folder / "b.parquet").read_bytes()[:-100])
    damaged = bytearray((folder / "c.parquet").read_bytes())
    damaged[4:200] = b"\x00" * 196
    (folder / "c.parquet").write_bytes(bytes(damaged))
    found = run(folder, tmp_path / "out")
    assert found.counts.dead_letters == {"unreadable": 2}
    assert found.events == 1500
    for name in ("b", "c"):
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=500)
    again = run(folder, tmp_path / "out")
    assert (again.events, again.counts.dead_letters, again.resumed) == (3000, {}, 2)


def test_a_file_that_vanishes_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(line(FlightNumber=1))
    run_task = Pipeline.run

    def run_and_remove(self: Pipeline, task: Task) -> Any:
        (tmp_path / "b.jsonl").unlink(missing_ok=True)
        return run_task(self, task)

    monkeypatch.setattr(Pipeline, "run", run_and_remove)
    found = run([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "out")
    assert (found.events, found.counts.dead_letters) == (1, {"vanished": 1})


def test_what_was_never_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("")
    for given, said in (
        (tmp_path / "none.parquet", "no such file"),
        (tmp_path / "empty", "no events in this folder"),
        (tmp_path / "*.jsonl", "no such file, folder or pattern"),
        (tmp_path / "x.txt", "told by its ending"),
        ([], "no events"),
    ):
        with pytest.raises(ArchiveError, match=said):
            run(given, tmp_path / "out")
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ArchiveError, match="give a mapping"):
        run(tmp_path / "a.csv", tmp_path / "out")
    with pytest.raises(ArchiveError, match="no column 'b'"):
        run(tmp_path / "a.csv", tmp_path / "out", mapping={"columns": {"b": "Seats"}})
    assert not (tmp_path / "out").exists()


def test_files_whose_columns_are_none_of_events(tmp_path: Path) -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["Seats", "Seats"])
    inside = pa.table({"Seats": [{"Fare": 1.0}], "Seats.Fare": [2.0]})
    for name, table in (("a", twice), ("b", pa.table({"@foo": [1]})), ("c", inside), ("d", pa.table({"Seats": [1]}))):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    found = run(tmp_path, tmp_path / "out")
    assert (found.events, found.counts.dead_letters) == (1, {"unreadable": 3})
    said = {Path(letter["file"]).stem: letter["detail"] for letter in rows(tmp_path / "out", "dead_letters")}
    assert "two columns 'Seats'" in said["a"]
    assert "no column '@foo'" in said["b"]
    assert "two columns 'Seats.Fare'" in said["c"]


def test_settings_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(line(Seats=1))
    for setting, said in (({"processes": 0}, "0 processes"), ({"buckets": -1}, "-1 buckets")):
        with pytest.raises(ArchiveError, match=said):
            run(tmp_path / "events.jsonl", tmp_path / "out", **setting)
    with pytest.raises(ArchiveError, match=r"Did you mean 'events\.jsonl'"):
        run(tmp_path / "event.jsonl", tmp_path / "out")


def test_an_empty_file_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    pq.write_table(pa.table({"Seats": pa.array([], pa.int64())}), tmp_path / "b.parquet")
    found = run([tmp_path / "a.jsonl", tmp_path / "b.parquet"], tmp_path / "out")
    assert (found.events, found.dead_letters) == (0, 0)
    assert delivered(tmp_path / "out") == {}
