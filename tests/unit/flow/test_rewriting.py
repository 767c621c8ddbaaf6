"""The papers' graphs, rewritten: the printed paths, proven."""

from conceptpubsub.flow import FlowGraph
from conceptpubsub.flow.steps import show

CODES = {"NYS": {"IBM": "Big Blue", "F": "Ford"}, "NAS": {"MSFT": "Microsoft", "IBMN": "Big Blue"}}


def _figure_2():
    g = FlowGraph()
    for name in ("NYSE", "NASDAQ"):
        g.source(name, {"issue": "text", "price": "real", "vol": "int"})
    g.transform("NYSE", "Combined", {"com": "NYS(issue)", "price": "price", "vol": "vol"}, functions=CODES)
    g.transform("NASDAQ", "Combined", {"com": "NAS(issue)", "price": "price", "vol": "vol"}, functions=CODES)
    g.source("Combined", {"com": "text", "price": "real", "vol": "int"})
    g.transform("Combined", "Capitals", {"com": "com", "cap": "price * vol"})
    g.select("Capitals", "LargeTrades", "cap >= 1000000")
    g.sink("LargeTrades")
    g.sink("Combined")
    return g


def _path(graph, source, target):
    return next([show(s) for s in p.steps] for p in graph.paths if (p.source, p.target) == (source, target))


def test_figure_2_rewrites_to_its_three_printed_paths():
    h = _figure_2().rewrite()
    assert _path(h, "NYSE", "LargeTrades") == [
        "select price * vol >= 1000000",
        "transform com = NYS(issue), cap = price * vol",
    ]
    assert _path(h, "NASDAQ", "LargeTrades") == [
        "select price * vol >= 1000000",
        "transform com = NAS(issue), cap = price * vol",
    ]
    assert _path(h, "Combined", "LargeTrades") == [
        "select price * vol >= 1000000",
        "transform com, cap = price * vol",
    ]
    assert all(proof.proven for proof in h.proofs), [str(p) for p in h.proofs]


def test_a_space_that_is_published_to_and_fed_delivers_once():
    g = _figure_2()
    events = [
        ("NYSE", {"issue": "IBM", "price": 100, "vol": 20000}),
        ("Combined", {"com": "X", "price": 5, "vol": 900000}),
    ]
    got = []
    for graph in (g, g.rewrite()):
        flow = graph.run()
        both = flow.subscribe("LargeTrades"), flow.subscribe("Combined")
        for space, event in events:
            flow.publish(space, event)
        got.append([[dict(e.attributes) for e in seen] for seen in both])
    assert got[0] == got[1]
    assert [len(seen) for seen in got[0]] == [2, 2]


def test_figure_1_with_capital_rewrites_to_the_right_paths():
    g = FlowGraph()
    g.source("NYSE", {"issue": "text", "price": "real", "volume": "int"})
    g.source("NASDAQ", {"issue": "text", "price": "real", "capital": "real"})
    g.transform("NYSE", "Combined", {"name": "NYS(issue)", "price": "price", "volume": "volume"}, functions=CODES)
    g.transform(
        "NASDAQ", "Combined", {"name": "NAS(issue)", "price": "price", "volume": "capital / price"}, functions=CODES
    )
    g.select("Combined", "LargeTrades", "price * volume >= 1000000 AND name = 'Big Blue'")
    h = g.rewrite()
    assert _path(h, "NASDAQ", "LargeTrades") == [
        "select price * (capital / price) >= 1000000 AND issue IN ('IBMN')",
        "transform name = NAS(issue), price, volume = capital / price",
    ]
    assert all(proof.proven for proof in h.proofs), [str(p) for p in h.proofs]


def test_six_steps_become_one_select_and_one_transform():
    g = FlowGraph()
    g.source("A", {"x": "real", "y": "real"})
    g.transform("A", "B", {"x": "x + y", "y": "y"})
    g.transform("B", "C", {"x": "x * 2", "y": "x - y"})
    g.select("C", "D", "x > y")
    g.transform("D", "E", {"z": "x / y"})
    g.select("E", "F", "z < 10 AND NOT z = 3")
    g.transform("F", "G", {"w": "z + 1"})
    g.sink("G")
    h = g.rewrite()
    assert [type(s).__name__ for s in h.paths[0].steps] == ["Filter", "Transform"]
    assert h.proofs[0].proven


def test_what_is_dropped_may_still_fail():
    """The quotient is read by nobody, but an event it cannot be computed for has never come through."""
    g = FlowGraph()
    g.source("A", {"x": "real", "y": "real"})
    g.transform("A", "B", {"x": "x", "q": "x / y"})
    g.transform("B", "C", {"x": "x"})
    g.sink("C")
    h = g.rewrite()
    assert h.proofs[0].proven
    for graph in (g, h):
        flow = graph.run()
        got = flow.subscribe("C")
        flow.publish_all("A", [{"x": 1, "y": 0}, {"x": 2, "y": 1}])
        assert [e["x"].value for e in got] == [2]
        assert "a division by zero" in flow.dead_letters[0].reason


def test_an_opaque_function_is_computed_ahead_and_carried():
    g = FlowGraph()
    g.source("A", {"t": "text", "x": "real"})
    g.transform("A", "B", {"t": "UPPER(t)", "x": "x"}, functions={"UPPER": str.upper})
    g.select("B", "C", "t = 'B' OR x > 9")
    g.sink("C")
    h = g.rewrite()
    assert [show(s) for s in h.paths[0].steps] == [
        "prepare aux_1 = UPPER(t)",
        "select aux_1 = 'B' OR x > 9",
        "transform t = aux_1, x",
    ]
    assert h.proofs[0].proven
    flow = h.run()
    got = flow.subscribe("C")
    flow.publish_all("A", [{"t": "b", "x": 1}, {"t": "c", "x": 1}, {"t": "c", "x": 10}])
    assert [e["t"].value for e in got] == ["B", "C"]


def test_a_wrong_rewriting_would_be_refuted():
    from conceptpubsub.flow.normal_form import Path, paths
    from conceptpubsub.flow.proofs import prove

    g = FlowGraph()
    g.source("A", {"x": "real"})
    g.select("A", "B", "x > 1")
    original = paths(g)[0]
    other = FlowGraph()
    other.source("A", {"x": "real"})
    other.select("A", "B", "x >= 1")
    wrong = Path("A", "B", (), paths(other)[0].steps)
    proof = prove(original, wrong, g.spaces["A"].schema)
    assert not proof.proven
    assert "differ" in proof.reason


def test_money_divided_and_multiplied_keeps_its_grouping():
    """Amounts multiply only with numbers: the quotient of two amounts must stay a quotient."""
    g = FlowGraph()
    g.source("A", {"price": "real USD", "capital": "real USD"})
    g.transform("A", "B", {"price": "price", "volume": "capital / price"})
    g.select("B", "C", "price * volume >= 1000 USD")
    h = g.rewrite()
    assert show(h.paths[1].steps[0]) == "select price * (capital / price) >= 1000 USD"
    for graph in (g, h):
        flow = graph.run()
        got = flow.subscribe("C")
        flow.publish_all("A", [{"price": 5, "capital": 2000}, {"price": 5, "capital": 10}])
        assert [e["volume"].value for e in got] == [400]
