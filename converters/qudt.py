"""QUDT units by IRI or local name: the names are a small language, so they are parsed, not listed.

``KiloM-PER-HR`` is a product of steps; everything after ``PER`` divides. A step is a base name with an optional
prefix in front and an exponent behind: ``CentiM2``, ``SEC0dot5``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from conceptpubsub.converters.atoms import PREFIXES, atom
from conceptpubsub.converters.currencies import is_currency
from conceptpubsub.converters.definitions import defined, table
from conceptpubsub.converters.grammar import MAX_LENGTH, refuse
from conceptpubsub.converters.measures import MAX_POWER, Measure, product
from conceptpubsub.errors import UnknownUnit

IRI = re.compile(r"https?://(?:www\.)?qudt\.org/(?:[\d.]+/)?vocab/unit[/#]")
_STEP = re.compile(r"(.*?[^\d])(\d(?:dot\d)?)?\Z")
_BINARY = {"Kibi": 10, "Mebi": 20, "Gibi": 30, "Tebi": 40, "Pebi": 50, "Exbi": 60, "Zebi": 70, "Yobi": 80}
_PREFIX = {prefix.capitalize(): Fraction(10) ** power for prefix, power in PREFIXES.items() if len(prefix) > 2}
_PREFIX |= {prefix: Fraction(2) ** power for prefix, power in _BINARY.items()}


def parse(name: str) -> Measure:
    """The measure that a QUDT local name denotes.

    >>> parse("MI-PER-HR").factor, parse("DEG_F").offset, parse("KiloGM-M2-PER-SEC2").powers["kg"]
    (Fraction(1397, 3125), Fraction(45967, 180), Fraction(1, 1))
    """
    if len(name) > MAX_LENGTH:
        raise refuse(name, f"has {len(name)} characters; at most {MAX_LENGTH} are read")
    if name in table("qudt"):
        return defined(table("qudt")[name], atom)
    parts: list[tuple[Measure, Fraction]] = []
    sign = 1
    for step in name.split("-"):
        if step == "PER":
            sign = -1
            continue
        measure, power = _step(step, name)
        parts.append((measure, power * sign))
    if not parts:
        raise refuse(name, "names no QUDT unit")
    return product(parts)


def _step(step: str, name: str) -> tuple[Measure, Fraction]:
    measure = _base(step)
    if measure is not None:
        return measure, Fraction(1)
    found = _STEP.match(step)
    if found is not None and found[2]:
        measure = _base(found[1])
        power = Fraction(found[2].replace("dot", "."))
        if measure is not None and 0 < power <= MAX_POWER:
            return measure, power
    if is_currency(step.removeprefix("CCY_")):
        raise refuse(name, "holds a currency: that is an aspect of its own, currency, with dated rates")
    raise UnknownUnit(f"no QUDT unit {step[:60]!r}", unit=name, name=step[:60], near=())


@lru_cache(maxsize=4096)
def _base(step: str) -> Measure | None:
    names = table("qudt")
    if step in names:
        return defined(names[step], atom)
    for prefix, factor in _PREFIX.items():
        if step.startswith(prefix) and step[len(prefix) :] in names:
            return defined(names[step[len(prefix) :]], atom).scaled(factor)
    return None
