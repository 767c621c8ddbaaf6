"""The covering forest keeps its law under every change: no root covers a root, every other is covered by its parent."""

import random

import pytest

from conceptpubsub.errors import DuplicateKey, UnknownKey
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology
from conceptpubsub.relations import covers
from conceptpubsub.relations.forest import CoveringForest
from tests.generators import FEATURES, random_filters

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


@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
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
