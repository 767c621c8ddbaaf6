"""Incoming events to deliveries with Structured Streaming, exactly once.

``stream(spark, incoming, subscriptions, out)`` watches a folder of JSON lines (or a topic of Kafka); each micro-batch
is matched, converted and written by the pipeline that ``reprocess`` runs.

Rule 1  A batch is written under its number and replaces what an earlier try of the same number wrote. Spark gives a
        batch that was not committed the same number and the same input again, so nothing is lost and nothing doubled.
Rule 2  A reader sees whole batches only: a batch counts once its entry is in the manifest, which is written last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from conceptpubsub.archive.faults import DeadLetters
from conceptpubsub.archive.manifest import Entry, Manifest
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.reading import line_chunks
from conceptpubsub.archive.subscriptions import subscriptions_of
from conceptpubsub.archive.summary import Counts
from conceptpubsub.archive.tasks import Task
from conceptpubsub.archive.writing import write_table
from conceptpubsub.converters import Converters
from conceptpubsub.model.ontology import Ontology

_LINES = "value string"
_ENTRY = "entry string"


def stream(
    spark: Any,
    incoming: Any,
    subscriptions: Any,
    out: str | Path,
    *,
    ontology: Ontology | None = None,
    converters: Converters | None = None,
    buckets: int | None = None,
    files_per_batch: int = 64,
    trigger: Mapping[str, Any] | None = None,
) -> Any:
    """A running query from incoming events to deliveries below ``out``; its checkpoint lies in ``out/checkpoint``.

    ``incoming`` is a folder of JSON lines, or ``{"kafka.bootstrap.servers": …, "subscribe": topic}``. By default the
    query ends when it has processed what is there (``availableNow``); ``trigger={"processingTime": "10 seconds"}``
    keeps it going.
    """
    conv = converters if converters is not None else Converters.default(ontology)
    folder = Path(out).absolute()
    pipeline = Pipeline.compile(subscriptions_of(subscriptions), str(folder), ontology, conv, None, buckets)
    Manifest(folder).open(pipeline.question, resume=True)
    lines = _lines(spark, incoming, files_per_batch)
    shared = spark.sparkContext.broadcast(pipeline)

    def batch(df: Any, number: int) -> None:
        process_batch(df, number, shared)

    writer = lines.writeStream.foreachBatch(batch).option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(**(trigger or {"availableNow": True})).start()


def _lines(spark: Any, incoming: Any, files_per_batch: int) -> Any:
    """A streaming DataFrame with one column, ``value``: a line an event."""
    if isinstance(incoming, Mapping):
        read = spark.readStream.format("kafka")
        for key, value in incoming.items():
            read = read.option(key, value)
        return read.load().selectExpr("cast(value as string) as value")
    return spark.readStream.schema(_LINES).option("maxFilesPerTrigger", files_per_batch).text(str(incoming))


def process_batch(df: Any, number: int, shared: Any) -> Counts:
    """One micro-batch: its parts on the workers, then what an earlier try left and this one did not is taken away."""
    from pyspark.sql import functions

    pipeline = shared.value
    manifest = Manifest(Path(pipeline.out))
    before = [entry for entry in manifest.entries().values() if entry.path == _batch_name(number)]
    for entry in before:
        manifest.drop(entry)
    parts = df.select(functions.spark_partition_id().cast("string").alias("part"), "value")
    done = parts.mapInArrow(_BatchWriter(shared, number), _ENTRY)
    written = [Entry.from_json(row["entry"]) for row in done.collect()]
    counts = Counts.total(entry.counts for entry in written)
    files = tuple(sorted(name for entry in written for name in entry.files))
    _sweep(Path(pipeline.out), number, set(files))
    manifest.record(Entry(_batch_name(number), _batch_name(number), "", files, counts))
    return counts


class _BatchWriter:
    """Writes the parts of one batch on the workers, with the pipeline of a broadcast variable."""

    def __init__(self, shared: Any, number: int) -> None:
        self.shared, self.number = shared, number

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, batch in enumerate(batches):
            if batch.num_rows:
                yield _part(self.shared.value, self.number, place, batch)


def _part(pipeline: Pipeline, number: int, place: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The events of some lines, written under a name that tells batch, partition, place and, hashed, the lines."""
    lines = batch.column("value").to_pylist()
    text = "\n".join(line.replace("\n", " ") for line in lines if line is not None)
    mark = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    name = f"{_batch_name(number)}-{batch.column('part')[0].as_py()}-{place}-{mark}"
    task = Task(_batch_name(number), "lines", 0)
    letters = DeadLetters(_batch_name(number))
    counts: list[Counts] = []
    files: list[str] = []
    out = Path(pipeline.out)
    for turn, chunk in enumerate(line_chunks(text.encode("utf-8", "surrogatepass"), 0, pipeline.converters.ontology)):
        letters.add(chunk.faults)
        found, written = pipeline.chunk(chunk, task, f"{name}-{turn}", out, letters)
        counts.append(found)
        files.extend(written)
    if letters.faults:
        files.append(f"dead_letters/{name}.parquet")
        write_table(letters.table(), out / files[-1])
    whole = Counts.total([*counts, Counts(dead_letters=letters.by_reason())])
    entry = Entry(name, _batch_name(number), "", tuple(files), whole)
    return pa.RecordBatch.from_pydict({"entry": [entry.to_json()]})


def _batch_name(number: int) -> str:
    return f"batch-{number:09d}"


def _sweep(out: Path, number: int, kept: set[str]) -> None:
    """Take away files of this batch that an earlier, killed try wrote under other names."""
    for kind in ("deliveries", "dead_letters"):
        for path in (out / kind).rglob(f"{_batch_name(number)}-*.parquet"):
            if path.relative_to(out).as_posix() not in kept:
                path.unlink(missing_ok=True)
