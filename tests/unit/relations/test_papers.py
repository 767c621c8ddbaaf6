"""What the papers get wrong (and what their methods miss), each with the right verdict."""

from __future__ import annotations

from typing import Any

import pytest

from conceptpubsub.errors import IncompatibleFilters
from conceptpubsub.filters import Filter

NUMBERS = {"x": "real", "y": "real", "z": "real", "n": "int"}
ENGINES = (None, "domain", "z3")


def parse(text: str, semantics: str = "sql", **scope: Any) -> Filter:
    return Filter.parse(text, semantics=semantics, types=scope.pop("types", NUMBERS), **scope)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        "x >= 2 AND x <= 2 AND x <> 2",  # each pair of atoms can be satisfied, all three cannot
        "n > 1 AND n < 2",
        "x > 3 AND x < 3",
        "x = 1 AND x = 2",
        "x IN (1, 2) AND x NOT IN (1, 2)",
        "n BETWEEN 1 AND 2 AND n <> 1 AND n <> 2",
        "x IS NULL AND x = 1",
        "x < 5 AND (x > 6 OR x > 7)",
    ],
)
@pytest.mark.parametrize("semantics", ["sql", "strict", "total", "default"])
def test_contradictions_are_found_whole_not_pair_by_pair(text: str, semantics: str, engine: Any) -> None:
    assert not parse(text, semantics).satisfiable(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tautology_on_x_does_not_cover_events_without_x(engine: Any) -> None:
    assert not parse("x < 10 OR x >= 10", "strict").covers(parse("y = 1", "strict"), engine=engine)
    assert not parse("x < 10 OR x >= 10").covers(parse("y = 1"), engine=engine)
    witness: Any = parse("x < 10 OR x >= 10", "strict").witness(parse("y = 1", "strict"))
    assert witness.get("x") is None
    assert witness["y"].value == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_names_survive_simplification_under_strict(engine: Any) -> None:
    both = parse("x < 1000 OR x > 500", "strict")
    assert both.identical(parse("x IS NOT NULL", "strict"), engine=engine)
    assert not both.identical(parse("", "strict"), engine=engine)
    assert not parse("x IS NULL", "strict").satisfiable(engine=engine)


def test_or_is_no_merger_under_strict() -> None:
    one, other = parse("x = 1", "strict"), parse("y = 2", "strict")
    joined, merged = one | other, one.merge(other)
    event = {"x": 1}
    assert one.matches(event)
    assert not joined.matches(event), "F1 OR F2 needs the names of both"
    assert merged.matches(event)
    assert merged.matches({"y": 2})
    assert not merged.matches({"x": 2, "y": 1})
    assert merged.semantics == "sql"
    assert merged.covers(one)
    assert merged.covers(other)
    assert not joined.covers(one)


@pytest.mark.parametrize("engine", ENGINES)
def test_filters_overlap_when_their_conjunction_can_be_satisfied(engine: Any) -> None:
    one = parse("x < 10 AND y = 30")
    assert one.overlaps(parse("x > 20 OR y = 30"), engine=engine)
    assert not one.overlaps(parse("x > 20 OR y = 31"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_less_is_negated_to_at_least_not_to_at_most(engine: Any) -> None:
    """The worked example: NOT (odometer < 800 AND NOT part = 'Engine' OR NOT odometer > 2000)."""
    types = {"odometer": "real", "part": "text"}
    worked = parse("NOT ((odometer < 800 AND NOT part = 'Engine') OR NOT odometer > 2000)", types=types)
    right = parse("(odometer >= 800 OR part = 'Engine') AND odometer > 2000", types=types)
    printed = parse("(odometer <= 800 OR part = 'Engine') AND odometer > 2000", types=types)
    assert worked.identical(right, engine=engine)
    assert not worked.identical(printed, engine=engine)
    assert worked.identical(parse("odometer > 2000", types=types), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_reference_that_one_filter_lacks_may_say_nothing(engine: Any) -> None:
    """On events that have both, ``x>0 AND (y<5 OR y>=5)`` is ``x>0``; a missing reference does not settle it."""
    one, other = parse("x > 0 AND (y < 5 OR y >= 5)", "total"), parse("x > 0", "total")
    assert one.identical(other, engine=engine)
    assert not one.bind(semantics="strict").identical(other.bind(semantics="strict"), engine=engine)
    assert not one.bind(semantics="sql").identical(other.bind(semantics="sql"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_undeclared_attributes_may_hold_other_types(engine: Any) -> None:
    one = Filter.parse("x > 0 AND (y < 5 OR y >= 5)", semantics="total")
    assert not one.identical(Filter.parse("x > 0", semantics="total"), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("x > 0", "x > 5", True),
        ("x >= 5", "x > 5", True),
        ("x > 5", "x >= 5", False),
        ("n > 5", "n >= 6", True),
        ("n >= 6", "n > 5", True),
        ("x > 5", "x >= 6", True),
        ("x <> 5", "x > 5", True),
        ("x < 3 OR x > 2", "x IS NOT NULL", True),
        ("x < 3 OR x > 3", "x IS NOT NULL", False),
        ("x < 5 OR y < 5", "x < 3 AND z = 1", True),
        ("x BETWEEN 1 AND 3 OR x BETWEEN 2 AND 6", "x BETWEEN 1 AND 6", True),
        ("x BETWEEN 1 AND 3 OR x BETWEEN 4 AND 6", "x BETWEEN 1 AND 6", False),
        ("n BETWEEN 1 AND 3 OR n BETWEEN 4 AND 6", "n BETWEEN 1 AND 6", True),
        ("(x < 2 AND y < 2) OR (x >= 2 AND y < 3)", "y < 2 AND x IS NOT NULL", True),
        ("x IS NULL OR x < 5", "x IS NULL", True),
        ("x IS NULL OR x IS NOT NULL", "y = 1", True),
        ("NOT (x > 5 AND y > 5)", "x <= 5", True),
        ("NOT (x > 5 OR y > 5)", "x <= 5", False),
        ("", "x = 1", True),
        ("x = 1", "", False),
        ("x = 1", "x = 1 AND x = 2", True),
        ("FALSE", "x = 1", False),
    ],
)
def test_covering(wide: str, narrow: str, expected: bool, engine: Any) -> None:
    assert parse(wide).covers(parse(narrow), engine=engine) is expected


@pytest.mark.parametrize("engine", ENGINES)
def test_default_semantics_is_two_valued(engine: Any) -> None:
    unequal = parse("x <> 5", "default")
    assert unequal.covers(parse("y = 1 AND x IS NULL", "default"), engine=engine)
    assert unequal.identical(parse("NOT x = 5", "default"), engine=engine)
    assert parse("x = 5 OR x <> 5", "default").identical(parse("", "default"), engine=engine)
    assert not parse("x = 5 OR x <> 5").identical(parse(""), engine=engine)
    assert unequal.covers(parse("x <> 5"), engine=engine), "under sql it holds on fewer events"
    assert not parse("x <> 5").covers(unequal, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_declared_defaults_stand_in_for_what_is_missing(engine: Any) -> None:
    def stood_in(text: str, value: int) -> Filter:
        return parse(text, "default", defaults={"x": value})

    assert stood_in("x > 5", 7).covers(parse("x IS NULL"), engine=engine)
    assert not stood_in("x > 5", 3).covers(parse("x IS NULL"), engine=engine)
    assert not stood_in("x IS NULL", 7).satisfiable(engine=engine)
    assert not stood_in("x > 5", 7).identical(stood_in("x > 5", 3), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_semantics_are_compared_by_what_they_match(engine: Any) -> None:
    assert parse("x > 5", "strict").identical(parse("x > 5"), engine=engine)
    assert parse("x > 5 OR y > 5").covers(parse("x > 5 OR y > 5", "strict"), engine=engine)
    assert not parse("x > 5 OR y > 5", "strict").covers(parse("x > 5 OR y > 5"), engine=engine)
    assert parse("x > 5", "default").identical(parse("x > 5", "strict"), engine=engine)


@pytest.mark.parametrize("question", ["covers", "overlaps", "identical", "witness", "merge"])
def test_total_has_no_relation_to_other_semantics(question: str) -> None:
    with pytest.raises(IncompatibleFilters, match="total"):
        getattr(parse("x > 5", "total"), question)(parse("x > 5"))
