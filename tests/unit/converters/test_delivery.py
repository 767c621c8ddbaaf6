"""Delivery: the context applies where it fits, and the rest arrives as it came."""

from typing import Any

import pytest

from conceptpubsub.converters import Converters
from conceptpubsub.errors import (
    ConceptPubSubError,
    InvalidValue,
    NoConversion,
    UnknownAspect,
    UnknownConcept,
    UnknownUnit,
)
from conceptpubsub.model import Context, SemanticEvent, SemanticObject


@pytest.fixture
def sale() -> SemanticEvent:
    return SemanticEvent(
        "Sale",
        {
            "Fridge": SemanticObject("Temperature", 41, Context(unit="degF")),
            "Distance": SemanticObject("Distance", 5),
            "Price": SemanticObject("Price", 10, Context(currency="USD")),
            "Rise": SemanticObject("Rise", 9, Context(unit="delta_degF")),
            "Sold": "Apple",
            "Stock": 5,
            "When": "2026-11-16T10:00Z",
            "Box": {"Fridge": SemanticObject("Fridge", 5, Context(unit="degC")), "Stock": 7},
        },
        time="2026-11-16T10:00Z",
        id="e1",
        source="till",
    )


def shown(event: SemanticEvent) -> dict[str, Any]:
    return {key: (held.value, dict(held.context)) for key, held in event.attributes.items() if not held.is_complex}


def test_a_unit_applies_to_its_kind_only(conv: Converters, sale: SemanticEvent) -> None:
    made = conv.deliver(sale, Context(unit="kelvin"))
    changed = {key for key, held in shown(made).items() if held != shown(sale)[key]}
    assert changed == {"Fridge", "Rise"}
    assert made["Fridge"] == SemanticObject("Temperature", 278.15, Context(unit="kelvin"))
    assert made["Rise"].value == 5
    assert made["Box"].value["Fridge"].value == 278.15
    assert made["Box"].value["Stock"].value == 7
    assert (made.id, made.time, made.source) == (sale.id, sale.time, sale.source)


def test_several_aspects_each_where_they_fit(conv: Converters, sale: SemanticEvent) -> None:
    made = shown(conv.deliver(sale, Context(unit="m", currency="EUR", language="de", timezone="Asia/Tokyo")))
    assert made["Distance"] == (5000, {"unit": "m"})
    assert made["Price"] == (10 / 1.2, {"currency": "EUR"})
    assert made["Sold"] == ("Apfel", {"language": "de"})
    assert made["When"] == ("2026-11-16T19:00:00+09:00", {"timezone": "Asia/Tokyo"})
    assert made["Fridge"] == (41, {"unit": "degF"})
    assert made["Stock"] == (5, {})


def test_a_scale_comes_with_the_unit(conv: Converters, sale: SemanticEvent) -> None:
    made = shown(conv.deliver(sale, Context(unit="m", scale=1000)))
    assert made["Distance"] == (5, {"unit": "m", "scale": 1000})
    assert made["Stock"] == (5, {})


def test_by_concept_the_most_specific_wins(conv: Converters, sale: SemanticEvent) -> None:
    wanted = {"Temperature": Context(unit="K"), "Fridge": Context(unit="degC"), "Distance": Context(unit="m")}
    made = shown(conv.deliver(sale, wanted))
    assert made["Fridge"] == (5, {"unit": "degC"})
    assert made["Distance"] == (5000, {"unit": "m"})
    assert made["Rise"] == (9, {"unit": "delta_degF"})
    above = shown(conv.deliver(sale, {"Temperature": {"unit": "K"}}))
    assert above["Fridge"] == (278.15, {"unit": "K"})


def test_without_a_rate_the_price_arrives_as_it_came(conv: Converters, sale: SemanticEvent) -> None:
    assert conv.deliver(sale, Context(currency="JPY")) == sale
    assert conv.deliver(sale.replace(time=None), Context(currency="EUR"))["Price"] == sale["Price"]
    assert conv.deliver(sale.replace(time=None), Context(currency="EUR"), at="2026-11-16T00:00Z") != sale


def test_without_an_ontology_by_dimension(plain: Converters) -> None:
    event = SemanticEvent(
        "E", {"a": SemanticObject("a", 86, {"unit": "degF"}), "b": SemanticObject("b", 5, {"unit": "N*m"}), "c": 7}
    )
    made = plain.deliver(event, Context(unit="degC"))
    assert (made["a"].value, made["b"].value, made["c"].value) == (30, 5, 7)
    assert plain.deliver(event, Context(unit="J")) == event
    assert plain.deliver(event, {"a": Context(unit="degC")})["a"].value == 30


def test_delivering_keeps_the_meaning(conv: Converters, sale: SemanticEvent) -> None:
    made = conv.deliver(sale, Context(unit="kelvin", language="de"), exact=True)
    assert made != sale
    assert conv.equivalent(made, sale)
    assert conv.convert(sale, Context(unit="kelvin", language="de"), exact=True) == made


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (Context(unit="kelvinn"), UnknownUnit),
        (Context(timezone="Mars/Olympus"), ConceptPubSubError),
        (Context(currency="EURO"), NoConversion),
        (Context(scale=0), InvalidValue),
        (Context(colour="red"), UnknownAspect),
        ({"Distnce": Context(unit="km")}, UnknownConcept),
        ({"Distance": Context(unit="kelvin")}, NoConversion),
        ({"Stock": Context(unit="kelvin")}, NoConversion),
        ({"Distance": Context(unit="km"), "Fridge": 5}, InvalidValue),
    ],
)
def test_a_context_that_could_never_apply_is_refused(conv: Converters, wanted: Any, error: Any) -> None:
    with pytest.raises(error):
        conv.check_delivery(wanted)


@pytest.mark.parametrize("wanted", [Context(), Context(unit="K", language="de"), {"Rise": Context(unit="K")}])
def test_a_context_that_may_apply_is_accepted(conv: Converters, wanted: Any) -> None:
    conv.check_delivery(wanted)
