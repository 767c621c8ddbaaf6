"""Flow graphs on broker networks deliver what one process delivers, and forward less than hosted spaces."""

import random

import pytest

from conceptpubsub.errors import FlowError
from conceptpubsub.flow import FlowGraph
from conceptpubsub.routing import Network, Simulation
from conceptpubsub.routing.flows import Flows
from conceptpubsub.routing.hosted_flows import HostedFlows

NAMES = {f"I{i}": f"Company {i}" for i in range(5)}


def _graph(opaque=False):
    g = FlowGraph()
    g.source("NYSE", {"issue": "text", "price": "real", "volume": "real"})
    g.source("NASDAQ", {"issue": "text", "price": "real", "capital": "real"})
    functions = {"NAME": (lambda issue: f"Company {issue[1:]}") if opaque else NAMES}
    g.transform("NYSE", "Combined", {"name": "NAME(issue)", "price": "price", "volume": "volume"}, functions)
    g.transform("NASDAQ", "Combined", {"name": "NAME(issue)", "price": "price", "volume": "capital / price"}, functions)
    g.select("Combined", "Large", "price * volume >= 100 AND name <> 'Company 3'")
    return g


def _trades(count, seed=1):
    rng = random.Random(seed)
    for number in range(count):
        space = rng.choice(("NYSE", "NASDAQ"))
        event = {"issue": f"I{rng.randrange(6)}", "price": rng.randrange(0, 20), "@id": str(number)}
        event["volume" if space == "NYSE" else "capital"] = rng.randrange(0, 200)
        yield space, event


def _seen(events):
    return [(event.id, {name: event[name].value for name in event}) for event in events]


@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize("advertisements", [False, True])
def test_same_deliveries_as_in_one_process(opaque, advertisements):
    graph = _graph(opaque)
    rewritten = graph.rewrite()
    flows = Flows(rewritten, Simulation(Network.tree(brokers=7, seed=2), advertisements=advertisements))
    readers = [flows.subscribe("Large", broker) for broker in ("B2", "B6")]
    narrow = flows.subscribe("Large", "B5", where="volume > 20")
    flows.settle()
    flow = graph.run()
    expected = flow.subscribe("Large")
    for space, event in _trades(120):
        flow.publish(space, event)
        flows.publish(space, event, "B3")
    flows.settle()
    for reader in readers:
        assert sorted(_seen(reader.received), key=lambda pair: int(pair[0])) == _seen(expected)
    assert sorted(_seen(narrow.received)) == sorted(_seen(e for e in expected if e["volume"].value > 20))


def test_all_readers_see_one_order():
    flows = Flows(_graph().rewrite(), Simulation(Network.tree(brokers=9, seed=4)))
    readers = [flows.subscribe("Large", broker) for broker in ("B2", "B7", "B9")]
    flows.settle()
    for number, (space, event) in enumerate(_trades(90)):
        flows.publish(space, event, ("B1", "B4", "B8")[number % 3])
    flows.settle()
    assert flows.order["Large"].startswith("sequenced")
    assert readers[0].received
    assert [_seen(reader.received) for reader in readers] == [_seen(readers[0].received)] * 3


def test_the_rewritten_graph_forwards_less_for_the_same():
    graph, network = _graph(), Network.tree(brokers=20, seed=3)
    found = []
    for make in (lambda sim: Flows(graph.rewrite(), sim), lambda sim: HostedFlows(graph, sim, seed=1)):
        sim = Simulation(network)
        flows = make(sim)
        readers = [flows.subscribe("Large", broker) for broker in ("B5", "B11", "B17")]
        flows.settle()
        for space, event in _trades(80):
            flows.publish(space, event, "B2")
        flows.settle()
        found.append((sim.metrics.forwarded, [sorted(_seen(r.received)) for r in readers]))
    assert found[0][1] == found[1][1]
    assert found[0][0] < found[1][0]


def test_what_fails_is_said():
    flows = Flows(_graph().rewrite(), Simulation(Network.line(2)))
    flows.subscribe("Combined", "B2")
    flows.settle()
    flows.publish("NASDAQ", {"issue": "I1", "price": 0, "capital": 5}, "B1")
    flows.publish("NASDAQ", {"issue": "I1", "prize": 0}, "B1")
    flows.settle()
    reasons = [letter.reason for letter in flows.dead_letters]
    assert any("no attribute 'prize'" in reason for reason in reasons)
    assert any("division by zero" in reason for reason in reasons)
    with pytest.raises(FlowError, match="is no source"):
        flows.publish("Large", {}, "B1")
    with pytest.raises(FlowError, match="rewritten"):
        Flows(_graph(), Simulation(Network.line(2)))
