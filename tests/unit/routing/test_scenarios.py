"""Scenario files, the experiments they describe, and the page that shows them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conceptpubsub.cli import main
from conceptpubsub.errors import NetworkError
from conceptpubsub.routing.experiment import Case, Outcome, cases, run_case
from conceptpubsub.routing.report import facts, page
from conceptpubsub.routing.scenario import Scenario
from conceptpubsub.routing.workload import Workload

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "scenarios"
SMALL: dict[str, Any] = {
    "network": {"kind": "star", "brokers": 4},
    "ontology": "vehicles",
    "run": {"subscriptions": [5], "events": 10, "rate": 100.0},
    "variables": {"warm": {"low": 0, "high": 40, "units": {"degC": [1, 0], "degF": [1.8, 32]}}},
    "subscriptions": [{"text": "Temperature > {warm}", "context": {"unit": "kelvin"}}],
    "events": [{"concept": "VehicleStatus", "attributes": {"InTemperature": "{warm}"}}],
}


def outcomes(scenario: Scenario) -> dict[tuple[str, bool, str], dict[str, Any]]:
    workload = Workload(scenario)
    made = [run_case(scenario, workload, case) for case in cases(scenario)]
    return {(o.case.strategy, o.case.advertisements, o.case.comparison): o.row() for o in made}


def test_the_orderings_of_rebeca() -> None:
    scenario = Scenario.load(SAMPLES / "orderings.toml").resized([60], 60)
    assert len(scenario.network) == 100
    scenario = replace(scenario, plan=replace(scenario.plan, excess=0.0))
    found: dict[float, dict[tuple[str, bool, str], dict[str, Any]]] = {}
    for locality in (0.0, 0.9):
        found[locality] = outcomes(replace(scenario, population=replace(scenario.population, locality=locality)))
    order = ("simple", "identity", "covering", "merging")
    for rows in found.values():
        for ads in (False, True):
            tables = [rows[name, ads, "semantic"]["tables"] for name in order]
            assert tables == sorted(tables, reverse=True)
            forwarded = {name: rows[name, ads, "semantic"]["forwarded"] for name in (*order, "flooding")}
            assert max(forwarded, key=lambda name: forwarded[name]) == "flooding"
        for name in order:
            assert rows[name, True, "semantic"]["tables"] < rows[name, False, "semantic"]["tables"]
    for name in order:
        assert found[0.9][name, True, "semantic"]["tables"] < found[0.0][name, True, "semantic"]["tables"]


def test_meaning_makes_tables_a_third() -> None:
    scenario = Scenario.load(SAMPLES / "fleet_as_strings.toml").resized([300], 50)
    found = outcomes(replace(scenario, plan=replace(scenario.plan, strategies=("covering",))))
    ours, theirs = found["covering", False, "semantic"], found["covering", False, "syntactic"]
    assert 3 * ours["tables"] <= theirs["tables"]
    assert ours["delivered"] == theirs["delivered"] > 0


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_samples_run(file: Path) -> None:
    scenario = Scenario.load(file).resized([40], 40)
    workload = Workload(scenario)
    outcome = run_case(scenario, workload, Case("covering", True, "semantic", 40))
    again = run_case(scenario, workload, Case("covering", True, "semantic", 40))
    assert outcome.final.published == 40
    figures = ("relation_checks", "relations_seconds")
    assert replace(outcome.final, **dict.fromkeys(figures, 0)) == replace(again.final, **dict.fromkeys(figures, 0))


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    scenario = Scenario.load(SAMPLES / "orderings.toml")
    short, long = Workload(scenario).wishes(20), Workload(scenario).wishes(50)
    assert [(w.subscriber, str(w.filter)) for w in short] == [(w.subscriber, str(w.filter)) for w in long[:20]]


@pytest.mark.parametrize(
    ("part", "given", "complaint"),
    [
        ("client", {}, "Did you mean 'clients'"),
        ("clients", {"subscriber": 3}, "Did you mean 'subscribers'"),
        ("clients", {"locality": 1.5}, "from 0 to 1"),
        ("clients", {"publishers": 0}, "1 to"),
        ("clients", {"border": "yes"}, "true or false"),
        ("network", {"links": [["A", "B"], ["B", "C"], ["C", "A"]]}, "cycle: C - A - B - C"),
        ("network", {"links": [["A", "B"]], "latncy": 1}, "Did you mean 'latency'"),
        ("network", {"kind": "kary", "brokers": 3, "branchng": 2}, "Did you mean 'branching'"),
        ("network", {"kind": "kary", "brokers": "3"}, "1 to"),
        ("run", {"strategies": ["coverng"]}, "Did you mean 'covering'"),
        ("run", {"strategies": "covering"}, r"strategies = \['covering'\]"),
        ("run", {"advertisements": True}, r"advertisements = \[true\]"),
        ("run", {"subscriptions": 100}, r"subscriptions = \[100\]"),
        ("run", {"rate": 0.0}, "run.rate"),
        ("run", {"events": -1}, "whole numbers"),
        ("run", {"comparison": ["spelling"]}, "neither semantic nor syntactic"),
        ("ontology", "vehicle", "Did you mean 'vehicles'"),
        ("seed", "one", "whole number"),
        ("subscriptions", [], "at least one"),
        ("subscriptions", {"text": "x > 1"}, r"\[\[subscriptions\]\]"),
        ("subscriptions", [{"text": "Temperature > 1", "weight": 0}], "weights"),
        ("subscriptions", [{"txt": "Temperature > 1"}], "Did you mean 'text'"),
        ("variables", {"warm": {"low": 5, "high": 1}}, "'low' is at most 'high'"),
        ("variables", {"warm": 5}, "variables.warm"),
        ("faults", [{"broker": "B9", "down": 0, "up": 1}], "no broker 'B9'"),
        ("faults", [{"link": ["B2", "B3"], "down": 0, "up": 1}], "no link between B2 and B3"),
        ("faults", [{"broker": "B2", "down": 2, "up": 1}], "faults.up"),
        ("faults", [{"down": 0, "up": 1}], "either 'link'"),
    ],
)
def test_wrong_scenarios(part: str, given: object, complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        Scenario.read({**SMALL, part: given})


@pytest.mark.parametrize(
    ("part", "given", "complaint"),
    [
        ("subscriptions", [{"text": "Temperature > {wram}"}], "Did you mean 'warm'"),
        ("subscriptions", [{"text": "Temprature > {warm}"}], "Did you mean 'Temperature'"),
        ("subscriptions", [{"text": "Temperature >> {warm}"}], "the filter"),
        ("events", [{"concept": "VehicleStatu", "attributes": {}}], "Did you mean 'VehicleStatus'"),
        ("events", [{"concept": "VehicleStatus", "attributes": {"InTemperatur": 3}}], "Did you mean 'InTemperature'"),
    ],
)
def test_wrong_words_are_found_before_anything_runs(part: str, given: object, complaint: str) -> None:
    scenario = Scenario.read({**SMALL, part: given})
    with pytest.raises(NetworkError, match=complaint):
        Workload(scenario).check()


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text("[run")
    with pytest.raises(NetworkError, match=r"fleet\.toml: not TOML"):
        Scenario.load(tmp_path / "fleet.toml")
    with pytest.raises(NetworkError, match=r"no scenario file .*fleed\.toml. Did you mean 'fleet\.toml'"):
        Scenario.load(tmp_path / "fleed.toml")
    (tmp_path / "like.toml").write_text('like = "nobody.toml"')
    with pytest.raises(NetworkError, match=r"like: .*nobody\.toml"):
        Scenario.load(tmp_path / "like.toml")


def small_page() -> tuple[Scenario, list[Outcome], str]:
    scenario = replace(Scenario.read(SMALL), title="</script><b>bold")
    workload = Workload(scenario)
    made = [run_case(scenario, workload, case) for case in cases(scenario)]
    return scenario, made, page(scenario, made)


def test_the_page_opens_offline_and_holds_the_figures() -> None:
    scenario, made, text = small_page()
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    found = re.search(r"const DATA = (\{.*\});", text)
    assert found is not None
    assert json.loads(found[1]) == json.loads(json.dumps(facts(scenario, made)))
    assert "</script><b>" not in text, "what a scenario says cannot end the script"
    assert [row["label"] for row in facts(scenario, made)["outcomes"]] == [outcome.case.label for outcome in made]


def test_the_command_takes_several_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(SAMPLES / name) for name in ("fleet.toml", "weather.toml")]
    more = ["--strategy", "covering", "--subscriptions", "20", "--events", "20"]
    assert main(["simulate", *files, *more, "--report", str(tmp_path / "out.html")]) == 0
    shown = capsys.readouterr()
    assert "A fleet that does not agree on units" in shown.out
    assert "Weather stations" in shown.out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out-fleet.html", "out-weather.html"]
    assert main(["simulate", files[0], *more, "--report", str(tmp_path / "one.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["strategy"] == "covering"
    assert (tmp_path / "one.html").is_file()


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = str(SAMPLES / "fleet.toml")
    assert main(["simulate", fleet, "--strategy", "covring"]) != 0
    assert "Did you mean 'covering'" in capsys.readouterr().err
    assert main(["simulate", str(SAMPLES / "flet.toml")]) != 0
    assert "Did you mean 'fleet.toml'" in capsys.readouterr().err
    assert main(["simulate", fleet, "--report", str(tmp_path / "no" / "out.html")]) != 0
    assert "there is no folder" in capsys.readouterr().err
