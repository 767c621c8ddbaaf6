"""``conceptpubsub relate``: the relation, and a witness for each direction that fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conceptpubsub.cli import main
from conceptpubsub.filters import Filter
from conceptpubsub.model.codecs import from_json


def related(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["relate", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        ("x > 30 degC", "x > 86 degF", "identical"),
        ("x > 1", "x > 2", "covers"),
        ("x > 2", "x > 1", "covered"),
        ("x > 1", "x < 2", "overlaps"),
        ("x > 2", "x < 1", "disjoint"),
    ],
)
def test_the_relation_in_a_word(first: str, second: str, relation: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert related(capsys, first, second)["relation"] == relation


def test_a_witness_for_each_direction_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    found = related(capsys, "x > 1 AND s = 'a'", "x < 2 AND s = 'a'")
    f, g = Filter.parse(found["F"]), Filter.parse(found["G"])
    there, back = from_json(found["witness"]), from_json(found["back_witness"])
    assert g.matches(there)
    assert not f.matches(there)
    assert f.matches(back)
    assert not g.matches(back)


def test_as_text_with_an_ontology_and_semantics(capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["Temperature > 20 degC", "InTemperature > 80 degF", "--ontology", "vehicles", "--semantics", "strict"]
    assert main(["relate", *pair]) == 0
    shown = capsys.readouterr().out
    assert "yes  F covers G" in shown
    assert "G, not F" not in shown
    assert 'F, not G:  {"concept":"Event"' in shown


def test_a_witness_that_must_have_no_concept(capsys: pytest.CaptureFixture[str]) -> None:
    found = related(capsys, "EVENT IS NOT NULL", "x = 1")
    assert json.loads(found["witness"]) == {"attributes": {"x": 1}}


def test_a_filter_that_nothing_matches_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert related(capsys, "x > 2 AND x < 1", "y = 1")["empty"] == ["F"]
    assert main(["relate", "y = 1", "n * 2 = 3", "--type", "n=int"]) == 0
    assert "no event can match G" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["x >", "y = 1"], "column 4"),
        (["Temprature > 5 degC", "Odometer > 1 km", "--ontology", "vehicles"], "Did you mean 'Temperature'"),
        (["x > 1", "x > 2", "--ontology", "nowhere.ttl"], "cannot read nowhere.ttl"),
    ],
)
def test_wrong_input_is_told_and_ends_with_status_two(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["relate", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_the_status_answers_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["relate", "x > 1", "x > 2", "--is", "covers"]) == 0
    assert main(["relate", "x > 1", "x > 2", "--is", "covered"]) == 1
    assert capsys.readouterr().out.split() == ["yes", "no"]
