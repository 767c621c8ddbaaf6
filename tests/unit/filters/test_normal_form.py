"""The normal form as the layers above see it: nodes, keys, digests."""

import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest

from conceptpubsub.converters import resolve
from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import (
    FALSE,
    TRUE,
    UNKNOWN,
    And,
    Compare,
    IsA,
    IsNull,
    Lit,
    Neg,
    Not,
    OneOf,
    Or,
    Product,
    Recip,
    Sum,
    TextTest,
    atom_refs,
    atoms,
    conjunction,
    disjunction,
    literal,
    value_of,
)
from conceptpubsub.model import Ontology

VEHICLES = Ontology.bundled("vehicles")


def normal(text: str, **scope: Any) -> Any:
    return Filter.parse(text, **scope).normal


def test_a_comparison_holds_a_reference_and_a_canonical_constant() -> None:
    node = normal("Odometer > 5 mile", ontology=VEHICLES)
    assert isinstance(node, Compare)
    assert (node.op, node.left.path, node.left.type) == (">", ("Odometer",), "number")
    assert (node.right.kind, node.right.value) == ("quantity", Fraction(804672, 100))
    assert node.left.dimension == node.right.of == resolve("m").dimension


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [("x = 5", "number", 5), ("x = 'a'", "text", "a"), ("x = TRUE", "bool", True), ("x = 5 EUR", "money", 5)],
)
def test_kinds_of_constants(text: str, kind: str, value: Any) -> None:
    lit = normal(text).right
    assert (lit.kind, lit.value) == (kind, value)
    assert literal(value_of(lit)) == lit


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        ("a = 1 AND b = 1", And),
        ("a = 1 OR b = 1", Or),
        ("x IN (1, 2)", OneOf),
        ("x NOT IN (1, 2)", Not),
        ("x IS NULL", IsNull),
        ("x IS NOT NULL", Not),
        ("EVENT ISA y", IsA),
        ("x CONTAINS 'a'", TextTest),
        ("x LIKE 'a_'", TextTest),
        ("x", Compare),
        ("NOT x", Compare),
        ("x <> 1", Compare),
        ("NOT x CONTAINS 'a'", Not),
    ],
)
def test_shapes_under_sql(text: str, cls: type) -> None:
    assert isinstance(normal(text), cls)


def test_negation_under_sql_and_under_default() -> None:
    assert normal("NOT x < 5") == normal("x >= 5")
    assert normal("NOT x") == normal("x = FALSE")
    assert normal("x <> TRUE") == normal("x = FALSE")
    for text in ("NOT x < 5", "x <> 5", "NOT x"):
        node = normal(text, semantics="default")
        assert isinstance(node, Not)
        assert node.atom.op != "<>"


def test_constants_fold_and_unknown_stays_unknown() -> None:
    assert normal("1 < 2") == TRUE
    assert normal("1 = 'a'") == UNKNOWN
    assert normal("NOT 1 = 'a'") == UNKNOWN
    assert normal("1 = 'a'", semantics="default") == FALSE
    assert normal("NOT 1 = 'a'", semantics="default") == TRUE
    assert normal("x = 1 OR 1 = 'a'") != normal("x = 1")
    assert normal("x = 1 AND 1 / 0 = 1") != FALSE
    assert normal("x = 1 OR TRUE") == TRUE
    assert normal("5 km > 3000 m") == TRUE
    assert isinstance(normal("1 EUR < 1 USD"), Compare)  # a rate decides


def test_declared_defaults_decide_is_null() -> None:
    scope = {"semantics": "default", "defaults": {"x": 1}}
    assert normal("x IS NULL", **scope) == FALSE
    assert normal("x IS NOT NULL", **scope) == TRUE
    assert isinstance(normal("y IS NULL", **scope), IsNull)


