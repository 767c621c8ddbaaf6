"""The filter language: what is read how, and that it prints as it is read."""

from typing import Any

import pytest

from conceptpubsub.errors import FilterError, FilterSyntaxError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, Ontology, SemanticObject

VEHICLES = Ontology.bundled("vehicles")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a = 1 OR b = 2 AND c = 3", "a = 1 OR (b = 2 AND c = 3)"),
        ("NOT a = 1 AND b = 2", "(NOT (a = 1)) AND b = 2"),
        ("NOT a = 1 OR b = 2", "(NOT (a = 1)) OR b = 2"),
        ("a + 2 * b = c", "a + (2 * b) = c"),
        ("a - b - c = 0", "(a - b) - c = 0"),
        ("a / b / c = 1", "(a / b) / c = 1"),
        ("-a + b = 0", "(-a) + b = 0"),
        ("- 2 * a = 4", "(-2) * a = 4"),
        ("a BETWEEN 1 AND 2 AND b = 3", "(a BETWEEN 1 AND 2) AND b = 3"),
        ("a NOT BETWEEN 1 AND 2 OR b = 3", "NOT (a BETWEEN 1 AND 2) OR b = 3"),
        ("a BETWEEN b - 1 AND b + 1", "a BETWEEN (b - 1) AND (b + 1)"),
        ("a NOT IN (1, 2)", "NOT a IN (1, 2)"),
        ("s NOT LIKE 'a%'", "NOT (s LIKE 'a%')"),
        ("a IS NOT NULL", "NOT (a IS NULL)"),
        ("5 < a", "a > 5"),
        ("a != 1", "a <> 1"),
        ("a and b oR not c", "(a AND b) OR (NOT c)"),
        ("a = true", "a"),
        ("a BETWEEN 1 AND 2", "a >= 1 AND a <= 2"),
        ("a IN (1)", "a = 1"),
        ("a IN (1, 'x')", "a = 1 OR a = 'x'"),
        ("s LIKE 'abc'", "s = 'abc'"),
        ("s LIKE 'ab%'", "s STARTS WITH 'ab'"),
        ("s LIKE '%ab'", "s ENDS WITH 'ab'"),
        ("s LIKE '%a!%b%' ESCAPE '!'", "s CONTAINS 'a%b'"),
        ("s LIKE '%_%'", "s LIKE '_%'"),
        ("2 * a + 1 > 7", "a > 3"),
        ("-a < 3", "a > -3"),
        ("a / 2 = 3", "a = 6"),
        ("1 = 1", "TRUE"),
        ("a < b", "b > a"),
        ("a > 1 AND a > 1", "a > 1"),
        ("a = 1 AND (b = 2 AND c = 3)", "c = 3 AND b = 2 AND a = 1"),
        ("NOT (a = 1 AND b < 2)", "a <> 1 OR b >= 2"),
    ],
)
def test_two_ways_to_write_one_filter(written: str, meant: str) -> None:
    assert Filter.parse(written) == Filter.parse(meant)
    assert Filter.parse(str(Filter.parse(written))) == Filter.parse(meant)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1", "a = '1'"),
        ("a = 1", "a = 1 m"),
        ("a = 1 AND b = 1", "a = 1 OR b = 1"),
        ("a <> 1", "NOT a IS NULL"),
        ("o.a = 1", '"o.a" = 1'),
        ("a IN (1, 2)", "a IN (1, 3)"),
        ("s CONTAINS 'a'", "s WITHIN 'a'"),
        ('"a=#1 $b" = 2 AND c = 3', "a = 1 AND b = 2 AND c = 3"),
        ("a = 1 EUR", "a = 1 USD"),
        ("0 * a = 0", "TRUE"),
        ("a = a", "TRUE"),
    ],
)
def test_two_filters_are_two(one: str, other: str) -> None:
    assert Filter.parse(one) != Filter.parse(other)


@pytest.mark.parametrize(
    ("number", "meant"),
    [
        ("5L", 5),
        ("5l", 5),
        ("5.5d", 5.5),
        ("5F", 5),
        ("042", 42),
        ("0x1F", 31),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("1.5E-1", 0.15),
        ("+5", 5),
        ("-5", -5),
        ("- -5", 5),
        ("7 / 2", 3.5),
        ("1e2L", 100),
    ],
)
def test_numbers(number: str, meant: float) -> None:
    assert Filter.parse(f"a = {number}").evaluate({"a": meant}) is True


