"""Postings against a plain list: what is looked up by value misses nothing."""

from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.relations.outlines import Ask
from conceptpubsub.relations.postings import Points, Ranges

PLACES = [-math.inf, -1e308, -3.0, -1.0, 0.0, 1e-12, 0.1, 1.0, 2.0, 3.5, 1000.0, 1e9, 1e292, math.inf]
asks = st.one_of(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)).map(sorted).map(lambda ends: Ask(*ends)),
    st.sampled_from(["a", "b"]).map(lambda text: Ask(5.0, 5.0, text, True)),
)
entries = st.lists(st.tuples(st.integers(0, 7), asks), max_size=12)


@given(entries, asks, st.integers(0, 7), st.randoms(use_true_random=False))
def test_nothing_is_missed(held: list[tuple[int, Ask]], asked: Ask, mask: int, rng: random.Random) -> None:
    ranges, points = Ranges(), Points()
    for number, (own, ask) in enumerate(held):
        ranges.add(number, own, ask, ask.high)
        points.add(number, own, ask)
    kept = {number: entry for number, entry in enumerate(held) if rng.random() < 0.7}
    for number in set(range(len(held))) - set(kept):
        ranges.remove(number)
        points.remove(number)
    assert len(ranges) == len(points) == len(kept)
    around = {
        number
        for number, (own, ask) in kept.items()
        if not own & ~mask and (ask.text in (None, asked.text)) and ask.low <= asked.low and asked.high <= ask.high
    }
    within = {
        number
        for number, (own, ask) in kept.items()
        if not mask & ~own and (asked.text in (None, ask.text)) and asked.low <= ask.low <= asked.high
    }
    assert set(ranges.around(mask, asked)) == around
    assert set(points.within(mask, asked)) == within
    assert points.count(asked) >= len(within)
    assert set(ranges.fitting(7)) == set(kept), "where nothing is known, all are asked"


def test_long_texts_with_one_beginning_are_told_apart() -> None:
    ranges, points = Ranges(), Points()
    for number in range(50):
        ask = Ask(5.0, 5.0, f"sensor-{number:04}", True)
        ranges.add(number, 1, ask, 5.0)
        points.add(number, 1, ask)
    seventh = Ask(5.0, 5.0, "sensor-0007", True)
    assert ranges.around(1, seventh) == points.within(1, seventh) == [7]
    assert ranges.crowd(seventh) == points.count(seventh) == 1
    assert len(points.within(1, Ask(0.0, 9.0))) == 50
