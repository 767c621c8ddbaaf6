"""The past: matched in tables as event by event, whatever was stored, and the events are those that were published."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conceptpubsub as cps
from conceptpubsub.hub import past
from conceptpubsub.hub.lines_to_table import lines_to_table
from conceptpubsub.hub.past import Past, Wish
from conceptpubsub.hub.store import Store
from conceptpubsub.model.codecs import table_to_events, to_json
from tests.unit.model.event_strategies import events

FILTERS = [
    *("A > 3", "A IS NULL OR B = 'x'", "A.B >= 0", "A = TRUE", "EVENT.time > TIMESTAMP '2000-01-01T00:00Z'"),
    *("NOT A < 3 km", "EVENT.id = '1'", "unit <> 5", "A + B > 0", "A LIKE '%a%'"),
]


def filled(*batches):
    store = Store(":memory:")
    for batch in batches:
        if isinstance(batch, pa.Table):
            store.append_table(batch)
        else:
            store.append(batch)
    return store


def slowly(store, wish, start=0, end=None):
    return [(offset, event) for offset, event in store.all(start, end) if wish.matches(event)]


@settings(max_examples=60)
@given(st.lists(events, max_size=4))
def test_lines_become_the_table_of_their_events(made):
    read = table_to_events(lines_to_table([to_json(event) for event in made]))
    assert (read.events, list(read.errors)) == (made, [])


@settings(max_examples=60)
@given(st.lists(events, max_size=6), st.sampled_from(FILTERS), st.integers(0, 6))
def test_tables_agree_with_the_evaluator(made, text, start):
    before = past._FEW
    past._FEW = 0
    try:
        store = filled(made)
        wish = Wish(cps.Filter.parse(text))
        assert list(Past(store, pytest.fail).matching(wish, start)) == slowly(store, wish, start)
    finally:
        past._FEW = before


@pytest.fixture
def mixed(monkeypatch):
    """Blocks of eight; single events, tables across blocks, and a gap at the beginning."""
    monkeypatch.setattr(past, "BLOCK", 8)
    monkeypatch.setattr(past, "KEPT", 2)
    monkeypatch.setattr(past, "_FEW", 3)

    def single(numbers):
        return [cps.SemanticEvent("E", {"n": n, "odd": n % 2 == 1}) for n in numbers]

    def table(numbers):
        return pa.table({"@concept": ["E"] * len(numbers), "n": list(numbers), "odd": [n % 2 == 1 for n in numbers]})

    return filled(
        single(range(11)), table(range(11, 40)), single(range(40, 41)), table(range(41, 43)), single(range(43, 101))
    )


@pytest.mark.parametrize("start", [0, 1, 7, 8, 10, 11, 12, 39, 40, 41, 42, 47, 99, 100, 101, 200])
@pytest.mark.parametrize("end", [None, 5, 30, 101, 500])
def test_every_stretch(mixed, start, end):
    wish = Wish(cps.Filter.parse("odd = TRUE OR n = 40"))
    reader = Past(mixed, pytest.fail)
    for _ in range(2):  # the second time from what was kept
        assert list(reader.matching(wish, start, end)) == slowly(mixed, wish, start, end)
    assert len(reader._kept) <= 2


def test_after_a_trim_the_past_begins_later(tmp_path):
    with cps.Hub(store=tmp_path / "events.db", sync="normal") as hub:
        count = past.BLOCK + 100
        sub = hub.subscribe("n >= 0", durable="reader")
        hub.publish_batch([{"n": n} for n in range(count)])
        assert len(list(hub.replay("n < 50"))) == 50
        for _ in range(10):
            next(sub)
        sub.ack()
        assert hub.trim() == 10
        assert [offset for offset, _ in hub.replay("n < 50")] == list(range(10, 50))


def test_under_total_an_event_that_lacks_something_is_passed_over(tmp_path):
    with cps.Hub(store=tmp_path / "events.db", sync="normal", semantics="total") as hub:
        hub.publish_batch([{"n": n} if n % 2 else {"m": n} for n in range(100)])
        got = []
        hub.subscribe("n < 10", got.append, durable="reader", start="earliest")
        hub.publish({"m": 1})
        hub.publish({"n": 3})
        assert [event["n"].value for event in got] == [1, 3, 5, 7, 9, 3]


def test_what_was_passed_over_need_not_be_read_again(tmp_path):
    with cps.Hub(store=tmp_path / "events.db", sync="normal") as hub:
        hub.publish_batch([{"n": n} for n in range(100)])
        sub = hub.subscribe("n = 3", lambda event: None, durable="reader", start="earliest")
        assert sub.acknowledged == 100


def test_a_failure_in_the_past_acknowledges_what_went_before(tmp_path):
    got, failing = [], [True]

    def fussy(event):
        if event["n"].value == 50 and failing[0]:
            raise RuntimeError("busy")
        got.append(event["n"].value)

    with cps.Hub(store=tmp_path / "events.db", sync="normal") as hub:
        hub.publish_batch([{"n": n} for n in range(100)])
        retry = cps.hub.Retry(attempts=1000, delay=0.001, most=0.002)
        sub = hub.subscribe("n >= 0", fussy, durable="reader", start="earliest", retry=retry)
        assert sub.acknowledged == 50
        failing[0] = False
        assert hub.flush(10)
        assert (got, sub.acknowledged) == (list(range(100)), 100)
