"""The matching engine: what it must show, goal by goal, on fresh events, in CPU time; and who else can do how much.

The workloads are those of the papers (conjunctions on interfaces: sff; Boolean filters on partial events: bdd), read
from the folder that CPS_SHARED names, and one of our own: subscriptions by meaning, beside the same in plain names.
No event is matched twice. Half of a bound is the goal. ``--quick`` takes a minute or two on tenths of the filters,
``--huge`` adds eight million filters, which need about 8 GB, ``--only`` chooses a part.
"""

from __future__ import annotations

import argparse
import time
from types import ModuleType
from typing import Any

from benchmarks import _matching_semantic as semantic
from benchmarks._matching_growth import growth, keeping
from benchmarks._matching_loads import Both, Stream, loaded, measure, measured
from benchmarks.calibrate import show
from benchmarks.papers_loads import workloads
from benchmarks.report import arguments, duration, plot, print_table

Row = tuple[str, str, float | None, Both]
HEADER = ("work", "must: batch", "goal", "here", "must: single", "goal", "here")


def more(parser: argparse.ArgumentParser) -> None:
    """Options of this benchmark."""
    parser.add_argument("--huge", action="store_true", help="eight million filters on 500 interfaces")
    parser.add_argument("--only", choices=("sff", "bdd", "cost", "growth", "semantic", "huge", "engines"))


