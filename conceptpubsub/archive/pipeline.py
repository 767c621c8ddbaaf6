"""The pipeline: one task from its file to deliveries, dead letters and an entry in the manifest.

It is a value: compiled once by the driver, sent to wherever tasks run, and the same there. It makes no Spark session
and no process. What a task yields depends on the task and the pipeline alone.
"""

from __future__ import annotations

import gc
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from conceptpubsub.archive import subscriptions as asking
from conceptpubsub.archive.columns import DAY, NO_TIME, times
from conceptpubsub.archive.delivering import Deliveries
from conceptpubsub.archive.enrichment import enriched
from conceptpubsub.archive.faults import MALFORMED, UNREADABLE, VANISHED, DeadLetters, Fault
from conceptpubsub.archive.judging import judge
from conceptpubsub.archive.manifest import Entry, Manifest
from conceptpubsub.archive.mapping import ColumnMapping
from conceptpubsub.archive.reading import Chunk, read
from conceptpubsub.archive.subscriptions import Subscription
from conceptpubsub.archive.summary import Counts
from conceptpubsub.archive.tasks import Task
from conceptpubsub.archive.writing import Partitions, write_table
from conceptpubsub.converters import Converters
from conceptpubsub.matching import Matcher
from conceptpubsub.model.codecs.arrow_codes import Codes, encoded
from conceptpubsub.model.ontology import Ontology


@dataclass(frozen=True, slots=True)
class Matched:
    """The deliveries of a chunk, in the order of files: which rows, for whom, and as whom they rank."""

    rows: Codes
    subscriptions: Codes
    ranks: NDArray[Any]


@dataclass(frozen=True)
class Pipeline:
    """Everything that tasks need: subscriptions compiled, converters, mapping, where results go."""

    ids: tuple[str, ...]
    matcher: Matcher
    deliveries: Deliveries
    partitions: Partitions
    converters: Converters
    currencies: tuple[str, ...]
    mapping: ColumnMapping | None
    out: str
    question: str
    enrich: bool = False

    @classmethod
    def compile(
        cls,
        subscriptions: Sequence[Subscription],
        out: str,
        ontology: Ontology | None,
        converters: Converters,
        mapping: ColumnMapping | None = None,
        buckets: int | None = None,
        enrich: bool = False,
        matcher: str = "default",
    ) -> Pipeline:
        """Parse and index the subscriptions; errors name the one at fault."""
        with _all_is_kept():
            filters = asking.check(subscriptions, ontology, converters)
            made = Matcher(engine=matcher)
            made.add_many(enumerate(filters))
            currencies = asking.currencies(subscriptions, filters)
        partitions = Partitions([one.id for one in subscriptions], buckets)
        parts = [
            *(one.digest for one in subscriptions),
            ontology.digest if ontology is not None else "",
            converters.digest,
            mapping.digest if mapping is not None else "",
            str(partitions.buckets),
            str(enrich),
        ]
        return cls(
            tuple(one.id for one in subscriptions),
            made,
            Deliveries([one.context for one in subscriptions], converters),
            partitions,
            converters,
            currencies,
            mapping,
            out,
            hashlib.sha256("\n".join(parts).encode()).hexdigest(),
            enrich,
        )

    def run(self, task: Task) -> Entry:
        """Process a task, write what it yields, and record it."""
        out = Path(self.out)
        letters = DeadLetters(task.path)
        parts: list[Counts] = []
        files: list[str] = []
        for number, chunk in enumerate(read(task, self.mapping, self.converters.ontology)):
            letters.add(chunk.faults)
            name = task.name if not number else f"{task.name}-{number:04d}"
            counts, written = self.chunk(chunk, task, name, out, letters)
            parts.append(counts)
            files.extend(written)
        if letters.faults:
            name = f"dead_letters/{task.name}.parquet"
            write_table(letters.table(), out / name)
            files.append(name)
        reasons = letters.by_reason()
        counts = Counts.total([*parts, Counts(dead_letters=reasons)])
        failed = bool(reasons.keys() & {UNREADABLE, VANISHED})
        entry = Entry(task.name, task.path, task.stamp, tuple(files), counts, failed)
        Manifest(out).record(entry)
        return entry

    def chunk(self, chunk: Chunk, task: Task, name: str, out: Path, letters: DeadLetters) -> tuple[Counts, list[str]]:
        """One chunk: judged, matched, delivered, counted."""
        table = chunk.table
        if not table.num_rows:
            return Counts(rows=chunk.refused), []
        at = times(table)
        letters.add(judge(table, chunk.rows, at, self.converters, self.currencies, task.kind == "lines"))
        files: list[str] = []
        matched, refused, missing = self.match(table)
        letters.add(Fault(int(chunk.rows[row]), MALFORMED, reason) for row, reason in refused)
        if len(matched.rows):
            made = self.delivered(table, matched, at)
            places = pa.array(chunk.rows[matched.rows])
            file = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(places), np.int32)), pa.array([task.path]))
            made = made.add_column(0, "@row", places).add_column(0, "@file", file)
            written = self.partitions.write(made, matched.ranks, out / "deliveries", name)
            files.extend(f"deliveries/{one}" for one in written)
        if self.enrich:
            files.append(f"enriched/{name}.parquet")
            write_table(enriched(table, self.converters, at), out / files[-1])
        return self.counts(table, chunk, at, matched, missing, len(refused)), files

    def match(self, table: pa.Table) -> tuple[Matched, list[tuple[int, str]], Mapping[str, int]]:
        """Who gets which rows; rows that are no events, with the reason; missing attributes by subscription."""
        found = self.matcher.match_batch(table)
        refused = [(error.row, error.reason) for error in found.errors if error.key is None]
        missing = Counter(self.ids[int(error.key)] for error in found.errors if error.key is not None)  # type: ignore[call-overload]
        subscriptions = found.keys.astype(np.int64)
        rows = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        order, ranks = self.partitions.order(subscriptions)
        return Matched(rows[order], subscriptions[order], ranks), refused, missing

    def delivered(self, table: pa.Table, matched: Matched, at: Codes) -> pa.Table:
        """The matched rows, each in its subscriber's context."""
        return self.deliveries.deliver(_with_instants(table, at), matched.rows, matched.subscriptions, at)

    def counts(
        self, table: pa.Table, chunk: Chunk, at: Codes, matched: Matched, missing: Mapping[str, int], refused: int
    ) -> Counts:
        """What the chunk adds to the summary."""
        by_subscription = np.bincount(matched.subscriptions, minlength=len(self.ids))
        got = np.flatnonzero(by_subscription).tolist()
        return Counts(
            table.num_rows + chunk.refused,
            table.num_rows - refused,
            len(matched.rows),
            {self.ids[place]: int(by_subscription[place]) for place in got},
            *_by_concept(table, matched.rows),
            *_by_day(at, matched.rows),
            {},
            missing,
        )


