"""The hub: 10,000 subscriptions, about two matches an event, each delivered in its subscriber's units.

Beside ours stands what one would write instead in process: a loop over rules, with pint for units. All figures are CPU
time; matching alone is shown too, because the hub can be no faster. The durable figures are of one durable subscriber.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pint

import conceptpubsub as cps
from benchmarks.calibrate import show
from benchmarks.report import arguments, plot, print_table
from conceptpubsub.model.codecs import events_to_table

CONTEXTS: list[Any] = [
    cps.Context(unit="kelvin"),
    cps.Context(unit="degC"),
    cps.Context(unit="km"),
    {"Temperature": cps.Context(unit="kelvin"), "Distance": cps.Context(unit="km")},
    None,
]


def rules(count: int, seed: int = 1) -> list[tuple[str, int]]:
    """(plate, degrees C): two subscriptions a plate."""
    r = random.Random(seed)
    return [(f"P{number // 2}", r.randint(-20, 0)) for number in range(count)]


def events(count: int, subscriptions: int, seed: int = 2) -> list[cps.SemanticEvent]:
    """Vehicles that report in degF and miles."""
    r = random.Random(seed)
    warm, far = cps.Context(unit="degF"), cps.Context(unit="mile")
    return [
        cps.SemanticEvent(
            "VehicleStatus",
            {
                "InTemperature": cps.SemanticObject("Temperature", r.randint(500, 990) / 10, warm),
                "Odometer": cps.SemanticObject("Distance", r.randint(1, 100_000), far),
                "LicensePlate": f"P{r.randrange(subscriptions // 2)}",
            },
            id=str(number),
            time="2026-11-18T05:00Z",
        )
        for number in range(count)
    ]


def subscribed(onto: Any, asked: list[tuple[str, int]], batch: bool, **options: Any) -> tuple[cps.Hub, list[int]]:
    """A hub with all subscriptions, and a place where their callbacks count."""
    hub = cps.Hub(ontology=onto, **options)
    counted = [0]

    def one(event: Any) -> None:
        counted[0] += 1

    def many(events: Any) -> None:
        counted[0] += len(events)

    for number, (plate, degrees) in enumerate(asked):
        text = f"LicensePlate = '{plate}' AND Temperature > {degrees} degC"
        hub.subscribe(text, many if batch else one, context=CONTEXTS[number % len(CONTEXTS)], batch=batch)
    hub.matcher.warm_up()
    return hub, counted


def per_second(count: int, action: Callable[[], Any], repeats: int = 3) -> float:
    """Events a CPU-second: the best of some runs, after one to warm up."""
    action()
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        action()
        best = min(best, time.process_time() - started)
    return count / best


def pint_loop(asked: list[tuple[str, int]], published: list[cps.SemanticEvent], once: bool) -> Callable[[], int]:
    """Rules in a loop; with ``once`` an event is converted before the loop, and the rules hold kelvins."""
    registry: Any = pint.UnitRegistry()
    quantity = registry.Quantity
    limits = [(plate, quantity(degrees, "degC"), quantity(degrees, "degC").m_as("kelvin")) for plate, degrees in asked]

    def run() -> int:
        delivered = 0
        for event in published:
            warm, far = quantity(event["InTemperature"].value, "degF"), quantity(event["Odometer"].value, "mile")
            plate = event["LicensePlate"].value
            kelvin = warm.m_as("kelvin")
            for name, limit, limit_kelvin in limits:
                if (name == plate and kelvin > limit_kelvin) if once else (warm > limit and name == plate):
                    delivered += bool((warm.to("kelvin"), far.to("km")))
        return delivered

    return run


def main() -> None:
    """Print the two tables."""
    quick = arguments(__doc__ or "").quick
    show(quick)
    subscriptions, singles, rows = (10_000, 2_000, 20_000) if quick else (10_000, 10_000, 100_000)
    onto, asked = cps.Ontology.bundled("vehicles"), rules(subscriptions)
    some = events(singles, subscriptions)
    table = events_to_table(events(rows, subscriptions, 3)).combine_chunks()
    found: list[tuple[str, float]] = []
    hub, counted = subscribed(onto, asked, batch=False)
    found.append(("hub.publish, event by event", per_second(singles, lambda: [hub.publish(event) for event in some])))
    matches = counted[0] / (4 * singles)
    found.append(("  matching alone", per_second(singles, lambda: [hub.matcher.match(event) for event in some])))
    wide, _ = subscribed(onto, asked, batch=True)
    found.append((f"hub.publish_batch, Arrow, {rows:,} rows", per_second(rows, lambda: wide.publish_batch(table))))
    found.append(("  matching alone", per_second(rows, lambda: wide.matcher.match_batch(table))))
    few = some[: 20 if quick else 100]
    found.append(("loop over rules, converted once with pint", per_second(len(few), pint_loop(asked, few, True), 1)))
    found.append(("loop over rules, pint in each rule", per_second(2, pint_loop(asked, few[:2], False), 1)))
    print_table(
        f"{subscriptions:,} subscriptions, {matches:.1f} matches an event, engine {hub.matcher.engine}",
        ("what", "events a CPU-second"),
        [(name, f"{rate:,.0f}") for name, rate in found],
    )
    print_table("Durable: one subscriber, store on disk", ("what", "events a second (wall)"), durable(some, table))

    def draw(axes: Any) -> None:
        axes.barh([name for name, _ in found], [rate for _, rate in found])
        axes.set_xscale("log")
        axes.set_xlabel("events a CPU-second")
        axes.invert_yaxis()

    plot("hub", draw)


def durable(some: list[cps.SemanticEvent], table: Any) -> list[tuple[str, str]]:
    """(what, events a second) through the store; by the clock on the wall, since the disk is waited for."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for sync in ("normal", "full"):
            with cps.Hub(store=Path(folder) / f"{sync}.db", sync=sync) as hub:
                hub.subscribe("LicensePlate = 'P7'", lambda batch: None, durable="reader", batch=True)
                few = some[:500]
                started = time.perf_counter()
                for event in few:
                    hub.publish(event)
                made.append((f"publish, sync={sync}", f"{len(few) / (time.perf_counter() - started):,.0f}"))
                small = table.slice(0, 2_000)
                started = time.perf_counter()
                hub.publish_batch(small)
                took = time.perf_counter() - started
                made.append((f"publish_batch of 2,000 rows, sync={sync}", f"{small.num_rows / took:,.0f}"))
    return made


if __name__ == "__main__":
    main()
