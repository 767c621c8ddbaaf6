"""The default engine against the evaluator: whatever filters come and go, in whatever part of the index they lie.

Filters first wait in a tail, then lie in segments that are merged, and everything is built anew when labels run out.
Most of that needs thousands of filters, so here tails are short (`SHAPES`), and some loads are large.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.scan import answer
from conceptpubsub.model import SemanticEvent
from tests.generators import SEMANTICS, Generator, generators, random_events, random_filters
from tests.worlds import NAMES, world

pytest.importorskip("pyarrow")
import pyarrow as pa

from conceptpubsub.model.codecs.arrow_reading import table_to_events
from conceptpubsub.model.codecs.arrow_writing import events_to_table

SHAPES = (
    {"tail": 0, "ratio": 1},
    {"tail": 1, "ratio": 0},
    {"tail": 3, "ratio": 2},
    {"tail": 0, "ratio": 1000},
    {"tail": 0, "ratio": 1000, "dense": 1, "rows": 1},
    {"tail": 0, "ratio": 1000, "dense": 1, "rows": 1, "classes": 1},
    {"tail": 2, "ratio": 1, "dense": 2, "rows": 3, "classes": 1},
    {"tail": 2, "ratio": 1, "dense": 2, "rows": 3},
    {},
)
"""Every filter in a segment; segments that are never merged; a bit of everything; one segment; the same with whatever
can be dense, many rows at a time, without and with bitmaps of classes; many dense ones; only a tail."""


class Judge:
    """A Matcher, and beside it what is in it."""

    def __init__(self, **options: Any) -> None:
        self.matcher = Matcher(**options)
        self.held: dict[int, tuple[Filter, frozenset[str]]] = {}

    def add(self, entries: list[tuple[int, Filter, frozenset[str]]]) -> None:
        if len(entries) == 1:
            self.matcher.add(*entries[0], replace=True)
        else:
            self.matcher.add_many(entries, replace=True)
        for key, filter, interfaces in entries:
            self.held.pop(key, None)
            self.held[key] = filter, interfaces

    def remove(self, key: int) -> None:
        self.matcher.remove(key)
        del self.held[key]

    def expected(self, event: Any) -> tuple[list[int], list[int], set[str]]:
        """The keys that match, those of faults, and the interfaces."""
        said = {key: answer(filter, event) for key, (filter, _) in self.held.items()}
        found = [key for key, each in said.items() if each is True]
        faults = [key for key, each in said.items() if isinstance(each, str)]
        return found, faults, {name for key in found for name in self.held[key][1]}

    def check(self, event: Any) -> None:
        """What the matcher says of one event is what the evaluator says."""
        found, faults, interfaces = self.expected(event)
        assert self.matcher.match(event) == found, self.shown(event, found)
        errors: list[Any] = []
        assert self.matcher.match(event, errors) == found
        assert sorted(error.key for error in errors) == sorted(faults)
        assert self.matcher.interfaces(event) == interfaces
        places = {key: place for place, key in enumerate(self.held)}
        bits = np.unpackbits(self.matcher.bitmap(event))
        assert np.flatnonzero(bits).tolist() == sorted(places[key] for key in found)

    def check_batch(self, events: list[Any]) -> None:
        """What the matcher says of a table is what the evaluator says of its rows."""
        table = events_to_table(event for event in events if isinstance(event, SemanticEvent))
        if not table.num_rows:
            return
        rows, bad = table_to_events(table)
        assert not bad
        batch = self.matcher.match_batch(table)
        expected = [self.expected(event) for event in rows]
        for row, (found, _, _) in enumerate(expected):
            assert batch.row(row) == found, self.shown(rows[row], found)
        assert {(error.row, error.key) for error in batch.errors} == {
            (row, key) for row, (_, faults, _) in enumerate(expected) for key in faults
        }
        assert self.matcher.interfaces_batch(table) == [interfaces for _, _, interfaces in expected]
        if self.held:
            places = {key: place for place, key in enumerate(self.held)}
            for row, bits in enumerate(batch.bitmap()):
                assert [8 * i + j for i, b in enumerate(bits) for j in range(8) if b >> (7 - j) & 1] == sorted(
                    places[key] for key in expected[row][0]
                )

    def shown(self, event: Any, found: list[int]) -> str:
        """The filters on which matcher and evaluator differ."""
        wrong = set(self.matcher.match(event)) ^ set(found)
        return f"{event!r}: " + "; ".join(
            f"{f.semantics} {f} {'should' if key in found else 'should not'} match"
            for key, (f, _) in self.held.items()
            if key in wrong
        )


def interfaces(make: Generator) -> frozenset[str]:
    """No interface, one, or some."""
    return frozenset("ABCDEFGH"[make.rng.randrange(8)] for _ in range(make.rng.randrange(3)))


def steps(make: Generator, judge: Judge, count: int) -> None:
    """Add, replace, remove and match, in any order."""
    for _ in range(count):
        what = make.rng.randrange(10)
        if what < 5 or not judge.held:
            judge.add([(make.rng.randrange(20), make.filter(), interfaces(make))])
        elif what < 6:
            keys = make.rng.sample(range(40), make.rng.randrange(8))
            judge.add([(key, make.filter(), interfaces(make)) for key in keys])
        elif what < 8:
            judge.remove(make.pick(list(judge.held)))
        else:
            judge.check(make.event())


@pytest.mark.parametrize("options", SHAPES, ids=str)
@settings(max_examples=60)
@given(generators())
def test_any_filters_that_come_and_go(options: dict[str, int], make: Generator) -> None:
    judge = Judge(**options)
    steps(make, judge, 12)
    for _ in range(2):
        judge.check(make.event())


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data(), options=st.sampled_from(SHAPES))
def test_tables(name: str, data: st.DataObject, options: dict[str, int]) -> None:
    make = data.draw(generators(name))
    judge = Judge(**options)
    steps(make, judge, 10)
    judge.check_batch([make.event() for _ in range(6)])


@pytest.mark.parametrize("name", NAMES)
def test_thousands_of_filters(name: str) -> None:
    """In several segments and a tail, some of them gone, all semantics in one matcher."""
    make = Generator(random.Random(5), world(name))
    judge = Judge(tail=50, ratio=3)
    judge.add([(key, make.filter(), interfaces(make)) for key in range(900)])
    judge.check(make.event())
    for key in range(900, 1400):
        judge.add([(key, make.filter(), interfaces(make))])
        if key % 100 == 0:
            judge.check(make.event())
    for key in make.rng.sample(sorted(judge.held), 300):
        judge.remove(key)
    judge.add([(2000 + key, make.filter(), interfaces(make)) for key in range(100)])
    for key in range(3000, 3030):
        judge.add([(key, make.filter(), interfaces(make))])
    for _ in range(5):
        judge.check(make.event())
    judge.check_batch([make.event() for _ in range(8)])
    segments = judge.matcher._both[0].index.segments  # type: ignore[attr-defined]
    assert {name for segment in segments for name, array in segment.arrays.items() if array.size} >= {"stream", "keys"}


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("name", ["plain", "vehicles"])
def test_one_semantics_at_its_default_shape(name: str, semantics: str) -> None:
    judge = Judge()
    judge.add([(i, f, frozenset("ABC"[i % 3])) for i, f in enumerate(random_filters(400, 7, name, semantics))])
    events = list(random_events(10, 8, name))
    for event in events:
        judge.check(event)
    judge.check_batch(events)


@pytest.mark.parametrize("classes", [1, 1 << 40])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_filters_that_share_their_literals(semantics: str, classes: int) -> None:
    """Dense parts, more rows than are taken at a time, answers that are many, and filters that are gone."""
    rng = random.Random(9)
    judge = Judge(dense=64, classes=classes)
    judge.add([(key, shared(rng, semantics), frozenset("ABC"[key % 3])) for key in range(400)])
    events = [sparse(rng, rng.choice((0.1, 0.5, 1.0))) for _ in range(60)]
    for event in events:
        judge.check(event)
    for key in rng.sample(range(400), 100):
        judge.remove(key)
    judge.add([(key, shared(rng, semantics), frozenset("B")) for key in range(500, 600)])
    assert judge.matcher.stats().by_index["among shared literals"] > 200
    several = events * 20
    table = pa.table({name: [event.get(name) for event in several] for name in "abcd"})
    batch = judge.matcher.match_batch(table)
    places = {key: place for place, key in enumerate(judge.held)}
    bits = np.unpackbits(batch.bitmap(), axis=1)
    for row, event in enumerate(events):
        found, faults, names = judge.expected(event)
        for again in range(row, len(several), len(events)):
            assert batch.row(again) == found
            assert np.flatnonzero(bits[again]).tolist() == sorted(places[key] for key in found)
        assert judge.matcher.interfaces_batch(table.slice(row, 1)) == [names]
        if faults:
            assert {error.key for error in batch.errors if error.row == row} == set(faults)


def test_answers_that_are_bits_stay_what_they_are() -> None:
    """Rows of bits are used again only when nobody reads them any more."""
    rng = random.Random(11)
    matcher = Matcher(dense=16, rows=1)
    matcher.add_many((key, shared(rng, "default")) for key in range(300))
    kept = []
    for number in range(24):
        events = [sparse(rng, 1.0) for _ in range(1 + 100 * number)]
        found = matcher.match_batch(pa.table({name: [event[name] for event in events] for name in "abcd"}))
        if number % 3:
            kept.append((events, found))
    for events, found in kept:
        for row in range(0, len(events), 37):
            assert found.row(row) == matcher.match(events[row])


def shared(rng: random.Random, semantics: str) -> Filter:
    """A Boolean filter over four attributes and a handful of constants."""

    def part(size: int) -> str:
        if size == 1:
            name = rng.choice("abcd")
            test = f"{name} {rng.choice(('=', '<>', '<', '>='))} {rng.choice((1, 3, 5, 7))}"
            if name == "d":
                test = f"d {rng.choice(('=', '<>', 'CONTAINS', 'WITHIN'))} '{rng.choice(('a', 'b', 'ab'))}'"
            return rng.choice((test, test, test, f"NOT {test}", f"{name} IS NULL"))
        left = rng.randrange(1, size)
        return f"({part(left)} {rng.choice(('AND', 'AND', 'OR'))} {part(size - left)})"

    return Filter.parse(part(rng.randint(2, 6)), semantics=semantics)


def sparse(rng: random.Random, density: float) -> dict[str, Any]:
    """Some of the attributes."""
    made: dict[str, Any] = {name: rng.randrange(9) for name in "abc" if rng.random() < density}
    if rng.random() < density:
        made["d"] = rng.choice(("a", "b", "ab", "aab", "c"))
    return made


def conjunctions(rng: random.Random, count: int, names: int) -> list[Filter]:
    """Subscriptions as in the literature: one to five tests of texts, numbers and Booleans, many equalities."""
    made = []
    for _ in range(count):
        tests = []
        for name in rng.sample(range(names), min(names, rng.randint(1, 5))):
            op = rng.choices(["=", "<", ">", "<=", ">=", "<>"], [50, 15, 15, 5, 5, 10])[0]
            value = [f"'w{rng.randrange(40):03d}'", str(rng.randrange(60)), str(rng.randrange(600) / 8)][name % 3]
            tests.append(f"n{name} {op} {value}")
        made.append(Filter.parse(" AND ".join(tests), semantics=rng.choice(("sql", "strict"))))
    return made


@pytest.mark.parametrize("names", [6, 40, 400])
def test_a_load_of_thousands_of_conjunctions(names: int) -> None:
    rng = random.Random(11)
    filters = conjunctions(rng, 3000, names)
    judge = Judge()
    judge.add([(key, filter, frozenset({f"I{key % 20}"})) for key, filter in enumerate(filters)])
    judge.check({"n0": "w001"})
    for key in rng.sample(range(3000), 400):
        judge.remove(key)
    for key, filter in enumerate(conjunctions(rng, 300, names), 3000):
        judge.add([(key, filter, frozenset({f"I{key % 20}", "many"}))])
        if key == 3200:
            judge.check({"n1": 7, "n2": 1.5})
    events: list[Any] = []
    for _ in range(10):
        chosen = rng.sample(range(names), min(names, rng.randint(1, 12)))
        held = {
            f"n{n}": [f"w{rng.randrange(44):03d}", rng.randrange(60), rng.randrange(600) / 8][n % 3] for n in chosen
        }
        judge.check(held)
        events.append(SemanticEvent("status", held))
    judge.check_batch(events[:6])
    index = judge.matcher._both[0].index  # type: ignore[attr-defined]
    assert len(index.segments) > 1
    assert index.snapshot().segments[-1] is not index.segments[-1], "there is a tail, too"


def test_labels_that_run_out() -> None:
    """Ever closer constants leave no room between labels: a new codebook, and all is built anew."""
    judge = Judge(tail=4, ratio=2)
    low, high = 0.0, 1.0
    books = set()
    for key in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if key % 3 else (low, middle)
        judge.add([(key, Filter.parse(f"x > {middle!r}"), frozenset())])
        judge.add([(1000 + key, Filter.parse(f"x = {middle!r} OR s = 'k{key}'"), frozenset("A"))])
        for value in (low, high, middle, 0.3):
            judge.check({"x": value, "s": f"k{key - 1}"})
        books.add(id(judge.matcher._both[0].index.vocabulary.book))  # type: ignore[attr-defined]
    assert len(books) > 1


def test_slots_that_are_given_anew() -> None:
    """Filters that come and go for long leave gaps, which are closed."""
    rng, judge = random.Random(3), Judge(tail=8, ratio=2)
    filters = list(random_filters(60, 4, "plain", None))
    events = list(random_events(40, 5, "plain"))
    for step in range(5200):
        key = step % 50
        if key in judge.held and rng.random() < 0.3:
            judge.remove(key)
        else:
            judge.add([(key, rng.choice(filters), frozenset("AB"[key % 2]))])
        if step % 400 == 0:
            judge.check(rng.choice(events))
    assert judge.matcher._both[1].next_slot < 5000
    for event in events:
        judge.check(event)
