"""What the archive benchmark runs of ours: the plain scan, matching alone, and ``reprocess`` with each engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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
        pipeline = _compiled(load, out, matcher)
        tasks = plan(load.files)
        if spark is None:
            return sum(Counter(_Here(pipeline), load.needed, load.texts)(tasks))
        context = spark.sparkContext
        shared = context.broadcast(pipeline)
        cut = min(len(tasks), 4 * context.defaultParallelism)
        return int(context.parallelize(tasks, cut).mapPartitions(Counter(shared, load.needed, load.texts)).sum())

    return run


class Stages:
    """Tasks as the pipeline runs them, with the CPU seconds of each stage."""

    def __init__(self, pipeline: Any, out: str) -> None:
        self.pipeline, self.out = pipeline, out

    def __call__(self, tasks: Iterable[Task]) -> Iterator[tuple[str, float]]:
        """(stage, seconds) again and again; to start is to get the pipeline and to bind its kernels."""
        pa.set_cpu_count(1)
        mark, out = time.process_time(), Path(self.out)
        pipeline: Pipeline = self.pipeline.value
        pipeline.matcher.match({})
        for task in tasks:
            spent: list[tuple[str, float]] = []

            def lap(stage: str, spent: list[tuple[str, float]] = spent) -> None:
                nonlocal mark
                now = time.process_time()
                spent.append((stage, now - mark))
                mark = now

            lap("start")
            for chunk in read(task, None, pipeline.converters.ontology):
                lap("read Parquet")
                at = times(chunk.table)
                judge(chunk.table, chunk.rows, at, pipeline.converters, pipeline.currencies, False)
                lap("judge values")
                found, _, missing = pipeline.match(chunk.table)
                lap("match and sort")
                made = pipeline.delivered(chunk.table, found, at)
                lap("convert")
                pipeline.partitions.write(made, found.ranks, out / "deliveries", task.name)
                lap("write Parquet")
                pipeline.counts(chunk.table, chunk, at, found, missing, 0)
                lap("count")
            yield from spent
            mark = time.process_time()


StagedRun = Callable[[Load, Path, dict[str, float]], int]


def stages(matcher: str) -> StagedRun:
    """Where the time of one process goes: CPU seconds of each stage of the pipeline."""

    def run(load: Load, out: Path, spent: dict[str, float]) -> int:
        mark = time.process_time()
        pipeline = _compiled(load, out, matcher)
        spent["compile subscriptions"] = time.process_time() - mark
        for stage, seconds in Stages(_Here(pipeline), str(out))(plan(load.files)):
            spent[stage] = spent.get(stage, 0.0) + seconds
        return 0

    return run


def spark_stages(matcher: str, spark: Any) -> StagedRun:
    """The same on Spark's workers; what remains is the driver, the JVM and what goes between them."""

    def run(load: Load, out: Path, spent: dict[str, float]) -> int:
        mark = time.process_time()
        pipeline = _compiled(load, out, matcher)
        spent["compile subscriptions (driver)"] = time.process_time() - mark
        context, tasks = spark.sparkContext, plan(load.files)
        cut = min(len(tasks), 4 * context.defaultParallelism)
        shared = context.broadcast(pipeline)
        for stage, seconds in context.parallelize(tasks, cut).mapPartitions(Stages(shared, str(out))).collect():
            spent[stage] = spent.get(stage, 0.0) + seconds
        return 0

    return run


def _compiled(load: Load, out: Path, matcher: str) -> Pipeline:
    conv = Converters.default(load.ontology)
    return Pipeline.compile(load.subscriptions, str(out), load.ontology, conv, matcher=matcher)
