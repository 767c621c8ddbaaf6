"""Carzaniga, Deng, Wolf (2001), section 4.2: time by filters, interfaces and names; messages that nobody wants."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.papers_loads import ForwardingLoad, on_interfaces, per_event
from benchmarks.report import duration, plot, print_table
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.counting_index import Segment

INTERFACES = (2, 50, 100, 200, 500, 0)
PAPER_TIMES = {  # (names, interfaces, filters): what the text of the paper says; the rest is in its graphs
    (100, 500, 8_000_000): "25 ms",
    (100, 0, 8_000_000): "400 ms",
}
PAPER_IGNORED = {1000: "90%", 100: "30% to 0%", 50: "30% to 0%"}


def run(module: Any, quick: bool, full: bool) -> None:
    """All tables of the section."""
    top = 20_000 if quick else 8_000_000 if full else 1_000_000
    sizes = [size for size in (1_000, 5_000, 20_000, 100_000, 500_000, 1_000_000, 8_000_000) if size <= top]
    messages = 300 if quick else 1000
    ignored: dict[int, list[tuple[int, float, float]]] = {}
    for names in (1000, 100, 50):
        limit = top if names != 50 else min(top, 100_000)
        load = ForwardingLoad.make(module, limit, names, messages)
        fitting = [size for size in sizes if size <= limit]
        ignored[names] = shares(load, fitting)
        by_filters(load, names, fitting)
        if names != 50:
            engines(load, names, quick)
    show_ignored(ignored)


def by_filters(load: ForwardingLoad, names: int, sizes: list[int]) -> None:
    """The forwarding algorithm alone (figures 9 and 12): messages and filters are in arrays, as they were in C++."""
    entries, starts = load.entries()
    rows: list[list[Any]] = []
    curves: dict[int, list[float]] = {}
    memory = 0.0
    for size in sizes:
        index = load.index(size)
        memory = index.bytes / size
        for interfaces in INTERFACES:
            segment = on_interfaces(index, interfaces or size)
            curves.setdefault(interfaces, []).append(_forwarded(segment, entries, starts, interfaces or size))
    for place, size in enumerate(sizes):
        said = [PAPER_TIMES[key] for key in PAPER_TIMES if key[0] == names and key[2] == size]
        rows.append([f"{size:,}", *(duration(curves[i][place]) for i in INTERFACES), " / ".join(said)])
    header = ("filters", *(f"I = {i}" if i else "I = F" for i in INTERFACES), "paper: I = 500 / F")
    print_table(
        f"SFF alone, CPU time a message, {names} names ({memory:.0f} bytes a filter; paper: 960 MHz)", header, rows
    )

    def draw(axes: Any) -> None:
        for interfaces, seconds in curves.items():
            axes.plot(sizes, [1e6 * s for s in seconds], "o-", label=f"I = {interfaces or 'F'}")
        axes.set(xlabel="filters", ylabel="µs a message", xscale="log", yscale="log", title=f"SFF, {names} names")
        axes.legend()

    plot(f"papers_sff_{names}", draw)


def _forwarded(segment: Segment, entries: Any, starts: Any, interfaces: int) -> float:
    segment.forward_many(entries, starts[:3], interfaces, interfaces)
    started = time.process_time()
    segment.forward_many(entries, starts, interfaces, interfaces)
    return (time.process_time() - started) / (len(starts) - 1)


def engines(load: ForwardingLoad, names: int, quick: bool) -> None:
    """Whole engines, an event from a dict: which interfaces want it."""
    rows: list[list[Any]] = []
    for size in (1_000, 10_000) if quick else (1_000, 10_000, 100_000):
        filters = load.filters(size)
        for interfaces in (100, 0):
            times: dict[str, float] = {}
            for name in ("counting", "bdd", "default"):
                matcher = Matcher(engine=name)
                matcher.add_many((n, f, n % interfaces if interfaces else n) for n, f in enumerate(filters))
                matcher.warm_up()
                times[name] = per_event(matcher.interfaces, load.messages, 0.3 if quick else 2.0)
            best = min(times, key=times.__getitem__)
            shown = [duration(seconds) for seconds in times.values()]
            rows.append([f"{size:,}", interfaces or "F", *shown, "ours" if best == "default" else best])
    header = ("filters", "interfaces", "counting", "bdd", "ours", "quickest")
    print_table(f"Interfaces of an event, CPU time from a dict, {names} names", header, rows)


def shares(load: ForwardingLoad, sizes: list[int]) -> list[tuple[int, float, float]]:
    """For each number of filters, the share of messages that match none, and the matches of a message."""
    entries, starts = load.entries()
    found = []
    for size in sizes:
        offsets, _ = load.index(size).count_many(entries, starts)
        each = np.diff(offsets)
        found.append((size, float(np.mean(each == 0)), float(np.mean(each))))
        if size > 100_000:
            break
    return found


def show_ignored(ignored: dict[int, list[tuple[int, float, float]]]) -> None:
    """Figure 11: the percentage of ignored messages; figure 10 in one number, the matches of a message."""
    rows = [
        [names, f"{size:,}", f"{share:.1%}", f"{matches:.3g}", PAPER_IGNORED[names]]
        for names, listed in ignored.items()
        for size, share, matches in listed
    ]
    print_table("Ignored messages", ("names", "filters", "ignored", "matches a message", "paper"), rows)

    def draw(axes: Any) -> None:
        for names, listed in ignored.items():
            axes.plot([s for s, _, _ in listed], [100 * p for _, p, _ in listed], "o-", label=f"A = {names}")
        axes.set(xlabel="filters", ylabel="ignored messages, %", xscale="log", title="Messages without a match")
        axes.legend()

    plot("papers_sff_ignored", draw)
