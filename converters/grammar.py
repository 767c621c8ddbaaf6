"""The grammar of unit text, in front of every other parser: bounded in length, numbers and exponents, never evaluated.

::

    unit     = term { ( "*" | "·" | "/" | " per " | " " ) term }
    term     = ( name | number | "(" unit ")" ) [ ( "**" | "^" ) exponent ]
    exponent = superscripts | "-" digits, glued | [ "-" ] digits [ "." digits ] | "(" [ "-" ] digits "/" digits ")"

An exponent is one literal, so ``m**9**9`` does not parse. A blank after a slash (``J/kg K``) is ambiguous and refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from conceptpubsub.converters.measures import MAX_POWER, MAX_ROOT, Measure, product
from conceptpubsub.errors import UnknownUnit
from conceptpubsub.model.values import exact_decimal

MAX_LENGTH = 200
MAX_NAME = 64
MAX_DEPTH = 12
MAX_FACTOR = Fraction(10**60)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3}(?![\w.]))?)"
    r"|(?P<name>[^\W\d][\w]*|[%‰‱°℃℉Å′″'\"][^\W\d]*\w*)"
    r"|(?P<power>\*\*|\^)|(?P<times>[*·×⋅])|(?P<over>[/÷])|(?P<open>\()|(?P<close>\))|(?P<minus>[-−]))"
)
_SUPER = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_PLAIN = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", " -0123456789")
_DIGIT = re.compile(r"([^\W\d_]+)([2-9])\Z")
_WORDS = {"square": 2, "sq": 2, "cubic": 3}

Lookup = Callable[[str], Measure | None]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    spaced: bool


def refuse(text: str, why: str) -> UnknownUnit:
    """The error for a unit that cannot be read."""
    shown = text if len(text) <= 60 else text[:57] + "…"
    return UnknownUnit(f"the unit {shown!r} {why}", unit=text[:MAX_LENGTH], near=())


def parse(text: str, lookup: Lookup, bare: bool = False) -> Measure:
    """The measure that unit text denotes; ``lookup`` knows the single names, ``bare`` allows a plain number.

    >>> parse("9**9**9*m", lambda name: Measure())
    Traceback (most recent call last):
    conceptpubsub.errors.UnknownUnit: the unit '9**9**9*m' has an exponent on an exponent
    """
    if len(text) > MAX_LENGTH:
        raise refuse(text, f"has {len(text)} characters; at most {MAX_LENGTH} are read")
    return _Parser(_SUPER.sub(lambda raised: "^" + raised[0].translate(_PLAIN), text), lookup).whole(bare)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        hit = _TOKEN.match(text, place)
        if hit is None or hit.end() == place:
            raise refuse(text, f"cannot be read at {text[place:].strip()[:12]!r}")
        kind = str(hit.lastgroup)
        word = hit[kind]
        if len(word) > MAX_NAME:
            raise refuse(text, f"holds a name of {len(word)} characters; at most {MAX_NAME} are read")
        if kind == "name" and word in ("per", "dot"):
            kind = "over" if word == "per" else "times"
        found.append(_Token(kind, word, hit.start(kind) > place))
        place = hit.end()
    return found


class _Parser:
    """One pass over the tokens; depth is bounded by the brackets allowed."""

    def __init__(self, text: str, lookup: Lookup) -> None:
        self.text, self.lookup = text, lookup
        self.tokens, self.place = _tokens(text), 0

    def whole(self, bare: bool) -> Measure:
        if not self.tokens:
            raise refuse(self.text, "is empty; write 1 for a plain number")
        parts, factor, named = self.product(0)
        if self.peek():
            raise refuse(self.text, "has a bracket too many")
        if not named and factor != 1 and not bare:
            raise refuse(
                self.text, "is only a number; a unit has a name, and a plain factor belongs in the aspect scale"
            )
        return product(parts, factor)

    def peek(self) -> str:
        return self.tokens[self.place].kind if self.place < len(self.tokens) else ""

    def take(self, kind: str) -> str | None:
        if self.peek() != kind:
            return None
        self.place += 1
        return self.tokens[self.place - 1].text

    def product(self, depth: int) -> tuple[list[tuple[Measure, Fraction]], Fraction, bool]:
        if depth > MAX_DEPTH:
            raise refuse(self.text, f"nests brackets deeper than {MAX_DEPTH}")
        parts, factor, named = self.term(depth)
        divided = False
        while (kind := self.peek()) not in ("", "close"):
            sign = -1 if kind == "over" else 1
            if kind in ("over", "times"):
                self.place += 1
            elif divided:
                raise refuse(self.text, "is ambiguous after the slash: use brackets or *, as in W/(m^2*K)")
            divided = divided or sign == -1
            more, number, names = self.term(depth)
            parts += [(part, power * sign) for part, power in more]
            factor, named = factor * number**sign, named or names
            if not 1 / MAX_FACTOR <= factor <= MAX_FACTOR:
                raise refuse(self.text, "holds a number out of bounds")
        return parts, factor, named

    def term(self, depth: int) -> tuple[list[tuple[Measure, Fraction]], Fraction, bool]:
        if (number := self.take("number")) is not None:
            value = Fraction(exact_decimal(number)) if len(number) <= MAX_NAME else Fraction(0)
            if not 1 / MAX_FACTOR <= value <= MAX_FACTOR:
                raise refuse(self.text, "holds a number out of bounds")
            power = self.exponent()
            if power.denominator != 1 or not 1 / MAX_FACTOR <= (value := value ** int(power)) <= MAX_FACTOR:
                raise refuse(self.text, "holds a number out of bounds")
            return [], Fraction(value), False
        if self.take("open") is not None:
            parts, factor, named = self.product(depth + 1)
            if self.take("close") is None:
                raise refuse(self.text, "has an open bracket")
            power = self.exponent()
            if power == 1:
                return parts, factor, named
            return [(product(parts, factor), power)], Fraction(1), named
        if (name := self.take("name")) is not None:
            return self.named(name), Fraction(1), True
        raise refuse(self.text, "misses a name or a number" if not self.peek() else "has an operator out of place")

    def named(self, name: str) -> list[tuple[Measure, Fraction]]:
        if name in _WORDS and self.peek() == "name":
            word = self.take("name") or ""
            return [(self.atom(word), Fraction(_WORDS[name]))]
        found = self.lookup(name)
        if found is None and (digit := _DIGIT.match(name)):  # m2, cm3: how sensors write areas and volumes
            found = self.lookup(digit[1])
            if found is not None:
                return [(found, Fraction(int(digit[2])))]
        return [(self.atom(name) if found is None else found, self.exponent())]

    def atom(self, name: str) -> Measure:
        found = self.lookup(name)
        if found is None:
            raise UnknownUnit(f"no unit {name!r}", unit=self.text, name=name, near=())
        return found

    def exponent(self) -> Fraction:
        if self.glued_minus():
            self.place += 1
            return self.bounded("-" + (self.take("number") or ""))
        if self.take("power") is None:
            return Fraction(1)
        bracket = self.take("open") is not None
        sign = "-" if self.take("minus") else ""
        digits = self.take("number")
        if digits is None:
            raise refuse(self.text, "has an exponent that is not a number")
        if bracket and self.take("over"):
            digits += "/" + (self.take("number") or "0")
        if bracket and self.take("close") is None:
            raise refuse(self.text, "has an open bracket in an exponent")
        if self.peek() == "power":
            raise refuse(self.text, "has an exponent on an exponent")
        return self.bounded(sign + digits)

    def glued_minus(self) -> bool:
        """``s-1``, as climate data writes it: a minus right behind a name, a number right behind the minus."""
        pair = self.tokens[self.place : self.place + 2]
        kinds = [token.kind for token in pair if not token.spaced]
        return kinds == ["minus", "number"] and self.tokens[self.place - 1].kind == "name"

    def bounded(self, digits: str) -> Fraction:
        if len(digits) > 8 or digits.endswith("/0") or "e" in digits.lower():
            raise refuse(self.text, f"has an exponent beyond ±{MAX_POWER}")
        power = Fraction(digits) if "/" not in digits or "." not in digits else Fraction(MAX_POWER + 1)
        if abs(power) > MAX_POWER or power.denominator > MAX_ROOT or power == 0:
            raise refuse(self.text, f"has an exponent that is zero, beyond ±{MAX_POWER} or no simple fraction")
        return power
