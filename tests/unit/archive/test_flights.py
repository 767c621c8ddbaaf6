"""The sample on New York's flights: a slice of it, against events read by hand and the reference evaluator."""

import csv
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conceptpubsub import Context, Converters, Ontology, SemanticEvent, SemanticObject
from conceptpubsub.archive.subscriptions import read_subscriptions
from tests.archives import delivered, same_event

pytest.importorskip("currency_converter")
SAMPLE = Path("samples", "flights")
INTS = ("flight",)
TEXTS = ("tailnum", "carrier", "origin", "dest")


def by_hand(path: Path, mapping: Path) -> list[SemanticEvent]:
    """The events of a file, cell by cell."""
    told = tomllib.loads(mapping.read_text("utf-8"))
    events = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            held: dict[str, Any] = {}
            for column, meant in told["columns"].items():
                meant = {"attribute": meant} if isinstance(meant, str) else dict(meant)
                key, text = meant.pop("attribute"), row[column]
                if text not in ("", "NA"):
                    value: Any = text if column in TEXTS else int(text) if column in INTS else float(text)
                    held[key] = SemanticObject(key, value, Context(meant))
            ident = "-".join(row[name] for name in told["id"]["columns"])
            events.append(SemanticEvent(told["concept"], held, time=row["time_hour"], id=ident, source=told["source"]))
    return events


def test_a_slice_of_the_year_equals_the_reference(root: Path, tmp_path: Path) -> None:
    from currency_converter import CurrencyConverter

    from samples.flights.run import run

    found = run(tmp_path, rows=800, processes=1)
    onto = Ontology.bundled("flights")
    conv = Converters.default(onto).register("currency", CurrencyConverter())
    asked = read_subscriptions(root / SAMPLE / "subscriptions.toml")
    filters = [(one, one.parsed(onto, conv)) for one in asked]
    got_any: set[str] = set()
    for name, summary in found.items():
        events = by_hand(tmp_path / f"{name}.csv", root / SAMPLE / f"{name}.toml")
        expected = {
            (one.id, row): conv.deliver(event, one.context)
            for row, event in enumerate(events)
            for one, parsed in filters
            if parsed.matches(event)
        }
        got = delivered(tmp_path / f"{name}-found")
        assert set(got) == set(expected)
        for key in got:
            assert same_event(got[key], expected[key]), key
        assert (summary.events, summary.dead_letters) == (len(events), 0)
        got_any |= {who for who, _ in got}
    assert len(got_any) >= 4


def test_the_sample_runs_by_itself(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(root / SAMPLE / "run.py"), "--rows", "60", "--out", str(tmp_path)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "flights: 61 events" in done.stdout
