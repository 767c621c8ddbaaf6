"""Interfaces against the evaluator, where most are found by unions: bounds and single values, many to an attribute.

Unions are made after some events and are no longer used once a filter is removed, until they are made anew: so here
events come between all that adds and removes filters, and `united=1` makes unions of whatever can be united.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from tests.generators import SEMANTICS
from tests.properties.test_matching import Judge
from tests.worlds import world

pytest.importorskip("pyarrow")
import pyarrow as pa

SHAPES: tuple[dict[str, int], ...] = (
    {"tail": 0, "ratio": 1000, "united": 1},
    {"tail": 2, "ratio": 2, "united": 1},
    {"tail": 0, "ratio": 0, "united": 3},
    {"tail": 0, "ratio": 1, "united": 20, "dense": 1},
)
"""One segment; a tail and several; one for each that was added; long runs only, beside a dense part."""
VALUES = {"a": range(40), "b": range(6), "s": ("u", "v", "w", "x"), "t": (True, False)}


def comparison(rng: random.Random, name: str) -> str:
    """A comparison: mostly a bound, where there are any."""
    value = rng.choice(VALUES[name])
    if isinstance(value, bool):
        return f"{name} = {str(value).upper()}"
    op = rng.choices(["<", "<=", ">", ">=", "=", "<>"], [4, 2, 4, 2, 6, 1])[0]
    return f"{name} {op} {value!r}"


def some_filter(rng: random.Random, semantics: str | None) -> Filter:
    """Mostly one comparison; some conjunctions and disjunctions, and what only the evaluator can tell."""
    tests = [comparison(rng, rng.choice("abst")) for _ in range(rng.choice((1, 1, 1, 1, 2, 3)))]
    text = rng.choice((" AND ", " AND ", " OR ")).join(tests)
    if rng.random() < 0.03:
        text = f"{text} AND NOT (s = r)"
    return Filter.parse(text, semantics=semantics or rng.choice(SEMANTICS))


def some_event(rng: random.Random) -> dict[str, Any]:
    """Some attributes, with values between and beyond the constants, too."""
    made: dict[str, Any] = {name: rng.choice(VALUES[name]) for name in "abst" if rng.random() < 0.6}
    if "a" in made and rng.random() < 0.5:
        made["a"] += rng.choice((0.5, -50, 50))
    if rng.random() < 0.2:
        made["r"] = rng.choice(VALUES["s"])
    return made


def some_interfaces(rng: random.Random, most: int) -> frozenset[str]:
    """Mostly one."""
    return frozenset(f"B{rng.randrange(most)}" for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 5))))


def check(judge: Judge, rng: random.Random, events: int) -> None:
    """Single events, the same as a table, and both once more: the first may have had unions made."""
    made = [some_event(rng) for _ in range(events)]
    expected = [judge.expected(event)[2] for event in made]
    table = pa.table({
        name: pa.array([event.get(name) for event in made], kind)
        for name, kind in (("a", pa.float64()), ("b", pa.int64()), ("s", pa.string()), ("t", pa.bool_()),
                           ("r", pa.string()))
    })  # fmt: skip
    for _ in range(2):
        for event, interfaces in zip(made, expected, strict=True):
            assert judge.matcher.interfaces(event) == interfaces, event
        assert judge.matcher.interfaces_batch(table) == expected


@pytest.mark.parametrize("options", SHAPES, ids=str)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 32), count=st.sampled_from((3, 30, 150)), most=st.sampled_from((3, 70, 200)))
def test_filters_that_come_and_go(options: dict[str, int], seed: int, count: int, most: int) -> None:
    rng = random.Random(seed)
    semantics = rng.choice((None, *SEMANTICS))
    judge = Judge(**options)
    judge.add([(key, some_filter(rng, semantics), some_interfaces(rng, most)) for key in range(count)])
    check(judge, rng, 3)
    for step in range(4):
        for key in rng.sample(sorted(judge.held), min(len(judge.held), rng.choice((0, 1, count // 4)))):
            judge.remove(key)
        if rng.random() < 0.5:
            check(judge, rng, 1)
        for key in range(1000 * step + 1000, 1000 * step + 1000 + rng.choice((0, 1, 20))):
            judge.add([(key, some_filter(rng, semantics), some_interfaces(rng, most + step))])
        check(judge, rng, 2)


@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
def test_several_attributes_of_one_concept(semantics: str) -> None:
    """A reference is bound to each of them in turn: a bound is met where one of them meets it."""
    rng, scope = random.Random(3), world("vehicles").scope(semantics, defaults=False)
    judge = Judge(tail=0, ratio=1000, united=1)
    names = ("Temperature", "InTemperature", "OutTemperature")

    def bound() -> str:
        return f"{rng.choice(names)} {rng.choice(('<', '>', '<=', '>=', '='))} {rng.randrange(-20, 40)} degC"

    texts = [rng.choice((bound(), bound(), f"{bound()} AND {bound()}")) for _ in range(300)]
    judge.add([(key, Filter.parse(t, **scope), frozenset((f"B{key % 90}",))) for key, t in enumerate(texts)])
    for step in range(30):
        event = {name: rng.randrange(-25, 45) for name in rng.sample(names, rng.randint(1, 3))}
        assert judge.matcher.interfaces(event) == judge.expected(event)[2]
        if step % 10 == 9:
            judge.remove(rng.choice(sorted(judge.held)))


@pytest.mark.parametrize("most", [64, 65, 1024, 3000])
def test_numbers_of_interfaces(most: int) -> None:
    """As many as fill a word, one more, as many as are united, and more than that; alone and in sets of several."""
    rng = random.Random(4)
    judge = Judge(tail=0, united=1)
    judge.add([
        (key, Filter.parse(f"{rng.choice('ab')} {rng.choice('<>')} {key % 50}"),
         frozenset((f"B{key % most}", *(f"B{rng.randrange(most)}" for _ in range(rng.choice((0, 0, 3)))))))
        for key in range(most + 10)
    ])  # fmt: skip
    for a in (-1, 0, 25, 49, 100):
        for event in ({"a": a}, {"a": a, "b": 49 - a}, {}):
            for _ in range(3):
                assert judge.matcher.interfaces(event) == judge.expected(event)[2]
    table = pa.table({"a": [-1, 0, 25], "b": [None, 100, 25]})
    rows = [{"a": -1}, {"a": 0, "b": 100}, {"a": 25, "b": 25}]
    assert judge.matcher.interfaces_batch(table) == [judge.expected(row)[2] for row in rows]


def test_what_only_the_evaluator_tells_is_in_no_union() -> None:
    """A bound that is met is not enough: the rest of the filter must be asked for."""
    judge = Judge(tail=0, united=1)
    plain = [(key, Filter.parse(f"a < {key}"), frozenset("A")) for key in range(40)]
    asking = Filter.parse("a < 20 AND NOT (s = r)", semantics="default")
    judge.add([*plain, (100, asking, frozenset("B")), (101, Filter.parse("b > 1"), frozenset("C"))])
    for _ in range(3):
        for event in ({"a": 10}, {"a": 10, "s": "u", "r": "u"}, {"a": 10, "s": "u", "r": "v"}, {"a": 30}):
            assert judge.matcher.interfaces(event) == judge.expected(event)[2]


def test_a_matcher_with_unions_is_copied_without_them() -> None:
    import pickle

    matcher = Matcher(tail=0, united=1)
    matcher.add_many((key, Filter.parse(f"a < {key}"), f"B{key % 3}") for key in range(50))
    for _ in range(5):
        assert matcher.interfaces({"a": 10}) == {"B0", "B1", "B2"}
    (segment,) = matcher._both[0].index.segments  # type: ignore[attr-defined]
    assert segment.unions is not None
    copy = pickle.loads(pickle.dumps(matcher))
    for key in range(49):
        copy.remove(key)
    assert copy.interfaces({"a": 10}) == {"B1"}
    assert matcher.interfaces({"a": 10}) == {"B0", "B1", "B2"}
