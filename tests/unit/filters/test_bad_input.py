"""Hostile input: linear time, then a clear error or the right answer; no RecursionError in any use of a filter."""

import pickle
from typing import Any

import pytest

from conceptpubsub.errors import ConceptPubSubError, FilterSyntaxError, LimitExceeded
from conceptpubsub.filters import Filter
from conceptpubsub.filters.syntax import MAX_TEXT

MANY = 100_000


def used(f: Filter, event: dict[str, Any]) -> bool | None:
    """Use a filter in every way that walks its tree; its value for the event."""
    assert Filter.parse(str(f)) == f
    assert pickle.loads(pickle.dumps(f)) == f
    assert Filter.from_json(f.to_json()) == f
    assert len(str(f.explain(event))) > 0
    assert f.references
    return f.evaluate(event)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("(" * MANY + "a = 1" + ")" * MANY, True, id="balanced parentheses around an atom"),
        pytest.param("(" * MANY + "a" + ")" * MANY + " = 1", True, id="balanced parentheses around a value"),
        pytest.param("NOT " * MANY + "a = 1", True, id="NOT NOT NOT"),
        pytest.param("NOT (" * MANY + "a = 1" + ")" * MANY, True, id="NOT (NOT (NOT ("),
        pytest.param("- " * MANY + "a = 1", True, id="minus minus minus"),
        pytest.param("-(" * MANY + "a" + ")" * MANY + " = 1", True, id="-(-(-("),
        pytest.param("+" * MANY + "a = 1", True, id="plus plus plus"),
        pytest.param(" OR ".join(f"a = {i}" for i in range(20_000)), True, id="20,000-term OR"),
        pytest.param(" AND ".join(f"a <> {i + 2}" for i in range(20_000)), True, id="20,000-term AND"),
        pytest.param(f"a IN ({', '.join(map(str, range(10_000)))})", True, id="10,000-element IN"),
        pytest.param(f"a NOT IN ({', '.join(f'{i} km' for i in range(10_000))})", None, id="10,000 units in NOT IN"),
        pytest.param("+".join(["a"] * 20_000) + " = 20000", True, id="sum of 20,000"),
        pytest.param("*".join(["a"] * 20_000) + " = 1", True, id="product of 20,000"),
        pytest.param("a*(a+(" * 9 + "a" + "))" * 9 + " > 0", True, id="arithmetic nested 18 deep"),
        pytest.param("(" * 20_000 + "a" + "+1)" * 20_000 + " > 0", True, id="a sum nested to the left"),
        pytest.param("a = 1 OR (a = 2 AND (" * 90 + "a = 1" + "))" * 90, True, id="alternating 180 deep"),
        pytest.param("a" * (MAX_TEXT - 4) + " = 1", None, id="a megabyte of name"),
        pytest.param("a = '" + "x" * (MAX_TEXT - 6) + "'", None, id="a megabyte of text"),
        pytest.param("a CONTAINS '" + "x" * 500_000 + "'", None, id="half a megabyte to look for"),
    ],
)
def test_large_but_right(text: str, value: bool | None) -> None:
    assert used(Filter.parse(text), {"a": 1}) is value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * (MAX_TEXT + 1), id="more than a megabyte"),
        pytest.param("(" * MANY, id="100,000 open parentheses"),
        pytest.param("(" * MAX_TEXT, id="a megabyte of open parentheses"),
        pytest.param("(" * MANY + "a = 1" + ")" * (MANY - 1), id="one closing parenthesis too few"),
        pytest.param(")" * MANY, id="100,000 closing parentheses"),
        pytest.param("a = 1 OR (" * 20_000 + "a = 1" + ")" * 20_000, id="OR nested to the right 20,000 deep"),
        pytest.param("(" * 20_000 + "a = 1" + " OR b = 1) AND c" * 20_000, id="OR and AND nested to the left"),
        pytest.param("a+(a*(" * 30_000 + "a" + "))" * 30_000 + " > 0", id="arithmetic nested 60,000 deep"),
        pytest.param("1/(" * MANY + "a" + ")" * MANY + " > 0", id="divisions nested 100,000 deep"),
        pytest.param("'" * (MAX_TEXT - 1), id="an odd megabyte of quotes"),
        pytest.param('"' * (MAX_TEXT - 1), id="an odd megabyte of double quotes"),
        pytest.param("{" * MAX_TEXT, id="a megabyte of braces"),
        pytest.param("[a" * (MAX_TEXT // 2), id="a megabyte of brackets"),
        pytest.param("<a:" * (MAX_TEXT // 3), id="a megabyte of IRIs"),
        pytest.param("{'a" * (MAX_TEXT // 3), id="braces and quotes"),
        pytest.param("a = 1" + "\x00" * 1000, id="control characters"),
        pytest.param("a \x1b[31m= 1", id="an escape sequence"),
        pytest.param("a = 1 \u202e DNA b = 2", id="text turned around"),
        pytest.param("a = 'never closed", id="an open quote"),
        pytest.param("a = 'it''s", id="an open quote after a doubled one"),
        pytest.param('"a = 1', id="an open double quote"),
        pytest.param("a > 5 [km", id="an open bracket"),
        pytest.param("a > 5 {unit: km", id="an open brace"),
        pytest.param("a LIKE 'abc!' ESCAPE '!'", id="a dangling escape"),
        pytest.param("a LIKE 'abc' ESCAPE '!!'", id="an escape of two characters"),
        pytest.param("a LIKE 'abc' ESCAPE ''", id="an empty escape"),
        pytest.param(r"a MATCHES '(a)\1'", id="a backreference"),
        pytest.param("a MATCHES '(((a{1000}){1000}){1000}){1000}'", id="an exploding regular expression"),
        pytest.param("a MATCHES '" + "(" * 9_000 + "'", id="an unbalanced regular expression"),
        pytest.param("a MATCHES '" + "a" * 20_000 + "'", id="a very long regular expression"),
        pytest.param("a LIKE '" + "%a" * 20_000 + "'", id="a very long LIKE"),
        pytest.param("a = 1e999999999", id="a huge exponent"),
        pytest.param("a = " + "9" * 100_000, id="a huge number"),
        pytest.param("a = 0x" + "f" * 100_000, id="a huge hexadecimal"),
        pytest.param("a = 1²", id="a superscript"),
        pytest.param("a = ٣", id="a digit that is not ours"),
        pytest.param("a ıs NULL", id="a dotless i"),
        pytest.param("a.a" * 10_000 + " = 1", id="a path without end"),
        pytest.param("a = 5 [" + "m*" * 50_000 + "m]", id="a unit without end"),
        pytest.param("a = 5 [m**9**9**9]", id="a unit of powers of powers"),
        pytest.param("a = 1 {" + "x: 1, " * 50_000 + "}", id="a context without end"),
        pytest.param("a BETWEEN " * 50_000, id="BETWEEN BETWEEN BETWEEN"),
    ],
)
def test_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ConceptPubSubError) as caught:
        Filter.parse(text)
    assert len(str(caught.value)) < 1000
    assert pickle.loads(pickle.dumps(caught.value)).facts == caught.value.facts


def test_blanks_only_are_the_empty_filter() -> None:
    assert Filter.parse(" \t\n" * (MAX_TEXT // 3)) == Filter.parse("")


def test_regular_expressions_take_linear_time() -> None:
    for pattern in ("(a+)+$", "(a|a)*b", "(a|aa)+c", "(.*a){20}"):
        assert Filter.parse(f"a MATCHES '{pattern}'").evaluate({"a": "a" * 100_000 + "!"}) is False


def test_like_takes_linear_time() -> None:
    assert Filter.parse("a LIKE '" + "%a" * 4_000 + "%b'").evaluate({"a": "a" * 200_000}) is False
    assert Filter.parse("a LIKE '%a_a_a_a_b%'").evaluate({"a": "a" * 200_000}) is False


def test_products_of_huge_numbers_are_unknown() -> None:
    huge = " * ".join(["1e4000"] * 8)
    assert Filter.parse(f"{huge} > 1").evaluate({}) is None
    f = Filter.parse("a * a * a * a * a * a > 0")
    assert f.evaluate({"a": 10**4000}) is None
    assert f.evaluate({"a": 10**40}) is True
    assert Filter.parse("a * 1e4000 * 1e4000 = 1e4000 * 1e4000").evaluate({"a": 1}) is True


def test_errors_of_large_filters_show_a_part_only() -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        Filter.parse("a = 1 AND " * 50_000 + "AND")
    assert caught.value.column == 500_001
    assert len(str(caught.value)) < 500


def test_nesting_has_a_limit_that_says_so() -> None:
    with pytest.raises(LimitExceeded, match="200 levels"):
        Filter.parse("a OR (b AND (" * 150 + "c" + "))" * 150)
    with pytest.raises(LimitExceeded, match="40 levels"):
        Filter.parse("a + (b * (" * 30 + "c" + "))" * 30 + " = 1")


def test_a_scope_forgets_names_rather_than_growing_without_end() -> None:
    scope = Filter.parse("a = 1").scope
    for number in range(70_000):
        scope.ref(f"name{number}")
    assert len(scope.refs) <= 65_536
    assert Filter.parse("a = 1").evaluate({"a": 1}) is True
