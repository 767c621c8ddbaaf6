"""Filters made to break a decision procedure: bounded work, the safe answer, and a count of how often."""

from __future__ import annotations

from typing import Any

import pytest

from conceptpubsub import relations
from conceptpubsub.errors import Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.relations import Budget
from conceptpubsub.relations.compiled import compiled

SHORT = Budget(milliseconds=2000)


def exploding(terms: int) -> str:
    return " AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(terms))


def test_a_form_of_two_to_the_thirty_terms_is_never_written_out() -> None:
    relations.reset_statistics()
    f, g = Filter.parse(exploding(30)), Filter.parse(exploding(31))
    assert compiled(f).terms is None
    assert f.covers(g)
    assert not g.covers(f)
    assert f.satisfiable()
    assert relations.statistics()["domain gave up: too many alternatives"] >= 3
    with pytest.raises(Undecided, match="too many alternatives"):
        f.satisfiable(engine="domain")


def test_nested_alternatives_explode_no_less() -> None:
    text = "x = 0"
    for i in range(60):
        text = f"(({text}) AND a{i} = 1) OR (({'x = 1'}) AND b{i} <> {i})"
    f = Filter.parse(text)
    assert f.satisfiable(budget=SHORT)
    assert Filter.parse(f"({text}) OR z = 1").covers(f, budget=SHORT)


def test_deep_nesting_is_bounded_by_the_parser_and_decided() -> None:
    text = "x > 1"
    for i in range(90):
        text = f"NOT ({text}) AND y{i % 5} < {i}" if i % 2 else f"NOT ({text}) OR y{i % 5} > {i}"
    f = Filter.parse(text, types={"x": "real"})
    assert f.covers(f)
    assert isinstance(f.satisfiable(budget=SHORT), bool)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" AND ".join(f"x <> {i}" for i in range(1000)), True),
        (" AND ".join(f"x <> {i}" for i in range(1000)) + " AND x >= 0 AND x < 1000", False),
        (" AND ".join(f"a{i} = {i}" for i in range(1000)), True),
        (" AND ".join(f"a{i} = {i}" for i in range(1000)) + " AND a500 = 7", False),
        (" AND ".join(f"s NOT LIKE '%{i}%'" for i in range(1000)) + " AND s = '7'", False),
    ],
)
def test_conjunctions_of_a_thousand_atoms(text: str, expected: bool) -> None:
    f = Filter.parse(text, types={"x": "int", "s": "text"})
    assert f.satisfiable() is expected
    assert Filter.parse("FALSE", types={"x": "int", "s": "text"}).covers(f) is not expected


def test_a_thousand_alternatives_come_down_to_one_term() -> None:
    f = Filter.parse(" OR ".join(f"x = {i}" for i in range(1000)))
    assert len(compiled(f).terms or ()) == 1
    assert f.identical(Filter.parse(f"x IN ({', '.join(map(str, range(1000)))})"))


def test_covering_by_a_thousand_pieces() -> None:
    pieces = Filter.parse(" OR ".join(f"x BETWEEN {i} AND {i + 1}" for i in range(500)))
    assert pieces.covers(Filter.parse("x BETWEEN 0 AND 500"))
    assert not pieces.covers(Filter.parse("x BETWEEN 0 AND 500.5"))


def test_many_references_that_share_attributes() -> None:
    from conceptpubsub.model import Ontology

    onto = Ontology.bundled("vehicles")
    text = " AND ".join(
        f"{name} > {i} degC" for i, name in enumerate(["Temperature", "InTemperature", "OutTemperature"])
    )
    paths = "Vehicle.Temperature > 1 degC AND Car.InTemperature > 2 degC AND Vehicle IS NOT NULL"
    f = Filter.parse(f"{text} AND {paths}", ontology=onto)
    assert f.satisfiable(budget=SHORT)
    assert isinstance(f.covers(Filter.parse(text, ontology=onto), budget=SHORT), bool)


def test_texts_that_z3_cannot_spell() -> None:
    odd: Any = Filter.parse("s LIKE '\U000e0041_' AND t < u")
    assert odd.satisfiable(budget=SHORT)
    assert not odd.covers(Filter.parse("t < u AND s = 'a'"), budget=SHORT)


def test_a_regular_expression_outside_the_common_part() -> None:
    word = Filter.parse(r"s MATCHES '\pL+' AND x < y")
    assert word.covers(Filter.parse(r"s MATCHES '\pL+' AND x < y AND x < y - 1"), budget=SHORT)
    assert not word.covers(Filter.parse("s = 'a' AND x < y"), budget=SHORT) or word.matches({"s": "a", "x": 1, "y": 2})
