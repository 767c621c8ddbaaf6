"""The semantic load: subscriptions over a generated ontology in mixed units, and the same in plain names.

Concepts are quantities, groups below them, and leaves below the groups. A subscriber asks for groups, each constant in
a unit of its own choice; a publisher reports leaves, each in its own unit. The plain twin has one name a group and one
unit a quantity, so both have the same matches; the benchmark checks that they do.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

import conceptpubsub as cps
from benchmarks._matching_loads import Measured, measure

UNITS: dict[str, dict[str, tuple[Fraction, Fraction]]] = {  # unit: factor, offset; all finite decimals
    "Distance": {"m": (Fraction(1), Fraction(0)), "km": (Fraction(1, 1000), Fraction(0)),
                 "cm": (Fraction(100), Fraction(0)), "mm": (Fraction(1000), Fraction(0))},
    "Temperature": {"kelvin": (Fraction(1), Fraction(0)), "degC": (Fraction(1), Fraction(-27315, 100)),
                    "degF": (Fraction(9, 5), Fraction(-45967, 100))},
    "Speed": {"m/s": (Fraction(1), Fraction(0)), "km/h": (Fraction(18, 5), Fraction(0))},
    "Pressure": {"Pa": (Fraction(1), Fraction(0)), "hPa": (Fraction(1, 100), Fraction(0)),
                 "bar": (Fraction(1, 100_000), Fraction(0))},
}  # fmt: skip
GROUPS, LEAVES, VALUES = 24, 4, 1000
_HEAD = """@prefix g: <https://example.org/generated#> .
@prefix cps: <https://w3id.org/conceptpubsub/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://example.org/generated> a owl:Ontology ; owl:imports <https://w3id.org/conceptpubsub/core> .
"""


def ontology() -> cps.Ontology:
    """Four quantities, 24 groups each with four leaves: 480 concepts below those of the core."""
    lines = [_HEAD]
    for kind in UNITS:
        for group in range(GROUPS):
            lines.append(f"g:{kind}{group} a owl:Class ; rdfs:subClassOf cps:{kind} .")
            lines += [
                f"g:{kind}{group}x{leaf} a owl:Class ; rdfs:subClassOf g:{kind}{group} ." for leaf in range(LEAVES)
            ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.ttl"
        path.write_text("\n".join(lines))
        return cps.Ontology.load(path)


@dataclass(frozen=True)
class Twin:
    """One thing told twice: by meaning and plainly."""

    semantic: Any
    plain: Any


def in_unit(kind: str, unit: str, value: int) -> Fraction:
    """A value of the canonical unit in another."""
    factor, offset = UNITS[kind][unit]
    return value * factor + offset


def decimal(value: Fraction) -> str:
    """A finite decimal, written out."""
    return f"{value.numerator}" if value.denominator == 1 else f"{float(value)!r}"


def subscriptions(count: int, onto: cps.Ontology, seed: int = 1) -> Iterator[Twin]:
    """One to five constraints on groups, as in fast forwarding: equal in six of ten."""
    rng = random.Random(seed)
    converters = cps.Converters.default(onto)
    groups = [(kind, f"{kind}{number}") for kind in UNITS for number in range(GROUPS)]
    for _ in range(count):
        wanted, plain = [], []
        for kind, group in rng.sample(groups, rng.randint(1, 5)):
            unit, value = rng.choice(list(UNITS[kind])), rng.randrange(VALUES)
            op = rng.choices("=<>", (60, 20, 20))[0]
            wanted.append(f"{group} {op} {decimal(in_unit(kind, unit, value))} [{unit}]")
            plain.append(f"{group} {op} {value}")
        yield Twin(
            cps.Filter.parse(" AND ".join(wanted), ontology=onto, converters=converters),
            cps.Filter.parse(" AND ".join(plain)),
        )


class Publishers:
    """Events at leaves, each leaf in its own unit; never the same twice."""

    def __init__(self, seed: int = 2) -> None:
        self._rng = random.Random(seed)
        self._leaves = [(kind, group, leaf) for kind in UNITS for group in range(GROUPS) for leaf in range(LEAVES)]
        self.units = {leaf: self._rng.choice(list(UNITS[leaf[0]])) for leaf in self._leaves}
        self._contexts = {unit: cps.Context(unit=unit) for units in UNITS.values() for unit in units}

    def events(self, count: int) -> list[Twin]:
        """So many events of three to ten groups, one leaf each."""
        return [self._event() for _ in range(count)]

    def _event(self) -> Twin:
        rng, semantic, plain = self._rng, dict[str, Any](), dict[str, Any]()
        for number in rng.sample(range(len(UNITS) * GROUPS), rng.randint(3, 10)):
            leaf = self._leaves[number * LEAVES + rng.randrange(LEAVES)]
            kind, group, place = leaf
            value, unit = rng.randrange(VALUES), self.units[leaf]
            name = f"{kind}{group}x{place}"
            semantic[name] = cps.SemanticObject(name, float(in_unit(kind, unit, value)), self._contexts[unit])
            plain[f"{kind}{group}"] = value
        return Twin(semantic, plain)

    def table(self, events: list[Twin], by_row: bool) -> tuple[pa.Table, pa.Table]:
        """The events as two tables; units in the metadata of columns or, row by row, in columns of their own."""
        fields, columns = [], []
        for leaf in self._leaves:
            name, unit = f"{leaf[0]}{leaf[1]}x{leaf[2]}", self.units[leaf]
            objects = [event.semantic.get(name) for event in events]
            columns.append(pa.array([None if held is None else held.value for held in objects], pa.float64()))
            fields.append(pa.field(name, pa.float64(), metadata=None if by_row else {"unit": unit}))
            if by_row:
                units = [None if held is None else unit for held in objects]
                columns.append(pa.array(units, pa.string()).dictionary_encode())
                fields.append(pa.field(f"{name}@unit", columns[-1].type))
        names = [f"{kind}{group}" for kind in UNITS for group in range(GROUPS)]
        plain = {name: pa.array([event.plain.get(name) for event in events], pa.int64()) for name in names}
        return pa.Table.from_arrays(columns, schema=pa.schema(fields)), pa.table(plain)


def run(count: int, batch: int, budget: float) -> tuple[dict[str, tuple[Measured, Measured]], bool]:
    """(by meaning, plain) for single events and tables, and whether both had the same matches throughout."""
    onto, publishers = ontology(), Publishers()
    twins = list(subscriptions(count, onto))
    meant, plain = cps.Matcher(), cps.Matcher()
    meant.add_many((number, twin.semantic) for number, twin in enumerate(twins))
    plain.add_many((number, twin.plain) for number, twin in enumerate(twins))
    del twins
    for matcher in (meant, plain):
        matcher.warm_up()
    events = publishers.events(max(2000, batch))
    checked = events[:500]
    same = all(meant.match(event.semantic) == plain.match(event.plain) for event in checked)
    singles = (
        measure(meant.match, [event.semantic for event in events[500:]], budget),
        measure(plain.match, [event.plain for event in events[500:]], budget),
    )
    found = {"single, from a dict": singles}
    for by_row, shown in ((False, "batch"), (True, "batch, units row by row")):
        meant.match_batch(publishers.table(publishers.events(batch), by_row)[0])
        rounds = [publishers.table(publishers.events(batch), by_row) for _ in range(2)]
        same &= all(meant.match_batch(a).keys.tolist() == plain.match_batch(b).keys.tolist() for a, b in rounds[:1])
        rounds = [publishers.table(publishers.events(batch), by_row) for _ in range(3)]
        found[shown] = (
            measure(lambda t: meant.match_batch(t).keys, [a for a, _ in rounds], budget, batch),
            measure(lambda t: plain.match_batch(t).keys, [b for _, b in rounds], budget, batch),
        )
    return found, same
