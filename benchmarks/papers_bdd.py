"""Campailla, Chaki, Clarke, Jha, Veith (2001), section 8: nodes, time by density, time by variable order."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.papers_loads import BooleanLoad, per_event
from benchmarks.report import duration, plot, print_table
from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.bdd import BddEngine

PAPER_NODES = {25_000: (180_226, 108_889), 50_000: (351_616, 206_848), 75_000: (543_677, 299_942),
               100_000: (708_969, 376_992)}  # fmt: skip
DENSITIES = (0.077, 0.154, 0.231, 0.308, 1.0)
PAPER_SECONDS = {  # for a thousand messages: one figure a density, then SiSL
    25_000: (1.56, 3.81, 5.86, 8.23, 27.64, 20.12),
    50_000: (3.56, 7.63, 10.92, 14.74, 55.66, 41.58),
    75_000: (6.65, 12.49, 18.11, 22.56, 89.93, 61.75),
    100_000: (9.01, 15.57, 21.4, 30.83, 121.32, 81.64),
}


def run(module: Any, quick: bool) -> None:
    """All tables of the section."""
    sizes = (5_000, 25_000) if quick else (25_000, 50_000, 75_000, 100_000)
    load = BooleanLoad.make(module, sizes[-1])
    strict = load.filters("strict")
    shared = nodes(strict, sizes)
    by_density(load, strict, shared, quick)
    by_order(load, strict[: 5_000 if quick else 25_000], quick)


def nodes(filters: list[Filter], sizes: tuple[int, ...]) -> BddEngine:
    """The number of nodes before and after restriction, the diagram being extended from size to size."""
    plain, restricted = BddEngine(restrict=False), BddEngine()
    rows: list[list[Any]] = []
    done = 0
    for size in sizes:
        seconds = []
        for engine in (plain, restricted):
            for slot in range(done, size):
                engine.add(slot, filters[slot], ())
            started = time.process_time()
            engine.warm_up()
            seconds.append(time.process_time() - started)
        before, after = (engine.stats()["nodes"]["strict"] for engine in (plain, restricted))
        paper = PAPER_NODES.get(size, ("", ""))
        factor = f"{paper[0] / paper[1]:.2f}" if paper[0] else ""
        rows.append([f"{size:,}", *paper, factor, before, after, f"{before / after:.2f}",
                     duration(seconds[1] / (size - done))])  # fmt: skip
        done = size
    header = ("queries", "paper: before", "after", "factor", "here: before", "after", "factor", "added in, a query")
    print_table("BDD nodes before and after restriction (paper: section 8, first table)", header, rows)

    def draw(axes: Any) -> None:
        axes.plot(sizes, [row[4] for row in rows], "o-", label="here, before restriction")
        axes.plot(sizes, [row[5] for row in rows], "o-", label="here, after")
        known = sorted(PAPER_NODES)
        axes.plot(known, [PAPER_NODES[n][0] for n in known], "x--", label="paper, before")
        axes.plot(known, [PAPER_NODES[n][1] for n in known], "x--", label="paper, after")
        axes.set(xlabel="queries", ylabel="BDD nodes", title="Nodes of the shared BDD")
        axes.legend()

    plot("papers_bdd_nodes", draw)
    return restricted


def by_density(load: BooleanLoad, strict: list[Filter], shared: BddEngine, quick: bool) -> None:
    """Time an event by density: the paper's sweep over all nodes, the engine's choice, and the other engines."""
    size = len(strict)
    others: dict[str, Matcher] = {"counting": Matcher(engine="counting"), "ours": Matcher()}
    for matcher in others.values():
        matcher.add_many(enumerate(strict))
    budget = 0.5 if quick else 2.0
    rows: list[list[Any]] = []
    curves: dict[str, list[float]] = {name: [] for name in ("MVEvalBDD", "bdd", "counting", "ours", "ours, batch")}
    for place, density in enumerate(DENSITIES):
        messages = load.messages(density, 300 if quick else 1000)
        times = {"MVEvalBDD": _swept(shared, messages, budget), "bdd": per_event(shared.match, messages, budget)}
        times |= {name: per_event(matcher.match, messages, budget) for name, matcher in others.items()}
        times["ours, batch"] = _batch(others["ours"], messages)
        for name, seconds in times.items():
            curves[name].append(seconds)
        rows.append([f"{density:.1%}", _paper(size, place), *(duration(t) for t in times.values()), _winner(times)])
    total = BddEngine(evaluation="sweep")
    for slot, filter in enumerate(load.filters("total")):
        total.add(slot, filter, ())
    total.warm_up()
    messages = load.messages(1.0, 300 if quick else 1000)
    rows.append(["SiSL", _paper(size, 5), duration(per_event(total.match, messages, budget)), *[""] * 5])
    header = ("density", "paper", "bdd: sweep", "bdd: auto", "counting", "ours", "ours, batch", "quickest")
    print_table(f"CPU time an event, {size:,} queries, from a dict unless said (paper: 200 MHz)", header, rows)

    def draw(axes: Any) -> None:
        percent = [100 * density for density in DENSITIES]
        for name, seconds in curves.items():
            axes.plot(percent, [1e6 * each for each in seconds], "o-", label=name)
        if size in PAPER_SECONDS:
            axes.plot(percent, [1000 * s for s in PAPER_SECONDS[size][:5]], "x--", label="paper")
        axes.set(xlabel="message density, %", ylabel="µs an event", yscale="log", title=f"{size:,} queries, strict")
        axes.legend()

    plot("papers_bdd_density", draw)


def by_order(load: BooleanLoad, filters: list[Filter], quick: bool) -> None:
    """Nodes and time by the order of variables; the paper finds no strong influence."""
    messages = load.messages(0.308, 300)
    total = load.messages(1.0, 300)
    rows = []
    for order in ("attribute", "frequency", "random"):
        engine = BddEngine(order=order)
        for slot, filter in enumerate(filters):
            engine.add(slot, filter, ())
        engine.warm_up()
        count = engine.stats()["nodes"]["strict"]
        budget = 0.3 if quick else 1.0
        rows.append([order, count, *(duration(_swept(engine, m, budget)) for m in (messages, total))])
    header = ("order", "nodes", "sweep, 30.8%", "sweep, 100%")
    print_table(f"By variable order, {len(filters):,} queries", header, rows)


def _swept(engine: BddEngine, messages: list[Any], budget: float) -> float:
    """The time of MVEvalBDD over every node, as in the paper."""
    store = engine._stores["strict"]
    kept, store.method = store.method, 5
    try:
        return per_event(engine.match, messages, budget)
    finally:
        store.method = kept


def _batch(matcher: Matcher, messages: list[Any]) -> float:
    """CPU time an event of a table of all messages; a table of few is tried first, to see whether it may be many."""
    import pyarrow

    def table(rows: list[Any]) -> Any:
        names = sorted({name for row in rows for name in row})
        return pyarrow.table({name: [row.get(name) for row in rows] for name in names})

    matcher.match_batch(table(messages[:2]))
    started = time.process_time()
    matcher.match_batch(table(messages[2:4]))
    slow = time.process_time() - started > 0.05
    rows = messages[:4] if slow else messages
    made = table(rows)
    started = time.process_time()
    matcher.match_batch(made)
    return (time.process_time() - started) / len(rows)


def _paper(size: int, place: int) -> str:
    return duration(PAPER_SECONDS[size][place] / 1000) if size in PAPER_SECONDS else ""


def _winner(times: dict[str, float]) -> str:
    """Who is quickest from a dict: the batch is another thing."""
    single = {name: seconds for name, seconds in times.items() if "batch" not in name}
    return min(single, key=single.__getitem__)
