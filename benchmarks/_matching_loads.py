"""What the matching benchmark measures with: fresh events without end, tables of them, CPU time and memory."""

from __future__ import annotations

import gc
import itertools
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pyarrow as pa

from benchmarks.papers_loads import text_of
from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher


@dataclass(frozen=True)
class Measured:
    """CPU seconds an event: the median of some stretches of fresh events, and the best of them."""

    median: float
    best: float


def measure(action: Callable[[Any], Any], events: Sequence[Any], budget: float, of: int = 1) -> Measured:
    """CPU seconds of one event; ``of`` events are in each item. Items are used once, and within the budget."""
    action(events[0])
    stretch = max(1, (len(events) - 1) // 8)
    found: list[float] = []
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        for first in range(1, len(events), stretch):
            part = events[first : first + stretch]
            begun = time.process_time()
            for event in part:
                action(event)
            found.append((time.process_time() - begun) / (len(part) * of))
            if time.process_time() - started > budget:
                break
    finally:
        gc.enable()
    return Measured(statistics.median(found), min(found))


class Stream:
    """A workload: filters first, then fresh events as long as one asks for them."""

    def __init__(self, source: Iterator[tuple[str, Any]], filters: int) -> None:
        self._source = source
        self.count = filters
        self._types: dict[str, pa.DataType] = {}

    @classmethod
    def forwarding(cls, module: ModuleType, filters: int, names: int, interfaces: int = 0) -> Stream:
        """Conjunctions on interfaces (sff)."""
        return cls(module.sff(random.Random(1), filters, interfaces, names), filters)

    @classmethod
    def boolean(cls, module: ModuleType, filters: int, density: float) -> Stream:
        """Boolean filters over ten attributes (bdd)."""
        return cls(module.bdd(random.Random(1), filters, density), filters)

    def filters(self, semantics: str = "sql") -> Iterator[tuple[int, Filter, int]]:
        """(key, filter, interface), once."""
        for _, item in itertools.islice(self._source, self.count):
            yield item["id"], Filter.parse(text_of(item["expr"]), semantics=semantics), item["iface"]

    def events(self, count: int) -> list[dict[str, Any]]:
        """So many events that nobody has seen."""
        return [item for _, item in itertools.islice(self._source, count)]

    def table(self, count: int) -> pa.Table:
        """So many events that nobody has seen, as a table; all tables of a stream have one schema."""
        columns: dict[str, list[Any]] = {name: [None] * count for name in self._types}
        for row, event in enumerate(self.events(count)):
            for name, value in event.items():
                if name not in columns:
                    columns[name] = [None] * count
                    self._types[name] = pa.scalar(value).type
                columns[name][row] = value
        return pa.table({name: pa.array(columns[name], kind) for name, kind in self._types.items()})


@dataclass(frozen=True)
class Both:
    """Singles from dicts and tables."""

    single: Measured
    batch: Measured


def measured(matcher: Matcher, stream: Stream, rows: int, budget: float, form: str = "keys") -> Both:
    """A matcher on fresh events. The form of a result: keys, bitmap, or interfaces."""
    one: Callable[[Any], Any] = {
        "keys": matcher.match, "bitmap": matcher.bitmap, "interfaces": matcher.interfaces,
    }[form]  # fmt: skip
    many: dict[str, Callable[[Any], Any]] = {
        "keys": lambda table: matcher.match_batch(table).keys,
        "bitmap": lambda table: matcher.match_batch(table).bitmap(),
        "interfaces": matcher.interfaces_batch,
    }
    matcher.warm_up()
    for event in stream.events(500):  # what is seen first is interned
        one(event)
    single = measure(one, stream.events(8001 if budget > 1 else 2001), budget)
    slow = single.median > 0.02
    rows = 16 if slow else rows
    many[form](stream.table(rows))  # the first table of a schema is planned
    batch = measure(many[form], [stream.table(rows) for _ in range(4)], budget, rows)
    return Both(single, batch)


def loaded(engine: str, filters: Iterable[tuple[int, Filter, int]], **options: Any) -> tuple[Matcher, float]:
    """A matcher with filters, built, and the CPU seconds that took."""
    matcher = Matcher(engine, **options)
    matcher.warm_up()
    started = time.process_time()
    matcher.add_many(filters)
    matcher.match({})
    return matcher, time.process_time() - started


def memory(filters: Sequence[tuple[int, Filter, int | None]], engine: str = "default") -> float:
    """Bytes that a matcher takes for each filter, beside keys and Filter objects, which are all there before."""
    warm = Matcher(engine, keep_filters=False)
    warm.add_many(filters[:100])
    warm.warm_up()
    gc.collect()
    bare = {key: slot for slot, (key, _, _) in enumerate(filters)}
    tracemalloc.start()
    keys = dict(bare)  # the keys' own table, which is not counted
    before_keys, _ = tracemalloc.get_traced_memory()
    del keys
    matcher = Matcher(engine, keep_filters=False)
    matcher.add_many(filters)
    matcher.match({})
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(matcher) == len(filters)
    return (after - before_keys) / len(filters)
