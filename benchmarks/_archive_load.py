"""What a load of the archive benchmark is; and the plain one: weather readings without concepts.

Units stand row by row; a subscription is for a very narrow range of one quantity, half of them for one station.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from conceptpubsub import Context, Converters, Ontology
from conceptpubsub.archive import Subscription

UNITS = {"temp": ("degC", "degF", "K"), "wind": ("m/s", "mph", "km/h"), "height": ("m", "ft", "km")}
SPAN = {"temp": (250.0, 320.0), "wind": (0.0, 60.0), "height": (0.0, 5000.0)}
BASE = {"temp": "K", "wind": "m/s", "height": "m"}
STATIONS, GROUP, FILE = 200, 250_000, 1_000_000
DAY = 86_400 * 10**6
NEEDED = ("station", "quality", *(f"{name}{end}" for name in UNITS for end in ("", "@unit")))
TEXTS = ("station", *(f"{name}@unit" for name in UNITS))


@dataclass(frozen=True)
class Load:
    """An archive and who asks of it; ``rows`` holds the subscriptions as a table for those who join."""

    name: str
    files: list[str]
    events: int
    subscriptions: list[Subscription]
    rows: pa.Table
    needed: tuple[str, ...]
    """The columns that filters speak of."""
    texts: tuple[str, ...]
    """The columns of few texts."""
    ontology: Ontology | None = None


def write_events(path: Path, count: int, seed: int) -> None:
    """One file of events: in each row one of the three quantities, in one of its units."""
    make = np.random.default_rng(seed)
    conv = Converters.default()
    which = make.integers(0, 3, count)
    columns: dict[str, Any] = {
        "@id": pa.array(np.arange(count) + seed * FILE).cast(pa.string()),
        "@time": pa.array(np.sort(make.integers(0, 730 * DAY, count)), pa.timestamp("us", "UTC")),
        "station": texts(make.integers(0, STATIONS, count), [f"st{n:03d}" for n in range(STATIONS)]),
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
        columns[f"{name}@unit"] = texts(unit, list(units), ~here)
    pq.write_table(pa.table(columns), path, row_group_size=GROUP, compression="zstd")


def texts(codes: Any, values: list[str], mask: Any = None) -> pa.Array:
    """A column of some texts."""
    indices = pa.array(codes.astype(np.int32), mask=mask)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values)).cast(pa.string())


def load(folder: Path, events: int, subscriptions: int, seed: int = 1, hot: bool = False) -> Load:
    """The archive, kept between runs, and its subscriptions; ``hot``: one more that wants every event."""
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
    if hot:
        asked.append(Subscription("everything", "", Context(unit="degF")))
    names = ("sid", "kind", "low", "high", "place", "least", "wanted")
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    table = table.append_column("number", pa.array(range(len(rows)), pa.int64()))
    return Load("plain", [str(path) for path in files], size * len(files), asked, table, NEEDED, TEXTS)


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
