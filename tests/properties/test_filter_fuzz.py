"""Whatever is thrown at the parser: a filter that works, or an error of ours that points somewhere."""

import pickle
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conceptpubsub.errors import ConceptPubSubError, FilterError, FilterSyntaxError, FilterTypeError
from conceptpubsub.filters import Filter, parser
from tests.worlds import world

_WORDS = """
a b Temperature PartFailure EVENT EVENT.time Vehicle.Odometer "odd~name" <https://w3id.org/conceptpubsub/core#Mass>
1 0 2.5 1e3 1e9999 5L 042 0x1F .5 5. 'x' '' 'it''s' ' " [km/h] [ ] {scale:~2} {unit:~mile} { } {} kg degC EUR km °C %
TRUE FALSE NULL AND OR NOT IN LIKE BETWEEN IS ESCAPE CONTAINS WITHIN STARTS ENDS WITH MATCHES ISA TIMESTAMP DATE
'2026-01-01T00:00Z' '2026-01-01' ( ) ( ) , = <> < <= > >= == != + - * / . ; \x00 \u202e \ud800 ² ٣ Engine
"""
_TOKENS = st.sampled_from([word.replace("~", " ") for word in _WORDS.split()])
_EVENTS: list[dict[str, Any]] = [{}, {"a": 1, "b": "x", "odd name": True}, {"Temperature": 30, "PartFailure": "Engine"}]


def refused(text: str, **scope: Any) -> FilterError | None:
    """The error that a text meets, if any."""
    try:
        Filter.parse(text, **scope)
    except (FilterSyntaxError, FilterTypeError) as error:
        return error
    return None


def survives(text: str, **scope: Any) -> None:
    """Parse, and use what was parsed in every way."""
    error = refused(text, **scope)
    if error is not None:
        assert min(error.line, error.column) >= 1
        assert "^" in str(error)
        assert pickle.loads(pickle.dumps(error)).facts == error.facts
        return
    f = Filter.parse(text, **scope)
    again = Filter.parse(str(f), **scope)
    assert again == f
    assert str(again) == str(f)
    assert Filter.from_json(f.to_json(), ontology=scope.get("ontology")) == f
    for event in _EVENTS:
        try:
            assert again.evaluate(event) is f.evaluate(event)
            assert isinstance(str(f.explain(event)), str)
        except ConceptPubSubError:
            pass


@settings(max_examples=600, deadline=None)
@given(st.lists(_TOKENS, max_size=14))
@example(["a", "=", "-", "(", "-", "1", ")"])
@example(["-", "'x'", "=", "1"])
@example(["a", "IN", "(", "-", "5", "degC", ")"])
@example(["a", "STARTS", "WITH"])
@example(["EVENT.time", ">", "'2026-01-01'"])
@example(["TIMESTAMP", "'2026-01-01T00:00Z'", "=", "1"])
def test_any_tokens_without_an_ontology(tokens: list[str]) -> None:
    survives(" ".join(tokens))


@settings(max_examples=600, deadline=None)
@given(st.lists(_TOKENS, max_size=14), st.sampled_from(["sql", "strict", "default"]))
def test_any_tokens_with_an_ontology(tokens: list[str], semantics: str) -> None:
    survives(" ".join(tokens), ontology=world("vehicles").ontology, semantics=semantics)


_NAMES = st.sampled_from(["a", "Temperature", "PartFailure", "DoorOpen", "LicensePlate", "Crew", "EVENT.time", "NOT"])
_SIGNS = st.sampled_from(["=", "<", "<>", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN", "in", "=="])
_CONSTANTS = st.lists(
    st.sampled_from(
        [
            "5",
            "-",
            "5.",
            "2.5",
            "'Engine'",
            "'x'",
            "TRUE",
            "km",
            "degC",
            "[km/h]",
            "EUR",
            "AND",
            "and",
            ",",
            "(",
            ")",
            "OR",
        ]
    ),
    max_size=8,
)


@settings(max_examples=600, deadline=None)
@given(_NAMES, _SIGNS, _CONSTANTS, st.booleans())
@example("PartFailure", "<", ["'Engine'"], True)
@example("DoorOpen", "BETWEEN", ["TRUE", "AND", "TRUE"], True)
@example("a", "IN", ["(", "5", ",", "-", "5", "km", ")"], False)
def test_the_shortcut_refuses_what_the_parser_refuses(name: str, sign: str, rest: list[str], concepts: bool) -> None:
    scope = {"ontology": world("vehicles").ontology} if concepts else {}
    text = " ".join([name, sign, *rest])
    refused(
        "PartFailure = 'Engine' AND DoorOpen = TRUE AND LicensePlate = 'x'", **scope
    )  # so that these are remembered
    quick = refused(text, **scope)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "common_atom", lambda reader: None)
        slow = refused(text, **scope)
        if slow is None:
            expected = Filter.parse(text, **scope)
    assert (quick is None) == (slow is None), text
    if slow is None:
        assert Filter.parse(text, **scope) == expected
    else:
        assert str(quick) == str(slow)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    survives(text)


_LEAVES: list[Any] = [
    None,
    True,
    1,
    2.5,
    "x",
    {"@type": "EventRef", "part": "id"},
    {"@type": "ValueRef", "path": ["a"]},
    {"@type": "SemanticObject", "rdf:value": 5, "cps:unit": "km"},
    {"@type": "SemanticObject", "rdf:value": None},
]
_MANY = st.sampled_from(["And", "Or", "Sum", "Product"])
_ONE = st.sampled_from(
    ["Not", "In", "IsNull", "IsA", "Holds", "TextTest", "Between", "Negative", "Reciprocal", "NoSuchThing"]
)


def _node(kind: str, operand: Any) -> dict[str, Any]:
    rest = {"values": [operand], "operator": "LIKE", "pattern": "a%", "concept": "x", "low": operand, "high": operand}
    return {"@type": kind, "operand": operand, **rest}


def _binary(left: Any, op: str, right: Any) -> dict[str, Any]:
    return {"@type": "BinaryExpression", "left": left, "operator": op, "right": right}


_JSON = st.recursive(
    st.sampled_from(_LEAVES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(lambda kind, operands: {"@type": kind, "operands": operands}, _MANY, st.lists(inner, max_size=3)),
        st.builds(_node, _ONE, inner),
        st.builds(_binary, inner, st.sampled_from(["<", "=", "?"]), inner),
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(_JSON)
def test_any_json(expression: Any) -> None:
    try:
        f = Filter.from_json({"@type": "SemanticFilter", "expression": expression})
    except FilterError:
        return
    assert Filter.from_json(f.to_json()) == f


_ATOMS = st.sampled_from(["a = 1", "b", "NOT a < 2", "c IS NULL", "a + b > 1", "s LIKE 'x%'", "a IN (1, 2)", "TRUE"])
_TREES = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.builds("({}) AND ({})".format, inner, inner),
        st.builds("({}) OR ({})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
        st.builds("({})".format, inner),
    ),
    max_leaves=40,
)


@settings(max_examples=200, deadline=None)
@given(_TREES)
def test_any_tree(text: str) -> None:
    survives(text)
    twice = Filter.parse(f"NOT (NOT ({text}))")
    assert twice.normal == Filter.parse(text).normal
