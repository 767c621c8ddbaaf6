"""The load of concepts in DuckDB, Polars and a Python UDF: what people would write instead.

Subscriptions are expanded to the leaves they are about; the quantities of an event become one value in base units.
Three ways of joining were tried in either engine, and all are shown; goals are measured against the fastest:

  one key     by concept; the rest are conditions
  two keys    by concept and station where a station is asked for, by concept elsewhere
  cells       as two keys, and ranges cut by hand into cells of the value, which become a key

Joins compare floats, so a value on the edge of a range may fall on the wrong side.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._archive_concepts import BRANCHES, by_leaf, lines
from benchmarks._archive_load import Load

DUCK_CELLS, POLARS_CELLS = 32, 16
"""16, 32, 64 and 100 were tried; each engine is fastest with these."""
WAYS = ("one key", "two keys", "cells")
_VALUE = "coalesce(" + ", ".join(f'"{branch.attribute}"' for branch in BRANCHES) + ")"
_UNIT = "coalesce(" + ", ".join(f'"{branch.attribute}@unit"' for branch in BRANCHES) + ")"


def duck(way: str, write: bool) -> Callable[[Load, Path], int]:
    """DuckDB, all files at once."""

    def run(load: Load, out: Path) -> int:
        import duckdb

        con = duckdb.connect()
        con.execute(f"set threads={len(os.sched_getaffinity(0))}")
        con.register("given", by_leaf(load))
        con.register("units", lines())
        con.execute(
            "create temp table subs as select g.*, start, size, bf, bo from given g join units u on g.wanted = u.unit"
        )
        with_place, without, same = "select * from subs where place is not null", "", ""
        if way == "cells":
            same = "and e.cell = s.cell"
            low, high = (f"floor(({end} - start) / size * {DUCK_CELLS})::int" for end in ("low", "high"))
            without = f"select *, unnest(range({low}, {high} + 1)) cell from subs where place is null"
        elif way == "two keys":
            without = "select * from subs where place is null"
        else:
            with_place = "select * from subs"
        con.execute(f"create temp table placed as {with_place}")
        ranges = "b >= low and b < high and quality >= least"
        place = "(s.place is null or s.place = e.station)" if not without else "s.place = e.station"
        kept = (
            'sid, "@id", "@time", e.concept, station, quality, s.kind, b * bf + bo v, wanted unit'
            if write
            else "row, number"
        )
        found = f"select {kept} from e join placed s on e.concept = s.concept and {place} and {ranges}"
        if without:
            con.execute(f"create temp table anywhere as {without}")
            found += f" union all select {kept} from e join anywhere s on e.concept = s.concept {same} and {ranges}"
        carried = '"@id", "@time", ' if write else ""
        source = f"""with told as (select file_row_number row, {carried}"@concept" concept, station, quality,
                {_VALUE} value, {_UNIT} unit from read_parquet({load.files}, file_row_number = true)),
            e as (select row, {carried}concept, station, quality, value * f + o b,
                floor((value * f + o - start) / size * {DUCK_CELLS})::int cell from told join units using (unit)),
            found as ({found})"""
        if not write:
            return int(con.execute(f"{source} select count(*), sum(row), sum(number) from found").fetchone()[0])
        out.mkdir(parents=True)
        con.execute(
            f"""copy ({source} select *, hash(sid) % 16 bucket from found order by bucket, sid)
            to '{out}' (format parquet, partition_by (bucket), compression zstd)"""
        )
        return sum(pq.ParquetFile(path).metadata.num_rows for path in out.rglob("*.parquet"))

    return run


def polars(way: str, write: bool) -> Callable[[Load, Path], int]:
    """Polars, file by file: the candidates of all files at once would not fit."""

    def run(load: Load, out: Path) -> int:
        import polars as pl

        units = pl.from_arrow(lines()).lazy()  # type: ignore[union-attr]
        cell = ((pl.col("b") - pl.col("start")) / pl.col("size") * POLARS_CELLS).floor().cast(pl.Int32)
        subs = _asked(pl, by_leaf(load), units)
        placed, anywhere, keys = subs[way]
        ranges = [pl.col("b") >= pl.col("low"), pl.col("b") < pl.col("high"), pl.col("quality") >= pl.col("least")]
        carried = ("@id", "@time") if write else ()
        kept = ("sid", *carried, "concept", "station", "quality", "kind", "b", "wanted", "bf", "bo")
        kept = kept if write else ("row", "number")
        out.mkdir(parents=True)
        found = 0
        for number, path in enumerate(load.files):
            events = pl.scan_parquet(path, row_index_name="row").select(
                "row",
                *carried,
                "station",
                "quality",
                concept="@concept",
                value=pl.coalesce(*(branch.attribute for branch in BRANCHES)),
                unit=pl.coalesce(*(f"{branch.attribute}@unit" for branch in BRANCHES)),
            )
            events = events.join(units.select("unit", "f", "o", "start", "size"), on="unit")
            events = events.with_columns(b=pl.col("value") * pl.col("f") + pl.col("o"))
            events = (events.with_columns(cell=cell) if way == "cells" else events).drop(
                "value", "f", "o", "start", "size", "unit"
            )
            if way == "one key":
                here = pl.col("place").is_null() | (pl.col("place") == pl.col("station"))
                parts = [events.join(anywhere, on="concept").filter(*ranges, here).select(kept)]
            else:
                left, right = ["concept", "station"], ["concept", "place"]
                parts = [
                    events.join(placed, left_on=left, right_on=right).filter(*ranges).select(kept),
                    events.join(anywhere, on=keys).filter(*ranges).select(kept),
                ]
            whole = pl.concat(parts)
            if not write:
                pairs = whole.select(pl.len(), pl.col("row").sum(), pl.col("number").sum())
                found += pairs.collect(engine="streaming").item(0, 0)
                continue
            made = whole.with_columns(v=pl.col("b") * pl.col("bf") + pl.col("bo")).drop("b", "bf", "bo")
            made = made.with_columns(bucket=pl.col("sid").hash() % 16).sort("bucket", "sid").collect(engine="streaming")
            made.write_parquet(pl.PartitionBy(out / f"{number}", key="bucket"), compression="zstd", mkdir=True)
            found += made.height
        return found

    return run


def _asked(pl: Any, rows: pa.Table, units: Any) -> dict[str, tuple[Any, Any, list[str]]]:
    """For each way the subscriptions with a station, the others, and the keys that those are joined by."""
    subs = pl.from_arrow(rows).lazy()
    subs = subs.join(units.select(wanted="unit", start="start", size="size", bf="bf", bo="bo"), on="wanted")
    first, last = (
        ((pl.col(end) - pl.col("start")) / pl.col("size") * POLARS_CELLS).floor().cast(pl.Int32)
        for end in ("low", "high")
    )
    cut = subs.with_columns(cell=pl.int_ranges(first, last + 1, dtype=pl.Int32)).explode("cell")
    placed, without = pl.col("place").is_not_null(), pl.col("place").is_null()

    def held(part: Any) -> Any:
        return part.drop("start", "size").collect().lazy()

    return {
        "one key": (None, held(subs), ["concept"]),
        "two keys": (held(subs.filter(placed)), held(subs.filter(without)), ["concept"]),
        "cells": (held(subs.filter(placed)), held(cut.filter(without)), ["concept", "cell"]),
    }


def row_at_a_time(spark: Any) -> Callable[[Load, Path], int]:
    """A Python UDF that asks every subscription of every row."""

    def run(load: Load, out: Path) -> int:
        from pyspark.sql import functions, types

        factors = {row["unit"]: (row["f"], row["o"]) for row in lines().to_pylist()}
        asked = [
            (row["sid"], row["leaf"], row["leaf"] + row["leaves"], row["low"], row["high"], row["place"], row["least"])
            for row in load.rows.to_pylist()
        ]

        def matches(concept: str, station: str, quality: int, value: float, unit: str) -> list[str]:
            leaf, (factor, offset) = int(concept[-3:]), factors[unit]
            base = value * factor + offset
            return [
                sid
                for sid, first, after, low, high, place, least in asked
                if first <= leaf < after and low <= base < high and quality >= least and place in (None, station)
            ]

        told = functions.udf(matches, types.ArrayType(types.StringType()))
        held = [functions.coalesce(*(f"`{b.attribute}{end}`" for b in BRANCHES)) for end in ("", "@unit")]
        df = spark.read.parquet(*load.files)
        return int(df.select(functions.explode(told("`@concept`", "station", "quality", *held)).alias("sid")).count())

    return run
