"""What a strategy tells a neighbour: complete, minimal in its kind, and independent of the order things came in."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters import Filter
from conceptpubsub.routing.clients import as_event
from conceptpubsub.routing.comparing import Comparison, comparison
from conceptpubsub.routing.gates import apart
from conceptpubsub.routing.strategies import STRATEGIES, strategy
from conceptpubsub.routing.strategy import Change, Member, Reduction
from tests.generators import FEATURES, Generator
from tests.worlds import NAMES, world

QUICK = FEATURES - {"arithmetic", "pairs", "compound", "matches", "like"}
KINDS = [*sorted(set(STRATEGIES) - {"flooding"}), "imperfect"]


def reduction(kind: str, by: Comparison) -> Reduction:
    made = strategy("merging", excess=0.4) if kind == "imperfect" else strategy(kind)
    return made.subscriptions(by)


def apply(told: dict[str, Filter], change: Change) -> None:
    for key, filter in change.announce:
        told[key] = filter
    for key in change.withdraw:
        del told[key]


def matches(filter: Filter, event: object) -> bool:
    try:
        return filter.matches(event)  # type: ignore[arg-type]
    except ConceptPubSubError:
        return False


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(NAMES),
    kind=st.sampled_from(KINDS),
    by=st.sampled_from(["semantic", "syntactic"]),
    count=st.integers(1, 12),
    conjunctions=st.booleans(),
)
def test_what_is_told_stands_for_what_is_held(
    seed: int, name: str, kind: str, by: str, count: int, conjunctions: bool
) -> None:
    rng = random.Random(seed)
    make = Generator(rng, world(name), features=QUICK, atoms=3)

    def filter() -> Filter:
        scope = make.scope()
        made = Filter.parse(make.conjunction(), **scope) if conjunctions else make.filter(scope)
        empty = not made.satisfiable() or Filter.parse("FALSE", **scope).covers(made)
        return filter() if empty else made  # brokers tell nobody of what never matches

    held: dict[Member, Filter] = {(f"B{n % 3}", f"k{n}"): filter() for n in range(count)}
    shared = comparison(by)
    first, second = reduction(kind, shared), reduction(kind, comparison(by))
    told: dict[str, Filter] = {}
    for member, one in held.items():
        apply(told, first.change([(member, one)]))
    gone = rng.sample(sorted(held), count // 3)
    for member in gone:
        apply(told, first.change((), [member]))
    left = [(member, one) for member, one in held.items() if member not in gone]
    rng.shuffle(left)
    second.change(left)

    assert told == first.told, "the changes add up to what is told"
    if kind != "simple":
        assert set(first.told) == set(second.told), "whatever the order"
    for _ in range(20):
        event = as_event(make.event())
        if any(matches(one, event) for _, one in left):
            assert any(matches(one, event) for one in first.told.values())
        elif kind != "imperfect":
            assert not any(matches(one, event) for one in first.told.values())
    if kind in ("covering", "merging"):
        roots = list(first.told.values())
        assert not any(shared.covers(a, b) for a in roots for b in roots if a is not b)

    apply(told, first.change((), [member for member, _ in left]))
    assert told == {}
    assert first.is_empty()


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(NAMES))
def test_filters_that_are_seen_to_lie_apart_do(seed: int, name: str) -> None:
    make = Generator(random.Random(seed), world(name), features=QUICK, atoms=3)
    filters = [make.filter() for _ in range(6)]
    for _ in range(30):
        event = as_event(make.event())
        matching = [one for one in filters if matches(one, event)]
        assert not any(apart(a, b) for a in matching for b in matching)


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(NAMES))
def test_covering_by_spelling_is_covering(seed: int, name: str) -> None:
    make = Generator(random.Random(seed), world(name), features=QUICK, atoms=2)
    by_spelling = comparison("syntactic")
    scope = make.scope()
    filters = [make.filter(scope) for _ in range(6)]
    pairs = [(f, g) for f in filters for g in filters if f is not g and by_spelling.covers(f, g)]
    for _ in range(20):
        event = as_event(make.event())
        for f, g in pairs:
            if matches(g, event):
                assert matches(f, event)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smaller_the_table_the_later_in_the_list(kind: str) -> None:
    make = Generator(random.Random(7), world("vehicles"), "sql", QUICK, 2)
    scope = make.scope()
    members = [(("B1", f"k{n}"), make.filter(scope)) for n in range(120)]
    sizes = {}
    for each in KINDS:
        made = reduction(each, Comparison())
        made.change(members)
        sizes[each] = len(made.told)
    assert sizes["simple"] == 120
    assert sizes["simple"] > sizes["identity"] > sizes["covering"] >= sizes["merging"] >= sizes["imperfect"] > 0
    assert sizes[kind] > 0


def test_amounts_in_two_currencies_are_not_seen_to_lie_apart() -> None:
    dear, cheap = Filter.parse("price > 100 EUR"), Filter.parse("price < 50 USD")
    assert not apart(dear, cheap), "at some rate 40 USD are 120 EUR"
    assert dear.overlaps(cheap)
    assert apart(dear, Filter.parse("price < 50 EUR"))