@pytest.mark.parametrize(
    "word", ["CONTAINS", "WITHIN", "STARTS", "ENDS", "WITH", "MATCHES", "ISA", "TIMESTAMP", "DATE"]
)
def test_the_added_words_are_not_reserved(word: str) -> None:
    assert Filter.parse(f"{word} = 1 AND {word.lower()} = 2").evaluate({word: 1, word.lower(): 2}) is True
    assert Filter.parse(f"{word} CONTAINS 'a' OR {word} IS NULL").evaluate({}) is True


@pytest.mark.parametrize("word", ["AND", "or", "Not", "IN", "like", "IS", "NULL", "BETWEEN", "ESCAPE", "TRUE", "FALSE"])
def test_reserved_words_are_names_in_double_quotes(word: str) -> None:
    with pytest.raises(FilterError):
        Filter.parse(f"{word} = 1 AND {word} > 0 AND x IS NULL AND {word} < 5")
    assert Filter.parse(f'"{word}" = 1').evaluate({word: 1}) is True


def test_names_are_case_sensitive_and_may_be_anything_in_quotes() -> None:
    assert Filter.parse("a = 1 AND A = 2").evaluate({"a": 1, "A": 2}) is True
    assert Filter.parse('"say ""hi""" = 1').evaluate({'say "hi"': 1}) is True
    assert Filter.parse("$x = 1 AND _y = 2 AND été = 3").evaluate({"$x": 1, "_y": 2, "été": 3}) is True


def test_concepts_by_iri_and_prefixed_name() -> None:
    short = Filter.parse("Odometer > 5 km", ontology=VEHICLES)
    for name in (
        "<https://w3id.org/conceptpubsub/vehicles#Odometer>",
        '"https://w3id.org/conceptpubsub/vehicles#Odometer"',
    ):
        assert Filter.parse(f"{name} > 5 km", ontology=VEHICLES) == short


@pytest.mark.parametrize(
    ("constant", "context"),
    [
        ("5 km", {"unit": "km"}),
        ("5 [km/h]", {"unit": "km/h"}),
        ("5 [ km/h ]", {"unit": "km/h"}),
        ("5 [in]", {"unit": "inch"}),
        ("5 °C", {"unit": "degC"}),
        ("5 %", {"unit": "percent"}),
        ("5 µm", {"unit": "um"}),
        ("5 [ucum:[mi_i]]", {"unit": "mile"}),
        ("5 {unit: mile}", {"unit": "mile"}),
        ("5 {unit: 'km/h'}", {"unit": "km/h"}),
        ("5 mile {scale: 1000}", {"unit": "mile", "scale": 1000}),
        ("5 mile {scale: 1/3}", {"unit": "mile", "scale": "1/3"}),
        ("5 EUR", {"currency": "EUR"}),
        ("5 {currency: EUR}", {"currency": "EUR"}),
    ],
)
def test_contexts_of_constants(constant: str, context: dict[str, Any]) -> None:
    from fractions import Fraction

    aspects = {aspect: Fraction(given) if aspect == "scale" else given for aspect, given in context.items()}
    event = {"a": SemanticObject("a", 5, Context(aspects))}
    f = Filter.parse(f"a = {constant}")
    assert f.evaluate(event) is True
    assert Filter.parse(str(f)) == f


def test_a_unit_is_never_a_test() -> None:
    assert Filter.parse("5 IN (5)").evaluate({}) is True
    assert Filter.parse("a = 5 OR b > 5 AND c").evaluate({"a": 5}) is True


