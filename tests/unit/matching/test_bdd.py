"""The BDD engine against the reference evaluator, and what its paper promises."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.errors import FilterError, UnsupportedSemantics
from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.bdd import BddEngine
from conceptpubsub.matching.bdd_store import EVALUATIONS, ORDERS
from conceptpubsub.matching.scan import ScanEngine
from conceptpubsub.model import SemanticObject
from tests.generators import Generator, generators
from tests.worlds import NAMES, world

SEMANTICS = ("strict", "total", "default")


def engines(filters: list[Filter], **options: Any) -> tuple[BddEngine, ScanEngine]:
    fast, slow = BddEngine(**options), ScanEngine()
    for slot, filter in enumerate(filters):
        fast.add(slot, filter, (slot % 3,))
        slow.add(slot, filter, (slot % 3,))
    return fast, slow


def same(fast: Any, slow: Any, event: Any) -> None:
    one: list[Any] = []
    other: list[Any] = []
    assert list(fast.match(event, one)) == list(slow.match(event, other))
    assert one == other
    assert fast.interfaces(event) == slow.interfaces(event)


@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data(), count=st.integers(1, 10))
@settings(max_examples=50, deadline=None)
def test_it_answers_as_the_evaluator(semantics: str, data: st.DataObject, count: int) -> None:
    make = data.draw(generators(semantics=semantics))
    fast, slow = engines([make.filter() for _ in range(count)])
    for _ in range(4):
        same(fast, slow, make.event())


@pytest.mark.long
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data(), count=st.integers(1, 25))
@settings(max_examples=1500, deadline=None)
def test_it_answers_as_the_evaluator_at_length(semantics: str, data: st.DataObject, count: int) -> None:
    make = data.draw(generators(semantics=semantics, atoms=9))
    fast, slow = engines([make.filter() for _ in range(count)])
    for _ in range(4):
        same(fast, slow, make.event())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_many_filters_of_each_world(name: str, semantics: str) -> None:
    rng = random.Random(f"{name} {semantics}")
    make = Generator(rng, world(name), semantics, atoms=8)
    filters = [make.filter() for _ in range(60)]
    events = [make.event() for _ in range(8)]
    for order in ORDERS:
        for evaluation in EVALUATIONS:
            if order != "attribute" and evaluation == "auto":
                continue
            fast, slow = engines(filters, order=order, evaluation=evaluation, restrict=order != "arrival")
            for event in events[:2] if order != "attribute" else events:
                same(fast, slow, event)


@pytest.mark.parametrize("name", NAMES)
def test_the_diagram_is_extended_online(name: str) -> None:
    rng = random.Random(name)
    make = Generator(rng, world(name))
    fast, slow = BddEngine(), ScanEngine()
    live: list[int] = []
    for slot in range(120):
        make.semantics = rng.choice(SEMANTICS)
        filter = make.filter()
        fast.add(slot, filter, ())
        slow.add(slot, filter, ())
        live.append(slot)
        while live and rng.random() < 0.45:
            gone = live.pop(rng.randrange(len(live)))
            fast.remove(gone)
            slow.remove(gone)
        if slot % 4 == 0:
            same(fast, slow, make.event())
    assert fast.stats()["filters"] == len(live)


def test_sql_is_refused() -> None:
    m = Matcher(engine="bdd")
    with pytest.raises(UnsupportedSemantics, match="sql"):
        m.add(1, Filter.parse("x > 1"))
    with pytest.raises(UnsupportedSemantics, match="StSL"):
        BddEngine().add(0, Filter.parse("x > 1"), ())
    assert len(m) == 0


def test_unknown_options_are_refused() -> None:
    with pytest.raises(FilterError, match="frequency"):
        Matcher(engine="bdd", order="frequent")


def test_names_survive_reduction() -> None:
    """The paper's Alice and Bob (example 5): price < 1000 OR price > 500 is always true, and still needs a price."""
    m = Matcher(engine="bdd")
    for types in (None, {"price": "real"}):
        m.add(str(types), Filter.parse("price < 1000 OR price > 500", semantics="strict", types=types))
    m.add("joined", Filter.parse("y = 1 AND (x = 2 OR NOT x = 2)", semantics="strict"))
    assert m.match({"company": "IBM"}) == []
    assert m.match({"price": 7}) == ["None", str({"price": "real"})]
    assert m.match({"y": 1}) == []
    assert m.match({"y": 1, "x": 5}) == ["joined"]
    assert m.match({"price": "much"}) == []


def test_an_odd_value_is_left_to_the_evaluator() -> None:
    m = Matcher(engine="bdd")
    types = {"n": "real", "s": "text"}
    m.add(1, Filter.parse("n < 5 OR n >= 5 OR s = 'a'", semantics="strict", types=types))
    far = SemanticObject("n", 3, {"unit": "km"})  # a number, but none that compares with 5
    assert m.match({"n": far, "s": "b"}) == []
    assert m.stats()["verifications"] == 1
    assert m.match({"n": far, "s": "a"}) == [1]
    assert m.match({"n": 3, "s": "b"}) == [1]
    assert m.stats()["verifications"] == 2


def text(rng: random.Random, atoms: int) -> str:
    """A query as the paper's generator makes them."""
    if atoms == 1:
        name = rng.choice(["i0", "i1", "d0", "d1", "s0", "s1"])
        if name[0] == "s":
            op = rng.choice(["=", "<>", "CONTAINS", "WITHIN", "STARTS WITH", "ENDS WITH"])
            return f"{name} {op} '{rng.choice(['aa', 'bb', 'a', 'b'])}'"
        return f"{name} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {rng.choice([10, 30, 50])}"
    left = rng.randint(1, atoms - 1)
    return f"({text(rng, left)}) {rng.choice(['AND', 'OR'])} ({text(rng, atoms - left)})"


