"""The local driver against the reference evaluator and ``Converters.deliver``, row for row, over all semantics."""

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conceptpubsub import Context, Converters, SemanticEvent, SemanticObject
from conceptpubsub.archive import Subscription, reprocess
from conceptpubsub.errors import MissingAttribute
from conceptpubsub.model.codecs import events_to_table, table_to_events
from tests.archives import delivered, same_event
from tests.generators import SEMANTICS, Generator
from tests.worlds import world

WANTED: tuple[Any, ...] = (
    Context(),
    Context(unit="km"),
    Context(unit="degF"),
    Context(currency="USD", unit="second"),
    Context(unit="kelvin", scale=10),
)


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("name", ["plain", "typed", "vehicles", "plant"])
def test_deliveries_equal_the_reference(name: str, semantics: str, tmp_path: Path) -> None:
    here = world(name)
    make = Generator(random.Random(f"{name} {semantics}"), here, semantics)
    conv = Converters.default(here.ontology).register("currency", {"USD": 1.25}, pivot="EUR")
    events = [_whole(make.event(), place) for place in range(60)]
    table = events_to_table(events)
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=17)
    asked = []
    for place in range(30):
        scope = make.scope() | {"converters": conv}
        asked.append(Subscription(f"s{place}", make.filter(scope), WANTED[place % len(WANTED)]))
    found = reprocess(
        tmp_path / "events.parquet", asked, tmp_path / "out", ontology=here.ontology, converters=conv, processes=1
    )
    read, errors = table_to_events(table)
    assert not errors
    expected = {}
    for row, event in enumerate(read):
        for one in asked:
            try:
                if one.filter.matches(event):  # type: ignore[union-attr]
                    expected[one.id, row] = conv.deliver(event, one.context)
            except MissingAttribute:
                pass
    got = delivered(tmp_path / "out")
    assert set(got) == set(expected)
    for key, event in got.items():
        assert same_event(event, expected[key]), (key, event, expected[key])
    assert found.deliveries == len(expected) > 100
    assert found.events == len(read)


def _whole(event: Any, place: int) -> SemanticEvent:
    """A generated event as an event with an id; mappings name their parts with an @."""
    if isinstance(event, SemanticEvent):
        return event.replace(id=str(place))
    held = {key: value for key, value in event.items() if not key.startswith("@")}
    return SemanticEvent(event.get("@concept", "Event"), held, time=event.get("@time"), id=str(place))


def test_a_logarithm_is_converted_value_by_value(tmp_path: Path) -> None:
    levels = [0.0, 10.0, 30.0, -20.0]
    events = [SemanticEvent("E", {"p": SemanticObject("p", level, Context(unit="dBm"))}) for level in levels]
    pq.write_table(events_to_table(events), tmp_path / "e.parquet")
    conv = Converters.default()
    asked = [Subscription("watts", "p IS NOT NULL", Context(unit="mW")), Subscription("all", "")]
    reprocess(tmp_path / "e.parquet", asked, tmp_path / "out", converters=conv)
    got = delivered(tmp_path / "out")
    for row, event in enumerate(events):
        assert same_event(got["watts", row], conv.deliver(event, Context(unit="mW")))
        assert same_event(got["all", row], event)
