"""An archive against ten thousand subscriptions, end to end: match, convert, write; beside what people use instead.

Events are weather readings with units row by row; subscriptions are conjunctions of a range of one quantity, half of
them for one station. All contestants count the same matches, and those that write, write the same number of rows.

    python -m benchmarks.archive --quick            one million events, a thousand subscriptions
    python -m benchmarks.archive                    twenty million events, ten thousand subscriptions
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

from benchmarks import calibrate
from benchmarks._archive_load import UNITS, Load, load
from benchmarks._archive_peers import duck, polars, row_at_a_time
from benchmarks.report import arguments, plot, print_table
from conceptpubsub import Converters
from conceptpubsub.archive import reprocess

# ---------------------------------------------------------------------- contestants


def scan(load: Load, out: Path) -> int:
    """Read every column of every row group: the limit."""
    for path in load.files:
        file = pq.ParquetFile(path, read_dictionary=["station", *(f"{name}@unit" for name in UNITS)])
        for group in range(file.num_row_groups):
            file.read_row_group(group, use_threads=False)
    return 0


def ours(
    engine: str, spark: Any = None, processes: int | None = None, matcher: str = "default"
) -> Callable[[Load, Path], int]:
    """``reprocess`` with an engine."""

    def run(load: Load, out: Path) -> int:
        return reprocess(
            load.files, load.subscriptions, out, engine=engine, spark=spark, processes=processes, matcher=matcher
        ).deliveries

    return run


def matching(matcher: str) -> Callable[[Load, Path], int]:
    """The Matcher alone, one process: read and match, nothing written."""

    def run(load: Load, out: Path) -> int:
        from conceptpubsub.archive.pipeline import Pipeline
        from conceptpubsub.archive.reading import read
        from conceptpubsub.archive.tasks import plan

        pipeline = Pipeline.compile(load.subscriptions, str(out), None, Converters.default(), matcher=matcher)
        found = 0
        for task in plan(load.files):
            for chunk in read(task, None, None):
                found += len(pipeline.matcher.match_batch(chunk.table).matches.slots)
        return found

    return run


def stages(load: Load, out: Path, matcher: str) -> list[tuple[str, float]]:
    """Where the time goes: CPU seconds of each stage of the pipeline, one process."""
    from conceptpubsub.archive.columns import times
    from conceptpubsub.archive.judging import judge
    from conceptpubsub.archive.pipeline import Pipeline
    from conceptpubsub.archive.reading import read
    from conceptpubsub.archive.tasks import plan

    spent: dict[str, float] = {}
    mark = time.process_time()

    def lap(stage: str) -> None:
        nonlocal mark
        now = time.process_time()
        spent[stage] = spent.get(stage, 0.0) + now - mark
        mark = now

    conv = Converters.default()
    pipeline = Pipeline.compile(load.subscriptions, str(out), None, conv, matcher=matcher)
    pipeline.matcher.warm_up()
    lap("compile subscriptions")
    for task in plan(load.files):
        chunks = list(read(task, None, None))
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


# ---------------------------------------------------------------------- measuring


class TreeCpu:
    """CPU seconds of this process and all below it, also of those that end meanwhile."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, float], float] = {}
        self.peak = 0

    def read(self) -> float:
        """What has been used so far."""
        resident = 0
        me = psutil.Process()
        for process in (me, *me.children(recursive=True)):
            try:
                used = process.cpu_times()
                self.seen[process.pid, process.create_time()] = used.user + used.system
                resident += process.memory_info().rss
            except psutil.Error:
                continue
        self.peak = max(self.peak, resident)
        return sum(self.seen.values())


