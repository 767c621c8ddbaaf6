"""Definition files: unit names on the left, an expression of the unit grammar and options on the right.

The content of units, UCUM codes, QUDT names and UN/ECE codes lives in ``data/*.txt``; this file only reads it.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from conceptpubsub.converters.grammar import Lookup, parse
from conceptpubsub.converters.logs import LogScale
from conceptpubsub.converters.measures import Measure, marked
from conceptpubsub.model.values import simplest


@lru_cache(maxsize=8)
def table(name: str) -> dict[str, str]:
    """The names of ``data/<name>.txt`` with the text that defines each.

    >>> table("ucum")["[mi_i]"]
    '1609.344 m'
    """
    lines = (files("conceptpubsub.converters") / "data" / f"{name}.txt").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith("#") or " = " not in line:
            continue
        left, _, right = line.partition(" = ")
        for alias in left.split(","):
            found[alias.strip()] = right.strip()
    return found


def prefixable(text: str) -> bool:
    """Whether SI prefixes apply to what a text defines."""
    return text.endswith("; prefix") or "; prefix ;" in text


def defined(text: str, lookup: Lookup) -> Measure:
    """The measure that a definition denotes."""
    expression, *options = (part.strip() for part in text.split(";"))
    made = parse(expression, lookup, bare=True)
    for option in options:
        word, _, argument = option.partition(" ")
        if word == "mark":
            made = marked(made, argument)
        elif word == "offset":
            made = made.moved(parse(argument, lookup).factor)
        elif word == "log":
            made = made.levelled(LogScale(int(argument), simplest(made.factor)))
    return made
