"""Graphs: what can be built, and what each mistake is told."""

import pytest

from conceptpubsub.errors import FlowError
from conceptpubsub.flow import FlowGraph


@pytest.fixture
def graph():
    made = FlowGraph()
    made.source("NYSE", {"issue": "text", "price": "real USD", "volume": "int"})
    return made


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda g: g.select("NYES", "A", "price > 1 USD"), "Did you mean 'NYSE'"),
        (
            lambda g: g.select("NYSE", "A", "prize > 1 USD"),
            "select NYSE -> A: no attribute 'prize'.*Did you mean 'price'",
        ),
        (lambda g: g.select("NYSE", "A", "price > 1"), "Write the constant with its unit or currency"),
        (lambda g: g.select("NYSE", "A", "price >"), "select NYSE -> A: the filter ends"),
        (lambda g: g.select("NYSE", "A", "issue > 3"), "issue .*cannot be compared"),
        (lambda g: g.transform("NYSE", "A", {"x": "issue * 2"}), "transform NYSE -> A: issue \\* 2"),
        (lambda g: g.transform("NYSE", "A", {"x": "NYS(issue)"}), "no function 'NYS'"),
        (lambda g: g.transform("NYSE", "A", {"x": "price +"}), "transform NYSE -> A"),
        (lambda g: g.transform("NYSE", "A", {}), "maps output attributes to expressions"),
        (lambda g: g.transform("NYSE", "A", {"x": "price + volume"}), "do not add up"),
        (lambda g: g.source("B", {"x": "reel"}), "Did you mean 'real'"),
        (lambda g: g.source("B", {"x": "real [parsek]"}), "parsec"),
        (lambda g: g.collapse("NYSE", "S", key="isue", rules=[]), "Did you mean 'issue'"),
        (lambda g: g.collapse("NYSE", "S", key="issue", rules=[{"set": {"price": "price"}}]), "name them apart"),
        (lambda g: g.collapse("NYSE", "S", key="issue", rules=[{"sets": {}}]), "no rule sets a column|a rule is"),
        (lambda g: g.expand("NYSE", "E"), "only a state can be expanded"),
        (lambda g: g.sink("Nowhere"), "no space 'Nowhere'"),
    ],
)
def test_mistakes_name_the_arc_and_the_way_out(graph, build, says):
    with pytest.raises(FlowError, match=says):
        build(graph)


def test_a_cycle_is_refused_with_its_spaces(graph):
    graph.select("NYSE", "A", "volume > 1")
    graph.select("A", "B", "volume > 2")
    with pytest.raises(FlowError, match="closes a cycle: B -> A -> B") as caught:
        graph.select("B", "A", "volume > 3")
    assert caught.value.cycle == ("A", "B")
    with pytest.raises(FlowError, match="closes a cycle"):
        graph.select("NYSE", "NYSE", "volume > 3")


def test_fan_in_needs_one_schema(graph):
    graph.source("NASDAQ", {"issue": "text", "price": "real EUR", "capital": "real EUR"})
    graph.transform("NYSE", "Combined", {"price": "price", "volume": "volume"})
    with pytest.raises(FlowError, match="does not fit 'Combined'"):
        graph.transform("NASDAQ", "Combined", {"price": "price"})
    graph.transform("NASDAQ", "Combined", {"price": "price", "volume": "capital / price"})


def test_a_state_has_one_in_arc_and_no_subscribers(graph):
    rules = [{"set": {"last": "price"}}]
    graph.collapse("NYSE", "Last", key="issue", rules=rules)
    with pytest.raises(FlowError, match="single in-arc"):
        graph.collapse("NYSE", "Last", key="issue", rules=rules)
    with pytest.raises(FlowError, match="a state"):
        graph.select("Last", "A", "last > 1 USD")
    with pytest.raises(FlowError, match="expansion"):
        graph.run().subscribe("Last")


def test_toml_reads_as_written(tmp_path):
    file = tmp_path / "graph.toml"
    file.write_text(
        """
sinks = ["Large"]
[tables.NYS]
I = "IBM"
[[source]]
name = "NYSE"
schema = { issue = "text", price = "real", volume = "int" }
[[arc]]
kind = "transform"
from = "NYSE"
to = "Combined"
outputs = { name = "NYS(issue)", capital = "price * volume" }
[[arc]]
kind = "select"
from = "Combined"
to = "Large"
where = "capital >= 1000000"
[[arc]]
kind = "collapse"
from = "Combined"
to = "Last"
key = "name"
rules = [{ set = { last = "capital" } }]
[[arc]]
kind = "expand"
from = "Last"
to = "LastEv"
"""
    )
    graph = FlowGraph.load(file)
    assert [str(arc).split(":")[0] for arc in graph.arcs] == [
        "transform NYSE -> Combined",
        "select Combined -> Large",
        "collapse Combined -> Last by name",
        "expand Last -> LastEv",
    ]
    flow = graph.run()
    got = flow.subscribe("Large")
    flow.publish("NYSE", {"issue": "I", "price": 100.5, "volume": 20000})
    assert got[0]["name"].value == "IBM"
    assert got[0]["capital"].value == 2010000
    assert "flowchart LR" in graph.mermaid()
    assert graph.svg().startswith("<svg")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sinks = [", "not a TOML file"),
        ("[[arcs]]\nkind = 'select'", "unknown key 'arcs'.*Did you mean 'arc'"),
        ("[[arc]]\nkind = 'selekt'", "Did you mean 'select'"),
        ("[[arc]]\nkind = 'select'\nfrom = 'A'\nto = 'B'", "a select needs where"),
        ("[[arc]]\nkind = 'select'\nfrom = 'A'\nto = 'B'\nwhere = 'x = 1'", "no space 'A'"),
        ("[source]\nname = 'A'", "write each source as"),
    ],
)
def test_a_bad_file_says_where(tmp_path, text, says):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(FlowError, match=says):
        FlowGraph.load(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FlowError, match=r"nowhere\.toml"):
        FlowGraph.load(tmp_path / "nowhere.toml")
