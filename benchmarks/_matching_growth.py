"""What filters cost a matcher: memory, loading, coming and going, and how the time of an event grows with them."""

from __future__ import annotations

import random
import time
from types import ModuleType
from typing import Any

from benchmarks._matching_loads import Stream, loaded, measure, measured, memory
from benchmarks.report import duration, plot, print_table
from conceptpubsub.matching import Matcher


def keeping(module: ModuleType, count: int) -> list[list[Any]]:
    """Rows of goal, half of it and what is measured: memory a filter, loading, add and remove."""
    rows: list[list[Any]] = []
    for names in (1000, 100):
        held = list(Stream.forwarding(module, count, names).filters())
        seconds = loaded("default", held)[1] * 100_000 / count
        bare, own = memory([(key, filter, None) for key, filter, _ in held]), memory(held)
        added, removed = coming_and_going(held)
        rows += [
            [f"bytes a filter, {names} names", "300", "150", f"{bare:.0f}"],
            [f"bytes a filter, {names} names, each with an interface of its own", "", "", f"{own:.0f}"],
            [f"loading 100,000 Filter objects, {names} names", "3 s", "1.5 s", duration(seconds)],
            [f"add, {names} names", "20 µs", "10 µs", duration(added)],
            [f"remove, {names} names", "20 µs", "10 µs", duration(removed)],
        ]
    return rows


def coming_and_going(held: list[tuple[Any, ...]], every: int = 100) -> tuple[float, float]:
    """CPU seconds of an add and of a remove, amortised: half the filters come one by one, events in between."""
    matcher, half = Matcher(), len(held) // 2
    matcher.add_many(held[:half])
    matcher.warm_up()
    matcher.match({})
    started = time.process_time()
    for number, (key, filter, interface) in enumerate(held[half:]):
        matcher.add(key, filter, interface)
        if number % every == 0:
            matcher.match({})  # a reader takes in what has come
    matcher.match({})
    added = (time.process_time() - started) / (len(held) - half)
    gone = [key for key, *_ in held]
    random.Random(3).shuffle(gone)
    gone = gone[: 3 * len(held) // 4]
    started = time.process_time()
    for number, key in enumerate(gone):
        matcher.remove(key)
        if number % every == 0:
            matcher.match({})
    return added, (time.process_time() - started) / len(gone)


def growth(module: ModuleType, sizes: tuple[int, ...], budget: float) -> None:
    """Time an event by the number of filters, all three engines, up to what each can hold in a few seconds."""
    most = {"default": max(sizes), "counting": 100_000, "bdd": 3_000}
    engines = {name: name for name in most}
    curves: dict[str, list[tuple[int, float]]] = {}
    rows: list[list[Any]] = []
    for names in (1000, 100):
        for size in sizes:
            cells: list[str] = []
            matches = 0.0
            for engine in engines:
                if size > most[engine]:
                    cells.append("")
                    continue
                stream = Stream.forwarding(module, size, names)
                filters = stream.filters("strict" if engine == "bdd" else "sql")
                matcher, _ = loaded(engine, filters, keep_filters=False)
                for event in stream.events(300):
                    matcher.match(event)
                events = stream.events(3000 if engine == "default" else 1000)
                seconds = measure(matcher.match, events, budget).median
                if engine == "default":
                    rows_batch = measured(matcher, stream, 4096, budget).batch.median
                    curves.setdefault(f"ours, batch, {names} names", []).append((size, rows_batch))
                    matches = sum(len(matcher.match(event)) for event in stream.events(300)) / 300
                    cells += [duration(seconds), duration(rows_batch)]
                else:
                    cells.append(duration(seconds))
                shown = "ours" if engine == "default" else engine
                curves.setdefault(f"{shown}, {names} names", []).append((size, seconds))
            rows.append([f"{size:,}, {names} names", f"{matches:.3g}", *cells])
    header = ("filters", "matches an event", "ours", "ours, batch", "counting", "bdd")
    print_table("CPU time an event by the number of filters (sff; from a dict unless said)", header, rows)
    listed = curves["ours, 1000 names"]
    (small, first), (large, last) = listed[0], listed[-1]
    print(f"{large // small:,} times the filters, {last / first:.3g} times the time (1000 names, from a dict)")

    def draw(axes: Any) -> None:
        for name, points in curves.items():
            style = "o-" if name.startswith("ours") else "x--"
            axes.plot([size for size, _ in points], [1e6 * seconds for _, seconds in points], style, label=name)
        (size, seconds), top = curves["ours, 1000 names"][0], max(sizes)
        axes.plot([size, top], [1e6 * seconds, 1e6 * seconds * top / size], ":", color="grey", label="linear")
        axes.set(xlabel="filters", ylabel="µs an event", xscale="log", yscale="log", title="Growth with filters")
        axes.legend(fontsize=7)

    plot("matching_growth", draw)
