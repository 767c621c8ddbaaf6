"""The simulator: determinism, latency, faults, what clients may ask, and the figures."""

import pytest

from conceptpubsub.errors import NetworkError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, Ontology, SemanticEvent, SemanticObject
from conceptpubsub.routing import Link, Network, Simulation
from conceptpubsub.routing.metrics import Metrics
from conceptpubsub.routing.strategies import STRATEGIES
from tests.unit.routing.oracle import held


def busy(strategy: str = "covering", **options: object) -> Simulation:
    sim = Simulation(Network.tree(12, seed=3), strategy, **options)  # type: ignore[arg-type]
    clients = [sim.client(f"B{number}") for number in (2, 5, 7, 11, 12)]
    for number, client in enumerate(clients):
        client.advertise("x >= 0")
        client.subscribe(f"x > {number}")
        client.subscribe(f"y = {number}")
    sim.run()
    for number, client in enumerate(clients):
        client.publish({"x": number * 2, "y": number})
    sim.run()
    return sim


def comparable(metrics: Metrics) -> dict[str, object]:
    summary = metrics.summary()
    for machine in ("relations_seconds", "relation_checks"):
        del summary[machine]
    return summary


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_run_gives_the_same_figures(strategy: str) -> None:
    first, second = busy(strategy), busy(strategy)
    assert comparable(first.metrics) == comparable(second.metrics)
    assert [c.deliveries for c in first.clients.values()] == [c.deliveries for c in second.clients.values()]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sharing_and_encoding_change_nothing(strategy: str) -> None:
    plain = busy(strategy)
    for other in (busy(strategy, sharing=True), busy(strategy, encode=True)):
        assert comparable(other.metrics) == comparable(plain.metrics)
        assert held(other) == held(plain)


def test_latency_and_bandwidth() -> None:
    network = Network([Link("A", "B", latency=0.5), Link("B", "C", latency=0.25, bandwidth=1000.0)])
    sim = Simulation(network)
    subscriber, publisher = sim.client("C"), sim.client("A")
    subscriber.subscribe("x = 1")
    sim.run()
    publisher.publish({"x": 1})
    publisher.publish({"x": 1})
    sim.run()
    size = len(b'{"v":1,"type":"publish","publisher":"C2","sequence":1}\n{"concept":"Event","attributes":{"x":1}}')
    assert sim.metrics.latency_most == pytest.approx(0.75 + 2 * size / 1000)
    assert sim.metrics.latency_mean == pytest.approx(0.75 + 1.5 * size / 1000)
    assert (sim.metrics.hops_mean, sim.metrics.hops_most) == (2.0, 2)


def test_what_is_counted() -> None:
    sim = Simulation(Network.line(4))
    here, there, publisher = sim.client("B1"), sim.client("B3"), sim.client("B4")
    here.subscribe("x > 1")
    there.subscribe("x > 5")
    sim.run()
    metrics = sim.metrics
    assert metrics.tables == {"B1": 1, "B2": 2, "B3": 1, "B4": 1}, "B4 hears of x > 1 only"
    assert metrics.local == {"B1": 1, "B2": 0, "B3": 1, "B4": 0}
    assert metrics.table_entries == 5
    assert metrics.control == {"subscribe": 6, "unsubscribe": 1}, "x > 5 reached B4 before x > 1"
    assert metrics.control_messages == 7
    publisher.publish({"x": 3})
    sim.run()
    metrics = sim.metrics
    assert (metrics.published, metrics.delivered, metrics.forwarded, metrics.wasted) == (1, 1, 3, 0)
    assert metrics.traffic == {("B4", "B3"): 1, ("B3", "B2"): 1, ("B2", "B1"): 1}
    assert metrics.bytes > 0
    assert metrics.summary()["table_entries"] == 5