def test_terms() -> None:
    node = normal("a - b + 1 > c * d / 2")
    whole, product = sorted((node.left, node.right), key=lambda side: type(side).__name__, reverse=True)
    assert isinstance(whole, Sum)
    assert any(isinstance(arg, Neg) for arg in whole.args)
    assert isinstance(product, Product)
    assert any(isinstance(arg, Recip) for arg in normal("x / y = 1").left.args)
    assert {ref.key for ref in atom_refs(normal("x + y > z"))} == {"$x", "$y", "$z"}
    assert normal("x + y > 1") == normal("y + x > 1")
    assert normal("2 * 3 * x = 12") == normal("x = 2")
    assert normal("x - 3 < 4") == normal("x < 7")
    assert normal("3 - x < 4") == normal("x > -1")
    assert normal("-2 * x < 4") == normal("x > -2")


def test_what_must_not_be_isolated_stays() -> None:
    assert normal("0 * x = 0") != TRUE
    assert isinstance(normal("2 * InTemperature > 400 K", ontology=VEHICLES).left, Product)
    assert isinstance(normal("x * 1e2000 = 1").left, Product)  # a value of absurd size would be unknown
    assert isinstance(normal("x / y = 1").left, Product)


def test_junctions_are_flat_sorted_and_free_of_repeats() -> None:
    a, b, c = (normal(f"{name} = 1") for name in "abc")
    whole = conjunction([c, conjunction([b, a]), a, TRUE])
    assert isinstance(whole, And)
    assert whole.args == (a, b, c)
    assert conjunction([a]) == a
    assert conjunction([]) == TRUE
    assert conjunction([a, FALSE, b]) == FALSE
    assert disjunction([]) == FALSE
    assert disjunction([a, TRUE]) == TRUE
    assert disjunction([a, UNKNOWN]) != a
    assert [atom.key for atom in atoms(whole)] == [c.key, b.key, a.key]


def test_keys_tell_nodes_apart() -> None:
    made = [
        "a = 1",
        "a = '1'",
        "a = 1 m",
        "a = 1 s",
        "a = 1 EUR",
        "a = 1 USD",
        "a = TRUE",
        "a < 1",
        "a <= 1",
        "b = 1",
        "a.b = 1",
        '"a.b" = 1',
        "a = b",
        "a IN (1, 2)",
        "a IN ('1', '2')",
        "a IS NULL",
        "a ISA b",
        "a LIKE 'b_'",
        "a MATCHES 'b_'",
        "a + 1 > b",
        "a - 1 > b",
        "EVENT.id = 'a'",
        "\"EVENT.id\" = 'a'",
        "a = TIMESTAMP '1970-01-01T00:00Z'",
        "a = 0",
    ]
    assert len({normal(text).key for text in made}) == len(made)


def test_long_keys_are_hashed_and_still_tell_apart() -> None:
    one, other = (normal(f"a IN ({', '.join(map(str, range(n)))})") for n in (2000, 2001))
    assert one != other
    assert len(one.key) < 100
    assert normal(" OR ".join(f"a{i} = 1" for i in range(2000))) != normal(
        " OR ".join(f"a{i} = 1" for i in range(2001))
    )
    assert Lit("text", "x" * 10_000) != Lit("text", "x" * 10_001)


def test_numbers_too_long_for_decimal_have_keys() -> None:
    big = Lit("number", 10**6000)
    assert big == Lit("number", 10**6000)
    assert big != Lit("number", Fraction(10**6000, 7))


def test_digests_are_the_same_in_every_process() -> None:
    text = "x > 5 km AND (y LIKE 'a%' OR NOT z IN (1, 2.5))"
    script = f"from conceptpubsub.filters import Filter; print(Filter.parse({text!r}, semantics='strict').digest)"
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
        )
        found.add(run.stdout.strip())
    assert found == {Filter.parse(text, semantics="strict").digest}


def test_what_digests_depend_on() -> None:
    base = Filter.parse("x = 1")
    assert base.digest == Filter.parse("1.0 = x").digest
    others = [
        Filter.parse("x = 1", semantics="strict"),
        Filter.parse("x = 1", types={"x": "int"}),
        Filter.parse("x = 1", semantics="default"),
        Filter.parse("x = 1", semantics="default", defaults={"x": 1}),
        Filter.parse("x = 1", semantics="default", defaults={"x": True}),
    ]
    assert len({base.digest, *(f.digest for f in others)}) == 6
    assert Filter.parse("Odometer = 1", ontology=VEHICLES) != Filter.parse("Odometer = 1 km")
