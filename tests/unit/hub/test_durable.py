"""Durable subscriptions: places that outlive the hub, replay, catching up, standing still on failure."""

import asyncio
import sqlite3
import threading

import pyarrow as pa
import pytest

import conceptpubsub as cps
from conceptpubsub.errors import FlowError, HubError
from conceptpubsub.flow import FlowGraph
from conceptpubsub.hub import Retry, Shortest
from conceptpubsub.hub.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.db"


def opened(path):
    return cps.Hub(store=path, sync="normal")


def numbers(events):
    return [event["n"].value for event in events]


def publish(path, *given):
    with opened(path) as hub:
        return [hub.publish({"n": n}).offset for n in given]


def test_what_was_missed_comes_after_a_restart(path):
    got = []
    with opened(path) as hub:
        hub.subscribe("n > 1", got.append, durable="reader")
        assert [hub.publish({"n": n}).offset for n in (1, 2)] == [0, 1]
    assert publish(path, 3, 1, 4) == [2, 3, 4]
    with opened(path) as hub:
        sub = hub.subscribe("n > 1", got.append, durable="reader")
        assert numbers(got) == [2, 3, 4]
        hub.publish({"n": 5})
        assert (numbers(got), sub.acknowledged) == ([2, 3, 4, 5], 6)


def test_units_and_contexts_are_those_of_the_subscriber(path):
    with cps.Hub(cps.Ontology.bundled("vehicles"), store=path) as hub:
        sub = hub.subscribe("Temperature > 25 degC", durable="k", context=cps.Context(unit="kelvin"))
        warm = cps.SemanticObject("Temperature", 86, cps.Context(unit="degF"))
        hub.publish(cps.SemanticEvent("VehicleStatus", {"InTemperature": warm}))
        assert sub.get(timeout=1)["InTemperature"].value == 303.15


def test_read_and_acknowledge_by_hand(path):
    with opened(path) as hub:
        sub = hub.subscribe("n > 0", durable="reader")
        hub.publish_batch([{"n": n} for n in range(5)])
        assert next(sub)["n"].value == 1
        sub.ack()
        assert numbers(sub.drain()) == [2, 3, 4]
        with pytest.raises(TimeoutError):
            sub.get(timeout=0.01)
    with opened(path) as hub:
        assert numbers(hub.subscribe("n > 0", durable="reader").drain()) == [2, 3, 4]


def test_readers_wait_for_publishers(path):
    with opened(path) as hub:
        sub = hub.subscribe("n > 0", durable="reader")
        late = threading.Timer(0.05, lambda: hub.publish({"n": 7}))
        late.start()
        assert sub.get(timeout=10)["n"].value == 7

        async def read():
            asyncio.get_running_loop().call_later(0.02, hub.publish, {"n": 8})
            return await asyncio.wait_for(anext(sub), 10)

        assert asyncio.run(read())["n"].value == 8
        sub.close()
        assert list(sub) == []


def test_start_and_replay_from_an_offset_or_a_time(path):
    store = Store(path, clock=iter(range(10**18, 10**18 + 10**12, 10**9)).__next__)
    store.append([cps.SemanticEvent("E", {"n": 0})])
    store.append([cps.SemanticEvent("E", {"n": 1}), cps.SemanticEvent("E", {"n": 2})])
    store.append([cps.SemanticEvent("E", {"n": 3})])
    store.close()
    second = cps.Instant(10**18 + 10**9)
    with opened(path) as hub:
        assert [offset for offset, _ in hub.replay("n >= 0", 2)] == [2, 3]
        assert [offset for offset, _ in hub.replay("n >= 0", second, 3)] == [1, 2]
        assert [offset for offset, _ in hub.replay("n >= 0", cps.Instant(2 * 10**18))] == []
        for name, start, seen in (("a", "earliest", 4), ("b", 3, 1), ("c", second, 3), ("d", None, 0), ("e", 99, 0)):
            assert len(hub.subscribe("n >= 0", durable=name, start=start).drain()) == seen
        with pytest.raises(HubError, match="from 0"):
            hub.subscribe("n >= 0", durable="f", start=-1)


def test_tables_are_kept_as_tables(path):
    got = []
    with opened(path) as hub:
        hub.subscribe("n >= 2", got.append, durable="batches", batch=True)
        receipt = hub.publish_batch(pa.table({"n": [1, 2, 3]}))
        assert (receipt.offset, receipt.matched, got[0].offsets) == (0, 2, [1, 2])
        hub.publish({"n": 4})
    with opened(path) as hub:
        sub = hub.subscribe("n >= 2", durable="other", start="earliest")
        assert numbers(sub.drain()) == [2, 3, 4]
        assert [offset for offset, _ in hub.replay("n >= 2", 2)] == [2, 3]


def test_a_failing_callback_stands_still_and_nothing_overtakes(path):
    got, failures = [], [0]
    with opened(path) as hub:

        def fussy(event):
            if event["n"].value == 2 and failures[0] < 2:
                failures[0] += 1
                raise RuntimeError("busy")
            got.append(event)

        sub = hub.subscribe("n > 0", fussy, durable="fussy", retry=Retry(attempts=5, delay=0.01))
        for n in range(1, 6):
            hub.publish({"n": n})
        assert hub.flush(10)
        assert (numbers(got), sub.failed, sub.acknowledged) == ([1, 2, 3, 4, 5], 0, 5)


