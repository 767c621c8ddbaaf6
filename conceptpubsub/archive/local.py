"""The local driver: tasks in processes of this machine. The default, and the fastest where one machine is enough."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice

from conceptpubsub.archive.manifest import Entry
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.tasks import Task
from conceptpubsub.errors import ArchiveError

_pipeline: Pipeline | None = None


def run_local(pipeline: Pipeline, tasks: Sequence[Task], processes: int | None = None) -> Iterator[Entry]:
    """The entries of tasks, as they are done."""
    wanted = len(os.sched_getaffinity(0)) if processes is None else processes
    workers = min(wanted, len(tasks))
    if workers <= 1:
        yield from map(pipeline.run, tasks)
        return
    pipeline.matcher.warm_up()
    # Forked processes share the compiled index; elsewhere each builds its own from the pickled pipeline.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context(method), _start, (pipeline,))
    try:
        left, running = iter(tasks), set[Future[Entry]]()
        while True:  # few at a time: what all tasks of a large archive counted would fill the memory
            running.update(pool.submit(_run, task) for task in islice(left, 2 * workers - len(running)))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                yield one.result()
    except BrokenProcessPool:
        raise ArchiveError(
            "a worker process died, perhaps for want of memory; run again to continue, with fewer processes"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(pipeline: Pipeline) -> None:
    global _pipeline
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    _pipeline = pipeline


def _run(task: Task) -> Entry:
    assert _pipeline is not None
    return _pipeline.run(task)
