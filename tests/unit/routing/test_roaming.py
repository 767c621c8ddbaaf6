"""Clients that move while events are on their way."""

import pytest

from conceptpubsub.errors import NetworkError
from conceptpubsub.routing import Network, Simulation
from conceptpubsub.routing.clients import Client
from conceptpubsub.routing.sessions import MAX_REPLAYED
from conceptpubsub.routing.strategies import STRATEGIES


def values(client: Client) -> list[object]:
    return [event["x"].value for event in client.received]


def world(strategy: str = "covering", brokers: int = 6, **options: object) -> tuple[Simulation, Client, Client]:
    """A line of brokers with a publisher in the middle and a subscriber at one end."""
    sim = Simulation(Network.line(brokers), strategy, **options)  # type: ignore[arg-type]
    publisher, subscriber = sim.client(f"B{brokers // 2}"), sim.client("B1")
    publisher.advertise("x > 0")
    subscriber.subscribe("x > 0")
    sim.run()
    return sim, publisher, subscriber


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("advertisements", [False, True])
@pytest.mark.parametrize("pause", [0.0, 0.005, 0.015, 0.035])
def test_nothing_is_lost_doubled_or_reordered(strategy: str, advertisements: bool, pause: float) -> None:
    sim, publisher, subscriber = world(strategy, advertisements=advertisements)
    number = 0
    for stop in ("B6", "B2", "B5", "B4", "B1", "B6"):
        for _ in range(3):
            number += 1
            publisher.publish({"x": number})
            sim.run(until=sim.now + pause)
        subscriber.roam(stop)
        sim.run(until=sim.now + pause)
    sim.run()
    assert values(subscriber) == list(range(1, number + 1))
    subscriber.leave()
    publisher.leave()
    sim.run()
    assert sim.metrics.table_entries == 0
    assert not any(broker.sessions.all or broker.sessions.passing for broker in sim.brokers.values())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_publisher_that_moves_keeps_its_order(strategy: str) -> None:
    sim, publisher, subscriber = world(strategy, advertisements=True)
    for number, stop in enumerate(["B6", "B1", "B4", "B2"], 1):
        publisher.publish({"x": 10 * number})
        publisher.roam(stop)
        publisher.publish({"x": 10 * number + 1})
        sim.run(until=sim.now + 0.012)
    sim.run()
    assert values(subscriber) == [10, 11, 20, 21, 30, 31, 40, 41]


@pytest.mark.parametrize("advertisements", [False, True])
def test_a_publisher_that_leaves_on_its_way_has_published(advertisements: bool) -> None:
    sim, publisher, subscriber = world(advertisements=advertisements)
    publisher.subscribe("x > 0")
    publisher.roam("B6")
    publisher.publish({"x": 1})
    publisher.leave()
    sim.run()
    assert values(subscriber) == [1]
    assert values(publisher) == []
    assert publisher.left
    assert not sim.metrics.dead_letters


def test_a_publisher_that_leaves_while_its_broker_is_down_has_published() -> None:
    sim, publisher, _ = world(advertisements=True)
    sim.crash(publisher.broker)
    publisher.publish({"x": 1})
    publisher.leave()
    sim.run()
    assert not publisher.left
    sim.restart(publisher.broker)
    sim.run()
    assert publisher.left
    assert not sim.metrics.dead_letters
    assert sim.metrics.published == 1


def test_a_client_that_stays_away_gets_a_long_replay_in_parts() -> None:
    sim, publisher, subscriber = world()
    sim.link_down("B5", "B6")
    subscriber.roam("B6")
    sim.run()
    for number in range(1, 2 * MAX_REPLAYED + 10):
        publisher.publish({"x": number})
    sim.run()
    assert values(subscriber) == []
    sim.link_up("B5", "B6")
    sim.run()
    assert values(subscriber) == list(range(1, 2 * MAX_REPLAYED + 10))
    assert sim.metrics.control["replay"] == 3 * 5


def test_a_roaming_client_may_change_its_mind() -> None:
    sim, publisher, subscriber = world()
    subscriber.roam("B6")
    publisher.publish({"x": 1})
    (name,) = subscriber._subscriptions
    subscriber.unsubscribe(name)
    sim.run()
    assert values(subscriber) == [], "what only a withdrawn subscription wanted is not delivered any more"
    assert sim.metrics.table_entries == 0


def test_leaving_on_the_way_leaves_nothing() -> None:
    sim, publisher, subscriber = world()
    subscriber.roam("B6")
    subscriber.roam("B4")
    subscriber.leave()
    publisher.publish({"x": 1})
    sim.run()
    assert subscriber.left
    assert values(subscriber) == []
    assert sim.metrics.table_entries == 0
    assert all(set(broker.sessions.present) <= {publisher.name} for broker in sim.brokers.values())
    for action in (lambda: subscriber.subscribe("x = 1"), lambda: subscriber.roam("B1"), subscriber.leave):
        with pytest.raises(NetworkError, match="has left"):
            action()


def test_a_session_lost_in_a_crash_does_not_hold_its_client_up() -> None:
    sim, publisher, subscriber = world()
    subscriber.roam("B6")
    sim.crash("B1")
    publisher.publish({"x": 1})
    sim.run()
    assert values(subscriber) == [], "it waits for an answer"
    sim.restart("B1")
    sim.run()
    publisher.publish({"x": 2})
    sim.run()
    assert values(subscriber)[-1] == 2


def test_a_chain_of_moves_with_a_crash_in_the_middle_ends() -> None:
    sim, publisher, subscriber = world()
    subscriber.roam("B4")
    sim.run(until=sim.now + 0.005)
    subscriber.roam("B6")
    sim.crash("B4")
    sim.run()
    sim.restart("B4")
    sim.run()
    assert subscriber.attached
    publisher.publish({"x": 7})
    sim.run()
    assert values(subscriber)[-1] == 7
    sessions = [session for broker in sim.brokers.values() for session in broker.sessions.all]
    assert sorted(client for client, _ in sessions) == sorted([publisher.name, subscriber.name])


def test_roaming_to_where_one_is_changes_nothing() -> None:
    _, _, subscriber = world()
    epoch = subscriber.epoch
    subscriber.roam("B1")
    assert subscriber.epoch == epoch
    with pytest.raises(NetworkError, match="no broker 'B99'"):
        subscriber.roam("B99")
