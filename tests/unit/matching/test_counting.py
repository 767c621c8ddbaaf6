"""The counting engine against the reference evaluator, and what the forwarding algorithm promises."""

from __future__ import annotations

import random
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.counting import CountingEngine
from conceptpubsub.matching.counting_conjunctions import MAX_CONJUNCTIONS, MAX_TESTS, conjunctions
from conceptpubsub.matching.counting_labels import Column
from conceptpubsub.matching.scan import ScanEngine
from tests.generators import Generator, generators
from tests.worlds import NAMES, world


def engines(filters: list[Filter], ways: int = 3) -> tuple[CountingEngine, ScanEngine]:
    fast, slow = CountingEngine(), ScanEngine()
    for slot, filter in enumerate(filters):
        interfaces = tuple({slot % ways, slot * 7 % ways}) if slot % 5 else ()
        fast.add(slot, filter, interfaces)
        slow.add(slot, filter, interfaces)
    return fast, slow


def same(fast: Any, slow: Any, event: Any) -> None:
    one: list[Any] = []
    other: list[Any] = []
    assert list(fast.match(event, one)) == list(slow.match(event, other))
    assert one == other
    assert fast.interfaces(event) == slow.interfaces(event)


@given(generators(), st.integers(1, 12))
@settings(max_examples=80, deadline=None)
def test_it_answers_as_the_evaluator(make: Generator, count: int) -> None:
    fast, slow = engines([make.filter() for _ in range(count)])
    for _ in range(4):
        same(fast, slow, make.event())


@pytest.mark.long
@given(generators(atoms=9), st.integers(1, 25))
@settings(max_examples=3000, deadline=None)
def test_it_answers_as_the_evaluator_at_length(make: Generator, count: int) -> None:
    fast, slow = engines([make.filter() for _ in range(count)])
    for _ in range(4):
        same(fast, slow, make.event())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("semantics", ["sql", "strict", "total", "default"])
def test_many_filters_of_each_world(name: str, semantics: str) -> None:
    make = Generator(random.Random(f"{name} {semantics}"), world(name), semantics)
    fast, slow = engines([make.filter() for _ in range(80)], ways=5)
    for _ in range(12):
        same(fast, slow, make.event())


@pytest.mark.parametrize("name", NAMES)
def test_filters_come_and_go(name: str) -> None:
    rng = random.Random(name)
    make = Generator(rng, world(name))
    fast, slow = CountingEngine(), ScanEngine()
    live: list[int] = []
    for slot in range(160):
        filter, interfaces = make.filter(), (rng.randrange(6),)
        fast.add(slot, filter, interfaces)
        slow.add(slot, filter, interfaces)
        live.append(slot)
        while live and rng.random() < 0.45:
            gone = live.pop(rng.randrange(len(live)))
            fast.remove(gone)
            slow.remove(gone)
        if slot % 4 == 0:
            same(fast, slow, make.event())
    assert fast.stats()["filters"] == len(live)


EDGES = [0, 1, -1, 2**53, 2**53 + 1, 2**63, 10**400, -(10**400), 0.1, 0.3, 1e308, 5e-324, Fraction(1, 3), True, "1", ""]


@pytest.mark.parametrize("op", ["=", "<>", "<", "<=", ">", ">="])
def test_numbers_are_compared_exactly(op: str) -> None:
    constants = ["0.1", "0.1000000000000000000001", "0.30000000000000004", "9007199254740992", "9007199254740993"]
    constants += ["9223372036854775808", "1e308", "5e-324", "1" + "0" * 400, "1" + "0" * 399 + "1", "'1'", "''"]
    constants += ["TRUE"] if op in ("=", "<>") else []
    fast, slow = engines([Filter.parse(f"x {op} {constant}") for constant in constants])
    for value in EDGES:
        same(fast, slow, {"x": value})


@given(st.lists(st.lists(st.fractions() | st.integers() | st.integers(-3, 3), max_size=8), max_size=8), st.data())
def test_labels_keep_the_order_of_numbers(batches: list[list[Any]], data: st.DataObject) -> None:
    column, every = Column("number"), set()
    for batch in batches:
        old = column
        column, moved = column.extended(batch)
        every |= set(batch)
        if moved is None:
            assert [column.constant(c) for c in old.constants] == old.labels
        else:
            assert [column.constant(c) for c in old.constants] == moved.tolist()
    assert column.constants == sorted(every)
    assert all(label % 2 == 0 for label in column.labels)
    value = data.draw(st.fractions() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([*every, 0]))
    number = Fraction(str(value)) if isinstance(value, float) else value
    label = column.label(value)
    for constant in every:
        assert (label < column.constant(constant)) == (number < constant)
        assert (label == column.constant(constant)) == (number == constant)


