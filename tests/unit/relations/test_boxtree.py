"""The tree of boxes against a plain list: whatever is added and removed, in any order, nothing is missed."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.relations.boxtree import Box, BoxTree

PLACES = [-math.inf, -1e308, -3.0, -1.0, 0.0, 1e-12, 0.1, 1.0, 2, 3.5, 1000.0, 2**70, 1e292, math.inf]
ranges = st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)).map(lambda ends: (min(ends), max(ends)))
boxes = st.dictionaries(st.sampled_from(["x", "y", "z"]), ranges, max_size=3)


def _meet(few: Box, many: Box) -> bool:
    return all(name in many and many[name][0] <= high and low <= many[name][1] for name, (low, high) in few.items())


def _check(tree: BoxTree, held: dict[int, Box], asked: Box) -> None:
    assert len(tree) == len(held)
    assert sorted(tree.around(asked)) == [number for number in sorted(held) if _meet(held[number], asked)]
    assert sorted(tree.within(asked)) == [number for number in sorted(held) if _meet(asked, held[number])]


@given(st.lists(boxes, max_size=12), boxes)
def test_few_boxes(listed: list[Box], asked: Box) -> None:
    tree = BoxTree()
    for number, box in enumerate(listed):
        tree.add(number, box)
    _check(tree, dict(enumerate(listed)), asked)


def _range(rng: random.Random, number: int) -> Box:
    low = rng.randrange(50)
    box: dict[str, Any] = {"x": (low, low + rng.choice((0, 1, 30, math.inf)))}
    return box | ({"y": (0, rng.randrange(9))} if rng.random() < 0.5 else {"z": (7, 7)})


SHAPES = {
    "mixed": _range,
    "in order": lambda rng, number: {"x": (number, number)},
    "in falling order": lambda rng, number: {"x": (-number, math.inf), "y": (number, math.inf)},
    "all the same": lambda rng, number: {"x": (0, math.inf)},
    "each its own name": lambda rng, number: {f"a{number}": (0, 1)},
    "few of many names": lambda rng, number: {f"a{i}": (rng.randrange(99), math.inf) for i in rng.sample(range(40), 3)},
    "without names": lambda rng, number: {},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_many_boxes_come_and_go(shape: str) -> None:
    rng = random.Random(2)
    tree, held = BoxTree(), dict[int, Box]()
    for number in range(1500):
        held[number] = SHAPES[shape](rng, number)
        tree.add(number, held[number])
        if rng.random() < 0.3:
            gone = rng.choice(list(held))
            tree.remove(gone, held.pop(gone))
        if number % 100 == 0:
            _check(tree, held, SHAPES[shape](rng, rng.randrange(1500)))
    for number in list(held):
        tree.remove(number, held.pop(number))
    _check(tree, {}, {"x": (0, 1)})


@pytest.mark.parametrize("step", [1, -1])
def test_boxes_in_order_make_no_deep_tree(step: int) -> None:
    tree = BoxTree()
    for number in range(5000)[::step]:
        tree.add(number, {"x": (number, number)})
    assert _depth(tree._top) < 24


def _depth(node: Any) -> int:
    return 1 + max(_depth(part) for part in node.parts) if hasattr(node, "parts") else 0
