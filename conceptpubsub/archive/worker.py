"""What runs on Spark's workers. This module makes no session and knows no driver: it is imported over there.

A worker reads files itself, with pyarrow: handing rows from the JVM to Python would cost more than matching them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from conceptpubsub.archive.tasks import Task


class TaskRunner:
    """Runs tasks with the pipeline of a broadcast variable."""

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline

    def __call__(self, tasks: Iterable[Task]) -> Iterator[str]:
        """The names of tasks, once they are done: their entries stand in the manifest."""
        _single_threaded()
        for task in tasks:
            yield self.pipeline.value.run(task).task


class BatchMapper:
    """Applies a function of (broadcast value, record batch) to every batch of a partition."""

    def __init__(self, value: Any, function: Callable[[Any, Any], Iterable[Any]]) -> None:
        self.value, self.function = value, function

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches made."""
        _single_threaded()
        for batch in batches:
            yield from self.function(self.value.value, batch)


def _single_threaded() -> None:
    """Spark counts cores by tasks; Arrow must not bring threads of its own."""
    import pyarrow as pa

    pa.set_cpu_count(1)