def test_labels_move_when_a_gap_is_used_up() -> None:
    engine, slow = CountingEngine(), ScanEngine()
    low, high = Fraction(0), Fraction(1)
    for slot in range(80):  # always into the same gap
        low = (low + high) / 2
        filter = Filter.parse(f"x {'<' if slot % 2 else '>='} {float(low)!r} OR x = {float(low)!r}")
        engine.add(slot, filter, ())
        slow.add(slot, filter, ())
        same(engine, slow, {"x": float(low)})
    for slot in range(0, 80, 7):
        same(engine, slow, {"x": 1 - 2.0 ** -(slot / 2 + 1)})


def test_interfaces_short_circuit() -> None:
    engine = CountingEngine()
    for slot in range(1000):
        engine.add(slot, Filter.parse(f"x > {slot % 7} AND y < {slot + 10}"), (slot % 4, (slot + 1) % 4))
    assert engine.interfaces({"x": 100, "y": 0}) == {0, 1, 2, 3}
    (segment,) = engine._table.segments
    reached = segment.counters >= segment.epoch[0]
    assert np.count_nonzero(reached & (segment.counters % 256 == 2)) < 10  # four interfaces are soon found


def test_a_huge_disjunction_is_still_exact() -> None:
    text = " AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(20)) + " AND k = 5"
    filter = Filter.parse(text)
    made = conjunctions(filter.normal, (), "sql", lambda ref: hash(ref.key), {})
    assert len(made) <= MAX_CONJUNCTIONS
    assert all(part.checked and part.constraints for part in made)
    m = Matcher(engine="counting")
    m.add("huge", filter)
    event = {f"{'a' if i % 3 else 'b'}{i}": 1 for i in range(20)}
    assert m.match({**event, "k": 5}) == ["huge"]
    assert m.match({**event, "k": 4}) == []
    assert m.match({**event, "a2": 0, "k": 5}) == []


def test_a_long_conjunction_is_still_exact() -> None:
    filter = Filter.parse(" AND ".join(f"a{i} > {i}" for i in range(500)))
    m = Matcher(engine="counting")
    m.add(1, filter)
    event = {f"a{i}": i + 1 for i in range(500)}
    assert m.match(event) == [1]
    assert m.match({**event, "a499": 0}) == []


def test_more_tests_of_text_than_are_counted() -> None:
    fast, slow = engines(
        [Filter.parse(f"s {'NOT ' * (n % 3 == 0)}LIKE '%{n}_{n % 7}%'") for n in range(MAX_TESTS + 40)]
    )
    for text in ("1x1", "295_1", "", "3 3 100 2", "x" * 1000 + "17_3"):
        same(fast, slow, {"s": text})
    assert fast.stats()["checked"] == 40


def test_events_with_thousands_of_attributes() -> None:
    m = Matcher(engine="counting")
    m.add("k", Filter.parse("a7 = 7 AND a4999 > 1"))
    assert m.match({f"a{i}": i for i in range(5000)}) == ["k"]


def test_matching_goes_on_while_filters_come_and_go() -> None:
    m = Matcher(engine="counting")
    m.add("stays", Filter.parse("x > 0"), interface="A")
    failures: list[Any] = []

    def change() -> None:
        for i in range(150):
            m.add(i, Filter.parse(f"x > {i % 5} AND y = {i}"), interface=i % 3)
            if i > 10:
                m.remove(i - 10)

    def read() -> None:
        for i in range(300):
            found, ways = m.match({"x": 9, "y": i}), m.interfaces({"x": 9, "y": i})
            if "stays" not in found or "A" not in ways:
                failures.append((found, ways))

    threads = [threading.Thread(target=change), *(threading.Thread(target=read) for _ in range(3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_stats_and_explain_say_what_is_counted() -> None:
    m = Matcher(engine="counting")
    m.add("k", Filter.parse("x > 1 AND x + z > 3 OR y IN (1, 2, 3)"))
    m.match({"x": 2, "z": 2})
    stats = m.stats()
    assert (stats["conjunctions"], stats["checked"], stats["verifications"]) == (2, 1, 1)
    assert "all counted" in m.explain("k", {"y": 2})
