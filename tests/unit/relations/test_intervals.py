"""Intervals of numbers and sets of texts against plain membership."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.relations import intervals, texts
from conceptpubsub.relations.intervals import INTEGERS, Grid, Intervals
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.texts import Texts

OPS = ("=", "<>", "<", "<=", ">", ">=")
NUMBERS = [Fraction(n, 2) for n in range(-8, 9)] + [10**400, -(10**400), Fraction(1, 3), Fraction(10**30 + 1, 10**30)]
TESTS = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


@st.composite
def numbers(draw: st.DrawFn) -> tuple[Intervals, set[Fraction]]:
    """A set of numbers, as intervals and as those of the sample that are inside."""
    made, inside = intervals.LINE, set(NUMBERS)
    for _ in range(draw(st.integers(0, 4))):
        op, value = draw(st.sampled_from(OPS)), draw(st.sampled_from(NUMBERS))
        other, others = intervals.compared(op, value), {n for n in NUMBERS if TESTS[op](n, value)}
        if draw(st.booleans()):
            made, inside = intervals.intersection(made, other), inside & others
        else:
            made, inside = intervals.union(made, other), inside | others
    return made, inside


def members(found: Intervals) -> set[Fraction]:
    return {n for n in NUMBERS if intervals.holds(found, n)}


@given(numbers(), numbers())
def test_interval_algebra_is_set_algebra(
    one: tuple[Intervals, set[Fraction]], other: tuple[Intervals, set[Fraction]]
) -> None:
    (a, inside), (b, others) = one, other
    assert members(a) == inside
    assert members(intervals.intersection(a, b)) == inside & others
    assert members(intervals.union(a, b)) == inside | others
    assert members(intervals.difference(a, b)) == inside - others
    assert intervals.includes(a, b) is (intervals.difference(b, a) == ())
    assert intervals.union(a, b) == intervals.union(b, a)


@given(numbers(), st.sampled_from([None, INTEGERS, Grid(Fraction(5, 2), Fraction(1, 3))]))
def test_a_point_lies_inside_and_on_the_grid(one: tuple[Intervals, set[Fraction]], grid: Grid | None) -> None:
    found = one[0] if grid is None else intervals.snapped(one[0], grid)
    value = intervals.point(found, grid)
    assert (value is None) is (found == ())
    if value is not None:
        assert intervals.holds(one[0], value)
        if grid is not None:
            assert ((value - grid.phase) / Fraction(grid.step)).denominator == 1


@given(numbers())
def test_on_the_integers_only_integers_count(one: tuple[Intervals, set[Fraction]]) -> None:
    snapped = intervals.snapped(one[0], INTEGERS)
    assert {n for n in members(snapped) if n.denominator == 1} == {n for n in one[1] if n.denominator == 1}
    assert intervals.snapped(snapped, INTEGERS) == snapped
    assert intervals.snapped(intervals.compared(">", 1), INTEGERS) == intervals.snapped(
        intervals.compared(">=", 2), INTEGERS
    )


SAMPLE = ["", "\0", "a", "a\0", "aa", "ab", "aab", "abb", "b", "ba", "bab", "c", "z", "\U0010ffff", "a\U0010ffff"]
PATTERNS = ["", "a", "b", "ab", "ba", "aa", "abb"]


@st.composite
def text_sets(draw: st.DrawFn) -> tuple[Texts, set[str]]:
    made, inside = texts.EVERY, set(SAMPLE)
    for _ in range(draw(st.integers(0, 4))):
        kind, pattern = (
            draw(st.sampled_from([*OPS, "starts", "ends", "contains", "within"])),
            draw(st.sampled_from(PATTERNS)),
        )
        if kind in TESTS:
            whole, held = Texts(texts.compared(kind, pattern)), {t for t in SAMPLE if TESTS[kind](t, pattern)}
        else:
            whole = texts.tested(kind, pattern)
            held = {t for t in SAMPLE if texts.text_test(kind, t, pattern)}
        if draw(st.booleans()):
            made, inside = texts.meet(made, whole), inside & held
        else:
            pieces = texts.minus(made, whole)
            made, inside = pieces[0] if pieces else texts.NONE, inside - held
            if len(pieces) > 1:
                inside = {t for t in inside if contains(made, t)}
    return made, inside


def contains(found: Texts, text: str) -> bool:
    return intervals.includes(found.intervals, texts.compared("=", text)) and texts.passes(text, found.literals)


@given(text_sets())
def test_text_sets_hold_what_passes_their_tests(one: tuple[Texts, set[str]]) -> None:
    made, inside = one
    assert {text for text in SAMPLE if contains(made, text)} == inside


@given(text_sets())
def test_a_sample_is_inside_and_none_means_empty(one: tuple[Texts, set[str]]) -> None:
    made, inside = one
    found = texts.sample(made)
    if found is None:
        assert not inside
    else:
        assert contains(made, found)


@given(text_sets(), text_sets())
def test_subset_agrees_with_membership(one: tuple[Texts, set[str]], other: tuple[Texts, set[str]]) -> None:
    if texts.subset(one[0], other[0]):
        assert one[1] <= other[1]
    left = texts.minus(one[0], other[0])
    assert {t for t in SAMPLE if any(contains(piece, t) for piece in left)} == one[1] - other[1]


@pytest.mark.parametrize(
    ("kept", "dropped", "empty"),
    [
        ([("starts", "ab")], [("contains", "b")], True),
        ([("starts", "ab")], [("contains", "bc")], False),
        ([("ends", "ab"), ("ends", "b")], [("contains", "ab")], True),
        ([("ends", "ab"), ("ends", "c")], [], True),
        ([("contains", "a"), ("contains", "b")], [("contains", "ab"), ("contains", "ba")], False),
        ([("within", "abc")], [("contains", "b"), ("starts", "a"), ("ends", "c")], False),
        ([("within", "abc"), ("contains", "d")], [], True),
        ([("like", "a_%")], [("starts", "a")], True),
    ],
)
def test_emptiness_of_texts(kept: list[tuple[str, str]], dropped: list[tuple[str, str]], empty: bool) -> None:
    made = texts.EVERY
    for op, pattern in kept:
        made = texts.meet(made, texts.tested(op, pattern))
    for op, pattern in dropped:
        made = texts.minus(made, texts.tested(op, pattern))[0]
    try:
        assert (texts.sample(made) is None) is empty
    except GaveUp:
        assert any(op == "like" for op, _ in kept), "only LIKE and MATCHES may leave a doubt"