@pytest.mark.parametrize(
    ("test", "values"),
    [
        ("CONTAINS 'b'", {"abc": True, "ac": False, "": False}),
        ("CONTAINS ''", {"abc": True, "": True}),
        ("WITHIN 'abc'", {"b": True, "abc": True, "": True, "abcd": False}),
        ("STARTS WITH 'ab'", {"abc": True, "xab": False}),
        ("ENDS WITH 'bc'", {"abc": True, "bcx": False}),
        ("MATCHES 'a.c'", {"abc": True, "xabc": False, "a\nc": False}),
        ("MATCHES '(?s)a.c'", {"a\nc": True}),
        ("MATCHES '(?i)ABC'", {"abc": True}),
        ("LIKE '12%3'", {"123": True, "12993": True, "1234": False}),
        ("LIKE 'l_se'", {"lose": True, "loose": False, "l\nse": True, "l€se": True}),
        (r"LIKE '\_%' ESCAPE '\'", {"_foo": True, "bar": False}),
        ("LIKE 'a!!b' ESCAPE '!'", {"a!b": True}),
        ("LIKE '%'", {"": True, "x": True}),
        ("LIKE 'it''s'", {"it's": True}),
    ],
)
def test_tests_of_text(test: str, values: dict[str, bool]) -> None:
    for text, expected in values.items():
        assert Filter.parse(f"a {test}").evaluate({"a": text}) is expected, text
        assert Filter.parse(f"a NOT {test}").evaluate({"a": text}) is not expected, text


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "NOT (a = 1 OR b = 2)",
        "(a = 1 OR b = 2) AND c = 3",
        "a - (b - c) > 0",
        "a / (b * c) > 0",
        "-(a + b) > 0",
        "a IS NOT NULL",
        "a NOT IN (1, 2)",
        "NOT a LIKE 'x%y' ESCAPE '!'",
        "a BETWEEN 1 AND 2",
        "NOT a BETWEEN 1 AND 2",
        "a > 5 [km/h] {scale: 2}",
        "a = TIMESTAMP '2026-01-01T00:00:00Z'",
        "EVENT ISA status",
        "EVENT.time > a + 5 s",
        "a STARTS WITH 'x' OR a ENDS WITH 'y'",
        "a.b.c = 'it''s'",
        '"odd name" = TRUE',
        "a = -5 AND -a < 5",
        "a",
        "",
        "+a = 'x' OR a = 'x'",
        "a * -2 > 1 - -3",
    ],
)
def test_canonical_text_prints_as_it_was_read(text: str) -> None:
    assert str(Filter.parse(text)) == text


def test_nested_joints_of_one_kind_need_no_parentheses() -> None:
    assert str(Filter.parse("a = 1 AND (b = 2 AND (c = 3))")) == "a = 1 AND b = 2 AND c = 3"
    assert str(Filter.parse("((a = 1) OR (b = 2 OR c = 3)) AND d")) == "(a = 1 OR b = 2 OR c = 3) AND d"


def test_filters_of_one_scope_share_what_was_resolved() -> None:
    one, two = Filter.parse("Odometer > 1", ontology=VEHICLES), Filter.parse("Odometer > 2", ontology=VEHICLES)
    assert one.scope is two.scope
    assert one.references[0] is two.references[0]


def test_binding_to_another_scope() -> None:
    plain = Filter.parse("Odometer > 5 km AND NOT DoorOpen")
    bound = plain.bind(ontology=VEHICLES, semantics="strict")
    assert bound == Filter.parse("Odometer > 5 km AND NOT DoorOpen", ontology=VEHICLES, semantics="strict")
    with pytest.raises(FilterError):
        Filter.parse("x > 1").bind(ontology=VEHICLES)


def test_declared_types_are_checked() -> None:
    types = {"i": "int", "r": "real", "s": "text", "b": "bool", "w": "instant"}
    for text in (
        "i = 'x'",
        "r = 'x'",
        "s > 5",
        "b < TRUE",
        "b = 1",
        "w = 5",
        "r LIKE 'a'",
        "i",
        "s",
        "b + 1 > 0",
        "w ISA x",
    ):
        with pytest.raises(FilterError):
            Filter.parse(text, types=types)
    for text in ("i > 1.5", "r > 5 km", "s LIKE 'a'", "b", "w > '2026-01-01T00:00Z'", "r + i > 0", "w - w > 5 s"):
        Filter.parse(text, types=types)
    with pytest.raises(FilterError, match="Did you mean 'int'"):
        Filter.parse("x = 1", types={"x": "integer"})


def test_parse_errors_are_value_errors_with_fields() -> None:
    with pytest.raises(ValueError, match="never closed") as caught:
        Filter.parse("a = 1 AND\n  b = 'x")
    error = caught.value
    assert isinstance(error, FilterSyntaxError)
    assert (error.line, error.column) == (2, 7)
    assert str(error).splitlines()[-1].index("^") == str(error).splitlines()[-2].index("'")
