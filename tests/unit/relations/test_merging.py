"""Mergers: perfect where there is one, exact in any case, and within the excess that was allowed."""

from __future__ import annotations

from typing import Any

import pytest

from conceptpubsub.errors import FilterError, IncompatibleFilters
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology
from conceptpubsub.relations import excess

VEHICLES = Ontology.bundled("vehicles")
TYPES = {"x": "real", "y": "real", "n": "int", "s": "text"}


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ("x < 5", "x >= 5", "x IS NOT NULL"),
        ("x < 5 AND y = 1", "x >= 5 AND y = 1", "x IS NOT NULL AND y = 1"),
        ("x > 3", "x > 5", "x > 3"),
        ("x = 1", "x = 2", "x IN (1, 2)"),
        ("x IN (1, 2) AND y = 1", "x IN (2, 3) AND y = 1", "x IN (1, 2, 3) AND y = 1"),
        ("x BETWEEN 1 AND 5", "x > 4 AND x <= 9", "x >= 1 AND x <= 9"),
        ("n BETWEEN 1 AND 5", "n BETWEEN 6 AND 9", "n >= 1 AND n < 10"),
        ("s = 'a'", "s = 'b'", "s IN ('a', 'b')"),
        ("s CONTAINS 'a'", "NOT s CONTAINS 'a'", "s IS NOT NULL"),
        ("x IS NULL", "x > 5", "x > 5 OR x IS NULL"),
        ("x IS NULL", "x IS NOT NULL", "TRUE"),
        ("x < 1 OR x > 9", "x BETWEEN 1 AND 9", "x IS NOT NULL"),
        ("x = 1", "y = 2", "x = 1 OR y = 2"),
        ("x <> 5 AND y = 1", "x = 5 AND y = 1", "x IS NOT NULL AND y = 1"),
    ],
)
def test_mergers_of_sql_filters(one: str, other: str, merged: str) -> None:
    f, g = Filter.parse(one, types=TYPES), Filter.parse(other, types=TYPES)
    made = f.merge(g)
    assert str(made) == merged
    assert made.identical(f | g)
    assert made.identical(g.merge(f))


def test_mergers_in_units_and_concepts() -> None:
    def merged(one: str, other: str) -> str:
        return str(Filter.parse(one, ontology=VEHICLES).merge(Filter.parse(other, ontology=VEHICLES)))

    assert merged("Temperature < 77 degF", "Temperature BETWEEN 25 degC AND 30 degC") == "Temperature <= 30 degC"
    assert merged("PartFailure ISA FrontBrake", "PartFailure IN ('RearBrake', 'Brake')") == "PartFailure ISA Brake"
    assert merged("Temperature > 5 degC", "InTemperature > 9 degC") == "Temperature > 5 degC"


@pytest.mark.parametrize(
    ("semantics", "names_kept"),
    [("sql", "sql"), ("strict", "strict"), ("total", "total"), ("default", "default")],
)
def test_filters_with_the_same_names_keep_their_semantics(semantics: str, names_kept: str) -> None:
    f, g = (Filter.parse(t, semantics=semantics, types=TYPES) for t in ("x = 1 AND y = 1", "x = 2 AND y = 2"))
    made = f.merge(g)
    assert made.semantics == names_kept
    assert made.names == f.names
    assert made.identical(f | g)


@pytest.mark.parametrize(
    ("first", "second"), [("sql", "strict"), ("strict", "default"), ("default", "sql"), ("strict", "strict")]
)
def test_a_merger_across_semantics_is_sql_and_exact(first: str, second: str) -> None:
    f = Filter.parse("x <> 5 OR n > 3", semantics=first, types=TYPES)
    g = Filter.parse("NOT (y > 2 AND s LIKE 'a%')", semantics=second, types=TYPES)
    made = f.merge(g)
    assert made.semantics == "sql"
    for event in (
        {}, {"x": 5}, {"x": 4}, {"n": 4}, {"x": 5, "n": 3}, {"y": 1}, {"y": 3, "s": "ab"}, {"y": 3, "s": "b"},
        {"x": 5, "n": 1, "y": 3, "s": "ab"}, {"x": 1, "n": 1, "y": 3, "s": "ab"}, {"s": "b"}, {"y": 3, "x": 5},
    ):  # fmt: skip
        assert made.matches(event) is (f.matches(event) or g.matches(event)), event


def test_default_semantics_over_undeclared_attributes() -> None:
    f, g = Filter.parse("x <> 5", semantics="default"), Filter.parse("y = 1")
    made = f.merge(g)
    for event in ({}, {"x": 5}, {"x": 6}, {"x": "a"}, {"x": True}, {"x": 5, "y": 1}):
        assert made.matches(event) is (f.matches(event) or g.matches(event)), event


def test_declared_defaults_are_spelled_out() -> None:
    f = Filter.parse("x > 5", semantics="default", defaults={"x": 7}, types=TYPES)
    made = f.merge(Filter.parse("y = 1", types=TYPES))
    assert made.semantics == "sql"
    for event in ({}, {"x": 3}, {"x": 6}, {"x": 3, "y": 1}):
        assert made.matches(event) is (f.matches(event) or event.get("y") == 1), event


def test_an_excess_buys_a_simpler_filter() -> None:
    f, g = Filter.parse("x BETWEEN 0 AND 9"), Filter.parse("x BETWEEN 10 AND 20")
    exact, wide = f.merge(g), f.merge(g, excess=0.1)
    assert excess(exact, f, g) == 0
    assert str(wide) == "x >= 0 AND x <= 20"
    assert 0 < excess(wide, f, g) <= 0.1  # type: ignore[operator]
    assert wide.covers(f)
    assert wide.covers(g)
    assert f.merge(g, excess=0.01).identical(exact), "too much for that bound"


def test_a_box_around_two_points() -> None:
    f, g = Filter.parse("x = 1 AND s = 'a'", types=TYPES), Filter.parse("x = 2 AND s = 'b'", types=TYPES)
    wide = f.merge(g, excess=0.6)
    assert str(wide) == "s IN ('a', 'b') AND x IN (1, 2)" or wide.covers(f)
    assert excess(wide, f, g) == pytest.approx(0.5, abs=0.1)
    assert f.merge(g, excess=0.3).identical(f | g)


@pytest.mark.parametrize("bound", [-0.1, 1, 2.5])
def test_an_excess_is_a_share(bound: float) -> None:
    f = Filter.parse("x = 1")
    with pytest.raises(FilterError, match="share"):
        f.merge(f, excess=bound)


def test_different_types_for_one_name_do_not_merge() -> None:
    f: Any = Filter.parse("x > 5", types={"x": "int"})
    with pytest.raises(IncompatibleFilters, match="types"):
        f.merge(Filter.parse("x = 'a'", types={"x": "text"}))


def test_many_mergers_in_a_row_stay_readable_and_shallow() -> None:
    merged = Filter.parse("x = 0 AND y = 0")
    for i in range(1, 400):
        merged = merged.merge(Filter.parse(f"x = {i} AND y = {i % 7}"))
    assert merged.matches({"x": 399, "y": 0})
    assert not merged.matches({"x": 399, "y": 1})
