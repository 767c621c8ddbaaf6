"""Every unit of QUDT that we can read has QUDT's value, or stands on a list that says who is right.

QUDT's rule is ``base = (value + offset) * multiplier``. Units without a multiplier and currencies are left out.
"""

import csv
import re
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from conceptpubsub.converters import Unit, resolve
from conceptpubsub.errors import UnknownUnit

CLOSE = Fraction(1, 10**9)
BASES = dict(zip("AELIMHT", ("mol", "A", "m", "cd", "kg", "K", "s"), strict=True))


class Row(NamedTuple):
    name: str
    iri: str
    ucum: tuple[str, ...]
    unece: tuple[str, ...]
    multiplier: Fraction
    offset: Fraction
    powers: dict[str, Fraction]


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[Row]:
    with open(shared / "conformance" / "qudt_units.csv", newline="", encoding="utf-8") as file:
        return [row for line in csv.DictReader(file) for row in _row(line)]


@pytest.fixture(scope="module")
def listed() -> set[str]:
    text = Path(__file__).with_name("qudt_disagreements.toml").read_text("utf-8")
    causes = tomllib.loads(text)["cause"]
    assert all(cause["why"] and cause["right"] in ("ours", "QUDT", "both") for cause in causes)
    return {name for cause in causes for name in cause["units"]}


def _row(line: dict[str, str]) -> Iterator[Row]:
    multiplier = Fraction(line["conversion_multiplier"] or 0)
    if not multiplier or "Currency" in line["quantity_kinds"] or "/CCY_" in line["iri"]:
        return
    vector = dict(re.findall(r"([A-Z])(-?\d+(?:dot\d)?)", line["dimension_vector"]))
    powers = {base: Fraction(vector[letter].replace("dot", ".")) for letter, base in BASES.items()}
    yield Row(
        line["iri"].rsplit("/", 1)[1],
        line["iri"],
        tuple(code for code in line["ucum_codes"].split("|") if code),
        tuple(code for code in line["unece_codes"].split("|") if code),
        multiplier,
        Fraction(line["conversion_offset"] or 0),
        {base: power for base, power in powers.items() if power},
    )


def _agrees(unit: Unit, row: Row) -> bool:
    zero = row.offset * row.multiplier
    return (
        abs(unit.factor - row.multiplier) <= abs(row.multiplier) * CLOSE
        and abs(unit.offset - zero) <= abs(zero) * CLOSE
        and dict(unit.dimension.exponents) == row.powers
    )


def _resolved(text: str) -> Unit | None:
    try:
        return resolve(text)
    except UnknownUnit:
        return None


def test_ucum_codes_resolve_and_agree(rows: list[Row], listed: set[str]) -> None:
    pairs = [(row, _resolved(f"ucum:{code}")) for row in rows for code in row.ucum]
    known = [(row, unit) for row, unit in pairs if unit is not None]
    assert len(known) >= 0.95 * len(pairs)
    assert [row.name for row, unit in known if not _agrees(unit, row) and row.name not in listed] == []


def test_local_names_resolve_and_agree(rows: list[Row], listed: set[str]) -> None:
    pairs = [(row, _resolved(f"unit:{row.name}")) for row in rows]
    known = [(row, unit) for row, unit in pairs if unit is not None]
    assert len(known) >= 0.95 * len(pairs)
    assert [row.name for row, unit in known if not _agrees(unit, row) and row.name not in listed] == []


def test_an_iri_is_its_local_name(rows: list[Row]) -> None:
    for row in rows[::7]:
        by_name, by_iri = _resolved(f"unit:{row.name}"), _resolved(row.iri)
        assert (by_name is None) == (by_iri is None)
        if by_name is not None and by_iri is not None:
            assert (by_name.factor, by_name.dimension) == (by_iri.factor, by_iri.dimension)


def test_common_trade_codes_agree(rows: list[Row], listed: set[str]) -> None:
    pairs = [(row, _resolved(f"unece:{code}")) for row in rows for code in row.unece]
    known = [(row, unit) for row, unit in pairs if unit is not None]
    assert len(known) > 250
    assert [row.name for row, unit in known if not _agrees(unit, row) and row.name not in listed] == []


def test_the_list_holds_nothing_that_agrees(rows: list[Row], listed: set[str]) -> None:
    by_name = {row.name: row for row in rows}
    for name in listed:
        row = by_name[name]
        units = [_resolved(text) for text in (f"unit:{name}", *(f"ucum:{code}" for code in row.ucum))]
        assert any(unit is not None and not _agrees(unit, row) for unit in units), f"{name} agrees by now"