def measured(run: Callable[[Load, Path], int], load: Load, folder: Path) -> tuple[int, float, float, int]:
    """(matches, CPU seconds, wall seconds, peak memory in MB) of one run."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    cpu = TreeCpu()
    before, started, done = cpu.read(), time.monotonic(), threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            cpu.read()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        found = run(load, out)
    finally:
        done.set()
        watcher.join()
    used = cpu.read() - before
    shutil.rmtree(out, ignore_errors=True)
    return found, used, time.monotonic() - started, cpu.peak >> 20


def main() -> None:
    """Run the contestants and print their table."""

    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--events", type=int, help="how many events")
        parser.add_argument("--subscriptions", type=int, help="how many subscriptions")
        parser.add_argument("--folder", type=Path, help="where events are kept between runs")
        parser.add_argument("--only", help="names of contestants, with commas")
        parser.add_argument("--matcher", default="default", help="the engine of the Matcher")

    args = arguments(__doc__ or "", more)
    events = args.events or (1_000_000 if args.quick else 20_000_000)
    subscriptions = args.subscriptions or (1_000 if args.quick else 10_000)
    folder = args.folder or Path(tempfile.gettempdir()) / "conceptpubsub-benchmark"
    folder.mkdir(parents=True, exist_ok=True)
    calibrate.show(True)
    whole = load(folder, events, subscriptions)
    few = load(folder, min(events, 10_000), subscriptions)
    wanted = set(args.only.split(",")) if args.only else None
    rows: list[tuple[Any, ...]] = []

    def enter(name: str, key: str, run: Callable[[Load, Path], int], given: Load = whole) -> None:
        if wanted is None or key in wanted:
            rows.append(_row(name, given, *measured(run, given, folder)))

    enter("Parquet scan, the limit", "scan", scan)
    enter("Matcher alone, 1 process", "match", matching(args.matcher))
    enter("DuckDB join, matching alone", "duck-match", duck(False))
    enter("Polars join, matching alone", "polars-match", polars(False))
    enter("local, 1 process, end to end", "local1", ours("local", processes=1, matcher=args.matcher))
    enter("local, all cores, end to end", "local", ours("local", matcher=args.matcher))
    enter("DuckDB, end to end", "duck", duck(True))
    enter("Polars, end to end", "polars", polars(True))
    if wanted is None or wanted & {"spark", "udf"}:
        with _Session("local[2]") as spark:
            enter("Spark local[2], end to end", "spark", ours("spark", spark, matcher=args.matcher))
            enter("Spark, a UDF row by row", "udf", row_at_a_time(spark), few)
    if wanted is None or "cluster" in wanted:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(_on_cluster, whole, folder, args.matcher).result())
    header = ("contestant", "events", "matches", "CPU s", "wall s", "k events / CPU-s", "peak MB")
    print_table(f"{events:,} events, {subscriptions:,} subscriptions", header, rows)
    if wanted is None or "stages" in wanted:
        spent = stages(whole, folder / "out", args.matcher)
        shutil.rmtree(folder / "out", ignore_errors=True)
        total = sum(seconds for _, seconds in spent)
        told = [(name, seconds, 1e6 * seconds / whole.events, f"{seconds / total:.0%}") for name, seconds in spent]
        print_table("Where the time goes, 1 process", ("stage", "CPU s", "µs an event", "share"), told)
    plot("archive", lambda axes: _draw(axes, rows))


def _row(name: str, load: Load, found: int, cpu: float, wall: float, memory: int) -> tuple[Any, ...]:
    speed = load.events / cpu / 1000
    print(f"  {name}: {speed:,.0f} thousand events per CPU-second", flush=True)
    return name, load.events, found, round(cpu, 1), round(wall, 1), speed, memory


def _on_cluster(load: Load, folder: Path, matcher: str) -> tuple[Any, ...]:
    """A process has one session, so executors of their own need a process of their own."""
    with _Session("local-cluster[2,1,1024]") as spark:
        return _row(
            "Spark local-cluster[2,1,1024]", load, *measured(ours("spark", spark, matcher=matcher), load, folder)
        )


class _Session:
    def __init__(self, master: str) -> None:
        self.master = master

    def __enter__(self) -> Any:
        from conceptpubsub.archive.cluster import session

        self.spark = session(self.master, spark_driver_memory="2g")
        return self.spark

    def __exit__(self, *_: Any) -> None:
        self.spark.stop()


def _draw(axes: Any, rows: list[tuple[Any, ...]]) -> None:
    names = [row[0] for row in reversed(rows)]
    axes.barh(names, [row[5] for row in reversed(rows)])
    axes.set_xscale("log")
    axes.set_xlabel("thousand events per CPU-second")


if __name__ == "__main__":
    main()
