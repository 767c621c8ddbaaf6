"""Readers behind bounded queues: threads and coroutines, and what happens when a queue is full."""

import asyncio
import threading
import time

import pytest

import conceptpubsub as cps
from conceptpubsub.errors import HubError, InvalidValue, QueueFull
from conceptpubsub.hub import Retry


def values(events):
    return [event["n"].value for event in events]


def filled(policy, count=5, size=3):
    hub = cps.Hub()
    sub = hub.subscribe("n >= 0", queue=size, policy=policy)
    for n in range(count):
        hub.publish({"n": n})
    return hub, sub


def test_drop_oldest():
    hub, sub = filled("drop_oldest")
    assert (values(sub.drain()), sub.dropped) == ([2, 3, 4], 2)
    assert values(letter.event for letter in hub.dead_letters) == [0, 1]


def test_drop_newest():
    hub, sub = filled("drop_newest")
    assert (values(sub.drain()), sub.dropped, hub.dead_letters.count) == ([0, 1, 2], 2, 2)


def test_error_comes_after_everybody_was_served():
    hub = cps.Hub()
    first = hub.subscribe("n >= 0", queue=1, policy="error")
    second = []
    hub.subscribe("n >= 0", second.append)
    hub.publish({"n": 1})
    with pytest.raises(QueueFull, match="1 events wait"):
        hub.publish({"n": 2})
    assert values(first.drain()) == [1]
    assert values(second) == [1, 2]


def test_block_holds_the_publisher_until_there_is_room():
    hub, sub = filled("block", count=3)
    publisher = threading.Thread(target=hub.publish, args=({"n": 3},))
    publisher.start()
    time.sleep(0.05)
    assert publisher.is_alive()
    assert sub.get()["n"].value == 0
    publisher.join(5)
    assert not publisher.is_alive()
    assert values(sub.drain()) == [1, 2, 3]


def test_closing_frees_a_blocked_publisher():
    hub, sub = filled("block", count=3)
    publisher = threading.Thread(target=hub.publish, args=({"n": 3},))
    publisher.start()
    time.sleep(0.02)
    sub.close()
    publisher.join(5)
    assert not publisher.is_alive()
    assert values(sub) == [0, 1, 2]


def test_leaving_a_with_waits_for_callbacks_behind_queues():
    got = []

    def slowly(event):
        time.sleep(0.01)
        got.append(event["n"].value)

    with cps.Hub() as hub:
        hub.subscribe("n >= 0", slowly, queue=10)
        for n in range(5):
            hub.publish({"n": n})
    assert got == [0, 1, 2, 3, 4]


def test_get_waits_no_longer_than_told():
    sub = cps.Hub().subscribe("n >= 0")
    with pytest.raises(TimeoutError):
        sub.get(timeout=0.01)


def test_a_callback_behind_a_queue_runs_in_its_own_thread_in_order():
    hub, seen, tries = cps.Hub(), [], []

    def slow(event):
        tries.append(event)
        if event["n"].value == 1 and len(tries) < 4:
            raise RuntimeError
        seen.append((event["n"].value, threading.current_thread() is threading.main_thread()))

    hub.subscribe("n >= 0", slow, queue=100, retry=Retry(attempts=5, delay=0.001))
    for n in range(5):
        hub.publish({"n": n})
    assert hub.flush()
    assert seen == [(n, False) for n in range(5)]


@pytest.mark.parametrize(("size", "policy"), [(0, "block"), (True, "block"), (5, "drop_eldest"), ("5", "block")])
def test_bad_queues_are_refused(size, policy):
    with pytest.raises(InvalidValue):
        cps.Hub().subscribe("n > 0", queue=size, policy=policy)


def test_async_iteration_and_async_callbacks():
    async def run():
        hub, called = cps.Hub(), []

        async def callback(event):
            await asyncio.sleep(0)
            called.append(event)

        hub.subscribe("n >= 0", callback)
        sub = hub.subscribe("n >= 0", queue=2)
        seen = []

        async def read():
            async for event in sub:
                seen.append(event)

        reading = asyncio.create_task(read())
        for n in range(20):
            await hub.publish_async({"n": n})
        await hub.publish_batch_async([{"n": 20}, {"n": 21}])
        while len(called) < 22:
            await asyncio.sleep(0.001)
        hub.close()
        await reading
        return values(seen), values(called)

    assert asyncio.run(asyncio.wait_for(run(), 20)) == (list(range(22)), list(range(22)))


def test_an_async_callback_is_retried_then_a_dead_letter():
    async def run():
        hub = cps.Hub()

        async def broken(event):
            raise ValueError("no")

        hub.subscribe("n >= 0", broken, retry=Retry(attempts=2, delay=0.001))
        hub.publish({"n": 1})
        while not hub.dead_letters.count:
            await asyncio.sleep(0.001)
        return next(iter(hub.dead_letters)).attempts

    assert asyncio.run(asyncio.wait_for(run(), 20)) == 2


def test_waiting_for_a_reader_of_the_same_loop_is_said_so():
    async def run():
        hub = cps.Hub()
        sub = hub.subscribe("n >= 0", queue=1)
        hub.publish({"n": 0})
        assert (await anext(sub))["n"].value == 0
        hub.publish({"n": 1})
        with pytest.raises(HubError, match="publish_async"):
            hub.publish({"n": 2})

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_coroutine_function_needs_a_loop_and_a_callback_is_not_read():
    async def callback(event): ...

    hub = cps.Hub()
    with pytest.raises(HubError, match="event loop"):
        hub.subscribe("n > 0", callback)
    with pytest.raises(HubError, match="callback"):
        hub.subscribe("n > 0", print).drain()
