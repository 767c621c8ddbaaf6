"""A context is an immutable, hashable mapping that is open to new aspects."""

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import ConceptPubSubError, InvalidValue
from conceptpubsub.model.context import EMPTY, Context

aspects = st.dictionaries(st.text(min_size=1), st.text() | st.booleans() | st.fractions(), max_size=5)


def test_it_reads_as_a_mapping() -> None:
    context = Context({"unit": "mile"}, scale=1000, exact=True)
    assert dict(context) == {"exact": True, "scale": 1000, "unit": "mile"}
    assert len(context) == 3
    assert "unit" in context
    assert context.get("currency") is None
    assert repr(context) == "Context(exact=True, scale=1000, unit='mile')"


@given(aspects)
def test_equal_contexts_are_one_key_and_survive_copying(given: dict[str, Any]) -> None:
    context = Context(given)
    backwards = Context(dict(reversed(given.items())))
    assert context == backwards
    assert hash(context) == hash(backwards)
    assert pickle.loads(pickle.dumps(context)) == context == copy.deepcopy(context)


def test_numbers_are_exact_and_true_is_not_one() -> None:
    assert Context(scale=0.1) == Context(scale=Fraction(1, 10)) == Context(scale=np.float32(0.1))
    assert Context(flag=True) != Context(flag=1)
    assert Context(unit="km") != {"unit": "km"}


def test_it_cannot_be_changed() -> None:
    context = Context(unit="km")
    with pytest.raises(AttributeError, match="merged"):
        context.unit = "mile"
    with pytest.raises(TypeError):
        context["unit"] = "mile"  # type: ignore[index]
    assert context == Context(unit="km")


def test_merging_lays_one_over_the_other() -> None:
    context = Context(unit="mile", scale=1000)
    assert context.merged({"unit": "km"}) == Context(unit="km", scale=1000)
    assert context.merged({"scale": None}) == Context(unit="mile")
    assert context.merged(EMPTY) is context
    assert Context(unit=None) == EMPTY


@pytest.mark.parametrize("bad", ["km", 5, ["unit"], {"": "km"}, {1: "km"}, {"unit": ["km"]}, {"scale": float("nan")}])
def test_what_is_no_context_is_refused(bad: Any) -> None:
    with pytest.raises(ConceptPubSubError) as caught:
        Context(bad)
    assert isinstance(caught.value, InvalidValue)
