"""Tables of which much matches: answers that are written as lines of bits, and the memory they are written to."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.lending import Lender, lender, read_only

pytest.importorskip("pyarrow")
import pyarrow as pa

NAMES = "abcdst"


def condition(rng: random.Random, tests: int) -> str:
    """A Boolean condition over few names and constants."""
    if tests > 1:
        left = rng.randint(1, tests - 1)
        return f"({condition(rng, left)} {rng.choice(('AND', 'AND', 'OR'))} {condition(rng, tests - left)})"
    name = rng.choice(NAMES)
    if rng.random() < 0.1:
        return f"{name} IS {rng.choice(('', 'NOT '))}NULL"
    if name in "st":
        text = rng.choice(("= 'u'", "<> 'v'", "= 'w'", "CONTAINS 'u'"))
        return f"{'NOT ' if rng.random() < 0.2 else ''}{name} {text}"
    return f"{name} {rng.choice(('=', '<>', '<', '<=', '>', '>='))} {rng.randrange(5)}"


def events(rng: random.Random, count: int, present: float) -> list[dict[str, Any]]:
    return [
        {
            name: rng.choice(("u", "v", "uv", "")) if name in "st" else rng.randrange(-1, 6)
            for name in NAMES
            if rng.random() < present
        }
        for _ in range(count)
    ]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    kinds = {name: pa.string() if name in "st" else pa.int64() for name in NAMES}
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})


def both(texts: list[str], semantics: str) -> tuple[Matcher, Matcher]:
    """The default engine, with everything in a dense part, and one that asks every filter."""
    ours, judge = Matcher(tail=0, ratio=1000, dense=1, rows=1, classes=1), Matcher("scan")
    for matcher in (ours, judge):
        matcher.add_many((number, Filter.parse(text, semantics=semantics)) for number, text in enumerate(texts))
    return ours, judge


def agree(ours: Matcher, judge: Matcher, asked: list[dict[str, Any]], copies: int) -> None:
    """All ways to match some events lead to what the judge says."""
    places = {key: place for place, key in enumerate(ours)}
    expected = [judge.match(event) for event in asked]
    for event, found in zip(asked, expected, strict=True):
        assert ours.match(event) == found
        assert np.flatnonzero(np.unpackbits(ours.bitmap(event))).tolist() == [places[key] for key in found]
    batch = ours.match_batch(table(asked * copies))
    bits = np.unpackbits(batch.bitmap(), axis=1)
    assert len(batch) == len(bits) == len(asked) * copies
    assert np.diff(batch.offsets).tolist() == bits.sum(axis=1).tolist()
    for row in range(0, len(batch), 5):
        found = expected[row % len(asked)]
        assert batch.row(row) == found
        assert np.flatnonzero(bits[row]).tolist() == [places[key] for key in found]


@pytest.mark.parametrize("semantics", ["sql", "strict", "default", "total"])
def test_both_forms_of_entries_and_both_forms_of_answers(semantics: str) -> None:
    """Entries are disjunctions or conjunctions, whichever is shorter; answers lines or marks."""
    rng = random.Random(semantics)
    ours, judge = both([condition(rng, rng.randint(1, 11)) for _ in range(600)], semantics)
    for present in (1.0, 0.15, 0.8):
        agree(ours, judge, events(rng, 41, present), 40)
    forms = [each.dense.arrays["entry_groups"] >> 31 for each in ours._both[0].index.segments if each.dense is not None]
    assert 0 < np.concatenate(forms).mean() < 1, "some of each"


def test_segments_that_share_blocks_and_filters_that_leave() -> None:
    rng = random.Random(2)
    ours, judge = both([condition(rng, 4) for _ in range(530)], "sql")
    asked = events(rng, 23, 0.9)
    agree(ours, judge, asked, 50)
    for number in range(530, 777):  # a segment each, as long as they are not merged
        filter = Filter.parse(condition(rng, 3))
        for matcher in (ours, judge):
            matcher.add(number, filter)
        if number % 50 == 0:
            agree(ours, judge, asked, 10)
    for number in range(0, 777, 3):
        for matcher in (ours, judge):
            matcher.remove(number)
    agree(ours, judge, asked, 50)


def test_the_evaluator_is_asked_about_rows_of_lines() -> None:
    rng = random.Random(3)
    texts = [condition(rng, 5) for _ in range(300)]
    texts[::7] = [f"a + b > {n % 5} AND c < {n % 4}" for n in range(len(texts[::7]))]
    ours, judge = both(texts, "sql")
    agree(ours, judge, events(rng, 29, 0.95), 40)


def test_an_answer_stays_while_others_are_made() -> None:
    rng = random.Random(4)
    ours, judge = both([condition(rng, 5) for _ in range(200)], "sql")
    kept = []
    for present in (1.0, 0.1, 1.0, 0.1, 1.0, 0.1):
        asked = events(rng, 30, present)
        batch = ours.match_batch(table(asked * 40))
        kept.append((batch.bitmap(), batch.bitmap().copy(), [judge.match(event) for event in asked]))
        ours.bitmap(asked[0])
    for bits, copied, expected in kept:
        assert (bits == copied).all()
        for row, found in enumerate(expected):
            assert np.flatnonzero(np.unpackbits(bits[row])).tolist() == found


def test_answers_are_read_only() -> None:
    matcher = Matcher()
    matcher.add_many((n, Filter.parse(f"x > {n}")) for n in range(10))
    for rows in (3, 3000):
        bits = matcher.match_batch({"x": [5] * rows}).bitmap()
        with pytest.raises(ValueError, match="read-only"):
            bits[0, 0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            bits.flags.writeable = True


class Once:
    """One bit that was written."""

    def unpack(self, positions: Any, packed: Any) -> None:
        packed[0, 0] = 0


def test_memory_is_lent_again_only_when_nobody_has_it() -> None:
    mine, nowhere = Lender(), np.zeros(0, np.int64)
    first = mine.clear_rows(4, 100, Once(), nowhere)
    first[0, 0] = 7
    seen, place = read_only(first), first.ctypes.data
    del first
    other = mine.clear_rows(4, 100, None, nowhere)
    assert other.ctypes.data != place, "somebody still reads the first"
    assert seen[0, 0] == 7
    del seen
    again = mine.clear_rows(4, 100, Once(), nowhere)
    assert again.ctypes.data == place
    assert not again.any(), "what was written has been taken out"
    again[0, 0] = 9
    del again, other
    rows = mine.rows(2, 50)
    rows[:] = 255
    place = rows.ctypes.data
    del rows
    clear = [mine.clear_rows(4, 100, None, nowhere) for _ in range(3)]
    assert place in [each.ctypes.data for each in clear]
    assert not any(each.any() for each in clear)
    assert lender() is lender()
