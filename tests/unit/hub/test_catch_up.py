"""Catching up by meaning: the shortest sequence leads to the state that all events would have led to."""

import random

import pytest

import conceptpubsub as cps
from conceptpubsub.flow import FlowGraph
from conceptpubsub.hub import Shortest


def opened(path):
    return cps.Hub(store=path, sync="normal")


def folded(events):
    """What a subscriber that keeps the highest and the current price of each share knows."""
    known = {}
    for event in events:
        name, price = event["name"].value, event["price"].value
        highest = known.get(name, (price,))[0]
        known[name] = (max(highest, price), price)
    return known


def highest_and_current():
    graph = FlowGraph()
    graph.source("Trades", {"name": "text", "price": "real"})
    rules = [
        {"when": "price > maxP", "set": {"maxP": "price", "curP": "price"}},
        {"when": "price <= maxP", "set": {"curP": "price"}},
    ]
    graph.collapse("Trades", "MaxCur", key="name", rules=rules)
    return Shortest(graph, "MaxCur")


@pytest.mark.parametrize("trims", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_shortest_sequence_leads_to_the_same_state(tmp_path, seed, trims):
    r = random.Random(seed)
    got, published = [], []
    for _ in range(4):
        with opened(tmp_path / "trades.db") as hub:
            hub.subscribe("price > 0", got.append, durable="phone", catch_up=highest_and_current())
            assert folded(got) == folded(published)
            for missing in (False, True):
                if missing:
                    hub.subscriptions[0].close()
                    if trims:
                        hub.trim()
                trades = [{"name": r.choice("ABC"), "price": r.randint(1, 20)} for _ in range(r.randint(0, 12))]
                hub.publish_batch(trades)
                published += [cps.SemanticEvent("Event", trade) for trade in trades]
    with opened(tmp_path / "trades.db") as hub:
        before = len(got)
        hub.subscribe("price > 0", got.append, durable="phone", catch_up=highest_and_current())
        assert len(got) - before <= 6  # two a share
    assert folded(got) == folded(published)
