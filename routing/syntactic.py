"""The control: filters compared by how they are spelt, as a broker without concepts, units and converters must.

Rule 1  A name is only a name and a unit only a suffix: ``Temperature > 86 degF`` is about an attribute called
        "Temperature [degF]" that has nothing to do with "Temperature [degC]" or "InTemperature [degF]".
Rule 2  Within one spelling numbers are still compared: this is what a good content-based broker can do, no straw man.
Rule 3  What it calls covering is covering: each event gives every spelt attribute one value, so nothing is ever lost.
        Overlap is asked by meaning, or events would be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import Lit, Ref
from conceptpubsub.filters.printer import show
from conceptpubsub.filters.syntax import (
    All,
    Below,
    Between,
    Constant,
    Flag,
    Inverse,
    Member,
    Null,
    Pattern,
    Some,
)
from conceptpubsub.filters.syntax import (
    Comparison as Comparing,
)
from conceptpubsub.routing.comparing import Comparison

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)", re.DOTALL)


class SyntacticComparison(Comparison):
    """Comparison by spelling.

    >>> by_spelling = SyntacticComparison()
    >>> by_spelling.covers(Filter.parse("x > 5 km"), Filter.parse("x > 6 km"))
    True
    >>> by_spelling.covers(Filter.parse("x > 5 km"), Filter.parse("x > 6000 m"))
    False
    """

    name = "syntactic"
    merges = False

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        super().__init__(clock)
        self._spelt: dict[str, Filter | None] = {}

    def seen(self, f: Filter) -> Filter:
        return self._spelling(f) or f

    def group(self, f: Filter) -> Hashable:
        return (super().group(f), None if self._spelling(f) is not None else f.digest)

    def merge(self, f: Filter, g: Filter, excess: float = 0.0) -> Filter | None:
        return None

    def _spelling(self, f: Filter) -> Filter | None:
        text = f"{f.semantics} {f}"
        if text not in self._spelt:
            self._spelt[text] = spelling(f)
        return self._spelt[text]


def spelling(f: Filter) -> Filter | None:
    """The filter over spelt attributes; None where it is more than atoms over single attributes.

    >>> print(spelling(Filter.parse("Temperature > 86 degF AND NOT Part = 'Engine'")))
    "Temperature [degF]" > 86 AND NOT "Part" = 'Engine'
    """
    if f.scope.defaults:
        return None
    try:
        return Filter.parse(show(_spelt(f.tree)), semantics=f.semantics)
    except (_Unspeakable, ConceptPubSubError):
        return None


class _Unspeakable(Exception):
    """An atom that is not about one attribute and constants."""


def _spelt(node: Any) -> Any:
    match node:
        case All(args, at):
            return All(tuple(map(_spelt, args)), at)
        case Some(args, at):
            return Some(tuple(map(_spelt, args)), at)
        case Inverse(arg, at):
            return Inverse(_spelt(arg), at)
        case Comparing(op, Ref() as ref, Constant() as constant, at):
            name, bare = _beside(ref, [constant])
            return Comparing(op, name, bare[0], at)
        case Comparing(op, Constant() as constant, Ref() as ref, at):
            name, bare = _beside(ref, [constant])
            return Comparing(op, bare[0], name, at)
        case Between(Ref() as ref, Constant() as low, Constant() as high, at):
            name, bare = _beside(ref, [low, high])
            return Between(name, bare[0], bare[1], at)
        case Member(Ref() as ref, items, at):
            name, bare = _beside(ref, list(items))
            return Member(name, tuple(bare), at)
        case Pattern(op, Ref() as ref, text, escape, at):
            return Pattern(op, _named(ref.shown), text, escape, at)
        case Null(ref, at):
            return Null(_named(ref.shown), at)
        case Below(ref, _, _, shown, at):
            return Comparing("=", _named(f"{ref.shown} ISA {shown}"), Constant(Lit("bool", True), "TRUE", at), at)
        case Flag(Ref() as ref, at):
            return Flag(_named(ref.shown), at)
        case Flag():
            return node
        case _:
            raise _Unspeakable


def _beside(ref: Ref, constants: list[Constant]) -> tuple[Ref, list[Constant]]:
    """The attribute as spelt with the unit of the constants beside it, and the constants without."""
    units, bare = set(), []
    for constant in constants:
        found = _NUMBER.fullmatch(constant.text)
        units.add(found[2] if found else "")
        bare.append(constant._replace(text=found[1]) if found else constant)
    if len(units) > 1:
        raise _Unspeakable
    unit = units.pop() if units else ""
    return _named(f"{ref.shown} [{unit}]" if unit else ref.shown), bare


def _named(name: str) -> Ref:
    return Ref((name,), shown='"' + name.replace('"', '""') + '"')
