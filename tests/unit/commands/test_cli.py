"""The command line: results on standard output, mistakes as one message, exit status as promised."""

import subprocess
import sys
from pathlib import Path

import pytest

from conceptpubsub.cli import COMMANDS, main


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], *([name, "--help"] for name in COMMANDS)):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 0
    assert list(COMMANDS) == sorted(COMMANDS)
    assert "usage: conceptpubsub" in capsys.readouterr().out


def test_the_list_of_commands_is_the_folder() -> None:
    from conceptpubsub import commands

    folder = Path(commands.__path__[0])
    assert {file.stem for file in folder.glob("[!_]*.py")} == set(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["86", "degF", "degC"], "30 degC"),
        (["72.5", "degF", "degC"], "22.5 degC"),
        (["-40", "degF", "degC"], "-40 degC"),
        (["1", "mile", "km"], "1.609344 km"),
        (["1", "mile", "nautical_mile"], "0.8689762419006479 nautical_mile (exactly 50292/57875)"),
        (["86", "unit:DEG_F", "kelvin"], "303.15 kelvin"),
        (["86", "degF", "degC", "--ontology", "vehicles", "--concept", "InTemperature"], "30 degC"),
    ],
)
def test_convert(arguments: list[str], shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", *arguments]) == 0
    assert capsys.readouterr().out == shown + "\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "5", "kg", "degC"],
        ["convert", "5", "kilogrm", "g"],
        ["convert", "NaN", "kg", "g"],
        ["convert", "1e999999999", "kg", "g"],
        ["convert", "5", "9**9**9*m", "m"],
        ["convert", "5", "m", "km", "--ontology", "vehicles", "--concept", "Odometr"],
        ["ontology", "inspect", "nowhere"],
        ["ontology", "inspect", "vehicles", "Odometr"],
        ["ontology", "check", "missing.ttl"],
    ],
)
def test_a_mistake_is_one_message_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("conceptpubsub: ")
    assert "Traceback" not in shown.err


def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ontology", "inspect", "vehicles"]) == 0
    assert "\nOdometer " in capsys.readouterr().out
    assert main(["ontology", "inspect", "vehicles", "Odometer", "InTemperature"]) == 0
    assert "https://w3id.org/conceptpubsub/vehicles#Odometer" in capsys.readouterr().out


def test_check_says_no_by_its_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ontology", "check", "--strict", "vehicles"]) == 0
    bad = tmp_path / "bad.ttl"
    bad.write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://example.org/> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":A a owl:Class ; owl:disjointWith :B . :B a owl:Class . :C a owl:Class ; rdfs:subClassOf :A , :B .\n"
    )
    assert main(["ontology", "check", str(bad)]) == 1
    assert "C: unsatisfiable" in capsys.readouterr().out
    bad.write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://example.org/> . :A a owl:Class .\n"
    )
    assert main(["ontology", "check", str(bad)]) == 0
    assert "2 labels or definitions are missing" in capsys.readouterr().out
    assert main(["ontology", "check", "--strict", str(bad)]) == 1
    assert "A: no label" in capsys.readouterr().out


def test_draw(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ontology", "draw", "vehicles", "Temperature"]) == 0
    assert "├─ InTemperature\n" in capsys.readouterr().out
    assert main(["ontology", "draw", "vehicles"]) == 0
    assert "\nVehicle\n├─ Bus\n" in capsys.readouterr().out
    assert main(["ontology", "draw", "vehicles", "--format", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("graph BT\n")


def test_a_reader_that_stops_is_no_error() -> None:
    command = f"{sys.executable} -m conceptpubsub.cli ontology inspect vehicles | head -n 1"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""
