"""An archive against ten thousand subscriptions, end to end: match, convert, write; beside what people use instead.

Events are weather readings with units row by row; subscriptions are conjunctions of a range of one quantity, half of
them for one station. All contestants count the same matches, and those that write, write the same number of rows.

    python -m benchmarks.archive --quick            one million events, a thousand subscriptions
    python -m benchmarks.archive                    twenty million events, ten thousand subscriptions
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import calibrate
from benchmarks.report import arguments, plot, print_table
from conceptpubsub import Context, Converters
from conceptpubsub.archive import Subscription, reprocess

UNITS = {"temp": ("degC", "degF", "K"), "wind": ("m/s", "mph", "km/h"), "height": ("m", "ft", "km")}
SPAN = {"temp": (250.0, 320.0), "wind": (0.0, 60.0), "height": (0.0, 5000.0)}
BASE = {"temp": "K", "wind": "m/s", "height": "m"}
STATIONS, GROUP, FILE = 200, 250_000, 1_000_000
DAY = 86_400 * 10**6


@dataclass(frozen=True)
class Load:
    """An archive and who asks of it; ``rows`` holds the subscriptions as a table for those who join."""

    files: list[str]
    events: int
    subscriptions: list[Subscription]
    rows: pa.Table


def write_events(path: Path, count: int, seed: int) -> None:
    """One file of events: in each row one of the three quantities, in one of its units."""
    make = np.random.default_rng(seed)
    conv = Converters.default()
    which = make.integers(0, 3, count)
    columns: dict[str, Any] = {
        "@id": pa.array(np.arange(count) + seed * FILE).cast(pa.string()),
        "@time": pa.array(np.sort(make.integers(0, 730 * DAY, count)), pa.timestamp("us", "UTC")),
        "station": _texts(make.integers(0, STATIONS, count), [f"st{n:03d}" for n in range(STATIONS)]),
        "quality": pa.array(make.integers(0, 100, count)),
    }
    for place, (name, units) in enumerate(UNITS.items()):
        here = which == place
        unit = make.integers(0, len(units), count)
        low, high = SPAN[name]
        base = make.uniform(low, high, count)
        written = [conv.convert_array(base, BASE[name], text) for text in units]
        value = np.select([unit == number for number in range(len(units))], written)
        columns[name] = pa.array(np.round(value, 3), mask=~here)
        columns[f"{name}@unit"] = _texts(unit, list(units), ~here)
    pq.write_table(pa.table(columns), path, row_group_size=GROUP, compression="zstd")


def _texts(codes: Any, values: list[str], mask: Any = None) -> pa.Array:
    indices = pa.array(codes.astype(np.int32), mask=mask)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values)).cast(pa.string())


def load(folder: Path, events: int, subscriptions: int, seed: int = 1) -> Load:
    """The archive, kept between runs, and its subscriptions."""
    size = min(FILE, events)
    files = [folder / f"events-{size}-{n:03d}.parquet" for n in range(max(1, events // size))]
    for number, path in enumerate(files):
        if not path.exists():
            write_events(path, size, number)
    make = np.random.default_rng(seed)
    asked, rows = [], []
    for number in range(subscriptions):
        name = tuple(UNITS)[make.integers(0, 3)]
        width = make.uniform(2, 20) / subscriptions  # about as many matches however many subscribe
        start = make.uniform(0, 1 - width)
        least, most = SPAN[name]
        low, high = (round(least + (most - least) * part, 3) for part in (start, start + width))
        station = f"st{make.integers(0, STATIONS):03d}" if make.random() < 0.5 else None
        quality = int(make.integers(0, 100)) if make.random() < 0.5 else 0
        unit = UNITS[name][make.integers(0, 3)]
        text = f"{name} >= {low} [{BASE[name]}] AND {name} < {high} [{BASE[name]}] AND quality >= {quality}"
        text += f" AND station = '{station}'" if station else ""
        asked.append(Subscription(f"sub-{number:05d}", text, Context(unit=unit)))
        rows.append((f"sub-{number:05d}", name, low, high, station, quality, unit))
    names = ("sid", "kind", "low", "high", "place", "least", "wanted")
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    return Load([str(path) for path in files], size * len(files), asked, table)


def lines() -> pa.Table:
    """(unit, factor, offset to base, and back) of every unit, for those who join."""
    conv = Converters.default()
    rows = []
    for name, units in UNITS.items():
        for unit in units:
            there, back = conv.affine(unit, BASE[name]), conv.affine(BASE[name], unit)
            rows.append((unit, float(there[0]), float(there[1]), float(back[0]), float(back[1])))
    names = ("unit", "f", "o", "bf", "bo")
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


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


_LONG = " union all ".join(
    f"""select "@id" id, "@time" t, station, quality, '{name}' kind, "{name}" v, "{name}@unit" unit from e
        where "{name}" is not null"""
    for name in UNITS
)


def duck(write: bool) -> Callable[[Load, Path], int]:
    """DuckDB: quantities to base units, joined with the subscriptions on ranges, converted back."""

    def run(load: Load, out: Path) -> int:
        import duckdb

        con = duckdb.connect()
        con.execute(f"set threads={len(os.sched_getaffinity(0))}")
        con.register("subs", load.rows)
        con.register("units", lines())
        body = f"""from (select l.*, v*f+o b from (with e as (select * from read_parquet({load.files})) {_LONG}) l
            join units using (unit)) x join subs s on x.kind=s.kind and b>=low and b<high and quality>=least
            and (s.place is null or s.place=station) join units w on w.unit=s.wanted"""
        if not write:
            return int(con.execute(f"select count(*) {body}").fetchone()[0])
        out.mkdir(parents=True)
        con.execute(
            f"""copy (select sid, id, t, station, quality, x.kind, b*w.bf+w.bo v, s.wanted unit, hash(sid)%16 bucket
            {body} order by bucket, sid) to '{out}' (format parquet, partition_by (bucket), compression zstd)"""
        )
        return sum(pq.ParquetFile(path).metadata.num_rows for path in out.rglob("*.parquet"))

    return run


def polars(write: bool) -> Callable[[Load, Path], int]:
    """Polars, file by file: the candidates of all files at once would not fit."""

    def run(load: Load, out: Path) -> int:
        import polars as pl

        subs, units = pl.from_arrow(load.rows).lazy(), pl.from_arrow(lines()).lazy()  # type: ignore[union-attr]
        out.mkdir(parents=True)
        found = 0
        for number, path in enumerate(load.files):
            parts = []
            b, q = pl.col("b"), pl.col("quality")
            ranges = [b >= pl.col("low"), b < pl.col("high"), q >= pl.col("least")]
            for name in UNITS:
                events = pl.scan_parquet(path).filter(pl.col(name).is_not_null())
                events = events.select("@id", "@time", "station", "quality", v=name, unit=f"{name}@unit")
                events = events.join(units.select("unit", "f", "o"), on="unit").with_columns(
                    b=pl.col("v") * pl.col("f") + pl.col("o")
                )
                mine = subs.filter(pl.col("kind") == name)
                local = mine.filter(pl.col("place").is_not_null())
                here = events.join(local, left_on="station", right_on="place").filter(*ranges)
                anywhere = events.join_where(mine.filter(pl.col("place").is_null()), *ranges)
                kept = ("sid", "@id", "@time", "station", "quality", "b", "wanted")
                parts += [here.select(kept), anywhere.select(kept)]
            whole = pl.concat(parts)
            if not write:
                found += whole.select(pl.len()).collect(engine="streaming").item()
                continue
            back = units.select(pl.col("unit").alias("wanted"), "bf", "bo")
            made = whole.join(back, on="wanted").with_columns(v=b * pl.col("bf") + pl.col("bo")).drop("b", "bf", "bo")
            made = made.with_columns(bucket=pl.col("sid").hash() % 16).sort("bucket", "sid").collect(engine="streaming")
            made.write_parquet(pl.PartitionBy(out / f"{number}", key="bucket"), compression="zstd", mkdir=True)
            found += made.height
        return found

    return run


def row_at_a_time(spark: Any) -> Callable[[Load, Path], int]:
    """A Python UDF that asks every subscription of every row."""

    def run(load: Load, out: Path) -> int:
        from pyspark.sql import functions, types

        factors = {row["unit"]: (row["f"], row["o"]) for row in lines().to_pylist()}
        asked = [tuple(row.values()) for row in load.rows.to_pylist()]

        def matches(station: str, quality: int, *held: Any) -> list[str]:
            found = []
            for sid, kind, low, high, at, least, _ in asked:
                place = 2 * ("temp", "wind", "height").index(kind)
                if held[place] is not None and quality >= least and (at is None or at == station):
                    factor, offset = factors[held[place + 1]]
                    if low <= held[place] * factor + offset < high:
                        found.append(sid)
            return found

        told = functions.udf(matches, types.ArrayType(types.StringType()))
        columns = ["station", "quality", *(f"`{name}{end}`" for name in UNITS for end in ("", "@unit"))]
        df = spark.read.parquet(*load.files)
        return int(df.select(functions.explode(told(*columns)).alias("sid")).count())

    return run


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
    import threading

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
            found, cpu, wall, memory = measured(run, given, folder)
            rows.append((name, given.events, found, round(cpu, 1), round(wall, 1), given.events / cpu / 1000, memory))
            print(f"  {name}: {given.events / cpu / 1000:,.0f} thousand events per CPU-second", flush=True)

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
        process = multiprocessing.get_context("spawn").Process(target=_on_cluster, args=(whole, folder, args.matcher))
        process.start()
        process.join()
    header = ("contestant", "events", "matches", "CPU s", "wall s", "k events / CPU-s", "peak MB")
    print_table(f"{events:,} events, {subscriptions:,} subscriptions", header, rows)
    plot("archive", lambda axes: _draw(axes, rows))


def _on_cluster(load: Load, folder: Path, matcher: str) -> None:
    """A process has one session, so executors of their own need a process of their own."""
    with _Session("local-cluster[2,1,1024]") as spark:
        found, cpu, wall, _ = measured(ours("spark", spark, matcher=matcher), load, folder)
    speed = f"{load.events / cpu / 1000:,.0f} thousand events per CPU-second"
    print(f"  Spark local-cluster[2,1,1024]: {speed}, {found} matches, {cpu:.1f} CPU s, {wall:.1f} s", flush=True)


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
