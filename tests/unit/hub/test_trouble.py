"""Stores that fail, are damaged or are not one; rounds that are broken off; callbacks that ask for the impossible."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

import conceptpubsub as cps
from conceptpubsub.errors import HubError, QueueFull
from conceptpubsub.flow import FlowGraph
from conceptpubsub.hub import Retry, Shortest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.db"


def opened(path, **options):
    return cps.Hub(store=path, sync="normal", **options)


def numbers(events):
    return [event["n"].value for event in events]


# ---------------------------------------------------------------------- stores


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda p: p / "missing" / "events.db", "no folder .*missing; make it first"),
        (lambda p: p, "it is a folder"),
    ],
)
def test_a_store_that_cannot_be_there(tmp_path, make, reason):
    with pytest.raises(HubError, match=reason):
        opened(make(tmp_path))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder in which nobody may write")
def test_a_store_that_may_not_be_written():
    with pytest.raises(HubError, match="may not write there"):
        opened("/proc/self/events.db")


FULL = """
import json, resource, signal, sys
import conceptpubsub as cps
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
got, offsets, refused = [], [], []
hub = cps.Hub(store=sys.argv[1], sync="normal")
hub.subscribe("n >= 0", got.append, durable="reader")
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
for n in range(60):
    try:
        offsets.append(hub.publish({"n": n, "ballast": "x" * 10_000}).offset)
    except cps.ConceptPubSubError as error:
        refused.append(str(error))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