@contextmanager
def _all_is_kept() -> Iterator[None]:
    """Spare the garbage collector: of a million objects that are made here it would find none to free."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # at once with the old, and not looked through
        gc.unfreeze()
        if was:
            gc.enable()


def _by_concept(table: pa.Table, rows: Codes) -> tuple[dict[str, int], dict[str, int]]:
    if "@concept" not in table.schema.names:
        codes, names = np.full(table.num_rows, -1), []
    else:
        codes, values = encoded(table.column("@concept"))
        names = [str(name) for name in values.to_pylist()]
    return _counted(codes + 1, ["none", *names], rows)


def _by_day(at: Codes, rows: Codes) -> tuple[dict[str, int], dict[str, int]]:
    kept, codes = np.unique(np.where(at == NO_TIME, NO_TIME, at // DAY), return_inverse=True)
    names = ["none" if day == NO_TIME else str(np.datetime64(day, "D")) for day in kept.tolist()]
    return _counted(codes, names, rows)


def _counted(codes: Codes, names: Sequence[str], rows: Codes) -> tuple[dict[str, int], dict[str, int]]:
    """How many events have each name, and how many deliveries."""
    events, delivered = Counter[str](), Counter[str]()
    for found, chosen in ((events, codes), (delivered, codes[rows])):
        for name, number in zip(names, np.bincount(chosen, minlength=len(names)).tolist(), strict=True):
            if number:
                found[name] += number
    return dict(events), dict(delivered)


def _with_instants(table: pa.Table, at: Codes) -> pa.Table:
    """The table with its times as instants: what is delivered needs no zone beside it."""
    place = table.schema.get_field_index("@time")
    if place < 0 or getattr(table.schema.field(place).type, "tz", None) is not None:
        return table
    stamps = pa.array(at, mask=at == NO_TIME).cast(pa.timestamp("ns", "UTC"))
    return table.set_column(place, "@time", stamps)