TYPES = {"i0": "int", "i1": "int", "d0": "real", "d1": "real", "s0": "text", "s1": "text"}


def message(rng: random.Random, density: float) -> dict[str, Any]:
    values = {"i": lambda: rng.choice([5, 10, 20, 30, 50, 60]), "d": lambda: rng.choice([9.5, 10.0, 30.0, 31.0, 70.0])}
    words = ["a", "b", "aa", "ab", "ba", "bb", "aab", "c", ""]
    return {n: values.get(n[0], lambda: rng.choice(words))() for n in TYPES if rng.random() < density}


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_restriction_shrinks_the_diagram_and_keeps_its_meaning(semantics: str, typed: bool) -> None:
    rng = random.Random(7)
    types = TYPES if typed else None
    filters = [Filter.parse(text(rng, rng.randint(2, 9)), semantics=semantics, types=types) for _ in range(300)]
    plain, _ = engines(filters, restrict=False)
    restricted, slow = engines(filters)
    for density in (0.2, 0.6, 1.0):
        for _ in range(15):
            event = message(rng, density)
            same(restricted, slow, event)
            assert list(plain.match(event)) == list(restricted.match(event))
    assert restricted.stats()["nodes"][semantics] < 0.85 * plain.stats()["nodes"][semantics]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("x = 3 AND x > 1", 1),
        ("x > 7 AND x < 3", 0),
        ("x < 7 OR x > 3", 0),
        ("x = 3 AND x = 4", 0),
        ("s CONTAINS 'ab' AND s WITHIN 'ba'", 0),
        ("s = 'aa' AND s CONTAINS 'a'", 1),
        ("s STARTS WITH 'a' AND s STARTS WITH 'b' OR i = 1", 1),
        ("i > 1 AND i < 2", 0),
        ("i > 1 OR i < 1.5", 0),
    ],
)
def test_related_atoms_are_restricted(text: str, nodes: int) -> None:
    engine = BddEngine()
    engine.add(0, Filter.parse(text, semantics="strict", types={"x": "real", "s": "text", "i": "int"}), ())
    assert engine.stats()["nodes"]["strict"] == nodes


def test_equal_subfilters_are_shared() -> None:
    engine = BddEngine()
    for slot in range(50):
        engine.add(slot, Filter.parse("price < 1500 AND company CONTAINS 'IBM'", semantics="strict"), ())
    assert engine.stats()["nodes"] == {"strict": 2}


@pytest.mark.parametrize("evaluation", sorted(EVALUATIONS))
def test_the_nodes_evaluate_as_the_library_does(evaluation: str) -> None:
    rng = random.Random(3)
    engine, _ = engines(
        [Filter.parse(text(rng, 6), semantics="total", types=TYPES) for _ in range(100)], evaluation=evaluation
    )
    engine.warm_up()
    store = engine._stores["total"]
    places = {place: function for function, place in store.nodes.index.items()}
    for _ in range(10):
        bound = engine._references.bind(message(rng, 1.0))
        alpha, odd = store.snapshot.assigner.assign(bound.values, bound.seen, 2)
        assert odd == []
        assignment = [(variable, bool(value)) for variable, value in enumerate(alpha)]
        expected = [
            slot for slot, root, _ in store.roots.living() if places[root].eval(assignment)
        ]  # fmt: skip
        assert store.match(bound.values, bound.seen)[0].tolist() == expected


def test_removed_filters_give_their_nodes_back() -> None:
    rng = random.Random(5)
    engine, _ = engines([Filter.parse(text(rng, 8), semantics="strict", types=TYPES) for _ in range(400)])
    before = engine.stats()["nodes"]["strict"]
    for slot in range(390):
        engine.remove(slot)
    assert engine.stats()["nodes"]["strict"] < before / 4


def test_a_filter_too_large_to_share_is_still_matched() -> None:
    hard = " OR ".join(f"(a{i} = 1 AND b{i} = 1)" for i in range(18))
    filter = Filter.parse(f"({hard}) AND c = 1", semantics="strict")
    m = Matcher(engine="bdd", order="random")
    m.add("large", filter)
    m.add("small", Filter.parse("c = 1", semantics="strict"))
    event = {**{f"{n}{i}": 0 for n in "ab" for i in range(18)}, "c": 1}
    assert m.match(event) == ["small"]
    assert m.match({**event, "a7": 1, "b7": 1}) == ["large", "small"]
    many = Filter.parse(" OR ".join(f"d{i % 400} = {i}" for i in range(3000)), semantics="default")
    m.add("many", many)
    assert m.match({"d7": 407}) == ["many"]


def test_matching_goes_on_while_filters_come_and_go() -> None:
    m = Matcher(engine="bdd")
    m.add("stays", Filter.parse("x > 0", semantics="strict"))
    failures: list[Any] = []

    def change() -> None:
        for i in range(120):
            m.add(i, Filter.parse(f"x > {i % 5} AND y = {i} OR x < -1", semantics="strict"))
            if i > 10:
                m.remove(i - 10)

    def read() -> None:
        for i in range(250):
            found = m.match({"x": 9, "y": i})
            if "stays" not in found or not set(found) <= {"stays", i}:
                failures.append(found)

    threads = [threading.Thread(target=change), *(threading.Thread(target=read) for _ in range(3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_explain_says_what_is_lacking() -> None:
    m = Matcher(engine="bdd")
    m.add("k", Filter.parse("x > 1 AND y > 1", semantics="strict"))
    assert "lacks y" in m.explain("k", {"x": 2})
    assert "node" in m.explain("k", {"x": 2, "y": 2})
    assert np.isfinite(m.stats()["bytes"])
