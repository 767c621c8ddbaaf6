"""Routing: REBECA's orderings on 100 brokers, meaning against spelling, and a network of 1,000 brokers.

Beside covering by meaning stands what a content-based broker without concepts and units can do: covering by spelling.
Time is CPU time; the large run has a process of its own, which gives its peak memory, and shows the clock as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from benchmarks._routing_loads import LARGE, large, sample
from benchmarks.calibrate import show
from benchmarks.report import arguments, plot, print_table
from conceptpubsub.routing.experiment import Outcome

ORDER = ("simple", "identity", "covering", "merging")
COLUMNS = {
    "tables": "table entries",
    "table_most": "largest",
    "setup_control": "control, set-up",
    "churn_control": "control, churn",
    "forwarded": "forwarded",
    "wasted": "wasted",
    "checks": "checks",
    "seconds": "CPU s",
}
LOCALITIES = {0.0: "interest anywhere", 0.9: "nine of ten in one's own region"}


def orderings(sizes: tuple[int, ...], events: int) -> None:
    """100 brokers: every strategy, with and without advertisements and locality; a tenth of subscriptions replaced."""
    found: dict[float, list[Outcome]] = {}
    for locality, meaning in LOCALITIES.items():
        found[locality] = sample("orderings", sizes, events, locality)
        rows = [[_named(outcome), *(_cell(outcome, key) for key in COLUMNS)] for outcome in found[locality]]
        title = f"100 brokers, {events:,} events, a tenth of the subscriptions replaced meanwhile; {meaning}"
        print_table(title, ("strategy", *COLUMNS.values()), rows)
    print_table("What REBECA's evaluation says", ("at each size", "holds"), _verdicts(found, sizes))
    for locality, outcomes in found.items():
        _draw_sizes(f"routing_tables_locality_{locality:g}", f"Routing tables, {LOCALITIES[locality]}", outcomes)


def _named(outcome: Outcome) -> str:
    return f"{outcome.case.subscriptions:>6,} {outcome.case.label}"


def _cell(outcome: Outcome, key: str) -> str:
    value = outcome.row()[key]
    return f"{value:.1f}" if key == "seconds" else f"{value:,}"


def _verdicts(found: dict[float, list[Outcome]], sizes: tuple[int, ...]) -> list[tuple[str, str]]:
    """Each ordering, and at how many of the points measured it holds."""
    by = {
        (locality, outcome.case.subscriptions, outcome.case.strategy, outcome.case.advertisements): outcome.row()
        for locality, outcomes in found.items()
        for outcome in outcomes
    }
    points = [(locality, size, ads) for locality in found for size in sizes for ads in (False, True)]

    def holds(cases: list[bool]) -> str:
        return f"{sum(cases)} of {len(cases)}"

    rows = []
    for wide, narrow in pairwise(ORDER):
        rows.append(
            (
                f"tables: {wide} >= {narrow}",
                holds([by[at, n, wide, ads]["tables"] >= by[at, n, narrow, ads]["tables"] for at, n, ads in points]),
            )
        )
    quiet = [(at, n, name) for at in found for n in sizes for name in ORDER]
    rows.append(
        (
            "tables: smaller with advertisements",
            holds([by[at, n, name, True]["tables"] < by[at, n, name, False]["tables"] for at, n, name in quiet]),
        )
    )
    far, near = min(found), max(found)
    for measure, of in (("tables", (True,)), ("forwarded", (False, True)), ("setup_control", (True,))):
        pairs = [(n, name, ads) for n in sizes for name in ORDER for ads in of]
        smaller = [by[near, n, name, ads][measure] < by[far, n, name, ads][measure] for n, name, ads in pairs]
        suffix = " (with advertisements)" if of == (True,) else ""
        rows.append((f"{measure}: smaller with locality{suffix}", holds(smaller)))
    most = [
        by[at, n, "flooding", ads]["forwarded"] > by[at, n, name, ads]["forwarded"]
        for at, n, ads in points
        for name in ORDER
    ]
    rows.append(("forwarded: flooding most", holds(most)))
    return rows


def _draw_sizes(name: str, title: str, outcomes: Sequence[Outcome]) -> None:
    def draw(axes: Any) -> None:
        for label in dict.fromkeys(outcome.case.label for outcome in outcomes):
            points = [o.row() for o in outcomes if o.case.label == label and o.case.strategy != "flooding"]
            if points:
                style = "o--" if points[0]["advertisements"] else "o-"
                axes.plot([p["subscriptions"] for p in points], [p["tables"] for p in points], style, label=label)
        axes.set(xlabel="subscriptions", ylabel="table entries, 100 brokers", yscale="log", title=title)
        axes.legend(fontsize=7)

    plot(name, draw)


def meaning(sizes: tuple[int, ...], events: int) -> None:
    """The same subscriptions, in mixed units and at different concepts, compared by meaning and by spelling."""
    outcomes = [o for o in sample("fleet_as_strings", sizes, events) if o.case.strategy == "covering"]
    by = {(o.case.comparison, o.case.subscriptions): o.row() for o in outcomes}
    rows = []
    for size in sizes:
        ours, theirs = by["semantic", size], by["syntactic", size]
        share = ours["tables"] / theirs["tables"]
        same = ours["delivered"] == theirs["delivered"]
        rows.append((f"{size:,}", f"{ours['tables']:,}", f"{theirs['tables']:,}", share, "same" if same else "DIFFER"))
    header = ("subscriptions", "by meaning", "by spelling", "share (asked: at most 0.333)", "deliveries")
    print_table("Covering on 100 brokers, mixed units and sub-concepts: table entries", header, rows)

    def draw(axes: Any) -> None:
        for name in ("semantic", "syntactic"):
            axes.plot(sizes, [by[name, size]["tables"] for size in sizes], "o-", label=f"covering, {name}")
        axes.set(xlabel="subscriptions", ylabel="table entries, 100 brokers", title="Mixed units and sub-concepts")
        axes.legend()

    plot("routing_meaning", draw)


def thousand(load: str, sizes: tuple[int, ...], events: int) -> None:
    """1,000 brokers, covering with advertisements, locality 0.9; how it grows with the subscriptions."""
    found = [large(load, size, events) for size in sizes]
    rows = [
        (
            f"{row['subscriptions']:,}",
            f"{row['tables']:,}",
            f"{row['forwarded']:,}",
            f"{row['delivered']:,}",
            row["setup_seconds"],
            row["cpu_seconds"],
            row["clock_seconds"],
            f"{row['peak_mb']:,.0f}",
        )
        for row in found
    ]
    header = ("subscriptions", "table entries", "forwarded", "delivered", "set-up CPU s", "CPU s", "clock s", "peak MB")
    print_table(
        f"1,000 brokers, {load}, {events:,} events (asked: 100,000 of both in 300 s and 4,096 MB)", header, rows
    )
    first, last = found[0], found[-1]
    print(
        f"{last['subscriptions'] / first['subscriptions']:.3g} times the subscriptions: "
        f"{last['setup_seconds'] / first['setup_seconds']:.3g} times the time to set up, "
        f"{last['cpu_seconds'] / first['cpu_seconds']:.3g} times the whole, "
        f"{last['peak_mb'] / first['peak_mb']:.3g} times the memory"
    )


def main() -> None:
    """Print the tables and draw the plots."""
    quick = arguments(__doc__ or "").quick
    show(quick)
    orderings((100, 200) if quick else (500, 1000, 2000), 200 if quick else 1000)
    meaning((300, 600) if quick else (300, 600, 1200, 2400), 200 if quick else 500)
    for load in LARGE:
        thousand(load, (1_000, 3_000) if quick else (10_000, 100_000), 1_000 if quick else 100_000)


if __name__ == "__main__":
    main()
