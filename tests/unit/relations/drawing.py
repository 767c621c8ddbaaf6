"""Pairs of filters that often have something to do with one another, over every world and semantics."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from conceptpubsub.errors import FilterError
from conceptpubsub.filters import Filter
from tests.generators import FEATURES, SEMANTICS, Generator
from tests.worlds import world

MIXED = (*((each, each) for each in SEMANTICS), ("sql", "strict"), ("default", "sql"), ("strict", "default"))
SIMPLE = FEATURES - {"arithmetic", "pairs", "compound"}
"""Without arithmetic and comparisons of attributes, so that the domain engine has an answer."""


class Pair(NamedTuple):
    """Two filters of one world."""

    one: Filter
    other: Filter
    world: str


def pairs(name: str, count: int, seed: int, features: frozenset[str] = FEATURES, atoms: int = 3) -> Iterator[Pair]:
    """That many pairs, the same each time: unrelated ones, and one made from the other by AND, OR or NOT."""
    rng = random.Random(seed)
    make = Generator(rng, world(name), None, features, atoms)
    made = 0
    while made < count:
        first, second = rng.choice(MIXED)
        make.semantics = first
        mine = make.scope()
        if second != first:
            make.semantics = second
        theirs = mine if second == first else make.scope()
        try:
            one = make.filter(mine)
            other = (
                Filter.parse(_relative(make, str(one), rng), **theirs) if rng.random() < 0.5 else make.filter(theirs)
            )
        except FilterError:
            continue
        made += 1
        yield Pair(one, other, name) if rng.random() < 0.5 else Pair(other, one, name)


def _relative(make: Generator, text: str, rng: random.Random) -> str:
    whole = f"({text or 'TRUE'})"
    return rng.choice((f"{whole} AND ({make.atom()})", f"{whole} OR ({make.atom()})", f"NOT {whole}", whole))
