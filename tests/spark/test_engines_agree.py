"""Spark and the local driver write the same rows."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conceptpubsub import Context, Converters, SemanticEvent
from conceptpubsub.archive import Subscription, reprocess
from conceptpubsub.model.codecs import events_to_table, to_json
from tests.archives import rows
from tests.generators import Generator
from tests.worlds import world

pytestmark = pytest.mark.spark


def archive(folder: Path, name: str = "plant") -> tuple[Any, list[Subscription], Converters]:
    """A generated archive of Parquet and lines, with subscriptions of all semantics."""
    here = world(name)
    make = Generator(random.Random(5), here)
    conv = Converters.default(here.ontology).register("currency", {"USD": 1.25}, pivot="EUR")
    events = []
    for place in range(120):
        held = make.event()
        if not isinstance(held, SemanticEvent):
            parts = {key: value for key, value in held.items() if not key.startswith("@")}
            held = SemanticEvent(held.get("@concept", "Report"), parts, time=held.get("@time"))
        events.append(held.replace(id=str(place)))
    folder.mkdir()
    pq.write_table(events_to_table(events[:80]), folder / "a.parquet", row_group_size=20)
    lines = [to_json(event) for event in events[80:]]
    (folder / "b.jsonl").write_text("\n".join([*lines[:20], "{broken", *lines[20:]]))
    asked = [
        Subscription(
            f"s{place}", make.filter(make.scope() | {"converters": conv}), Context(unit="degF", currency="USD")
        )
        for place in range(24)
    ]
    return here.ontology, asked, conv


def test_spark_equals_local(spark: Any, tmp_path: Path) -> None:
    ontology, asked, conv = archive(tmp_path / "in")
    given: dict[str, Any] = {"ontology": ontology, "converters": conv, "enrich": True, "piece": 1500}
    local = reprocess(tmp_path / "in", asked, tmp_path / "local", processes=2, **given)
    seen: list[int] = []
    there = reprocess(
        tmp_path / "in", asked, tmp_path / "spark", engine="spark", spark=spark,
        progress=lambda done, tasks, counts: seen.append(done), **given,
    )  # fmt: skip
    assert local.counts == there.counts
    assert local.counts.dead_letters["malformed"] == 1
    assert local.deliveries > 100
    for kind in ("deliveries", "dead_letters", "enriched"):
        assert rows(tmp_path / "local", kind) == rows(tmp_path / "spark", kind)
    assert seen[-1] == there.tasks


@pytest.mark.long
def test_real_executors_equal_local(tmp_path: Path) -> None:
    ontology, asked, conv = archive(tmp_path / "in")
    local = reprocess(tmp_path / "in", asked, tmp_path / "local", ontology=ontology, converters=conv, processes=1)
    # a session of its own: a process has one, and that of the other tests is of another kind
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.on_a_cluster", str(tmp_path)],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert rows(tmp_path / "local") == rows(tmp_path / "cluster")
    assert int(done.stdout.split()[-1]) == local.deliveries


def test_flights_are_the_same_on_spark(spark: Any, tmp_path: Path) -> None:
    pytest.importorskip("currency_converter")
    from samples.flights.run import run

    local = run(tmp_path / "local", rows=1500, processes=1)
    there = run(tmp_path / "spark", rows=1500, engine="spark", spark=spark)
    for name in ("flights", "weather"):
        assert local[name].counts == there[name].counts
        found = rows(tmp_path / "local" / f"{name}-found")
        again = rows(tmp_path / "spark" / f"{name}-found")
        assert [{**row, "@file": ""} for row in found] == [{**row, "@file": ""} for row in again]
        assert found
