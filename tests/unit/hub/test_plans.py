"""Delivery plans against ``Converters.deliver``, which judges them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conceptpubsub as cps
from conceptpubsub.hub.edge import Shapes
from conceptpubsub.hub.plans import Plans

CONV = cps.Converters.default(cps.Ontology.bundled("vehicles"))
CONV.register("currency", {"2026-11-18": {"USD": 1.25}}, pivot="EUR")
PLANS, SHAPES = Plans(CONV), Shapes()
CONTEXTS = [
    cps.Context(unit="kelvin"),
    cps.Context(unit="km"),
    cps.Context(unit="km", scale=1000),
    cps.Context(unit="degC", currency="EUR"),
    {"Distance": cps.Context(unit="m"), "Temperature": cps.Context(unit="degF")},
    None,
]
numbers = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: abs(x) < 1e200),
    st.decimals(-1000, 1000, places=3),
)


@given(
    temperature=numbers,
    unit=st.sampled_from(["degF", "degC", "kelvin"]),
    distance=numbers,
    scale=st.sampled_from([None, 1000]),
    price=numbers,
    nested=st.booleans(),
    wanted=st.sampled_from(CONTEXTS),
)
def test_plans_deliver_what_converters_deliver(temperature, unit, distance, scale, price, nested, wanted):
    attributes = {
        "InTemperature": cps.SemanticObject("Temperature", temperature, cps.Context(unit=unit)),
        "Odometer": cps.SemanticObject("Distance", distance, cps.Context(unit="mile", scale=scale)),
        "Money": cps.SemanticObject("Money", price, cps.Context(currency="USD")),
        "LicensePlate": "B-AB 123",
    }
    if nested:
        attributes = {"Vehicle": cps.SemanticObject("Vehicle", attributes)}
    event = cps.SemanticEvent("VehicleStatus", attributes, time="2026-11-18T05:00Z")
    shape = SHAPES.of(event)
    for _ in range(2):
        made = PLANS.deliver(event, shape, PLANS.number(wanted))
        expected = event if wanted is None else CONV.deliver(event, wanted)
        assert made == expected
        assert [type(o.value) for o in made.attributes.values()] == [
            type(o.value) for o in expected.attributes.values()
        ]


def test_equal_contexts_share_a_number():
    assert PLANS.number(cps.Context(unit="km")) == PLANS.number({"unit": "km"})
    assert PLANS.number(cps.Context(unit="km")) != PLANS.number(cps.Context(unit="mile"))
    assert PLANS.number(None) == PLANS.number({}) == 0


def test_levels_are_not_mistaken_for_affine_maps():
    conv = cps.Converters.default()
    plans = Plans(conv)
    event = cps.SemanticEvent("E", {"p": cps.SemanticObject("p", 30.0, cps.Context(unit="dBm"))})
    target = cps.Context(unit="watt")
    expected = conv.deliver(event, target)
    assert plans.deliver(event, Shapes().of(event), plans.number(target)) == expected
    assert expected["p"].value == pytest.approx(expected["p"].value)
