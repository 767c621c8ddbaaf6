"""``conceptpubsub reprocess``: exit status, summary, what goes where."""

import json
from pathlib import Path

import pytest

from conceptpubsub.cli import main

GOOD = '{"concept": "VehicleStatus", "attributes": {"InTemperature": {"value": 86, "unit": "degF"}}}'
TOML = """
[[subscription]]
id = "warm"
filter = "Temperature > 25 degC"
context = { unit = "kelvin" }
"""


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """The arguments of a run over two events."""
    (tmp_path / "events.jsonl").write_text(f"{GOOD}\n{GOOD}\n")
    (tmp_path / "who.toml").write_text(TOML)
    return [
        "reprocess", str(tmp_path / "events.jsonl"), "--subscriptions", str(tmp_path / "who.toml"),
        "--ontology", "vehicles", "--out", str(tmp_path / "out"), "--processes", "1",
    ]  # fmt: skip


def test_done(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(given) == 0
    shown = capsys.readouterr()
    assert "2 events in 1 files, 2 deliveries, 0 dead letters" in " ".join(shown.out.split())
    assert "warm" in shown.out
    assert shown.err == ""
    assert main([*given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["counts"]["by_subscription"], told["resumed"]) == ({"warm": 2}, 1)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["counts"] == told["counts"]


def test_done_with_dead_letters(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.jsonl").write_text(f"{GOOD}\nnonsense\n")
    assert main(given) == 1
    assert "malformed" in capsys.readouterr().out


def test_mistakes(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "who.toml").write_text(TOML.replace("Temperature >", "Temprature >"))
    assert main(given) == 2
    assert "subscription 'warm'" in capsys.readouterr().err
    (tmp_path / "who.toml").write_text(TOML.replace("filter", "fliter"))
    assert main(given) == 2
    assert "Did you mean 'filter'" in capsys.readouterr().err
    (tmp_path / "who.jsonl").write_text('{"id": "a", "filter": "x > 1"}\n{"id": "a", "filter": "x > 1"}\n')
    given[3] = str(tmp_path / "who.jsonl")
    assert main(given) == 2
    assert "two subscriptions have the id 'a'" in capsys.readouterr().err
    given[1] = str(tmp_path / "nowhere")
    assert main(given) == 2
    assert not (tmp_path / "out").exists()
