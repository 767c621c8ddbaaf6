"""UCUM codes: a small parser of our own for the case-sensitive grammar of the Unified Code for Units of Measure.

::

    code      = [ "/" ] component { ( "." | "/" ) component }
    component = simple [ exponent ] [ annotation ] | annotation | digits | "(" code ")"
    simple    = atom | prefix atom        (metric atoms, and as QUDT has it k[lb_av])

Operators bind from the left: ``a/b.c`` is (a/b)·c. Annotations in braces say nothing about the size.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from conceptpubsub.converters.atoms import PREFIXES, atom
from conceptpubsub.converters.definitions import defined, prefixable, table
from conceptpubsub.converters.grammar import MAX_DEPTH, MAX_FACTOR, MAX_LENGTH, refuse
from conceptpubsub.converters.measures import MAX_POWER, Measure, product
from conceptpubsub.errors import UnknownUnit

_POWER_OF_TEN = re.compile(r"10[*^]([+-]?\d+)?")
_SIMPLE = re.compile(r"((?:\[[^\[\]{}\s]*\]|[^\W\d]|[%‰'\"])+)([+-]?\d+)?")
_DIGITS = re.compile(r"\d+")
_ANNOTATION = re.compile(r"\{[^{}]*\}([+-]?\d+)?")
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60, "Zi": 70, "Yi": 80}
_METRIC = {prefix: Fraction(10) ** power for prefix, power in PREFIXES.items() if len(prefix) == 1 or prefix == "da"}
_METRIC |= {"r": Fraction(10) ** -27, "q": Fraction(10) ** -30}
_METRIC |= {prefix: Fraction(2) ** power for prefix, power in _BINARY.items()}


def parse(code: str) -> Measure:
    """The measure that a UCUM code denotes.

    >>> parse("[mi_i]/h").factor, parse("10*3/uL").factor, parse("m[H2O]").factor
    (Fraction(1397, 3125), Fraction(1000000000000, 1), Fraction(196133, 20))
    """
    if len(code) > MAX_LENGTH:
        raise refuse(code, f"has {len(code)} characters; at most {MAX_LENGTH} are read")
    if not code.isprintable() or " " in code:
        raise refuse(code, "is no UCUM code: those hold no blanks")
    return _Parser(code).whole()


@lru_cache(maxsize=4096)
def simple(symbol: str) -> Measure | None:
    """One UCUM unit with its prefix, or None."""
    codes = table("ucum")
    text = codes.get(symbol)
    if text is not None:
        return defined(text, atom)
    for prefix, factor in _METRIC.items():
        text = codes.get(symbol[len(prefix) :]) if symbol.startswith(prefix) else None
        if text is not None and (prefixable(text) or symbol.endswith("]")):
            return defined(text, atom).scaled(factor)
    return None


class _Parser:
    def __init__(self, code: str) -> None:
        self.code, self.place = code, 0

    def whole(self) -> Measure:
        if not self.code:
            raise refuse(self.code, "is empty; write ucum:1 for a plain number")
        parts, factor = self.term(0)
        if self.place < len(self.code):
            raise refuse(self.code, f"cannot be read at {self.code[self.place :][:12]!r}")
        return product(parts, factor)

    def term(self, depth: int) -> tuple[list[tuple[Measure, Fraction]], Fraction]:
        if depth > MAX_DEPTH:
            raise refuse(self.code, f"nests brackets deeper than {MAX_DEPTH}")
        parts: list[tuple[Measure, Fraction]] = []
        factor = Fraction(1)
        sign = -1 if self.take("/") else 1
        while True:
            more, number = self.component(depth)
            parts += [(part, power * sign) for part, power in more]
            factor *= number**sign
            if not 1 / MAX_FACTOR <= factor <= MAX_FACTOR:
                raise refuse(self.code, "holds a number out of bounds")
            if self.take("."):
                sign = 1
            elif self.take("/"):
                sign = -1
            else:
                return parts, factor

    def take(self, mark: str) -> bool:
        if not self.code.startswith(mark, self.place):
            return False
        self.place += 1
        return True

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.code, self.place)
        if found is not None:
            self.place = found.end()
        return found

    def component(self, depth: int) -> tuple[list[tuple[Measure, Fraction]], Fraction]:
        made = self.bare_component(depth)
        self.match(_ANNOTATION)
        return made

    def bare_component(self, depth: int) -> tuple[list[tuple[Measure, Fraction]], Fraction]:
        if self.match(_ANNOTATION):
            return [], Fraction(1)
        if self.take("("):
            parts, factor = self.term(depth + 1)
            if not self.take(")"):
                raise refuse(self.code, "has an open bracket")
            return parts, factor
        if found := self.match(_POWER_OF_TEN):
            return [], Fraction(10) ** int(self.power(found[1]))
        if found := self.match(_DIGITS):
            if len(found[0]) > 20 or int(found[0]) == 0:
                raise refuse(self.code, "holds a number out of bounds")
            return [], Fraction(int(found[0]))
        if found := self.match(_SIMPLE):
            measure = simple(found[1])
            if measure is None:
                raise UnknownUnit(f"no UCUM unit {found[1]!r}", unit=self.code, name=found[1], near=())
            return [(measure, self.power(found[2]))], Fraction(1)
        raise refuse(self.code, "misses a unit")

    def power(self, digits: str | None) -> Fraction:
        if digits is None:
            return Fraction(1)
        if len(digits) > 4 or not 0 < abs(int(digits)) <= MAX_POWER:
            raise refuse(self.code, f"has an exponent that is zero or beyond ±{MAX_POWER}")
        return Fraction(int(digits))
