"""A run that is killed continues where it stopped; nothing is lost and nothing doubled."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conceptpubsub.archive import reprocess
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.errors import ArchiveError
from tests.archives import delivered, rows

ASKED = {f"s{limit}": f"x > {limit}" for limit in range(0, 100, 5)}
SCRIPT = """
import sys
from conceptpubsub.archive import reprocess
reprocess(sys.argv[1], {f"s{limit}": f"x > {limit}" for limit in range(0, 100, 5)}, sys.argv[2], processes=2)
"""


def archive(path: Path, groups: int = 20) -> Path:
    """Numbers from 0 to 99 again and again."""
    pq.write_table(pa.table({"x": [row % 100 for row in range(groups * 50)]}), path, row_group_size=50)
    return path


def test_a_run_that_fails_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = archive(tmp_path / "x.parquet")
    whole = reprocess(events, ASKED, tmp_path / "whole", processes=1)
    run, tried = Pipeline.run, []

    def fail(self: Pipeline, task: Any) -> Any:
        tried.append(task)
        if len(tried) == 8:
            raise KeyboardInterrupt
        return run(self, task)

    monkeypatch.setattr(Pipeline, "run", fail)
    with pytest.raises(KeyboardInterrupt):
        reprocess(events, ASKED, tmp_path / "out", processes=1)
    again = reprocess(events, ASKED, tmp_path / "out", processes=1)
    assert again.resumed == 7
    assert again == whole
    assert delivered(tmp_path / "out") == delivered(tmp_path / "whole")
    third = reprocess(events, ASKED, tmp_path / "out", processes=1)
    assert (third.resumed, third) == (third.tasks, whole)


def test_a_run_that_is_killed_continues(tmp_path: Path) -> None:
    events = archive(tmp_path / "x.parquet", 60)
    out = tmp_path / "out"
    whole = reprocess(events, ASKED, tmp_path / "whole", processes=1)
    for seen in (1, 10):
        run = subprocess.Popen([sys.executable, "-c", SCRIPT, str(events), str(out)], start_new_session=True)
        until = time.monotonic() + 120
        while len(list(out.glob("manifest/x-*.json"))) < seen and run.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    assert list(out.glob("manifest/x-*.json"))
    (out / "deliveries" / "bucket=0000").mkdir(parents=True, exist_ok=True)
    (out / "deliveries" / "bucket=0000" / ".half.parquet.1.part").write_bytes(b"PAR1")
    assert reprocess(events, ASKED, out, processes=2) == whole
    assert rows(out) == rows(tmp_path / "whole")
    assert not list(out.rglob("*.part"))


def test_processes_do_not_change_the_answer(tmp_path: Path) -> None:
    events = archive(tmp_path / "x.parquet")
    one = reprocess(events, ASKED, tmp_path / "one", processes=1)
    assert reprocess(events, ASKED, tmp_path / "two", processes=2) == one
    first = {
        p.relative_to(tmp_path / "one"): p.read_bytes() for p in (tmp_path / "one" / "deliveries").rglob("*.parquet")
    }
    assert first == {
        p.relative_to(tmp_path / "two"): p.read_bytes() for p in (tmp_path / "two" / "deliveries").rglob("*.parquet")
    }


def test_another_question_needs_another_folder(tmp_path: Path) -> None:
    events = archive(tmp_path / "x.parquet", 2)
    reprocess(events, ASKED, tmp_path / "out", processes=1)
    with pytest.raises(ArchiveError, match="another question"):
        reprocess(events, {"other": "x > 5"}, tmp_path / "out", processes=1)
    anew = reprocess(events, {"other": "x > 5"}, tmp_path / "out", processes=1, resume=False)
    assert set(anew.counts.by_subscription) == {"other"}
    assert {key for key, _ in delivered(tmp_path / "out")} == {"other"}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(ArchiveError, match="not ours"):
        reprocess(events, ASKED, tmp_path / "mine", processes=1, resume=False)
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_a_file_that_changed_is_processed_anew(tmp_path: Path) -> None:
    events = archive(tmp_path / "x.parquet", 4)
    archive(tmp_path / "y.parquet", 2)
    reprocess([events, tmp_path / "y.parquet"], ASKED, tmp_path / "out", processes=1)
    pq.write_table(pa.table({"x": [99] * 10}), events)
    found = reprocess([events, tmp_path / "y.parquet"], ASKED, tmp_path / "out", processes=1)
    assert (found.events, found.resumed, found.tasks) == (110, 2, 3)
    assert len(delivered_rows := rows(tmp_path / "out")) == found.deliveries, delivered_rows[:3]
