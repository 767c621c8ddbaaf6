"""What people use instead of an archive engine: joins in DuckDB and Polars, a Python UDF on Spark.

All of them make the pairs of event and subscription; what only matches sums them up. Joins compare floats in base
units, so a value on the edge of a range may fall on the wrong side: their counts differ from ours, which are exact, in
a few matches of a million.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks._archive_load import SPAN, UNITS, Load, lines

CELLS = 1000
_EVENTS = " union all ".join(
    f"""select file_row_number row, "@id" id, "@time" t, station, quality, '{name}' kind, "{name}"*f+o b,
        floor(("{name}"*f+o - {SPAN[name][0]}) * {CELLS / (SPAN[name][1] - SPAN[name][0])})::int cell
        from e join units on "{name}@unit" = unit where "{name}" is not null"""
    for name in UNITS
)
_CELLS = " union all ".join(
    f"""select *, unnest(range(floor((low - {SPAN[name][0]}) * {CELLS / (SPAN[name][1] - SPAN[name][0])})::int,
        floor((high - {SPAN[name][0]}) * {CELLS / (SPAN[name][1] - SPAN[name][0])})::int + 1)) cell
        from subs where kind = '{name}'"""
    for name in UNITS
)


def duck(write: bool, cells: bool = True) -> Callable[[Load, Path], int]:
    """DuckDB: quantities to base units, joined with the subscriptions on ranges, converted back.

    With ``cells``, ranges are cut by hand into cells to join by, as an expert would once the plain join, which anybody
    would write first, had proved slow. Both are shown; goals are measured against the faster.
    """

    def run(load: Load, out: Path) -> int:
        import duckdb

        con = duckdb.connect()
        con.execute(f"set threads={len(os.sched_getaffinity(0))}")
        con.register("subs", load.rows)
        con.register("units", lines())
        asked, same = (f"({_CELLS})", "and x.cell = s.cell") if cells else ("subs", "")
        body = f"""from ({_EVENTS}) x join {asked} s on x.kind = s.kind {same}
            and b >= low and b < high and quality >= least and (s.place is null or s.place = station)"""
        source = f"with e as (select * from read_parquet({load.files}, file_row_number = true))"
        if not write:
            return int(con.execute(f"{source} select count(*), sum(row), sum(number) {body}").fetchone()[0])
        out.mkdir(parents=True)
        con.execute(
            f"""copy ({source} select sid, id, t, station, quality, x.kind, b*w.bf+w.bo v, s.wanted unit,
            hash(sid)%16 bucket {body} join units w on w.unit = s.wanted order by bucket, sid)
            to '{out}' (format parquet, partition_by (bucket), compression zstd)"""
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
                events = pl.scan_parquet(path, row_index_name="row").filter(pl.col(name).is_not_null())
                events = events.select("row", "@id", "@time", "station", "quality", v=name, unit=f"{name}@unit")
                events = events.join(units.select("unit", "f", "o"), on="unit").with_columns(
                    b=pl.col("v") * pl.col("f") + pl.col("o")
                )
                mine = subs.filter(pl.col("kind") == name)
                local = mine.filter(pl.col("place").is_not_null())
                here = events.join(local, left_on="station", right_on="place").filter(*ranges)
                anywhere = events.join_where(mine.filter(pl.col("place").is_null()), *ranges)
                kept = ("sid", "@id", "@time", "station", "quality", "b", "wanted") if write else ("row", "number")
                parts += [here.select(kept), anywhere.select(kept)]
            whole = pl.concat(parts)
            if not write:
                pairs = whole.select(pl.len(), pl.col("row").sum(), pl.col("number").sum())
                found += pairs.collect(engine="streaming").item(0, 0)
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
        asked = [tuple(row.values())[:7] for row in load.rows.to_pylist()]

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
