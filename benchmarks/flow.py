"""What flow graphs cost and save: events through a rewritten path, reconnecting after a long absence, and the
notifications a network forwards for a rewritten graph against one whose spaces sit at brokers of their own.
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.calibrate import show
from benchmarks.report import arguments, cpu_seconds, print_table
from conceptpubsub.flow import FlowGraph
from conceptpubsub.flow.batches import BatchPath
from conceptpubsub.flow.expand import expand
from conceptpubsub.routing import Network, Simulation
from conceptpubsub.routing.flows import Flows
from conceptpubsub.routing.hosted_flows import HostedFlows

ISSUES = 500
NAMES = {f"I{i}": f"Company {i}" for i in range(ISSUES)}
MAX_CUR = [
    {"when": "price > maxP", "set": {"maxP": "price", "curP": "price"}},
    {"when": "price <= maxP", "set": {"curP": "price"}},
]


def stocks() -> FlowGraph:
    """Gryphon's example: two exchanges, one with volumes and one with capital, combined; large trades selected."""
    g = FlowGraph()
    g.source("NYSE", {"issue": "text", "price": "real", "volume": "real"})
    g.source("NASDAQ", {"issue": "text", "price": "real", "capital": "real"})
    tables = {"NYS": NAMES, "NAS": NAMES}
    g.transform("NYSE", "Combined", {"name": "NYS(issue)", "price": "price", "volume": "volume"}, tables)
    g.transform("NASDAQ", "Combined", {"name": "NAS(issue)", "price": "price", "volume": "capital / price"}, tables)
    g.transform("Combined", "Capitals", {"name": "name", "capital": "price * volume"})
    g.select("Capitals", "LargeTrades", "capital >= 1000000")
    g.sink("LargeTrades")
    return g


def trades(count: int, seed: int = 1) -> pa.Table:
    """NASDAQ's trades as a table; one in ten is large."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "issue": [f"I{i}" for i in rng.integers(0, ISSUES, count)],
            "price": rng.uniform(1, 200, count).round(2),
            "capital": rng.uniform(0, 1_111_111, count).round(2),
        }
    )


def throughput(count: int) -> None:
    """Events a second through the select and transform of one path."""
    graph = stocks().rewrite()
    path, table = BatchPath(graph, "NASDAQ", "LargeTrades"), trades(count)
    whole = cpu_seconds(lambda: path.apply(table), 3)
    few = table.slice(0, min(2000, count)).to_pylist()

    def singly() -> None:
        flow = graph.run()
        flow.publish_all("NASDAQ", few)

    def by_hand() -> Any:
        """What one would write instead for this one path, without units, dead letters or exact comparison."""
        large = table.filter(pc.greater_equal(table["capital"], 1e6))
        names = pa.array([NAMES[issue] for issue in large["issue"].to_pylist()])
        return pa.table({"name": names, "capital": large["capital"]})

    rows = [
        ("rewritten path, Arrow batch", count / whole),
        ("rewritten graph, event by event", len(few) / cpu_seconds(singly, 3)),
        ("the one path by hand in pyarrow", count / cpu_seconds(by_hand, 3)),
    ]
    print_table(f"Select and transform, {count:,} trades", ("how", "events/CPU-s"), [(n, f"{v:,.0f}") for n, v in rows])


def reconnecting(missed: int, issues: int) -> None:
    """The shortest sequence after a long absence."""
    g = FlowGraph()
    g.source("Trades", {"name": "text", "price": "real"})
    g.collapse("Trades", "MaxCur", key="name", rules=MAX_CUR)
    g.expand("MaxCur", "MaxCurEv")
    rng, flow = random.Random(1), g.run()
    client = flow.session("MaxCurEv")
    client.disconnect()
    for _ in range(missed):
        flow.publish("Trades", {"name": f"I{rng.randrange(issues)}", "price": rng.randrange(1, 100_000) / 100})
    state = flow.states["MaxCur"]
    started = time.process_time()
    sequence = expand(state.rule, {}, state.rows)
    searched = time.process_time() - started
    delivered = client.reconnect()
    rows = [
        ("events missed", f"{missed:,}"),
        ("events delivered", f"{delivered:,}"),
        ("events an issue", f"{len(sequence) / issues:.2f}"),
        ("CPU seconds for the search", f"{searched:.2f}"),
    ]
    print_table(f"Reconnecting, {issues:,} issues", ("what", "figure"), rows)


def forwarding(brokers: int, events: int) -> None:
    """Notifications forwarded for the same deliveries: rewritten paths against spaces hosted at brokers."""
    graph, rng = stocks(), random.Random(7)
    network = Network.tree(brokers=brokers, seed=3)
    names = list(network.brokers)
    readers = [rng.choice(names) for _ in range(10)]
    published = [(rng.choice(("NYSE", "NASDAQ")), rng.choice(names[:3]), rng) for _ in range(events)]
    rows, deliveries = [], []
    for title, made in (
        ("rewritten: select inside, transform at the border", lambda sim: Flows(graph.rewrite(), sim)),
        ("hosted: every space at a broker of its own", lambda sim: HostedFlows(graph, sim, seed=5)),
    ):
        sim = Simulation(network, strategy="covering")
        flows = made(sim)
        got = [flows.subscribe("LargeTrades", broker) for broker in readers]
        flows.settle()
        values = random.Random(11)
        for space, broker, _ in published:
            event = {"issue": f"I{values.randrange(ISSUES)}", "price": values.randrange(100, 20_000) / 100}
            other = "volume" if space == "NYSE" else "capital"
            event[other] = values.randrange(1, 12_000) if other == "volume" else values.randrange(1, 1_100_000)
            flows.publish(space, event, broker)
        flows.settle()
        deliveries.append([sorted(str(dict(e.attributes)) for e in reader.received) for reader in got])
        rows.append((title, sim.metrics.forwarded, sum(len(r.received) for r in got)))
    factor = rows[1][1] / max(1, rows[0][1])
    print_table(f"{brokers} brokers, {events:,} trades", ("mapping", "forwarded", "delivered"), rows)
    print(f"deliveries equal: {deliveries[0] == deliveries[1]}; the hosted graph forwards {factor:.1f} times as many")


def main() -> None:
    """Print the tables."""
    quick = arguments(__doc__ or "").quick
    show(quick)
    throughput(20_000 if quick else 200_000)
    reconnecting(10_000 if quick else 100_000, 1_000)
    forwarding(50, 200 if quick else 2_000)


if __name__ == "__main__":
    main()
