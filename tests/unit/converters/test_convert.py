"""Objects into another context: aspects composed, kinds guarded, and errors that say what is there."""

from fractions import Fraction
from typing import Any

import pytest

from conceptpubsub.converters import Converters
from conceptpubsub.errors import ConceptPubSubError, NoConversion, UnknownAspect, UnknownConcept, UnknownUnit
from conceptpubsub.model import Context, Instant, SemanticObject


def made(
    conv: Converters, concept: str, value: Any, context: dict[str, Any], target: dict[str, Any], **how: Any
) -> Any:
    return conv.convert(SemanticObject(concept, value, Context(context)), Context(target), **how)


def test_the_new_context_stands_over_the_old(plain: Converters) -> None:
    found = made(plain, "Way", 3.85, {"unit": "mile", "scale": 1000}, {"unit": "km"})
    assert found == SemanticObject("Way", 6.1959744, Context(unit="km", scale=1000))


def test_unit_scale_and_currency_in_one_step(conv: Converters) -> None:
    found = made(
        conv,
        "Tariff",
        2,
        {"unit": "1/MWh", "currency": "USD", "scale": 100},
        {"unit": "1/kWh", "currency": "EUR", "scale": Fraction(1, 100)},
        at="2026-11-17T08:00Z",
        exact=True,
    )
    assert found.value == Fraction(2 * 100, 1000) / Fraction("1.6") * 100


@pytest.mark.parametrize(
    ("value", "expected"), [(86, 30), (86.0, 30.0), (72.5, 22.5), (Fraction(145, 2), 22.5), (87, 30.555555555555557)]
)
def test_whole_numbers_stay_ints_and_others_are_delivered_as_floats(
    plain: Converters, value: Any, expected: Any
) -> None:
    found = made(plain, "T", value, {"unit": "degF"}, {"unit": "degC"}).value
    assert (found, type(found)) == (expected, type(expected))


def test_exact_keeps_the_rational(plain: Converters) -> None:
    assert made(plain, "T", 72.5, {"unit": "degF"}, {"unit": "degC"}, exact=True).value == Fraction(45, 2)


def test_a_bare_value_stands_in_its_concepts_context(conv: Converters) -> None:
    assert made(conv, "Distance", 5, {}, {"unit": "m"}).value == 5000
    assert made(conv, "Price", 8, {}, {"currency": "USD"}, at="2026-11-16T08:00Z").value == 9.6


def test_a_context_by_concept(conv: Converters) -> None:
    obj = SemanticObject("Fridge", 5, Context(unit="degC"))
    assert conv.convert(obj, {"Temperature": Context(unit="degF")}).value == 41
    assert conv.convert(obj, {"Distance": Context(unit="m")}) == obj


def test_a_difference_may_be_given_in_kelvin(conv: Converters) -> None:
    assert made(conv, "Rise", 9, {"unit": "delta_degF"}, {"unit": "K"}).value == 5


def test_levels_convert_under_a_concept(conv: Converters) -> None:
    assert made(conv, "Sourness", 3, {}, {"unit": "mmol/L"}).value == 1


@pytest.mark.parametrize(
    ("concept", "value", "context", "target", "error", "why"),
    [
        ("Distance", 5, {"unit": "mile"}, {"unit": "kelvin"}, NoConversion, "Distance"),
        ("Moment", 5, {"unit": "N*m"}, {"unit": "J"}, NoConversion, "torque"),
        ("Fridge", 5, {"unit": "degC"}, {"unit": "delta_degC"}, NoConversion, "difference"),
        ("Distance", 5, {"unit": "mle"}, {"unit": "km"}, UnknownUnit, "mile"),
        ("Distance", 5, {}, {"unit": "kmm"}, UnknownUnit, "kmm"),
        ("Distnce", 5, {}, {"unit": "km"}, UnknownConcept, "Distance"),
        ("Distance", 5, {}, {"unti": "km"}, UnknownAspect, "unit"),
        ("Distance", "far", {}, {"unit": "m"}, NoConversion, "not a number"),
        ("Stock", 5, {}, {"unit": "m"}, NoConversion, "no unit"),
        ("Stock", 5, {}, {"currency": "EUR"}, NoConversion, "no currency"),
        ("Price", 5, {}, {"currency": "EURO"}, NoConversion, "ISO 4217"),
        ("Price", 5, {}, {"currency": "USD"}, NoConversion, "give at="),
        ("Symbol", "IBM", {}, {"scheme": "NYSE"}, NoConversion, "nothing is registered"),
        ("Sold", "Apple", {}, {"language": "fr"}, NoConversion, "no label"),
        ("Sold", "Apple", {}, {"timezone": "UTC"}, ConceptPubSubError, "ISO 8601"),
    ],
)
def test_what_cannot_be_converted_says_why(
    conv: Converters, concept: str, value: Any, context: dict[str, Any], target: dict[str, Any], error: Any, why: str
) -> None:
    with pytest.raises(error, match=why):
        made(conv, concept, value, context, target)


def test_labels_by_language(conv: Converters) -> None:
    german = made(conv, "Sold", "Pear", {}, {"language": "de"})
    assert german == SemanticObject("Sold", "Birne", Context(language="de"))
    assert made(conv, "Sold", "Birne", {"language": "de"}, {"language": "en"}).value == "pear"
    assert made(conv, "Sold", "Apple", {}, {"language": "de-AT"}).value == "Apfel"


def test_instants_by_time_zone(conv: Converters) -> None:
    noon = Instant.parse("2026-07-01T10:00:00.000000001Z")
    assert made(conv, "When", noon, {}, {"timezone": "Europe/Berlin"}).value == noon
    text = made(conv, "When", "2026-07-01T10:00:00.000000001Z", {}, {"timezone": "Europe/Berlin"})
    assert text.value == "2026-07-01T12:00:00.000000001+02:00"
    local = made(conv, "When", "2026-07-01T12:00", {"timezone": "Europe/Berlin"}, {"timezone": "America/New_York"})
    assert local.value == "2026-07-01T06:00:00-04:00"


def test_nothing_to_do_is_no_error(conv: Converters) -> None:
    obj = SemanticObject("Symbol", "IBM", Context(anything="x"))
    assert conv.convert(obj, Context(anything="x")) == obj