def test_flooding_wastes() -> None:
    sim = Simulation(Network.star(5), "flooding")
    sim.client("B2").publish({"x": 1})
    sim.run()
    assert (sim.metrics.forwarded, sim.metrics.wasted) == (4, 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("advertisements", [False, True])
def test_a_healed_network_is_as_new(strategy: str, advertisements: bool) -> None:
    sim = busy(strategy, advertisements=advertisements)
    before = held(sim)
    sim.link_down("B1", "B2")
    sim.crash("B3")
    sim.run()
    for client in sim.clients.values():
        client.publish({"x": 100})
    sim.run()
    sim.restart("B3")
    sim.link_up("B1", "B2")
    sim.run()
    assert held(sim) == before
    counts = [len(client.deliveries) for client in sim.clients.values()]
    next(iter(sim.clients.values())).publish({"x": 100})
    sim.run()
    assert [len(client.deliveries) for client in sim.clients.values()] == [count + 1 for count in counts]


def test_what_is_on_its_way_over_a_failing_link_is_lost() -> None:
    sim = Simulation(Network.line(3))
    subscriber, publisher = sim.client("B1"), sim.client("B3")
    subscriber.subscribe("x = 1")
    sim.run()
    publisher.publish({"x": 1})
    sim.run(until=sim.now + 0.015)
    sim.link_down("B1", "B2")
    sim.link_up("B1", "B2")
    sim.run()
    assert subscriber.received == []
    assert sim.metrics.lost == 1


def test_faults_are_idempotent() -> None:
    sim = busy()
    before = held(sim)
    for _ in range(2):
        sim.crash("B4")
        sim.link_down("B1", "B2")
    for _ in range(2):
        sim.restart("B4")
        sim.link_up("B1", "B2")
    sim.run()
    assert held(sim) == before
    with pytest.raises(NetworkError, match="no link"):
        sim.link_down("B2", "B12")
    with pytest.raises(NetworkError, match="no broker"):
        sim.crash("B99")


def test_clients_of_a_broker_that_is_down() -> None:
    sim = Simulation(Network.line(3))
    publisher = sim.client("B3")
    sim.crash("B1")
    subscriber = sim.client("B1")
    subscriber.subscribe("x = 1")
    assert not subscriber.attached
    sim.restart("B1")
    sim.run()
    assert subscriber.attached
    sim.crash("B3")
    publisher.publish({"x": 1})
    sim.run()
    assert sim.metrics.published == 0, "it waits until its broker is back"
    sim.restart("B3")
    sim.run()
    assert sim.metrics.published == 1
    publisher.publish({"x": 1})
    sim.run()
    assert len(subscriber.received) >= 1


def test_subscriptions_by_name_and_by_filter() -> None:
    sim = Simulation(Network.star(3))
    client = sim.client("B2", "me")
    same = Filter.parse("x > 5 km")
    client.subscribe("x > 5000 m", name="far")
    client.unsubscribe(same)
    client.advertise(same)
    client.unadvertise(same)
    sim.run()
    assert sim.metrics.table_entries == 0
    for action in (lambda: client.unsubscribe("far"), lambda: client.unadvertise(same)):
        with pytest.raises(NetworkError, match="has no"):
            action()
    client.subscribe("x = 1", name="far")
    with pytest.raises(NetworkError, match="already uses the name"):
        client.subscribe("x = 2", name="far")
    for name in ("me", "B1"):
        with pytest.raises(NetworkError, match="already"):
            sim.client("B1", name)


def test_meaning_travels() -> None:
    onto = Ontology.bundled("vehicles")
    sim = Simulation(Network.line(4), advertisements=True, encode=True, ontologies=[onto])
    publisher, subscriber = sim.client("B1"), sim.client("B4")
    publisher.advertise(Filter.parse("EVENT ISA VehicleStatus", ontology=onto))
    subscriber.subscribe(Filter.parse("Temperature > 25 degC", ontology=onto), Context(unit="kelvin"))
    sim.run()
    warm = SemanticEvent("VehicleStatus", {"InTemperature": SemanticObject("Temperature", 86, Context(unit="degF"))})
    publisher.publish(warm)
    publisher.publish(warm.replace(concept="VehicleAlarm"))
    sim.run()
    assert [event["InTemperature"].value for event in subscriber.received] == [303.15]
    assert sim.metrics.dead_letters == {"not advertised": 1}
    assert publisher.problems[0].reason == "event 2 matches none of the publisher's advertisements"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"strategy": "covring"}, "Did you mean 'covering'"),
        ({"strategy": "simple", "excess": 0.5}, "has no option excess"),
        ({"comparison": "semantics"}, "Did you mean 'semantic'"),
    ],
)
def test_wrong_options(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        Simulation(Network.star(2), **options)  # type: ignore[arg-type]