def forwarding(module: ModuleType, scale: int, budget: float) -> list[list[Any]]:
    """Conjunctions: 100,000 filters, and a million on a hundred interfaces."""
    rows = []
    for names, batch, single in ((1000, 4.0, 8), (100, 10.0, 15)):
        stream = Stream.forwarding(module, 100_000 // scale, names)
        matcher, _ = loaded("default", stream.filters())
        rows.append(shown(f"sff, {names} names", batch, single, measured(matcher, stream, 8192, budget)))
    for names, batch, single in ((1000, 8.0, 12), (100, 1.5, 5)):
        stream = Stream.forwarding(module, 1_000_000 // scale, names, 100)
        matcher, _ = loaded("default", stream.filters(), keep_filters=False)
        found = measured(matcher, stream, 8192, budget, "interfaces")
        rows.append(shown(f"sff, {stream.count:,} on 100 interfaces, {names} names", batch, single, found))
    return rows


def boolean(module: ModuleType, scale: int, budget: float) -> list[list[Any]]:
    """Boolean filters by density; the result of a table is a bitmap."""
    rows = []
    for density, batch, single in ((0.077, 1, 5), (0.154, 3, 6), (1.0, 10, 15)):
        stream = Stream.boolean(module, 100_000 // scale, density)
        matcher, _ = loaded("default", stream.filters("strict"))
        found = measured(matcher, stream, 2048, budget, "bitmap")
        rows.append(shown(f"bdd, strict, density {density}, bitmap", batch, single, found))
        each = sum(len(matcher.match(event)) for event in stream.events(50)) / 50
        keys = measure(matcher.match, stream.events(1001), budget)
        print(f"  the keys as a list, {each:,.0f} of them: {duration(keys.median)} an event", flush=True)
    for density in (0.077, 0.154, 1.0):
        stream = Stream.boolean(module, 100_000 // scale, density)
        matcher, _ = loaded("default", stream.filters("sql"))
        each = sum(len(matcher.match(event)) for event in stream.events(50)) / 50
        found = measured(matcher, stream, 1024, budget, "bitmap")
        rows.append(shown(f"bdd, sql, density {density}, bitmap ({each:,.0f} matches)", None, None, found))
    return rows


def shown(work: str, batch: float | None, single: float | None, found: Both) -> list[Any]:
    """A row: the bound, half of it, what was measured; for tables, then for single events."""
    cells: list[Any] = [work]
    for bound, seconds in ((batch, found.batch.median), (single, found.single.median)):
        cells += ["report", ""] if bound is None else [f"{bound:g} µs", f"{bound / 2:g} µs"]
        cells.append(duration(seconds))
    return cells


def engines(module: ModuleType, size: int, budget: float) -> None:
    """The three engines side by side on loads that each can hold."""
    rows: list[list[Any]] = []
    for work in ("sff, 1000 names", "sff, 100 names", "bdd, density 0.077", "bdd, density 0.154", "bdd, density 1.0"):
        cells: list[Any] = [work]
        for engine in ("default", "counting", "bdd"):
            count = min(size, 2_000) if work.startswith("sff") and engine == "bdd" else size
            if work.startswith("sff"):
                stream = Stream.forwarding(module, count, int(work.split()[1]))
            else:
                stream = Stream.boolean(module, count, float(work.split()[-1]))
            matcher, seconds = loaded(engine, stream.filters("strict"), keep_filters=False)
            for event in stream.events(100):
                matcher.match(event)
            each = measure(matcher.match, stream.events(2000), budget).median
            note = f" ({count:,})" if count != size else ""
            cells.append(f"{duration(each)}{note}, loaded in {duration(seconds)}")
        rows.append(cells)
    print_table(f"Three engines, {size:,} filters under strict, from a dict", ("work", "ours", "counting", "bdd"), rows)


def by_meaning(scale: int, budget: float) -> None:
    """Subscriptions by meaning beside the same in plain names."""
    count = 100_000 // scale
    found, same = semantic.run(count, 8192 // min(scale, 4), budget)
    rows = [
        [work, "2", duration(meant.median), duration(plain.median), f"{meant.median / plain.median:.2f}"]
        for work, (meant, plain) in found.items()
    ]
    header = ("events", "must: times", "units, leaves", "plain names", "times")
    print_table(f"Semantic load, {count:,} subscriptions over 480 generated concepts", header, rows)
    print("both had the same matches" if same else "THE MATCHES DIFFER")


def huge(module: ModuleType, count: int, budget: float) -> None:
    """Millions of filters on 500 interfaces; the paper needs 25 ms for eight million."""
    import resource

    stream = Stream.forwarding(module, count, 100, 500)
    started = time.process_time()
    matcher, _ = loaded("default", stream.filters(), keep_filters=False)
    seconds = time.process_time() - started
    found = measured(matcher, stream, 4096, budget, "interfaces")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print_table(
        f"{count:,} filters, 100 names, 500 interfaces", ("figure", "must", "here"),
        [["single event", "100 µs", duration(found.single.median)], ["batch", "100 µs", duration(found.batch.median)],
         ["parsed and loaded in", "", duration(seconds)], ["memory of the process", "", f"{peak:.2f} GiB"],
         ["bytes a filter, by its own account", "300", f"{matcher.stats()['bytes a filter']:.0f}"]],
    )  # fmt: skip


def draw_bounds(rows: list[list[Any]]) -> None:
    """The table as bars: what was measured, beside the bound."""

    def microseconds(text: str) -> float:
        number, unit = text.split()
        return float(number) * {"s": 1e6, "ms": 1e3, "µs": 1.0, "ns": 1e-3}[unit]

    def draw(axes: Any) -> None:
        known = [row for row in rows if row[1] != "report"][::-1]
        places = range(len(known))
        axes.barh([p + 0.2 for p in places], [microseconds(r[3]) for r in known], 0.35, label="batch")
        axes.barh([p - 0.2 for p in places], [microseconds(r[6]) for r in known], 0.35, label="single")
        for place, row in zip(places, known, strict=True):
            axes.plot([microseconds(row[1])] * 2, [place + 0.02, place + 0.4], "k-")
            axes.plot([microseconds(row[4])] * 2, [place - 0.4, place - 0.02], "k-")
        axes.set(xlabel="µs an event; the bound in black", yticks=list(places), xscale="log")
        axes.set_yticklabels([row[0] for row in known], fontsize=7)
        axes.legend()

    plot("matching", draw)


def main() -> None:
    """Print the tables."""
    asked = arguments(__doc__ or "", more)
    show(asked.quick)
    module = workloads()
    scale, budget = (10, 0.5) if asked.quick else (1, 3.0)

    def wants(part: str) -> bool:
        return asked.only in (None, part)

    if module is not None:
        rows: list[list[Any]] = []
        if wants("sff"):
            rows += forwarding(module, scale, budget)
        if wants("bdd"):
            rows += boolean(module, scale, budget)
        if rows:
            print_table(f"CPU time an event, {100_000 // scale:,} filters unless said, fresh events", HEADER, rows)
            draw_bounds(rows)
        if wants("cost"):
            header = ("figure", "must", "goal", "here")
            print_table(f"What filters cost ({100_000 // scale:,} in the matcher)", header,
                        keeping(module, 100_000 // scale))  # fmt: skip
        if wants("engines"):
            engines(module, 2_000 if asked.quick else 20_000, budget)
        if wants("growth"):
            sizes = (1_000, 10_000, 50_000) if asked.quick else (1_000, 10_000, 100_000, 1_000_000)
            growth(module, sizes, budget)
        if asked.huge or asked.only == "huge":
            huge(module, 80_000 if asked.quick else 8_000_000, budget)
    if wants("semantic"):
        by_meaning(scale, budget)


if __name__ == "__main__":
    main()
