"""Tables through an index of their own, which large ones have: every row as the evaluator judges it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher, table_grids, table_matching
from conceptpubsub.matching.scan import answer
from conceptpubsub.model import SemanticEvent
from conceptpubsub.model.codecs import events_to_table, table_to_events
from tests.generators import Generator
from tests.worlds import NAMES, world


@pytest.fixture(autouse=True, params=["grids at every gain", "grids where they pay"])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index for every table, however small; with as many grids of two axes as there may be, and as usual."""
    monkeypatch.setattr(table_matching, "enough", lambda rows, cubes: True)
    if request.param == "grids at every gain":
        monkeypatch.setattr(table_grids, "_LOOK", 0.0)
        monkeypatch.setattr(table_grids, "_MOST_NODES", 64)


def _is_indexed(matcher: Matcher) -> bool:
    plans = matcher._both[0]._batches._planner._plans  # type: ignore[attr-defined]
    return any(plan.indexed is not None and plan.indexed[1] is not None for plan in plans)


def _judge(matcher: Matcher, filters: dict[int, Filter], table: pa.Table) -> None:
    events, errors = table_to_events(table)
    bad = {row for row, _ in errors}
    found = matcher.match_batch(table)
    good: Iterator[Any] = iter(events)
    for row in range(table.num_rows):
        event = None if row in bad else next(good)
        expected = [] if event is None else [key for key, one in filters.items() if answer(one, event) is True]
        assert found.row(row) == expected, (row, event)
    assert {error.row for error in found.errors if error.key is None} == bad


@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
@pytest.mark.parametrize("name", NAMES)
def test_any_filters_and_rows(name: str, semantics: str) -> None:
    make = Generator(random.Random(f"{name} {semantics}"), world(name), semantics)
    for _ in range(4):
        filters = dict(enumerate(make.filter() for _ in range(40)))
        matcher = Matcher()
        matcher.add_many(filters.items())
        events = [make.event() for _ in range(50)]
        table = events_to_table([event for event in events if isinstance(event, SemanticEvent)])
        _judge(matcher, filters, table)
        for key in (3, 17):
            matcher.remove(key)
            del filters[key]
        _judge(matcher, filters, table.slice(7, 15))


def _weather(make: np.random.Generator, rows: int) -> pa.Table:
    units = ["degC", "degF", "K", "parsec", None]
    kinds = make.integers(0, len(units), rows)
    coded = pa.DictionaryArray.from_arrays(pa.array(kinds, pa.int32(), mask=kinds == 4), pa.array(units[:4]))
    return pa.table(
        {
            "t": pa.array(np.round(make.uniform(-40, 120, rows), 1), mask=make.random(rows) < 0.2),
            "t@unit": coded,
            "q": pa.array(make.integers(0, 9, rows), mask=make.random(rows) < 0.2),
            "s": pa.array([f"s{n}" for n in make.integers(0, 6, rows)], mask=make.random(rows) < 0.2),
        }
    )


def _asked(make: np.random.Generator, count: int) -> dict[int, Filter]:
    shapes = (
        "t >= {a} [K] AND t < {b} [K] AND q >= {q}",
        "t BETWEEN {a} [K] AND {b} [K] AND s = 's{q}'",
        "s <> 's{q}' AND (t > {b} [K] OR q = {q})",
        "t IS NULL AND q < {q}",
        "NOT (t < {b} [K] AND s IN ('s1', 's{q}'))",
        "s LIKE '%{q}' AND u IS NULL",
        "q + 1 > {q} AND t > {b} [K]",
        "u > 3",
        "TRUE",
    )
    filters = {}
    for key in range(count):
        low = round(float(make.uniform(230, 320)), 1)
        text = shapes[key % (len(shapes) if key % 5 else 3)]
        filters[key] = Filter.parse(text.format(a=low, b=low + round(float(make.exponential(3)), 1), q=key % 9))
    return filters


def test_ranges_in_units_row_by_row() -> None:
    make = np.random.default_rng(5)
    filters = {key: one for key, one in _asked(make, 400).items() if "+" not in str(one)}
    matcher = Matcher()
    matcher.add_many(filters.items())
    table = _weather(make, 300)
    _judge(matcher, filters, table)
    assert _is_indexed(matcher)
    _judge(matcher, filters, table.slice(13, 100))
    _judge(matcher, filters, pa.concat_tables([table.slice(200), table.slice(0, 50)]))
    _judge(matcher, filters, table.slice(0, 0))
    late = Filter.parse("t > 300.05 [K]")
    matcher.add(1000, late)
    _judge(matcher, {**filters, 1000: late}, table)


def test_more_rows_than_a_block_and_more_matches_than_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_matching, "_ROOM", 256)
    make = np.random.default_rng(6)
    table = _weather(make, 3000)
    filters = {key: Filter.parse(f"q >= {key % 4}") for key in range(60)}
    matcher = Matcher()
    matcher.add_many(filters.items())
    found = matcher.match_batch(table)
    values = table.column("q").to_pylist()
    expected = [[] if q is None else [key for key in filters if q >= key % 4] for q in values]
    assert [found.row(row) for row in range(table.num_rows)] == expected
    assert _is_indexed(matcher)


def test_rows_that_are_no_events() -> None:
    table = pa.table({"x": [1.0, float("nan"), 2.0, float("inf"), None] * 300})
    filters = {key: Filter.parse(f"x > {key}") for key in range(3)}
    matcher = Matcher()
    matcher.add_many(filters.items())
    _judge(matcher, filters, table)
    assert _is_indexed(matcher)
    assert {error.row % 5 for error in matcher.match_batch(table).errors} == {1, 3}


def test_more_places_to_look_than_bits_in_a_word() -> None:
    make = np.random.default_rng(7)
    rows, names = 200, [f"a{n}" for n in range(90)]
    table = pa.table({name: pa.array(make.integers(0, 6, rows), mask=make.random(rows) < 0.5) for name in names})
    texts = [f"{name} = {make.integers(6)}" for name in names]
    texts += [f"{name} > {make.integers(6)} AND {make.choice(names)} = {make.integers(6)}" for name in names]
    filters = {key: Filter.parse(text) for key, text in enumerate(texts)}
    matcher = Matcher()
    matcher.add_many(filters.items())
    _judge(matcher, filters, table)
    assert _is_indexed(matcher)
    plans = matcher._both[0]._batches._planner._plans  # type: ignore[attr-defined]
    assert len(plans[0].indexed[1].entries) > 64
