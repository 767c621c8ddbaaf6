"""What the archive benchmark runs of ours: the plain scan, matching alone, and ``reprocess`` with each engine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._archive_load import Load
from benchmarks._archive_measure import Run
from conceptpubsub import Converters
from conceptpubsub.archive import reprocess
from conceptpubsub.archive.columns import times
from conceptpubsub.archive.judging import judge
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.reading import read
from conceptpubsub.archive.tasks import Task, plan


def scan(load: Load, out: Path) -> int:
    """Read every column of every row group: the limit."""
    for path in load.files:
        file = pq.ParquetFile(path, read_dictionary=list(load.texts))
        for group in range(file.num_row_groups):
            file.read_row_group(group, use_threads=False)
    return 0


def ours(engine: str, spark: Any = None, processes: int | None = None, matcher: str = "default") -> Run:
    """``reprocess`` with an engine."""

    def run(load: Load, out: Path) -> int:
        return reprocess(
            load.files,
            load.subscriptions,
            out,
            ontology=load.ontology,
            engine=engine,
            spark=spark,
            processes=processes,
            matcher=matcher,
        ).deliveries

    return run


class Counter:
    """Reads the columns that the filters speak of, matches, and counts the pairs; nothing is written."""

    def __init__(self, pipeline: Any, needed: Sequence[str], texts: Sequence[str]) -> None:
        self.pipeline = pipeline
        self.needed, self.texts = list(needed), list(texts)

    def __call__(self, tasks: Iterable[Task]) -> Iterator[int]:
        """How many matches each task has."""
        pa.set_cpu_count(1)
        for task in tasks:
            file = pq.ParquetFile(task.path, read_dictionary=self.texts)
            table = file.read_row_group(task.piece, columns=self.needed, use_threads=False)
            yield len(self.pipeline.value.matcher.match_batch(table).keys)


class _Here:
    def __init__(self, value: Any) -> None:
        self.value = value


def matching(matcher: str, spark: Any = None) -> Run:
    """Matching alone: in this process, or on Spark."""

    def run(load: Load, out: Path) -> int:
        pipeline = Pipeline.compile(
            load.subscriptions, str(out), load.ontology, Converters.default(load.ontology), matcher=matcher
        )
        tasks = plan(load.files)
        if spark is None:
            return sum(Counter(_Here(pipeline), load.needed, load.texts)(tasks))
        context = spark.sparkContext
        shared = context.broadcast(pipeline)
        cut = min(len(tasks), 4 * context.defaultParallelism)
        return int(context.parallelize(tasks, cut).mapPartitions(Counter(shared, load.needed, load.texts)).sum())

    return run


def stages(load: Load, out: Path, matcher: str) -> list[tuple[str, float]]:
    """Where the time goes: CPU seconds of each stage of the pipeline, one process."""
    spent: dict[str, float] = {}
    mark = time.process_time()

    def lap(stage: str) -> None:
        nonlocal mark
        now = time.process_time()
        spent[stage] = spent.get(stage, 0.0) + now - mark
        mark = now

    conv = Converters.default(load.ontology)
    pipeline = Pipeline.compile(load.subscriptions, str(out), load.ontology, conv, matcher=matcher)
    pipeline.matcher.warm_up()
    lap("compile subscriptions")
    for task in plan(load.files):
        chunks = list(read(task, None, load.ontology))
        lap("read Parquet")
        for chunk in chunks:
            at = times(chunk.table)
            judge(chunk.table, chunk.rows, at, conv, pipeline.currencies, False)
            lap("judge values")
            found, _, _ = pipeline.match(chunk.table)
            lap("match and sort")
            made = pipeline.delivered(chunk.table, found, at)
            lap("convert")
            pipeline.partitions.write(made, found.ranks, out / "deliveries", task.name)
            lap("write Parquet")
    return list(spent.items())
