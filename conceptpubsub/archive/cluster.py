"""The Spark driver: row groups handed to workers, the compiled pipeline broadcast, the same results as the local one.

Input and output folders must be visible under the same path to driver and workers. Workers need this package:
installed there, or sent as a wheel with ``spark-submit --py-files``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from pathlib import Path
from typing import Any

from conceptpubsub.archive.manifest import Entry, Manifest
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.tasks import Task
from conceptpubsub.archive.worker import TaskRunner
from conceptpubsub.errors import ArchiveError

_PAUSE = 0.5


def session(master: str = "local[*]", name: str = "conceptpubsub", **settings: Any) -> Any:
    """A Spark session for this machine; one that runs already is used as it is."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ArchiveError("no PySpark here: pip install conceptpubsub[spark], and Java 17 or newer") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    chosen = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        **{key.replace("_", "."): str(value) for key, value in settings.items()},
    }
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def run_spark(pipeline: Pipeline, tasks: Sequence[Task], spark: Any = None) -> Iterator[Entry]:
    """The entries of tasks, as they are done."""
    if not tasks:
        return
    own = spark is None
    spark = session() if own else spark
    context = spark.sparkContext
    shared = context.broadcast(pipeline)
    try:
        partitions = min(len(tasks), 4 * context.defaultParallelism)
        done = context.parallelize(tasks, partitions).mapPartitions(TaskRunner(shared))
        with ThreadPoolExecutor(1) as waiting:
            answer = waiting.submit(done.collect)
            yield from _seen(pipeline, {task.name for task in tasks}, answer)
    finally:
        shared.unpersist()
        if own:
            spark.stop()


def _seen(pipeline: Pipeline, awaited: set[str], answer: Future[list[str]]) -> Iterator[Entry]:
    """Entries as they appear in the manifest while the job runs, and the rest when it has answered."""
    manifest = Manifest(Path(pipeline.out))
    while not answer.done():
        try:
            answer.result(timeout=_PAUSE)
        except TimeoutError:
            for name in sorted(awaited & manifest.done()):
                awaited.discard(name)
                yield manifest.entry(name)
    answer.result()
    yield from map(manifest.entry, sorted(awaited))
