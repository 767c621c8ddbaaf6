"""Collapse, expand, reconnecting and lagging subscribers."""

import itertools

import pytest

from conceptpubsub.flow import FlowGraph
from conceptpubsub.flow.collapse import CollapseRule, Rule
from conceptpubsub.flow.expand import Unreachable, expand, expand_row, form
from conceptpubsub.flow.functions import Failed

MAX_CUR = [
    {"when": "price > maxP", "set": {"maxP": "price", "curP": "price"}},
    {"when": "price <= maxP", "set": {"curP": "price"}},
]


@pytest.fixture
def graph():
    g = FlowGraph()
    g.source("Combined", {"name": "text", "price": "real"})
    g.collapse("Combined", "MaxCur", key="name", rules=MAX_CUR)
    g.expand("MaxCur", "MaxCurEv")
    return g


def _publish(flow, *prices, name="IBM"):
    flow.publish_all("Combined", [{"name": name, "price": price} for price in prices])


def test_the_papers_reconnection(graph):
    flow = graph.run()
    client = flow.session("MaxCurEv")
    _publish(flow, 150, 160, 140)
    assert flow.states["MaxCur"].rows["IBM"] == (160, 140)
    client.disconnect()
    _publish(flow, 200, 180, 150, 170, 120)
    assert flow.states["MaxCur"].rows["IBM"] == (200, 120)
    assert client.reconnect() == 2
    assert [event["price"].value for event in client.received] == [150, 160, 140, 200, 120]
    _publish(flow, 130)
    assert client.received[-1]["price"].value == 130


def test_a_slow_subscriber_gets_the_same_meaning_and_nothing_is_taken_back(graph):
    flow = graph.run()
    slow = flow.session("MaxCurEv", most=4)
    _publish(flow, 10, 20)
    first = [event["price"].value for event in slow.take(1)]
    _publish(flow, 30, 25, 40, 35, 28, 27, 26)
    slow.take(100)
    received = [event["price"].value for event in slow.received]
    assert received[:1] == first == [10]
    assert slow.saved > 0
    assert slow.delivered.rows == flow.states["MaxCur"].rows


def test_derived_alarms():
    g = FlowGraph()
    g.source("Trades", {"name": "text", "price": "real"})
    rule = {"p1": "price", "p2": "p1", "avg": "MEAN(price, p1, p2)", "drop": "DROP(price, p1, p2)"}
    g.collapse(
        "Trades", "AvgDrop", key="name", initial={"p1": None, "p2": None, "avg": None, "drop": 0}, rules=[{"set": rule}]
    )
    g.expand("AvgDrop", "AvgDropEv", {"name": "name", "avg": "avg", "drop": "drop"})
    g.select("AvgDropEv", "Alarms", "drop > 20")
    for graph in (g, g.rewrite()):
        flow = graph.run()
        alarms = flow.subscribe("Alarms")
        flow.publish_all("Trades", [{"name": "IBM", "price": p} for p in (100, 110, 85, 60, 61)])
        assert [event["drop"].value for event in alarms] == [25, 50, 25]


def test_no_rule_fits(graph):
    g = FlowGraph()
    g.source("A", {"k": "text", "x": "real"})
    g.collapse("A", "S", key="k", rules=[{"when": "x > last", "set": {"last": "x"}}])
    flow = g.run()
    flow.publish_all("A", [{"k": "a", "x": 5}, {"k": "a", "x": 3}, {"x": 9}])
    assert flow.states["S"].rows == {"a": (5,)}
    assert [letter.reason for letter in flow.dead_letters] == [
        "no rule of the collapse fits the event",
        "the event has no k, the key of the state",
    ]


def _rule(rules, columns):
    return CollapseRule("k", columns, (0,) * len(columns), tuple(Rule.of(rule, columns, "test") for rule in rules))


RULES = {
    "max-cur": ([{"when": "p > a", "set": {"a": "p", "b": "p"}}, {"when": "p <= a", "set": {"b": "p"}}], ("a", "b")),
    "unconstrained": (
        [{"when": "p > q", "set": {"a": "p", "b": "q"}}, {"when": "p <= q", "set": {"c": "p"}}],
        ("a", "b", "c"),
    ),
    "uniform": ([{"when": "p = 1", "set": {"a": "q"}}, {"when": "p = 2", "set": {"b": "q"}}], ("a", "b")),
    "window": ([{"set": {"a": "p", "b": "a"}}], ("a", "b")),
    "guarded": (
        [{"when": "p > a AND p > 2", "set": {"a": "p"}}, {"when": "p < b", "set": {"b": "p"}}, {"set": {}}],
        ("a", "b"),
    ),
}


def test_forms():
    assert {name: form(_rule(*given)) for name, given in RULES.items()} == {
        "max-cur": "constrained",
        "unconstrained": "unconstrained",
        "uniform": "uniform unconstrained",
        "window": "general",
        "guarded": "uniform unconstrained",
    }


@pytest.mark.parametrize("name", RULES)
def test_shortest_as_brute_force_finds_it(name):
    rule = _rule(*RULES[name])
    values = range(4)
    events = [
        {"k": "x", **dict(zip(rule.parameters(), chosen, strict=True))}
        for chosen in itertools.product(values, repeat=len(rule.parameters()))
    ]
    rows = list(itertools.product(range(3), repeat=len(rule.columns)))
    for start in rows[:: max(1, len(rows) // 9)]:
        distance = _breadth_first(rule, start, events, 4)
        for goal in rows:
            if goal in distance:
                found = expand_row(rule, "x", start, goal)
                assert len(found.events) <= distance[goal], (start, goal)
                row = start
                for event in found.events:
                    row = rule.apply(event, row)
                assert row == goal
                integers = all(v in values for e in found.events for k, v in e.items() if k != "k")
                assert len(found.events) == distance[goal] or not integers


def _breadth_first(rule, start, events, most):
    distance, level = {start: 0}, [start]
    for depth in range(1, most + 1):
        following = []
        for row in level:
            for event in events:
                try:
                    after = rule.apply(event, row)
                except Failed:
                    continue
                if after not in distance:
                    distance[after] = depth
                    following.append(after)
        level = following
    return distance


def test_unreachable_goals_are_said_so():
    rule = _rule([{"when": "p > a", "set": {"a": "p"}}], ("a",))
    with pytest.raises(Unreachable, match="no event sequence takes x"):
        expand_row(rule, "x", (5,), (3,))
    with pytest.raises(Unreachable, match="no event removes"):
        expand(rule, {"x": (5,)}, {})
    wide = _rule([{"set": {c: f"p{c}" for c in "abcdefgh"}}], tuple("abcdefgh"))
    with pytest.raises(Unreachable, match="budget"):
        expand_row(wide, "x", tuple(range(8)), tuple(range(10, 18)), budget=1000)


def test_event_costs_choose_the_cheaper_way():
    rule = _rule(
        [
            {"when": "p = 1", "set": {"a": "q", "b": "q"}},
            {"when": "p = 2", "set": {"a": "q"}},
            {"when": "p = 3", "set": {"b": "q"}},
        ],
        ("a", "b"),
    )
    assert len(expand_row(rule, "x", (0, 0), (7, 7)).events) == 1
    dear = expand_row(rule, "x", (0, 0), (7, 7), cost=lambda event: 5.0 if event["p"] == 1 else 1.0)
    assert sorted(event["p"] for event in dear.events) == [2, 3]
