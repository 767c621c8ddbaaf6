"""Laws that hold for every filter and event: one meaning, however a filter is written, kept or sent."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.errors import MissingAttribute
from conceptpubsub.filters import Filter, parser
from conceptpubsub.filters.normal import And, Not, Or, Truth, atoms
from conceptpubsub.filters.patterns import like_canonical, like_match, like_pieces, like_shape, text_test
from tests.generators import cases, generators, pairs
from tests.normal_forms import evaluate_normal

_MISSING = "missing"


def verdict(evaluate: Any, *args: Any) -> Any:
    try:
        return evaluate(*args)
    except MissingAttribute:
        return _MISSING


@settings(max_examples=400, deadline=None)
@given(cases())
def test_the_normal_form_means_what_the_tree_means(case: Any) -> None:
    f, event = case
    assert verdict(f.evaluate, event) == verdict(evaluate_normal, f, event)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_what_is_printed_reads_back(case: Any) -> None:
    f, event = case
    again = f.bind()
    assert str(again) == str(f)
    assert again == f
    assert hash(again) == hash(f)
    assert verdict(again.evaluate, event) == verdict(f.evaluate, event)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_json_reads_back(case: Any) -> None:
    f, event = case
    for document in (f.to_json(), json.dumps(f.to_json())):
        again = Filter.from_json(document, ontology=f.ontology, converters=f.scope.given_converters)
        assert again == f
        assert verdict(again.evaluate, event) == verdict(f.evaluate, event)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_pickles_read_back(case: Any) -> None:
    f, event = case
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert str(again) == str(f)
    assert verdict(again.evaluate, event) == verdict(f.evaluate, event)


def _without_names(f: Filter) -> bool:
    """Whether unknown may be judged by the parts alone: strict and total look at all names of the whole."""
    return f.semantics in ("sql", "default")


@settings(max_examples=200, deadline=None)
@given(pairs())
def test_joined_filters_mean_their_parts_joined(case: Any) -> None:
    """Inside one binding: so the events here have at most one attribute for each reference."""
    f, g, event = case
    both, either, neither = f & g, f | g, ~f
    if len({ref.key for ref in (*f.references, *g.references)}) != len(both.references):
        pytest.fail("joining lost or invented a reference")
    if not _without_names(f) or f.ontology is not None:
        return
    a, b = f.evaluate(event), g.evaluate(event)
    assert both.evaluate(event) is (False if False in (a, b) else None if None in (a, b) else True)
    assert either.evaluate(event) is (True if True in (a, b) else None if None in (a, b) else False)
    assert neither.evaluate(event) is (None if a is None else not a)


@settings(max_examples=200, deadline=None)
@given(generators())
def test_the_shortcut_gives_what_the_parser_gives(make: Any) -> None:
    text, scope = make.text(), make.scope()
    quick = Filter.parse(text, **scope)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "common_atom", lambda reader: None)
        slow = Filter.parse(text, **scope)
    assert quick == slow
    assert str(quick) == str(slow)


@settings(max_examples=200, deadline=None)
@given(generators())
def test_the_normal_form_is_normal(make: Any) -> None:
    f = make.filter()
    stack = [f.normal]
    while stack:
        node = stack.pop()
        if isinstance(node, And | Or):
            assert len(node.args) > 1
            assert [a.key for a in node.args] == sorted({a.key for a in node.args})
            assert not any(isinstance(a, type(node)) for a in node.args)
            assert not any(isinstance(a, Truth) and a.value is not None for a in node.args)
            stack.extend(node.args)
        elif isinstance(node, Not):
            assert not isinstance(node.atom, And | Or | Not | Truth)
    assert {ref.key for ref in f.references} == f.names
    assert all(getattr(atom, "op", "") != "<>" for atom in atoms(f.normal)) or f.semantics != "default"


def _like(value: str, pieces: list[Any]) -> bool:
    """LIKE by its definition: dynamic programming over prefixes."""
    wild = like_pieces("%", None)
    one = like_pieces("_", None)
    assert wild is not None
    assert one is not None
    row = [True] + [False] * len(value)
    for piece in pieces:
        if piece is wild[0]:
            for i in range(len(value)):
                row[i + 1] = row[i + 1] or row[i]
        else:
            row = [False] + [row[i] and (piece is one[0] or piece == value[i]) for i in range(len(value))]
    return row[-1]


_ALPHABET = st.text("ab%_!\\é\ud800", max_size=8)


@settings(max_examples=500)
@given(_ALPHABET, st.text("ab%_!\\", max_size=8), st.sampled_from([None, "!", "\\", "a"]))
def test_like_in_all_its_shapes_is_like_by_definition(value: str, pattern: str, escape: str | None) -> None:
    pieces = like_pieces(pattern, escape)
    if pieces is None:
        assert pattern.endswith(str(escape))
        return
    expected = _like(value, pieces)
    assert like_match(value, like_canonical(pieces)) is expected
    op, simple = like_shape(pattern, escape)
    assert (value == simple if op == "equals" else text_test(op, value, simple)) is expected
