"""Events of every shape the model allows, with names chosen to be misread by any codec that is careless."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
awkward = st.sampled_from(
    [
        *("value", "attributes", "concept", "context", "type", "unit", "scale", "id", "time", "@id", "@type", "@value"),
        *("@context", "@concept", "@complex", "@@x", "%40id", "%", "cps:unit", "cps:", "rdf:value", "qudt:unit"),
        *(
            "qudt:numericValue",
            "sosa:observedProperty",
            "sosa:Observation",
            "a.b",
            "a@unit",
            '"',
            '"a"',
            "<a>",
            "a/b~c",
        ),
        *("http://example.org/a.b#c", "http://example.org/@x", "urn:a:b", "Ünï", "a b", ".", "@", "<", "A", "B", "x:y"),
    ]
)
names = awkward | text.filter(bool)
numbers = st.one_of(
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63 - 1, 2**63, 10**300, 10**4000]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.fractions(),
    st.decimals(allow_nan=False, allow_infinity=False).filter(lambda d: abs(d.adjusted()) < 400),
    st.sampled_from([Decimal("0.10"), Decimal("1E+5"), Fraction(1, 3), 0.1, -0.0, 5e-324, 1.7976931348623157e308]),
)
instants = st.integers(-(10**28), 10**28).map(Instant) | st.datetimes().map(
    lambda when: Instant.of(when.replace(tzinfo=dt.UTC))
)
scalars = st.one_of(text, st.booleans(), numbers, instants, st.datetimes(), st.dates())
aspects = st.one_of(text, st.booleans(), st.integers(), st.fractions(), st.sampled_from(["km", "mile", "1", "1/3"]))
contexts = st.dictionaries(st.sampled_from(["unit", "scale", "currency"]) | names, aspects, max_size=3).map(Context)


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[SemanticObject]:
    return st.builds(SemanticObject, names, values, contexts)


attributes: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    names,
    st.recursive(
        scalars | objects(scalars),
        lambda inner: st.dictionaries(names, inner, max_size=3) | objects(st.dictionaries(names, inner, max_size=3)),
        max_leaves=6,
    ),
    max_size=4,
)
events = st.builds(
    SemanticEvent,
    names,
    attributes,
    time=st.none() | instants,
    id=st.none() | text,
    source=st.none() | text,
)
calendar = st.datetimes().map(lambda when: Instant.of(when.replace(tzinfo=dt.UTC)))
published = st.builds(
    SemanticEvent,
    names,
    attributes,
    time=st.none() | calendar,
    id=text.filter(bool),
    source=text.filter(bool),
)
