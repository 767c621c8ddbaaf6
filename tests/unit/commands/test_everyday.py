"""The commands of every day: filter, relate, match, flow, bench, completion, demo."""

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conceptpubsub.cli import COMMANDS, main
from conceptpubsub.commands import _weather
from conceptpubsub.commands._inputs import context_of
from conceptpubsub.errors import InvalidValue
from conceptpubsub.model import Context

EVENTS = """\
{"concept": "VehicleStatus", "id": "1", "attributes": {"InTemperature": {"value": 86, "unit": "degF"}}}
{"concept": "VehicleStatus", "id": "2", "attributes": {"InTemperature": {"value": 50, "unit": "degF"}}}

{"Odometer": {"value": 3, "unit": "km"}}
"""
FLOW = """\
sinks = ["Large"]
[[source]]
name = "Trades"
schema = { price = "real", volume = "int" }
[[arc]]
kind = "transform"
from = "Trades"
to = "Worth"
outputs = { worth = "price * volume", price = "price" }
[[arc]]
kind = "select"
from = "Worth"
to = "Large"
where = "worth >= 1000"
"""


@pytest.fixture
def events(tmp_path: Path) -> str:
    file = tmp_path / "events.jsonl"
    file.write_text(EVENTS)
    return str(file)


@pytest.fixture
def flow(tmp_path: Path) -> str:
    file = tmp_path / "flow.toml"
    file.write_text(FLOW)
    return str(file)


def test_filter_says_what_it_means(capsys):
    assert main(["filter", "PartFailure='Engine' and Temperature>25 degC", "--ontology", "vehicles"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "PartFailure = 'Engine' AND Temperature > 25 degC"
    assert main(["filter", "x > 2 AND x < 1"]) == 1
    assert "can never match" in capsys.readouterr().out
    assert main(["filter", "x > 1 AND x < 2", "--type", "x=int", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["satisfiable"] is False


def test_filter_against_events(events, capsys):
    arguments = ["filter", "Temperature > 25 degC", "--ontology", "vehicles", "--events", events]
    assert main([*arguments, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["line"], row["value"]) for row in rows] == [(1, True), (2, False), (4, None)]
    assert main([*arguments, "--explain"]) == 0
    assert "86 degF = 30 degC" in capsys.readouterr().out
    assert main(["filter", "Temperature > 99 degC", "--ontology", "vehicles", "--events", events]) == 1


def test_match_delivers_in_the_context(events, capsys):
    command = ["match", events, "--filter", "Temperature > 25 degC", "--ontology", "vehicles"]
    assert main([*command, "--context", "unit=kelvin"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["event"]["attributes"]["InTemperature"] == {"value": 303.15, "unit": "kelvin"}
    assert main([*command, "--context", "Temperature.unit=degC", "--count"]) == 0
    assert json.loads(capsys.readouterr().out) == {"Temperature > 25 degC": 1}


def test_match_from_standard_input_with_a_bad_line(monkeypatch, capsys, tmp_path):
    (tmp_path / "s.toml").write_text('[[subscription]]\nid = "big"\nfilter = "x > 1"\n')
    monkeypatch.setattr("sys.stdin", io.StringIO('{"x": 3}\n{"x": \n{"x": 1}\n'))
    assert main(["match", "-", "--subscriptions", str(tmp_path / "s.toml")]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["subscription"] == "big"
    assert "line 2" in shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["match", "nowhere.jsonl", "--filter", "x > 1"],
        ["match", "-"],
        ["match", "-", "--filter", "x > 1", "--context", "unit"],
        ["match", "-", "--filter", "x > 1", "--context", "unit=kelvn"],
        ["filter", "x >"],
        ["filter", "x > 1", "--type", "x"],
        ["relate", "Temprature > 1", "x > 2", "--ontology", "vehicles"],
        ["flow", "check", "nowhere.toml"],
        ["bench", "no-such-topic"],
    ],
)
def test_mistakes_are_one_message_and_status_2(arguments, capsys):
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("conceptpubsub: ")
    assert "Traceback" not in shown.err


def test_relate(capsys):
    pair = ["Temperature > 77 degF", "InTemperature > 300 kelvin", "--ontology", "vehicles"]
    assert main(["relate", *pair, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["covers"], found["covered"], found["overlaps"], found["witness"]) == (True, False, True, None)
    assert main(["relate", *pair, "--is", "covers"]) == 0
    assert main(["relate", *pair, "--is", "identical"]) == 1
    capsys.readouterr()
    assert main(["relate", "x > 2", "x > 1"]) == 0
    assert "G, not F:  {" in capsys.readouterr().out


def test_flow(flow, tmp_path, capsys):
    assert main(["flow", "check", flow]) == 0
    assert "3 spaces, 2 arcs" in capsys.readouterr().out
    assert main(["flow", "rewrite", flow, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proofs"][0].startswith("proven")
    assert main(["flow", "draw", flow]) == 0
    assert "Trades" in capsys.readouterr().out
    assert main(["flow", "draw", flow, "--format", "svg", "--rewritten", "--out", str(tmp_path / "flow.svg")]) == 0
    assert (tmp_path / "flow.svg").read_text().startswith("<svg")


def test_bench_lists_its_topics(capsys):
    assert main(["bench"]) == 0
    assert "conversion" in capsys.readouterr().out.split()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(f'" {name}"' in script for name in COMMANDS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_completion_completes(capsys):
    main(["completion", "bash"])
    script = capsys.readouterr().out
    ask = 'COMP_WORDS=(conceptpubsub flow re); COMP_CWORD=2; _conceptpubsub; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["rewrite"]


def test_contexts_on_the_command_line():
    assert context_of([]) is None
    assert context_of(["scale=1000", "unit=km"]) == Context(scale=1000, unit="km")
    with pytest.raises(InvalidValue, match="not both"):
        context_of(["unit=km", "Speed.unit=km/h"])


def test_the_demo_with_the_days_that_come_along(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_weather, "find_spec", lambda name: None)
    assert main(["demo", "--report", str(tmp_path / "new" / "demo.html")]) == 0
    shown = capsys.readouterr().out
    assert "288 hours" in shown
    assert "delivered  EWR 2013-01-23T05:00:00Z  Temperature -10.6 degC" in shown
    assert "F covers G: True;  G covers F: False" in shown
    assert (tmp_path / "new" / "demo.html").read_text().startswith("<!")
