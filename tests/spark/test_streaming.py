"""Streaming: events in a folder reach subscribers exactly once, also when the process is killed on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.archives import rows

pytestmark = pytest.mark.spark
FILES, LINES = 12, 40


def write(folder: Path, first: int, count: int) -> None:
    """Files of events, each in place at once; one line of each is broken."""
    folder.mkdir(exist_ok=True)
    for number in range(first, first + count):
        lines = [
            json.dumps({"concept": "E", "id": f"{number}-{n}", "attributes": {"x": n}}) if n else "{broken"
            for n in range(LINES)
        ]
        (folder / f".{number}").write_text("\n".join(lines))
        (folder / f".{number}").rename(folder / f"{number:04d}.jsonl")


def check(out: Path, files: int) -> None:
    """Every event reached each of its subscribers once; every broken line is a dead letter once."""
    found = Counter((row["@subscription"], row["@id"]) for row in rows(out))
    expected = Counter(
        (who, f"{number}-{n}")
        for number in range(files)
        for n in range(1, LINES)
        for who in ["all", "few"][: 1 + (n > 30)]
    )
    assert found == expected
    assert len(rows(out, "dead_letters")) == files


def test_a_stream_goes_on_where_it_ended(spark: Any, tmp_path: Path) -> None:
    from conceptpubsub.archive.streaming import stream

    asked = {"all": "", "few": "x > 30"}
    for part in range(2):
        write(tmp_path / "in", 3 * part, 3)
        query = stream(spark, tmp_path / "in", asked, tmp_path / "out", files_per_batch=2)
        query.awaitTermination()
    check(tmp_path / "out", 6)
    assert len(list((tmp_path / "out" / "manifest").glob("batch-*.json"))) == 4


def test_a_batch_that_is_tried_again_replaces_itself(spark: Any, tmp_path: Path) -> None:
    from conceptpubsub.archive.streaming import stream

    write(tmp_path / "in", 0, 3)
    asked = {"all": "", "few": "x > 30"}
    stream(spark, tmp_path / "in", asked, tmp_path / "out", files_per_batch=1).awaitTermination()
    for name in ("2", ".2.crc"):  # as if killed between the writing and the commit
        (tmp_path / "out" / "checkpoint" / "commits" / name).unlink()
    stray = next((tmp_path / "out" / "deliveries").rglob("batch-000000002-*.parquet"))
    (stray.parent / "batch-000000002-9-9-beef-0.parquet").write_bytes(stray.read_bytes())  # half of an earlier try
    stream(spark, tmp_path / "in", asked, tmp_path / "out", files_per_batch=1).awaitTermination()
    check(tmp_path / "out", 3)


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, 10])
def test_a_stream_that_is_killed_at_random(kills: int, tmp_path: Path) -> None:
    write(tmp_path / "in", 0, FILES)
    make = random.Random(kills)
    command = [sys.executable, "-m", "tests.spark.on_a_stream", str(tmp_path)]
    killed, files = 0, FILES
    while killed < kills:
        run = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        committed = len(list((tmp_path / "out" / "manifest").glob("batch-*.json")))
        until = time.monotonic() + 120
        if committed < files - 2:  # let it come past its start, then strike at any moment
            while run.poll() is None and time.monotonic() < until:
                if len(list((tmp_path / "out" / "manifest").glob("batch-*.json"))) > committed:
                    break
                time.sleep(0.01)
        time.sleep(make.random() * 2)
        if run.poll() is not None:  # it came to its end: more to do, so that it can be killed again
            assert run.returncode == 0, "the stream failed by itself"
            write(tmp_path / "in", files, FILES)
            files += FILES
            continue
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        killed += 1
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    check(tmp_path / "out", files)
