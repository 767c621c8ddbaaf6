"""explain() says, atom by atom, what was seen and why the event matched or not."""

from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, Ontology, SemanticEvent, SemanticObject

VEHICLES = Ontology.bundled("vehicles")
EVENT = SemanticEvent(
    "VehicleStatus",
    {
        "InTemperature": SemanticObject("Temperature", 86, Context(unit="degF")),
        "OutTemperature": 10,
        "PartFailure": "Ignition",
        "Odometer": "far",
    },
)


def test_converted_values_bindings_and_faults_are_shown() -> None:
    f = Filter.parse("Temperature > 25 degC AND NOT PartFailure = 'Engine' AND Odometer > 5", ontology=VEHICLES)
    told = f.explain(EVENT)
    assert told.value is None
    assert not told.matched
    assert told.bindings == 2
    assert str(told).splitlines() == [
        "not matched (unknown, semantics sql): Temperature > 25 degC AND NOT PartFailure = 'Engine' AND Odometer > 5",
        "     true  Temperature > 25 degC",
        "           Temperature = 86 degF = 30 degC (bound to InTemperature)",
        "    false  PartFailure = 'Engine'",
        "           PartFailure = Ignition",
        "  unknown  Odometer > 5",
        "           Odometer is missing",
        "           unknown: a reference is missing",
        "  note: Odometer counts as missing: Odometer is a number, and 'far' is not",
        "  note: the names can be bound in 2 ways; this is the one that comes nearest to a match",
    ]


def test_the_verdict_is_the_evaluators() -> None:
    for text in ("Temperature > 25 degC", "Temperature < 0 degC", "FuelLevel > 5", "Temperature / 0 > 5 K", ""):
        for semantics in ("sql", "strict", "default"):
            f = Filter.parse(text, ontology=VEHICLES, semantics=semantics)
            assert f.explain(EVENT).value is f.evaluate(EVENT), (text, semantics)


def test_each_semantics_has_its_words() -> None:
    text, event = "x = 1 OR y = 2", {"x": 1}
    assert "lacks y is unknown" in str(Filter.parse(text, semantics="strict").explain(event))
    assert "lacks y is an error" in str(Filter.parse(text, semantics="total").explain(event))
    assert "counts as false" in str(Filter.parse(text, semantics="default").explain(event))
    declared = Filter.parse(text, semantics="default", defaults={"y": 2})
    assert "y = 2 (its declared default)" in str(declared.explain(event))


def test_unknown_comparisons_say_why() -> None:
    paid = {"p": SemanticObject("p", 3, Context(currency="USD")), "s": 5}
    told = str(Filter.parse("p > 5 EUR AND s LIKE 'a%' AND s BETWEEN 'a' AND 'b' AND s IN ('a', 'b')").explain(paid))
    assert told.count("unknown: the values do not compare") == 4
    assert "p = 3 USD\n" in told


def test_long_and_large_values_are_cut() -> None:
    told = str(Filter.parse("x = 1 AND y = 'a'").explain({"x": 10**500, "y": "b" * 5000}))
    assert len(told) < 1000
