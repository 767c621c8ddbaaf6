"""An archive against ten thousand subscriptions: matching alone, and end to end (match, convert, write); beside what
people use instead.

There are two loads. The main one has a tree of 256 concepts: subscriptions are for a node of it, a range of its
quantity, often a station, a least quality. The plain one has no concepts, and very narrow ranges. All contestants find
the same pairs of event and subscription but for floats on the edge of a range, and those that write, write the same
rows. Figures are CPU seconds of all processes of a contestant, so they say what a machine can do in an hour whatever
else runs on it.

    python -m benchmarks.archive --quick            one million events, a thousand subscriptions
    python -m benchmarks.archive                    twenty million events, ten thousand subscriptions
    python -m benchmarks.archive --load plain       the plain load
    python -m benchmarks.archive --only match,duck  some of the contestants: scan, match, duck-match, polars-match,
                                                    local1, local, duck, polars, spark-match, spark, udf, cluster,
                                                    growth, stages, spark-stages
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import _archive_concepts as concepts
from benchmarks import _archive_joins as joins
from benchmarks import _archive_load as plain
from benchmarks import _archive_peers as plain_peers
from benchmarks import calibrate
from benchmarks._archive_load import Load
from benchmarks._archive_measure import Run, measured
from benchmarks._archive_runs import StagedRun, matching, ours, scan, spark_stages, stages
from benchmarks.report import arguments, plot, print_table

HEADER = ("contestant", "events", "matches", "CPU s", "wall s", "k events / CPU-s", "peak MB")
Row = tuple[Any, ...]
LOADS = {"concepts": concepts.load, "plain": plain.load}
ALL, SOME = 1 << 40, 1_000_000


def main() -> None:
    """Run the contestants and print their tables."""

    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--load", choices=tuple(LOADS), default="concepts", help="which load")
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
    wanted = set(args.only.split(",")) if args.only else None
    bench = _Bench(folder, wanted, args.load, LOADS[args.load](folder, events, subscriptions))
    engine = args.matcher

    bench.enter("Parquet scan, the limit", "scan", scan)
    bench.enter("matching alone: Matcher, 1 process", "match", matching(engine))
    for name, key, run, most in peers(args.load):
        few = None if events <= most else LOADS[args.load](folder, most, subscriptions)
        bench.enter(name, key, run, few)
    bench.enter("end to end: local, 1 process", "local1", ours("local", processes=1, matcher=engine))
    bench.enter("end to end: local, all cores", "local", ours("local", matcher=engine))
    if bench.wants("spark-match", "spark", "udf", "spark-stages"):
        with _Session("local[2]") as spark:
            bench.enter("matching alone: Spark local[2]", "spark-match", matching(engine, spark))
            bench.enter("end to end: Spark local[2]", "spark", ours("spark", spark, matcher=engine))
            slow = joins.row_at_a_time if args.load == "concepts" else plain_peers.row_at_a_time
            few = LOADS[args.load](folder, min(events, 10_000), subscriptions)
            bench.enter("matching alone: Spark, a UDF row by row", "udf", slow(spark), few)
            if bench.wants("spark-stages"):
                bench.stages("Where the time goes, Spark local[2]", spark_stages(engine, spark))
    if bench.wants("cluster"):  # a process has one session, so executors of their own need a process of their own
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            bench.rows.extend(pool.submit(_on_cluster, folder, args.load, events, subscriptions, engine).result())
    print_table(f"{events:,} events, {subscriptions:,} subscriptions, {args.load}", HEADER, bench.rows)
    if bench.wants("growth"):
        grown = _Bench(folder, None, args.load, bench.load)
        for count in (size for size in (events // 20, events // 4, events) if size):
            grown.enter("local, 1 process", "growth", ours("local", processes=1, matcher=engine),
                        LOADS[args.load](folder, count, subscriptions))  # fmt: skip
        hot = LOADS[args.load](folder, max(events // 20, 1), subscriptions, hot=True)
        grown.enter("with a subscriber of everything", "hot", ours("local", processes=1, matcher=engine), hot)
        print_table("Growth, and a hot subscriber", HEADER, grown.rows)
    if bench.wants("stages"):
        bench.stages("Where the time goes, 1 process", stages(engine))
    plot(f"archive-{args.load}", lambda axes: _draw(axes, bench.rows))


def peers(load: str) -> list[tuple[str, str, Run, int]]:
    """What others do on a load: name, key, how it runs, and on how many events at most."""
    if load == "plain":
        return [
            ("matching alone: DuckDB, cells", "duck-match", plain_peers.duck(False), ALL),
            ("matching alone: DuckDB, ranges as they are", "duck-match", plain_peers.duck(False, cells=False), SOME),
            ("matching alone: Polars", "polars-match", plain_peers.polars(False), ALL),
            ("end to end: DuckDB, cells", "duck", plain_peers.duck(True), ALL),
            ("end to end: Polars", "polars", plain_peers.polars(True), ALL),
        ]
    found = [(f"matching alone: DuckDB, {way}", "duck-match", joins.duck(way, False), ALL) for way in joins.WAYS]
    found += [(f"matching alone: Polars, {way}", "polars-match", joins.polars(way, False), ALL) for way in joins.WAYS]
    found.append(("end to end: DuckDB, cells", "duck", joins.duck("cells", True), ALL))
    found.append(("end to end: Polars, cells", "polars", joins.polars("cells", True), ALL))
    return found


class _Bench:
    """Contestants on a load, and the rows of their table."""

    def __init__(self, folder: Path, wanted: set[str] | None, name: str, given: Load) -> None:
        self.folder, self.wanted, self.name, self.load = folder, wanted, name, given
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

    def stages(self, title: str, run: StagedRun) -> None:
        """The CPU time of each stage of a run, and what remains of all that its processes used."""
        spent: dict[str, float] = {}
        _, cpu, _, _ = measured(lambda load, out: run(load, out, spent), self.load, self.folder)
        spent["the rest"] = cpu - sum(spent.values())
        told = [(name, s, 1e9 * s / self.load.events, f"{s / cpu:.0%}") for name, s in spent.items()]
        print_table(title, ("stage", "CPU s", "ns an event", "share"), told)


def _on_cluster(folder: Path, load: str, events: int, subscriptions: int, engine: str) -> list[Row]:
    mine = _Bench(folder, None, load, LOADS[load](folder, events, subscriptions))
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
