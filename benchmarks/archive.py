"""An archive against ten thousand subscriptions: matching alone, and end to end (match, convert, write); beside what
people use instead.

Events are weather readings with units row by row; subscriptions are conjunctions of a range of one quantity, half of
them for one station. All contestants find the same pairs of event and subscription, and those that write, write the
same number of rows. Figures are CPU seconds of all processes of a contestant, so they say what a machine can do in an
hour whatever else runs on it.

    python -m benchmarks.archive --quick            one million events, a thousand subscriptions
    python -m benchmarks.archive                    twenty million events, ten thousand subscriptions
    python -m benchmarks.archive --only local,duck  some of the contestants
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import calibrate
from benchmarks._archive_load import Load, load
from benchmarks._archive_measure import Run, measured
from benchmarks._archive_peers import duck, polars, row_at_a_time
from benchmarks._archive_runs import matching, ours, scan, stages
from benchmarks.report import arguments, plot, print_table

HEADER = ("contestant", "events", "matches", "CPU s", "wall s", "k events / CPU-s", "peak MB")
Row = tuple[Any, ...]


def main() -> None:
    """Run the contestants and print their tables."""

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
    bench = _Bench(folder, set(args.only.split(",")) if args.only else None, load(folder, events, subscriptions))
    few = load(folder, min(events, 10_000), subscriptions)
    engine = args.matcher

    bench.enter("Parquet scan, the limit", "scan", scan)
    bench.enter("matching alone: Matcher, 1 process", "match", matching(engine))
    bench.enter("matching alone: DuckDB, ranges cut into cells", "duck-match", duck(False))
    some = load(folder, min(events, 1_000_000), subscriptions)
    bench.enter("matching alone: DuckDB, ranges as they are", "duck-plain", duck(False, cells=False), some)
    bench.enter("matching alone: Polars", "polars-match", polars(False))
    bench.enter("end to end: local, 1 process", "local1", ours("local", processes=1, matcher=engine))
    bench.enter("end to end: local, all cores", "local", ours("local", matcher=engine))
    bench.enter("end to end: DuckDB, ranges cut into cells", "duck", duck(True))
    bench.enter("end to end: Polars", "polars", polars(True))
    if bench.wants("spark-match", "spark", "udf"):
        with _Session("local[2]") as spark:
            bench.enter("matching alone: Spark local[2]", "spark-match", matching(engine, spark))
            bench.enter("end to end: Spark local[2]", "spark", ours("spark", spark, matcher=engine))
            bench.enter("matching alone: Spark, a UDF row by row", "udf", row_at_a_time(spark), few)
    if bench.wants("cluster"):  # a process has one session, so executors of their own need a process of their own
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            bench.rows.extend(pool.submit(_on_cluster, folder, events, subscriptions, engine).result())
    print_table(f"{events:,} events, {subscriptions:,} subscriptions", HEADER, bench.rows)
    if bench.wants("growth"):
        grown = _Bench(folder, None, bench.load)
        for count in (size for size in (events // 20, events // 4, events) if size):
            grown.enter("local, 1 process", "growth", ours("local", processes=1, matcher=engine),
                        load(folder, count, subscriptions))  # fmt: skip
        hot = load(folder, max(events // 20, 1), subscriptions, hot=True)
        grown.enter("with a subscriber of everything", "hot", ours("local", processes=1, matcher=engine), hot)
        print_table("Growth, and a hot subscriber", HEADER, grown.rows)
    if bench.wants("stages"):
        spent = stages(bench.load, folder / "out", engine)
        shutil.rmtree(folder / "out", ignore_errors=True)
        total = sum(seconds for _, seconds in spent)
        told = [(name, seconds, 1e6 * seconds / events, f"{seconds / total:.0%}") for name, seconds in spent]
        print_table("Where the time goes, 1 process", ("stage", "CPU s", "µs an event", "share"), told)
    plot("archive", lambda axes: _draw(axes, bench.rows))


class _Bench:
    """Contestants on a load, and the rows of their table."""

    def __init__(self, folder: Path, wanted: set[str] | None, given: Load) -> None:
        self.folder, self.wanted, self.load = folder, wanted, given
        self.rows: list[Row] = []

    def wants(self, *keys: str) -> bool:
        return self.wanted is None or bool(self.wanted & set(keys))

    def enter(self, name: str, key: str, run: Run, given: Load | None = None) -> None:
        if not self.wants(key):
            return
        load = given or self.load
        found, cpu, wall, memory = measured(run, load, self.folder)
        speed = load.events / cpu / 1000
        print(f"  {name}: {speed:,.0f} thousand events per CPU-second, {wall:.0f} s, {memory} MB", flush=True)
        self.rows.append((name, load.events, found, round(cpu, 1), round(wall, 1), speed, memory))


def _on_cluster(folder: Path, events: int, subscriptions: int, engine: str) -> list[Row]:
    mine = _Bench(folder, None, load(folder, events, subscriptions))
    with _Session("local-cluster[2,1,1024]") as spark:
        mine.enter("matching alone: Spark local-cluster[2,1,1024]", "", matching(engine, spark))
        mine.enter("end to end: Spark local-cluster[2,1,1024]", "", ours("spark", spark, matcher=engine))
    return mine.rows


class _Session:
    def __init__(self, master: str) -> None:
        self.master = master

    def __enter__(self) -> Any:
        from conceptpubsub.archive.cluster import session

        root = Path(__file__).resolve().parent.parent  # executors start elsewhere
        home = {"spark.executorEnv.PYTHONPATH": str(root)}
        self.spark = session(self.master, spark_driver_memory="2g", **home)
        return self.spark

    def __exit__(self, *_: Any) -> None:
        self.spark.stop()


def _draw(axes: Any, rows: list[Row]) -> None:
    names = [row[0] for row in reversed(rows)]
    axes.barh(names, [row[5] for row in reversed(rows)])
    axes.set_xscale("log")
    axes.set_xlabel("thousand events per CPU-second")


if __name__ == "__main__":
    main()
