"""``reprocess``: an archive of past events against new subscriptions, on one machine or on Spark.

Both drivers run the same pipeline over the same tasks, so their results are the same, row for row.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptpubsub.archive.local import run_local
from conceptpubsub.archive.manifest import Entry, Manifest
from conceptpubsub.archive.mapping import ColumnMapping
from conceptpubsub.archive.mapping_check import check_mapping
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.subscriptions import subscriptions_of
from conceptpubsub.archive.summary import Counts, Summary, Tally
from conceptpubsub.archive.tasks import PIECE, Task, plan
from conceptpubsub.archive.writing import write_text
from conceptpubsub.converters import Converters
from conceptpubsub.errors import ArchiveError

if TYPE_CHECKING:
    from conceptpubsub.model.ontology import Ontology

Progress = Callable[[int, int, Counts], Any]
"""Called with tasks done, tasks in all, and what has been counted so far."""


def reprocess(
    events: Any,
    subscriptions: Any,
    out: str | os.PathLike[str],
    *,
    ontology: Ontology | None = None,
    converters: Converters | None = None,
    mapping: Any = None,
    engine: str = "local",
    spark: Any = None,
    resume: bool = True,
    processes: int | None = None,
    buckets: int | None = None,
    enrich: bool = False,
    progress: Progress | None = None,
    matcher: str = "default",
    piece: int = PIECE,
) -> Summary:
    """Match an archive against subscriptions, convert each match for its subscriber, write deliveries by subscriber.

    ``events``: files, folders or patterns of Parquet, JSON lines (CloudEvents or plain) or, with a ``mapping``, CSV.
    ``subscriptions``: a TOML or JSON-lines file, ``{id: filter}`` or `Subscription` objects. Below ``out`` come
    ``deliveries/``, ``dead_letters/``, ``enriched/`` (if asked for) and ``summary.json``. A run that was interrupted
    continues where it stopped; ``resume=False`` starts anew.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> line = '{"concept": "Reading", "attributes": {"t": {"value": 86, "unit": "degF"}}}'
    >>> _ = (folder / "events.jsonl").write_text(line)
    >>> found = reprocess(folder / "events.jsonl", {"warm": "t > 25 degC"}, folder / "out", processes=1)
    >>> found.events, found.deliveries, dict(found.counts.by_subscription)
    (1, 1, {'warm': 1})
    """
    if engine not in ("local", "spark"):
        raise ArchiveError(f"no engine {engine!r}; choose local or spark", engine=engine)
    if processes is not None and processes < 1:
        raise ArchiveError(f"{processes} processes cannot work; give 1 or more, or none for all cores")
    if buckets is not None and buckets < 0:
        raise ArchiveError(f"{buckets} buckets cannot hold anything; give 0 for a folder a subscription, or more")
    started = time.monotonic()
    conv = converters if converters is not None else Converters.default(ontology)
    asked = subscriptions_of(subscriptions)
    columns = None if mapping is None else ColumnMapping.of(mapping)
    if columns is not None:
        check_mapping(columns, conv)
    folder = Path(out).absolute()
    tasks = plan(events, columns, piece)
    pipeline = Pipeline.compile(asked, str(folder), ontology, conv, columns, buckets, enrich, matcher)
    manifest = Manifest(folder)
    manifest.open(pipeline.question, resume)
    todo, entries = manifest.todo(tasks)
    resumed = len(tasks) - len(todo)
    tally, done = Tally(), 0
    paths = {task.path for task in tasks} | {entry.path for entry in entries.values()}
    before = len(entries)
    for entry in chain(entries.values(), _run(engine, pipeline, todo, processes, spark)):
        tally.add(entry.counts)
        done += 1
        if progress is not None and done >= before:
            progress(done, max(done, len(tasks)), tally.counts())
    counts = tally.counts()
    summary = Summary(counts, str(folder), engine, len(paths), done, resumed, time.monotonic() - started)
    write_text(summary.to_json(), folder / "summary.json")
    return summary


def _run(engine: str, pipeline: Pipeline, tasks: list[Task], processes: int | None, spark: Any) -> Iterable[Entry]:
    if engine == "local":
        return run_local(pipeline, tasks, processes)
    from conceptpubsub.archive.cluster import run_spark

    return run_spark(pipeline, tasks, spark)
