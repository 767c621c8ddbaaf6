"""Tables through a rewritten path give what events give one by one."""

import numpy as np
import pyarrow as pa
import pytest

from conceptpubsub.errors import FlowError
from conceptpubsub.flow import FlowGraph
from conceptpubsub.flow.batches import BatchPath


def _graph(predicate, functions=None):
    g = FlowGraph()
    g.source("NASDAQ", {"issue": "text", "price": "real", "capital": "real"})
    outputs = {"name": "NAS(issue)", "price": "price", "volume": "capital / price"}
    g.transform("NASDAQ", "Combined", outputs, functions=functions or {"NAS": {f"I{i}": f"Name{i}" for i in range(8)}})
    g.select("Combined", "Out", predicate)
    g.sink("Out")
    return g.rewrite()


def _table(rows=400):
    rng = np.random.default_rng(3)
    prices = rng.integers(0, 5, rows).astype(float)
    capital = rng.integers(0, 9, rows) / 2
    return pa.table(
        {
            "issue": pa.array([None if i == 9 else f"I{i}" for i in rng.integers(0, 10, rows)]),
            "price": pa.array(prices, mask=rng.random(rows) < 0.05),
            "capital": pa.array(capital, mask=rng.random(rows) < 0.05),
        }
    )


@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize(
    "predicate",
    [
        "price * volume >= 2",
        "price * volume = 1.5 AND name IN ('Name1', 'Name2', 'Name3')",
        "volume - price < 0.5 AND price + volume <> 2 AND name IS NOT NULL",
        "volume > 1 OR name = 'Name5'",
        "",
    ],
)
def test_same_as_event_by_event(predicate, opaque):
    def named(issue):
        if issue == "I8":
            raise ValueError("no such issue")
        return f"Name{issue[1:]}"

    graph = _graph(predicate or "price IS NULL OR price IS NOT NULL", {"NAS": named} if opaque else None)
    table = _table()
    passed = BatchPath(graph, "NASDAQ", "Out").apply(table)
    flow = graph.run()
    got = flow.subscribe("Out")
    flow.publish_all("NASDAQ", table.to_pylist())
    expected = [{name: event[name].value for name in event} for event in got]
    made = [{name: value for name, value in row.items() if value is not None} for row in passed.table.to_pylist()]
    assert made == expected
    assert len(passed.rows) == len(expected)


def test_units_are_those_of_the_schemas():
    g = FlowGraph()
    g.source("A", {"distance": "real [mile]", "time": "real [min]"})
    g.transform("A", "B", {"speed": "distance / time"})
    g.select("B", "C", "speed > 60 [km/h]")
    h = g.rewrite()
    passed = BatchPath(h, "A", "C").apply(pa.table({"distance": [1.0, 1.0], "time": [1.0, 2.0]}))
    assert passed.rows.tolist() == [0]
    assert passed.table["speed"].to_pylist() == pytest.approx([1609.344 / 60])
    assert passed.table.schema.field("speed").metadata == {b"unit": b"m/s"}


def test_a_path_must_exist():
    with pytest.raises(FlowError, match="no rewritten path"):
        BatchPath(_graph("price > 1"), "NASDAQ", "Nowhere")
