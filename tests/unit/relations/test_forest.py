"""The covering forest keeps its law under every change: no root covers a root, every other is covered by its parent."""

import random

import pytest

from conceptpubsub.errors import DuplicateKey, IncompatibleFilters, UnknownKey
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology
from conceptpubsub.relations import covers
from conceptpubsub.relations.forest import CoveringForest
from tests.generators import FEATURES, random_filters
from tests.unit.relations.drawing import pairs
from tests.worlds import NAMES

PLAIN = FEATURES - {"arithmetic", "matches", "like", "contains", "within", "pairs", "money"}
"""What is decided without a solver: the law is checked on every pair."""


def _check(forest, filters):
    roots = forest.roots()
    assert len(forest) == len(filters)
    for root in roots:
        for other in roots:
            assert root == other or not covers(filters[root], filters[other]), (str(filters[root]), str(filters[other]))
    for key in filters:
        assert all(covers(filters[key], filters[child]) for child in forest.covered_by(key))
    below = [key for root in roots for key in forest.below(root)]
    assert sorted([*roots, *below]) == sorted(filters)


@pytest.mark.parametrize("semantics", ["sql", "strict", "default", "total"])
@pytest.mark.parametrize("world", ["plain", "vehicles", "plant"])
def test_the_law_holds_under_insert_and_remove(world, semantics):
    rng = random.Random(3)
    made = dict(enumerate(random_filters(25, 5, world, semantics, PLAIN, atoms=2)))
    forest, filters = CoveringForest(), {}
    for key, filter in made.items():
        forest.insert(key, filter)
        filters[key] = filter
    _check(forest, filters)
    for key in rng.sample(sorted(made), 14):
        forest.remove(key)
        del filters[key]
    _check(forest, filters)


@pytest.mark.parametrize("world", NAMES)
def test_what_covers_is_found_both_ways(world):
    """Whatever the index goes by, it hides no cover: filters of every kind, semantics mixed."""
    found = 0
    for pair in pairs(world, 250, 17, FEATURES - {"arithmetic", "matches", "like"}):
        for above, below in ((pair.one, pair.other), (pair.other, pair.one)):
            if _decided(above, below):
                found += 1
                first, second = CoveringForest(), CoveringForest()
                first.insert("above", above)
                assert first.cover_of(below) == "above", (str(above), str(below))
                second.insert("below", below)
                second.insert("above", above)
                assert len(second.roots()) == 1, (str(above), str(below))
    assert found > 50


def _decided(above, below):
    try:
        return covers(above, below)
    except IncompatibleFilters:
        return False


def _texts(rng):
    name = rng.choice(("Name", "LicensePlate", "Driver"))
    value = rng.choice(("a", "ab", "a long plate 1", "a long plate 2"))
    test = rng.choice((f"{name} = '{value}'", f"{name} STARTS WITH '{value[:2]}'", f"{name} IS NOT NULL"))
    return test + rng.choice(("", f" AND Odometer > {rng.randrange(3)} km", f" AND Distance = {rng.randrange(3)} km"))


def _numbers(rng):
    low = rng.choice((0, 1, 2, 0.5, 1e-9))
    parts = [
        rng.choice((f"x = {low}", f"x > {low}", f"x BETWEEN {low} AND {low + rng.choice((0, 1, 8))}", "x IS NULL"))
    ]
    parts += [rng.choice(("y = 'a'", "y IN ('a', 'b')", "y <> 'a'", "y > 3"))] * rng.randrange(2)
    return rng.choice((" AND ", " OR ")).join(parts)


@pytest.mark.parametrize("semantics", ["sql", "strict", "default", "total"])
@pytest.mark.parametrize("draw", [_texts, _numbers])
def test_the_law_holds_while_filters_come_and_go(draw, semantics):
    rng = random.Random(8)
    scope = {"ontology": Ontology.bundled("vehicles")} if draw is _texts else {}
    forest, filters = CoveringForest(), {}
    for number in range(90):
        filters[number] = Filter.parse(draw(rng), semantics=semantics, **scope)
        forest.insert(number, filters[number])
        if rng.random() < 0.3:
            gone = rng.choice(sorted(filters))
            forest.remove(gone)
            del filters[gone]
    _check(forest, filters)


def test_a_path_leads_through_objects():
    forest = CoveringForest()
    onto = Ontology.bundled("vehicles")
    forest.insert("any", Filter.parse("Vehicle IS NOT NULL", ontology=onto))
    forest.insert("far", Filter.parse("Vehicle.Odometer > 5 km", ontology=onto))
    assert forest.roots() == ["any"]


def test_a_cover_is_found_by_meaning():
    onto = Ontology.bundled("vehicles")
    forest = CoveringForest()
    forest.insert("warm", Filter.parse("Temperature > 20 degC", ontology=onto))
    assert forest.cover_of(Filter.parse("InTemperature > 80 degF", ontology=onto)) == "warm"
    assert forest.cover_of(Filter.parse("InTemperature > 60 degF", ontology=onto)) is None
    forest.insert("in", Filter.parse("InTemperature > 80 degF AND Odometer < 5 mile", ontology=onto))
    forest.insert("all", Filter.parse("", ontology=onto))
    assert forest.roots() == ["all"]
    assert set(forest.below("all")) == {"warm", "in"}
    forest.remove("all")
    assert forest.roots() == ["warm"]


def test_what_never_matches_hangs_below_anything():
    forest = CoveringForest()
    forest.insert("never", Filter.parse("x > 2 AND x < 1"))
    assert forest.is_root("never")
    forest.insert("a", Filter.parse("y = 1"))
    assert forest.roots() == ["a"]


def test_keys_are_known_once():
    forest = CoveringForest()
    forest.insert(1, Filter.parse("x = 1"))
    with pytest.raises(DuplicateKey):
        forest.insert(1, Filter.parse("x = 2"))
    with pytest.raises(UnknownKey):
        forest.remove(2)