def test_after_the_last_attempt_it_goes_on(path):
    got = []
    with opened(path) as hub:

        def never_two(event):
            if event["n"].value == 2:
                raise RuntimeError("never")
            got.append(event)

        hub.subscribe("n > 0", never_two, durable="x", retry=Retry(attempts=2, delay=0.001))
        for n in range(1, 5):
            hub.publish({"n": n})
        assert hub.flush(10)
        assert numbers(got) == [1, 3, 4]
        assert [(letter.offset, letter.attempts) for letter in hub.dead_letters] == [(1, 2)]


def test_leaving_a_with_does_not_wait_for_a_durable_callback_that_fails(path):
    with opened(path) as hub:
        hub.subscribe("n > 0", lambda event: 1 / 0, durable="x", retry=Retry(attempts=10**6, delay=3600))
        hub.publish({"n": 1})
        assert not hub.flush(timeout=0.01)
    with opened(path) as hub:
        assert numbers(hub.subscribe("n > 0", durable="x").drain()) == [1]


def test_what_a_callback_publishes_comes_after_what_it_was_given(path):
    one, two = [], []
    with opened(path) as hub:

        def echo(event):
            one.append(event)
            if event["n"].value < 10:
                hub.publish({"n": event["n"].value + 10})

        hub.subscribe("n > 0", echo, durable="one")
        hub.subscribe("n > 0", two.append, durable="two")
        hub.publish_batch([{"n": 1}, {"n": 2}])
        assert numbers(one) == numbers(two) == [1, 2, 11, 12]


def test_names_filters_and_stores_are_guarded(path):
    with opened(path) as hub:
        hub.subscribe("n > 0", durable="a")
        with pytest.raises(HubError, match="open in this hub already"):
            hub.subscribe("n > 0", durable="a")
        with pytest.raises(HubError, match="another hub has it open"):
            opened(path)
        with pytest.raises(HubError, match="unsubscribe first"):
            hub.forget("a")
        with pytest.raises(HubError, match="auto"):
            hub.subscribe("n > 0", durable="b", ack="maybe")
    with opened(path) as hub:
        with pytest.raises(HubError, match="replace=True"):
            hub.subscribe("n > 1", durable="a")
        hub.subscribe("n > 1", durable="a", replace=True).close()
        hub.forget("a")
        assert hub.log.store.names() == ()
    with pytest.raises(HubError, match="needs a store"):
        cps.Hub().subscribe("n > 0", durable="a")
    path.write_bytes(b"no database at all, but long enough to be looked at" * 50)
    with pytest.raises(HubError, match="no store"):
        opened(path)


def test_a_database_of_something_else_is_left_alone(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine(x)")
    db.close()
    with pytest.raises(HubError, match="version"):
        opened(path)


def test_trimming_keeps_what_somebody_still_needs(path):
    with opened(path) as hub:
        slow = hub.subscribe("n >= 0", durable="slow")
        hub.subscribe("n >= 0", lambda event: None, durable="quick")
        for n in range(10):
            hub.publish({"n": n})
        [next(slow) for _ in range(4)]
        slow.ack()
        assert hub.trim() == 4
        assert hub.publish({"n": 10}).offset == 10
        assert numbers(slow.drain()) == [4, 5, 6, 7, 8, 9, 10]


def state():
    graph = FlowGraph()
    graph.source("Trades", {"name": "text", "price": "real"})
    rules = [
        {"when": "price > maxP", "set": {"maxP": "price", "curP": "price"}},
        {"when": "price <= maxP", "set": {"curP": "price"}},
    ]
    graph.collapse("Trades", "MaxCur", key="name", rules=rules)
    return graph


@pytest.mark.parametrize("reads", [True, False])
def test_catching_up_with_the_shortest_sequence(path, reads):
    def trade(*prices):
        with opened(path) as hub:
            hub.publish_batch([{"name": "IBM", "price": price, "venue": "N"} for price in prices])

    got = []
    with opened(path) as hub:
        hub.subscribe("price > 0", got.append, durable="phone")
        hub.publish_batch([{"name": "IBM", "price": price} for price in (150, 160, 140)])
    trade(200, 180, 150, 170, 120)
    with opened(path) as hub:
        short = Shortest(state(), "MaxCur")
        sub = hub.subscribe("price > 0", None if reads else got.append, durable="phone", catch_up=short)
        if reads:
            got += sub.drain()
            sub.ack()
        assert [event["price"].value for event in got] == [150, 160, 140, 200, 120]
        hub.publish({"name": "IBM", "price": 130})
        got += sub.drain() if reads else []
        assert got[-1]["price"].value == 130
        assert sub.acknowledged == (8 if reads else 9)
    with pytest.raises(FlowError, match="no state"):
        Shortest(state(), "Trades")
