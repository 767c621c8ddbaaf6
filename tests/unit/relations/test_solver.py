"""What only z3 decides: arithmetic between attributes, products, LIKE and regular expressions; and its manners."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest

from conceptpubsub import relations
from conceptpubsub.errors import Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology
from conceptpubsub.relations import Budget

TYPES = {"x": "real", "y": "real", "n": "int", "m": "int", "price": "real", "volume": "int", "s": "text", "t": "text"}
VEHICLES = Ontology.bundled("vehicles")


def parse(text: str, **scope: Any) -> Filter:
    return Filter.parse(text, **{"types": TYPES, **scope})


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("price * volume >= 1000000", "price >= 2000 AND volume >= 600", True),
        ("price * volume >= 1000000", "price >= 2000 AND volume >= 400", False),
        ("x < y + 1", "x < y", True),
        ("x < y", "x < y + 1", False),
        ("n <= m + 1", "n < m + 2", True),
        ("x <= y + 1", "x < y + 2", False),
        ("x / y > 2", "x > 2 * y AND y > 0", True),
        ("x / y > 2", "x > 2 * y", False),
        ("x * x >= 0", "x IS NOT NULL", True),
        ("x / x = 1", "x IS NOT NULL", False),
        ("x / x = 1", "x > 0", True),
        ("x = y OR x <> y", "x = 1 AND y IS NOT NULL", True),
        ("2 * x + 1 > 7", "x > 3", True),
        ("x + y > 5", "x > 3 AND y > 2", True),
        ("s LIKE 'a_%'", "s LIKE 'ab%'", True),
        ("s LIKE 'a%'", "s LIKE 'a_c'", True),
        ("s LIKE '%a%b%'", "s LIKE '%ab%'", True),
        ("s LIKE '%ab%'", "s LIKE '%a%b%'", False),
        ("s MATCHES '[a-c]+'", "s MATCHES '(ab)*c'", True),
        ("s MATCHES '(ab)*c'", "s MATCHES '[a-c]+'", False),
        ("s MATCHES 'a.*'", "s STARTS WITH 'ab'", False),
        ("s MATCHES '(?s)a.*'", "s STARTS WITH 'ab' AND NOT s LIKE '%_c%'", True),
        ("s LIKE '____'", "s MATCHES '\\d{4}'", True),
        ("s = t OR s <> t", "s = 'a' AND t LIKE 'b%'", True),
        ("s < t", "s < 'b' AND t > 'c'", True),
    ],
)
def test_covering_beyond_domains(wide: str, narrow: str, expected: bool) -> None:
    f, g = parse(wide), parse(narrow)
    assert f.covers(g) is expected
    assert f.covers(g, engine="z3") is expected
    witness: Any = f.witness(g)
    assert (witness is None) is expected


def test_arithmetic_over_units_and_instants() -> None:
    def vehicles(text: str) -> Filter:
        return Filter.parse(text, ontology=VEHICLES)

    assert vehicles("InTemperature > OutTemperature").covers(
        vehicles("InTemperature > 30 degC AND OutTemperature < 20 degC")
    )
    assert vehicles("InTemperature - OutTemperature > 18 delta_degF").identical(
        vehicles("InTemperature - OutTemperature > 10 delta_degC")
    )
    assert vehicles("Distance / TripDuration > 10 [m/s]").identical(vehicles("Distance / TripDuration > 36 [km/h]"))
    assert vehicles("EVENT.time - LastService > 1 h").covers(vehicles("EVENT.time - LastService > 61 min"))


def test_undeclared_attributes_meet_in_their_sorts_only() -> None:
    assert Filter.parse("a * b > 5").covers(Filter.parse("a * b > 6"))
    assert Filter.parse("d / l > 1 [m/s]").covers(Filter.parse("d / l > 2 [m/s]"))
    assert not Filter.parse("d / l > 1 [m/s]").covers(Filter.parse("d / l > 1"))
    assert not Filter.parse("a < b OR a >= b").covers(Filter.parse("a = 1 AND b = 'x'"))


def test_the_domain_engine_says_when_it_cannot() -> None:
    with pytest.raises(Undecided, match="domain engine"):
        parse("x < y").covers(parse("x < 1"), engine="domain")


def test_an_answer_that_is_not_found_in_time_is_the_safe_one_and_counted() -> None:
    hard = parse("n * n * n + m * m * m = k * k * k + 114 AND n > 100 AND m > 100", types={**TYPES, "k": "int"})
    tight = Budget(milliseconds=50, work=20_000)
    relations.reset_statistics()
    assert hard.satisfiable(budget=tight)
    assert hard.overlaps(parse("m > 3"), budget=tight)
    assert not parse("n > 7 AND m * m <> 5 AND s = t").covers(hard, budget=tight)
    counted = relations.statistics()
    assert counted["safe answer"] >= 2
    assert any(name.startswith("z3 gave up: budget") for name in counted)
    with pytest.raises(Undecided):
        hard.satisfiable(engine="z3", budget=tight)
    with pytest.raises(Undecided):
        parse("m < 0").witness(hard, budget=tight)


def test_irrational_solutions_are_no_events() -> None:
    with pytest.raises(Undecided):
        parse("x > 5").witness(parse("x * x = 2"))
    assert parse("x > 5").witness(parse("x * x = 4 AND x > 0")) is not None


def test_nothing_of_z3_is_pickled_with_a_filter() -> None:
    f, g = parse("x < y AND s MATCHES 'a+'"), parse("x < y - 1 AND s = 'aa'")
    assert f.covers(g)
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert b"z3" not in pickle.dumps(f)
    assert again.covers(g)


def test_threads_decide_side_by_side() -> None:
    pairs = [(parse(f"x < y + {i}"), parse(f"x < y + {i - 1} AND s LIKE 'a%b_'")) for i in range(5)]
    answers: list[list[bool]] = []

    def decide() -> None:
        answers.append([f.covers(g) and not g.covers(f) and f.witness(g) is None for f, g in pairs])

    threads = [threading.Thread(target=decide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[True] * len(pairs)] * 4
