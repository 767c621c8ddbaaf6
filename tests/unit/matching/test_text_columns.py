"""Columns of texts under predicates, table after table: what is kept from one is right for the next."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.scan import answer
from tests.generators import SEMANTICS

pytest.importorskip("pyarrow")
import pyarrow as pa

TESTS = (
    "s CONTAINS 'a'", "s WITHIN 'abab'", "s = 'a'", "s <> 'ab'", "s LIKE 'a%b'", "s STARTS WITH 'ä'", "s < 'b'",
    "s ENDS WITH 'b'", "s IS NULL", "t CONTAINS 'b'", "t = s", "t IN ('a', 'b', '')", "n > 1",
)  # fmt: skip
texts = st.one_of(st.none(), st.text("abä€", max_size=4), st.sampled_from(["", "a", "ab", "a" * 300]))
rows = st.lists(st.fixed_dictionaries({"s": texts, "t": texts, "n": st.one_of(st.none(), st.integers(0, 3))}))


def check(matcher: Matcher, held: list[Filter], events: list[dict[str, Any]], kind: Any, cut: int) -> None:
    """A table, or what is left of it behind a cut, as the evaluator has it."""
    kinds = {"s": kind, "t": kind, "n": pa.int64()}
    table = pa.table({name: pa.array([event[name] for event in events], kind) for name, kind in kinds.items()})
    found = matcher.match_batch(table.slice(cut))
    for row, event in enumerate(events[cut:]):
        present = {name: value for name, value in event.items() if value is not None}
        assert found.row(row) == [key for key, each in enumerate(held) if answer(each, present) is True], event


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(TESTS), min_size=1, max_size=8), st.lists(rows, min_size=1, max_size=4),
    st.sampled_from(SEMANTICS), st.sampled_from((pa.string(), pa.large_string())), st.integers(0, 3), st.booleans(),
)  # fmt: skip
def test_table_after_table(
    tests: list[str], tables: list[list[dict[str, Any]]], semantics: str, kind: Any, cut: int, grows: bool
) -> None:
    held = [Filter.parse(" AND ".join(tests[i : i + 2]), semantics=semantics) for i in range(len(tests))]
    matcher = Matcher()
    matcher.add_many(enumerate(held))
    for number, events in enumerate(tables):
        check(matcher, held, events, kind, cut)
        if grows:  # a constant, and a predicate, that texts which have come before may meet
            held.append(Filter.parse(f"s CONTAINS '{'ab'[number % 2]}' AND t >= '{'b' * number}'", semantics=semantics))
            matcher.add(len(held) - 1, held[-1])


def test_more_texts_than_are_kept() -> None:
    rng = random.Random(2)
    held = [Filter.parse("s CONTAINS '77'"), Filter.parse("s ENDS WITH '1' AND n = 1"), Filter.parse("t CONTAINS 'x'")]
    matcher = Matcher()
    matcher.add_many(enumerate(held))
    for count in (10, 3000, 3000, 5000, 10):
        events = [{"s": str(rng.randrange(10**6)), "t": None, "n": 1} for _ in range(count)]
        check(matcher, held, [*events, *events[:5]], pa.string(), 0)
