"""What people feed to commands: CSV, wrong names, wrong files, interrupted and endless streams."""

import io
import json
import signal
import subprocess
import sys
import time

import pytest

from conceptpubsub.cli import main
from conceptpubsub.commands._csv import rows
from conceptpubsub.errors import CodecError, InvalidValue
from conceptpubsub.model import Context, Ontology

WEATHER = """\
station,temp_f,fare [EUR],zip,open,depth,depth@unit,@id,@time
OSL,14,5,00501,true,3,m,a,2026-11-18T05:00Z
ROM,97.5,NA,12,False,,,b,
"""


def read(text, ontology=None, types=None, renamed=()):
    data = text if isinstance(text, bytes) else text.encode()
    return list(rows(io.BytesIO(data), ontology, types or {}, list(renamed)))


def test_cells_are_what_they_read_as():
    (line, first), (_, second) = read(WEATHER)
    assert (line, first.id, str(first.time), second.id) == (2, "a", "2026-11-18T05:00:00Z", "b")
    values = {key: held.value for key, held in first.attributes.items()}
    assert values == {"station": "OSL", "temp_f": 14, "fare": 5, "zip": "00501", "open": True, "depth": 3}
    assert (first["fare"].context, first["depth"].context) == (Context(currency="EUR"), Context(unit="m"))
    assert set(second.attributes) == {"station", "temp_f", "zip", "open"}
    assert (second["temp_f"].value, second["zip"].value, second["open"].value) == (97.5, 12, False)


def test_a_declared_text_stays_text():
    assert read("zip\n12\n", types={"zip": "text"})[0][1]["zip"].value == "12"
    assert read("Origin\n12\n", ontology=Ontology.bundled("flights"))[0][1]["Origin"].value == "12"


def test_columns_are_named_anew():
    ((_, event), _) = read(WEATHER, renamed=["temp_f=Temperature [degF]"])
    assert dict(event.attributes) == {"Temperature": event["Temperature"]}
    assert event["Temperature"].context == Context(unit="degF")


@pytest.mark.parametrize(
    ("text", "renamed", "reason"),
    [
        (WEATHER, ["tmp_f=x"], "no column 'tmp_f'.*'temp_f'"),
        (WEATHER, ["temp_f"], "COLUMN=NAME"),
        ("a,a\n1,2\n", [], "two columns"),
        (b"\xff\xfe\x00a\n1\n", [], "no table"),
    ],
)
def test_tables_that_cannot_be_read(text, renamed, reason):
    with pytest.raises(InvalidValue, match=reason):
        read(text, renamed=renamed)


def test_a_bad_row_costs_only_itself():
    found = read(b'@time,name,n\nyesterday,a,1\n,caf\xe9,2\n,"two\nlines",3\n,b,1e999999\n\n,c\n')
    assert [line for line, _ in found] == [2, 3, 5, 6, 8]
    assert [isinstance(event, CodecError) for _, event in found] == [True, True, False, True, False]
    assert "UTF-8" in str(found[1][1])


def test_match_reads_csv(tmp_path, capsys):
    file = tmp_path / "weather.csv"
    file.write_text(WEATHER)
    command = ["match", str(file), "--filter", "temp > 30 degC", "--column", "temp_f=temp [degF]"]
    assert main([*command, "--context", "unit=kelvin"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["line"], found["event"]["attributes"]["temp"]["unit"]) == (3, "kelvin")
    assert main(["filter", "fare < 6 EUR", "--events", str(file), "--json"]) == 0
    assert [json.loads(line)["value"] for line in capsys.readouterr().out.splitlines()] == [True, None]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["match", "trip.jsonl", "--filter", "x > 1"], "Did you mean 'trips.jsonl'"),
        (["match", "folder", "--filter", "x > 1"], "folder is a folder"),
        (["match", "trips.jsonl", "--filter", "x > 1", "--column", "a=b"], "--csv"),
        (["match", "trips.jsonl", "--subscriptions", "none.toml"], "none.toml: No such file"),
        (["filter", "x > 1 foo"], "no unit 'foo'. Did you mean"),
        (["flow", "check", "empty.toml"], r"no [[source]]"),
    ],
)
def test_mistakes_lead_on(arguments, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips.jsonl").write_text("{}\n")
    (tmp_path / "empty.toml").touch()
    (tmp_path / "folder").mkdir()
    assert main(arguments) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "offer"),
    [
        (["mach", "x"], "Did you mean 'match'?"),
        (["match", "x", "--fliter", "y"], "'--filter'"),
        (["filter", "x", "--semantics", "strikt"], "'strict'"),
    ],
)
def test_misspelt_commands_and_options(arguments, offer, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert offer in capsys.readouterr().err


def test_nothing_that_matches_is_said_so(tmp_path, capsys):
    file = tmp_path / "trips.jsonl"
    file.write_text('{"price": {"value": 3, "currency": "EUR"}}\n')
    assert main(["match", str(file), "--filter", "price < 500"]) == 1
    assert "none of 1 events matched; conceptpubsub filter" in capsys.readouterr().err
    file.write_text("")
    assert main(["match", str(file), "--filter", "price < 500"]) == 1
    assert "no events in" in capsys.readouterr().err


def test_lines_that_are_no_events_are_errors_not_unknown(tmp_path, capsys):
    file = tmp_path / "trips.jsonl"
    file.write_text('{"price": 3}\n{"price": \n')
    assert main(["filter", "price < 500", "--events", str(file), "--json"]) == 2
    good, bad = map(json.loads, capsys.readouterr().out.splitlines())
    assert good == {"line": 1, "value": True}
    assert bad["line"] == 2
    assert "not JSON" in bad["error"]


def test_machines_read_json(capsys):
    assert main(["convert", "-5e3", "degF", "degC", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exact"] == "-25160/9"
    assert main(["ontology", "inspect", "vehicles", "InTemperature", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["parents"] == ["Temperature"]
    assert main(["ontology", "check", "vehicles", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complaints"] == []


def test_an_empty_ontology_is_none(tmp_path, capsys):
    file = tmp_path / "empty.ttl"
    file.touch()
    assert main(["ontology", "check", str(file)]) == 1
    assert "no concept" in capsys.readouterr().out


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "conceptpubsub.cli", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_stream_is_answered_as_it_comes_and_may_be_interrupted():
    running = start("match", "-", "--filter", "n > 1")
    running.stdin.write('{"n": 2}\n')
    running.stdin.flush()
    assert json.loads(running.stdout.readline())["line"] == 1
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert running.stderr.read() == ""


def test_a_reader_that_has_seen_enough_is_no_error():
    running = start("match", "-", "--filter", "n > 1")
    running.stdin.write('{"n": 2}\n')
    running.stdin.flush()
    running.stdout.readline()
    running.stdout.close()
    until = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < until:
        try:
            running.stdin.write('{"n": 3}\n')
            running.stdin.flush()
        except BrokenPipeError:
            break
    assert running.wait(60) == 0
    assert running.stderr.read() == ""
