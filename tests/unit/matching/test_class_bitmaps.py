"""Class bitmaps: filters with more cubes than planes, with very many, far apart, or asked about; and bounded memory."""

from __future__ import annotations

import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher

pytest.importorskip("pyarrow")
import pyarrow as pa

from conceptpubsub.matching import class_kernels as cl


def several_cubes(rng: random.Random, most: int) -> str:
    """A disjunction of conjunctions over few constants."""

    def test() -> str:
        name = rng.choice("abcd")
        return f"{name} {rng.choice(('=', '<', '>', '<>'))} {rng.randrange(1, 5)}"

    return " OR ".join(f"({test()} AND {test()} AND {test()})" for _ in range(rng.randint(1, most)))


def events(rng: random.Random, count: int) -> list[dict[str, Any]]:
    return [{name: rng.randrange(7) for name in "abcd" if rng.random() < 0.9} for _ in range(count)]


def both(texts: list[str], semantics: str = "sql") -> tuple[Matcher, Matcher]:
    """The default engine with bitmaps wherever they can be, and one that asks every filter."""
    filters = [Filter.parse(text, semantics=semantics) for text in texts]
    made = Matcher(tail=0, ratio=1000, dense=1, rows=1, classes=1), Matcher("scan")
    for matcher in made:
        matcher.add_many(enumerate(filters))
    return made


def bitmaps_of(matcher: Matcher) -> list[Any]:
    engine: Any = matcher._both[0]
    return [segment.dense.bitmaps for segment in engine.index.segments if segment.dense is not None]


@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
@pytest.mark.parametrize("most", [1, 3, 9, 60])
def test_filters_with_more_cubes_than_planes(most: int, semantics: str) -> None:
    rng = random.Random(most)
    ours, judge = both([several_cubes(rng, most) for _ in range(300)], semantics)
    asked = events(rng, 60)
    for event in asked:
        found = judge.match(event)
        assert ours.match(event) == found
        assert np.flatnonzero(np.unpackbits(ours.bitmap(event))).tolist() == found
    table = pa.table({name: [event.get(name) for event in asked * 20] for name in "abcd"})
    batch = ours.match_batch(table)
    for row in range(0, 1200, 7):
        assert batch.row(row) == judge.match(asked[row % 60])
    assert any(maps is not None and maps.row[cl.OPEN] < maps._most for maps in bitmaps_of(ours)), "some were learnt"


def test_one_filter_with_very_many_cubes_goes_by_itself() -> None:
    rng = random.Random(4)
    wide = " AND ".join(f"(a = {n} OR b = {n + 1} OR c > {n})" for n in range(6))
    ours, judge = both(
        [several_cubes(rng, 2) for _ in range(150)] + [wide] + [several_cubes(rng, 2) for _ in range(150)]
    )
    for event in events(rng, 60):
        assert ours.match(event) == judge.match(event)


def test_filters_that_all_have_very_many_cubes() -> None:
    rng = random.Random(8)
    texts = [
        " AND ".join(f"(a = {rng.randrange(4)} OR b > {rng.randrange(4)} OR c <> {n} OR d < {n})" for n in range(5))
        for _ in range(60)
    ]
    ours, judge = both(texts)
    for event in events(rng, 30):
        assert ours.match(event) == judge.match(event)


def test_classes_beyond_the_bound_are_verified() -> None:
    """A column with more classes than there is room for costs time, never an answer."""
    rng = random.Random(5)
    texts = [f"a > {rng.randrange(100)} AND (b < {rng.randrange(100)} OR c <> {rng.randrange(3)})" for _ in range(400)]
    ours, judge = both(texts)
    asked = [{"a": rng.randrange(110), "b": rng.randrange(110), "c": rng.randrange(4)} for _ in range(400)]
    for event in asked:
        assert ours.match(event) == judge.match(event)
    full = [maps for maps in bitmaps_of(ours) if maps is not None]
    assert full
    assert all(maps.row[cl.OPEN] == 0 for maps in full)
    table = pa.table({name: [event[name] for event in asked] for name in "abc"})
    batch = ours.match_batch(table)
    assert [batch.row(row) for row in range(400)] == [judge.match(event) for event in asked]


def test_what_was_learnt_is_not_carried_along() -> None:
    rng = random.Random(6)
    ours, judge = both([several_cubes(rng, 4) for _ in range(200)])
    asked = events(rng, 20)
    for event in asked:
        ours.match(event)
    again: Matcher = pickle.loads(pickle.dumps(ours))
    assert all(maps is None or maps.row[cl.OPEN] == maps._most for maps in bitmaps_of(again))
    assert [again.match(event) for event in asked] == [judge.match(event) for event in asked]


def test_threads_learn_classes_while_others_match_and_filters_come() -> None:
    rng = random.Random(7)
    ours, judge = both([several_cubes(rng, 5) for _ in range(400)])
    asked = events(rng, 200)
    expected = [judge.match(event) for event in asked]
    table = pa.table({name: [event.get(name) for event in asked] for name in "abcd"})
    wrong: list[Any] = []

    def single() -> None:
        for event, found in zip(asked, expected, strict=True):
            if [key for key in ours.match(event) if key < 400] != found:
                wrong.append(event)
            bits = np.flatnonzero(np.unpackbits(ours.bitmap(event))).tolist()
            if [place for place in bits if place < 400] != found:
                wrong.append(event)

    def tables() -> None:
        for _ in range(5):
            batch = ours.match_batch(table)
            batch.bitmap()
            for row, found in enumerate(expected):
                if [key for key in batch.row(row) if key < 400] != found:
                    wrong.append(asked[row])

    def adds() -> None:
        for key in range(400, 460):
            ours.add(key, Filter.parse(several_cubes(random.Random(key), 3)))

    threads = [threading.Thread(target=each) for each in (single, tables, single, adds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