offsets.append(hub.publish({"n": 1000}).offset)
print(json.dumps({"offsets": offsets, "refused": refused, "got": [e["n"].value for e in got]}))
"""


def test_a_full_disk_refuses_what_it_cannot_keep_and_is_used_again(path):
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["refused"]
    assert all("events.db failed: " in text and "rollback" not in text for text in told["refused"])
    assert told["offsets"] == list(range(len(told["offsets"])))
    assert len(told["got"]) == len(told["offsets"])  # what was not kept was not delivered either
    with opened(path) as hub:
        assert numbers(event for _, event in hub.replay("n >= 0")) == told["got"]


def test_acknowledgments_that_cannot_be_written_are_no_fault_of_the_publisher(path):
    with opened(path) as hub:
        got = []
        sub = hub.subscribe("n >= 0", got.append, durable="reader")
        hub.log.store._db.execute("CREATE TRIGGER no BEFORE UPDATE ON places BEGIN SELECT raise(ABORT, 'no'); END")
        assert hub.publish({"n": 1}).offset == 0
        assert ["reader" in letter.reason for letter in hub.dead_letters] == [True]
        hub.log.store._db.execute("DROP TRIGGER no")
        hub.publish({"n": 2})
        assert (numbers(got), sub.acknowledged) == ([1, 2], 2)


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[]", b'{"concept":"E","attributes":{"n":[1]}}'])
def test_a_damaged_event_is_passed_over_and_reported_once(path, body):
    with opened(path) as hub:
        hub.publish_batch([{"n": n} for n in range(100)])
        hub.publish({"n": 100})
    db = sqlite3.connect(path)
    db.execute("UPDATE entries SET body = CAST(? AS TEXT) WHERE first IN (40, 100)", (body,))
    db.commit()
    db.close()
    with opened(path) as hub:
        got = []
        hub.subscribe("n >= 0", got.append, durable="called", start="earliest")
        read = hub.subscribe("n >= 0", durable="read", start="earliest")
        good = [n for n in range(100) if n != 40]
        assert numbers(got) == numbers(read.drain()) == good
        assert [letter.offset for letter in hub.dead_letters] == [40, 100]
        hub.publish({"n": 101})
        assert numbers(got) == [*good, 101]


def test_a_damaged_table_is_passed_over(path):
    with opened(path) as hub:
        hub.publish_batch(pa.table({"n": [1, 2, 3]}))
        hub.publish({"n": 4})
        hub.log.store._db.execute("UPDATE entries SET body = x'00112233' WHERE first = 0")
        assert numbers(hub.subscribe("n >= 0", durable="r", start="earliest").drain()) == [4]
        assert [letter.offset for letter in hub.dead_letters] == [0]


def test_a_damaged_file_is_said_to_be_one(path):
    with opened(path) as hub:
        hub.publish_batch([{"n": n, "ballast": "x" * 200} for n in range(500)])
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 8 * 4096)
    with pytest.raises(HubError, match=r"events\.db"), opened(path) as hub:
        list(hub.replay("n >= 0"))


def test_what_could_not_be_read_again_is_refused_alone(path):
    with opened(path) as hub:
        got = []
        hub.subscribe("n >= 0", got.append)
        receipt = hub.publish_batch([{"n": 0}, {"n": 1, "x": "\ud800"}, {"n": 2, "x": "y" * 2_000_000}, {"n": 3}])
        assert (receipt.offset, receipt.matched, numbers(got)) == (0, 2, [0, 3])
        assert ["surrogate" in receipt.problems[0], "bytes" in receipt.problems[1]] == [True, True]
        assert not hub.publish({"x": "\ud800"}).accepted
        assert numbers(event for _, event in hub.replay("n >= 0")) == [0, 3]


# ---------------------------------------------------------------------- places


def test_an_acknowledgment_beyond_the_end_or_of_nobody(path):
    with opened(path) as hub:
        sub = hub.subscribe("n >= 0", durable="reader")
        hub.publish({"n": 0})
        hub.acknowledge("reader", 10**6)
        assert sub.acknowledged == 1
        with pytest.raises(HubError, match=r"no durable subscription 'raeder'.*'reader'"):
            hub.acknowledge("raeder", 0)
    with opened(path) as hub:
        assert hub.publish({"n": 1}).offset == 1
        assert numbers(hub.subscribe("n >= 0", durable="reader").drain()) == [1]


def test_a_changed_filter_keeps_the_place(path):
    with opened(path) as hub:
        hub.subscribe("n > 5", lambda event: None, durable="reader").close()
        hub.publish_batch([{"n": n} for n in range(10)])
    with opened(path) as hub:
        assert numbers(hub.subscribe("n < 3", durable="reader", replace=True).drain()) == [0, 1, 2]
    with opened(path) as hub:
        assert numbers(hub.subscribe("n < 3.0", durable="reader").drain()) == [0, 1, 2]  # the same filter


def test_one_that_is_away_is_not_to_be_silenced(path):
    with opened(path) as hub:
        hub.subscribe("price < 500", durable="anna").close()
        hub.subscribe(cps.Filter.parse("x = 1", semantics="default", defaults={"x": 1}), durable="odd").close()
        assert hub.wanted("price > 300")
        assert hub.wanted("price > 800")  # what "odd" would say cannot be told from the store
        hub.forget("odd")
        assert not hub.wanted("price > 800")
        hub.forget("anna")
        assert not hub.wanted("price > 300")


def test_options_of_durable_subscriptions_need_a_name(path):
    with opened(path) as hub:
        for option in ({"start": "earliest"}, {"ack": "manual"}, {"replace": True}):
            with pytest.raises(HubError, match="durable="):
                hub.subscribe("n > 0", print, **option)
        with pytest.raises(HubError, match="needs no queue"):
            hub.subscribe("n > 0", print, durable="a", queue=3)
        with pytest.raises(HubError, match="from 0"):
            hub.replay("n > 0", start=-1)


def test_batches_are_read_as_batches(path):
    with opened(path) as hub:
        sub = hub.subscribe("n > 0", durable="reader", batch=True)
        hub.publish_batch([{"n": n} for n in range(4)])
        batch = sub.get(timeout=10)
        assert (numbers(batch), batch.offsets, sub.offset) == ([1, 2, 3], [1, 2, 3], 3)
        sub.ack()
        assert sub.acknowledged == 4


# ---------------------------------------------------------------------- rounds


def test_an_interrupt_in_the_middle_of_a_round_loses_nothing(path):
    before, after, plain = [], [], []
    with opened(path) as hub:

        def interrupted(event):
            if event["n"].value == 1:
                raise KeyboardInterrupt

        hub.subscribe("n >= 0", before.append, durable="before")
        hub.subscribe("n >= 0", interrupted)
        hub.subscribe("n >= 0", after.append, durable="after")
        hub.subscribe("n >= 0", plain.append)
        with pytest.raises(KeyboardInterrupt):
            hub.publish_batch([{"n": n} for n in range(3)])
        hub.publish({"n": 3})
        assert hub.flush()
        assert numbers(before) == numbers(after) == [0, 1, 2, 3]
        assert numbers(plain) == [0, 3]


def test_everybody_else_is_served_when_a_reader_could_never_be(path):
    """A publisher inside the event loop that a full queue waits for is told so, after all others had the event."""
    durable, plain = [], []

    async def run(hub):
        slow = hub.subscribe("n >= 0", queue=1)
        reading = asyncio.ensure_future(anext(slow))
        await asyncio.sleep(0)
        hub.subscribe("n >= 0", durable.append, durable="reader")
        hub.subscribe("n >= 0", plain.append)
        hub.publish({"n": 0})
        with pytest.raises(HubError, match="publish_async"):
            hub.publish({"n": 1})
        await reading

    with opened(path) as hub:
        asyncio.run(run(hub))
    assert numbers(durable) == numbers(plain) == [0, 1]


def test_a_full_queue_is_told_to_the_publisher_whose_event_it_was(path):
    with opened(path) as hub:
        hub.subscribe("n = 1", queue=1, policy="error")
        told = []

        def publishes(event):
            for n in (1, 1):
                try:
                    hub.publish({"n": n})
                except QueueFull as error:
                    told.append(error)

        hub.subscribe("n = 0", publishes)
        hub.publish({"n": 0})  # its own event found room; what its callback published is lined up behind it
        assert told == []
        with pytest.raises(QueueFull):
            hub.publish({"n": 1})


def test_a_failing_callback_that_catches_up_holds_up_nobody(path):
    graph = FlowGraph()
    graph.source("Trades", {"name": "text", "n": "real"})
    graph.collapse("Trades", "Current", key="name", rules=[{"set": {"current": "n"}}])
    with opened(path) as hub:
        hub.subscribe("n >= 0", durable="phone").close()
        hub.publish_batch([{"name": "IBM", "n": n} for n in range(5)])
        got, other, busy = [], [], threading.Event()

        def phone(event):
            if not busy.is_set():
                raise RuntimeError("busy")
            got.append(event)

        shortest = Shortest(graph, "Current")
        sub = hub.subscribe(
            "n >= 0", phone, durable="phone", catch_up=shortest, retry=Retry(attempts=10**6, delay=0.005, factor=1)
        )
        hub.subscribe("n >= 0", other.append)
        hub.publish({"name": "IBM", "n": 5})
        assert (got, numbers(other), sub.acknowledged) == ([], [5], 0)
        busy.set()
        assert hub.flush()
        assert (numbers(got), sub.acknowledged) == ([4, 5], 6)


# ---------------------------------------------------------------------- asyncio


def test_a_cancelled_reader_leaves_the_event_for_the_next():
    async def run():
        with cps.Hub() as hub:
            sub = hub.subscribe("n >= 0")
            for _ in range(50):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(sub), 0.0001)
            assert sub.queue._waiters == []
            reading = asyncio.ensure_future(anext(sub))
            await asyncio.sleep(0)
            reading.cancel()
            hub.publish({"n": 7})
            assert (await anext(sub))["n"].value == 7

    asyncio.run(run())


def test_a_task_that_is_cancelled_ends_its_subscription():
    """Else a publisher would wait for ever for a reader whose loop is gone."""
    with cps.Hub() as hub:
        started = []

        async def slowly(event):
            started.append(event)
            await asyncio.sleep(60)

        async def run():
            hub.subscribe("n >= 0", slowly, queue=1)
            await hub.publish_async({"n": 0})
            while not started:
                await asyncio.sleep(0.001)

        asyncio.run(run())
        assert hub.subscriptions == ()
        assert [hub.publish({"n": n}).matched for n in range(5)] == [0] * 5
        assert ["CancelledError" in letter.reason for letter in hub.dead_letters] == [True]


def test_an_object_whose_call_is_a_coroutine_is_awaited():
    class Keeps:
        def __init__(self):
            self.got = []

        async def __call__(self, event):
            self.got.append(event)

    async def run():
        keeps = Keeps()
        with cps.Hub() as hub:
            hub.subscribe("n >= 0", keeps)
            await hub.publish_async({"n": 1})
            while not keeps.got:
                await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(run(), 30))
