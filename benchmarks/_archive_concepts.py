"""The main load of the archive benchmark: readings of 256 kinds in a tree of concepts, and who asks of them.

The tree has four branches, one a quantity kind, and forks four ways on four levels. An event is of a leaf and holds one
quantity, in a unit that stands beside it; a subscription is for a node of the levels two to four and a range of its
quantity 2 to 10 % wide, half of them for one of 200 stations, half of them for a least quality, each delivered in a
unit of its own. Money is left out: the peers would need rates by day.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._archive_load import DAY, FILE, GROUP, STATIONS, Load, texts
from conceptpubsub import Context, Converters, Ontology
from conceptpubsub.archive import Subscription


@dataclass(frozen=True)
class Branch:
    """One quantity: the attribute that holds it, its concept, its units, and the span of its values in a base unit."""

    attribute: str
    concept: str
    units: tuple[str, ...]
    base: str
    span: tuple[float, float]


BRANCHES = (
    Branch("AirTemperature", "cps:Temperature", ("degC", "degF", "K"), "K", (250.0, 320.0)),
    Branch("WindSpeed", "cps:Speed", ("m/s", "mph", "km/h", "kn"), "m/s", (0.0, 60.0)),
    Branch("Altitude", "cps:Height", ("m", "ft", "km", "inch"), "m", (0.0, 5000.0)),
    Branch("AirPressure", "cps:Pressure", ("Pa", "hPa", "bar", "psi"), "hPa", (900.0, 1100.0)),
)
UNITS = tuple(unit for branch in BRANCHES for unit in branch.units)
FIRST = np.cumsum([0, *(len(branch.units) for branch in BRANCHES)])[:-1]
COUNT = np.array([len(branch.units) for branch in BRANCHES])
LEAVES, FORK, LEVELS = 256, 4, 4
TEXTS = ("@concept", "station", *(f"{branch.attribute}@unit" for branch in BRANCHES))
NEEDED = (*TEXTS, "quality", *(branch.attribute for branch in BRANCHES))
"""What filters speak of."""


def node(level: int, number: int) -> str:
    """The name of a node of the tree; leaves are of level 4."""
    return f"Reading{level}N{number:03d}"


NAMES = [node(LEVELS, number) for number in range(LEAVES)]


def turtle() -> str:
    """The ontology of the load, in Turtle."""
    lines = [
        "@prefix : <urn:conceptpubsub:benchmark#> .",
        "@prefix cps: <https://w3id.org/conceptpubsub/core#> .",
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "<urn:conceptpubsub:benchmark> a owl:Ontology ; owl:imports <https://w3id.org/conceptpubsub/core> .",
        ":station a owl:Class ; rdfs:subClassOf cps:Code .",
        ":quality a owl:Class ; rdfs:subClassOf cps:Count .",
    ]
    lines += [f":{branch.attribute} a owl:Class ; rdfs:subClassOf {branch.concept} ." for branch in BRANCHES]
    for level in range(1, LEVELS + 1):
        for number in range(FORK**level):
            above = "cps:Event" if level == 1 else f":{node(level - 1, number // FORK)}"
            lines.append(f":{node(level, number)} a owl:Class ; rdfs:subClassOf {above} .")
    return "\n".join(lines) + "\n"


def ontology(folder: Path) -> Ontology:
    """The ontology, from a file in the folder of the benchmark."""
    path = folder / "concepts.ttl"
    path.write_text(turtle())
    return Ontology.load(path)


def write_events(path: Path, count: int, seed: int) -> None:
    """One file of events."""
    make = np.random.default_rng(seed)
    conv = Converters.default()
    leaf = make.integers(0, LEAVES, count)
    held = leaf * len(BRANCHES) // LEAVES
    columns: dict[str, Any] = {
        "@id": pa.array(np.arange(count) + seed * FILE).cast(pa.string()),
        "@time": pa.array(np.sort(make.integers(0, 730 * DAY, count)), pa.timestamp("us", "UTC")),
        "@concept": texts(leaf, NAMES),
        "station": texts(make.integers(0, STATIONS, count), [f"st{n:03d}" for n in range(STATIONS)]),
        "quality": pa.array(make.integers(0, 100, count)),
    }
    for place, branch in enumerate(BRANCHES):
        here = held == place
        unit = make.integers(0, len(branch.units), count)
        base = make.uniform(*branch.span, count)
        written = [conv.convert_array(base, branch.base, text) for text in branch.units]
        value = np.select([unit == number for number in range(len(branch.units))], written)
        columns[branch.attribute] = pa.array(np.round(value, 3), mask=~here)
        columns[f"{branch.attribute}@unit"] = texts(unit, list(branch.units), ~here)
    pq.write_table(pa.table(columns), path, row_group_size=GROUP, compression="zstd")


def load(folder: Path, events: int, subscriptions: int, seed: int = 1, hot: bool = False) -> Load:
    """The archive, kept between runs, and its subscriptions; ``hot``: one more that wants every event."""
    size = min(FILE, events)
    files = [folder / f"concepts-{size}-{n:03d}.parquet" for n in range(max(1, events // size))]
    for number, path in enumerate(files):
        if not path.exists():
            write_events(path, size, number)
    make = np.random.default_rng(seed)
    asked, rows = [], []
    for number in range(subscriptions):
        level = int(make.choice([2, 3, 4], p=[0.05, 0.25, 0.70]))
        below = FORK ** (LEVELS - level)
        chosen = int(make.integers(0, LEAVES)) // below
        kind = chosen * below * len(BRANCHES) // LEAVES
        branch = BRANCHES[kind]
        width = make.uniform(0.02, 0.10)
        start = make.uniform(0, 1 - width)
        least, most = branch.span
        low, high = (round(least + (most - least) * part, 3) for part in (start, start + width))
        station = f"st{make.integers(0, STATIONS):03d}" if make.random() < 0.5 else None
        quality = int(make.integers(0, 100)) if make.random() < 0.5 else 0
        unit = branch.units[make.integers(0, len(branch.units))]
        name = branch.attribute
        text = (
            f"EVENT ISA {node(level, chosen)} AND {name} >= {low} [{branch.base}] AND {name} < {high} [{branch.base}]"
        )
        text += f" AND quality >= {quality}" + (f" AND station = '{station}'" if station else "")
        asked.append(Subscription(f"sub-{number:05d}", text, Context(unit=unit)))
        rows.append((f"sub-{number:05d}", kind, low, high, station, quality, unit, chosen * below, below))
    if hot:
        asked.append(Subscription("everything", "", Context(unit="degF")))
    names = ("sid", "kind", "low", "high", "place", "least", "wanted", "leaf", "leaves")
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    table = table.append_column("number", pa.array(range(len(rows)), pa.int64()))
    return Load("concepts", [str(path) for path in files], size * len(files), asked, table, NEEDED, TEXTS,
                ontology(folder))  # fmt: skip


def by_leaf(load: Load) -> pa.Table:
    """The subscriptions with a row for each leaf that they are about, for those who join."""
    leaves = load.rows.column("leaves").to_numpy()
    whose = np.repeat(np.arange(len(leaves)), leaves)
    within = np.arange(len(whose)) - np.repeat(np.cumsum(leaves) - leaves, leaves)
    place = load.rows.column("leaf").to_numpy()[whose] + within
    table = load.rows.take(pa.array(whose)).drop_columns(["leaf", "leaves"])
    return table.append_column("concept", pa.array(NAMES).take(pa.array(place)))


def lines() -> pa.Table:
    """(unit, factor, offset to base, and back; start and size of a hundredth of the span), for those who join."""
    conv = Converters.default()
    rows = []
    for branch in BRANCHES:
        for unit in branch.units:
            there, back = conv.affine(unit, branch.base), conv.affine(branch.base, unit)
            rows.append((unit, *map(float, (*there, *back)), branch.span[0], branch.span[1] - branch.span[0]))
    names = ("unit", "f", "o", "bf", "bo", "start", "size")
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
