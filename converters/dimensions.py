"""Dimensions: what may be compared with what.

Rule 1  A dimension is the exponents of the seven SI base units plus a tag. The tag keeps apart what exponents alone
        would mix: torque and energy, rpm and hertz, becquerel and hertz, a temperature and a temperature difference.
Rule 2  Between resolved units ``comparable`` is an equivalence: equal exponents and equal tags.
Rule 3  The result of arithmetic is *derived*: nobody knows whether force times length was meant as torque or as
        energy, so it compares with every tag of its exponents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

Exponents: TypeAlias = tuple[tuple[str, Fraction], ...]

BASES = ("kg", "m", "s", "A", "K", "mol", "cd")
DIFFERENCE = "difference"
TORQUE = "torque"

# What one unit of each mark looks like in base units, and the text that names it. A mark is a dimension in all but
# the exponents: it multiplies and divides with them, so that kvar*h keeps its distance from kW*h.
_MARKED: dict[str, tuple[str, Mapping[str, int]]] = {
    "absorbed": ("Gy", {"m": 2, "s": -2}),
    "acidity": ("pH", {}),
    "angular": ("rad", {}),
    "apparent": ("VA", {"kg": 1, "m": 2, "s": -3}),
    "bel": ("bel", {}),
    "decay": ("Bq", {"s": -1}),
    "equivalent": ("Sv", {"m": 2, "s": -2}),
    "information": ("bit", {}),
    "reactive": ("var", {"kg": 1, "m": 2, "s": -3}),
    "salinity": ("PSU", {}),
    "turbidity": ("NTU", {}),
    "weighted": ("dBA", {}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Dimension:
    """Base exponents plus a tag. ``key`` is equal exactly where dimensions are: filters hash and sort by it.

    >>> from conceptpubsub.converters.units import resolve
    >>> resolve("N*m").dimension.comparable(resolve("J").dimension)
    False
    >>> (resolve("N").dimension * resolve("m").dimension).comparable(resolve("J").dimension)
    True
    """

    exponents: Exponents = ()
    tag: str = ""
    derived: bool = False
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        powers = "".join(f"{base}{e}" for base, e in self.exponents)
        object.__setattr__(self, "key", f"{powers}|{self.tag}|" if self.derived else f"{powers}|{self.tag}")

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Dimension) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def comparable(self, other: Dimension) -> bool:
        """Whether values of the two may be compared."""
        if self is other:
            return True
        if self.exponents != other.exponents:
            return False
        return self.derived or other.derived or self.tag == other.tag

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(_sum(self.exponents, other.exponents, 1), "", True)

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(_sum(self.exponents, other.exponents, -1), "", True)

    def __pow__(self, power: int) -> Dimension:
        return Dimension(tuple((base, e * power) for base, e in self.exponents if power), "", True)

    @property
    def base_unit(self) -> str:
        """Text of the coherent unit: it resolves to this dimension with factor 1 and offset 0."""
        return _base_unit(self.exponents, self.tag)

    def __str__(self) -> str:
        return f"{self.base_unit} ({self.tag})" if self.tag else self.base_unit


NUMBER = Dimension()


def exponents(of: Mapping[str, Fraction | int]) -> Exponents:
    """The ordered exponents, without zeros."""
    return tuple((base, Fraction(of[base])) for base in BASES if of.get(base))


def tag_of(marks: Mapping[str, Fraction | int]) -> str:
    """The tag that a set of marks makes: ``angular``, ``angular^2``, ``decay reactive^-1``."""
    return " ".join(name if e == 1 else f"{name}^{e}" for name, e in sorted(marks.items()) if e)


def marks_of(tag: str) -> dict[str, Fraction]:
    """The marks that a tag was made of."""
    found: dict[str, Fraction] = {}
    for part in tag.split():
        name, _, power = part.partition("^")
        found[name] = Fraction(power or 1)
    return found


def _sum(left: Exponents, right: Exponents, sign: int) -> Exponents:
    total = dict(left)
    for base, e in right:
        total[base] = total.get(base, Fraction(0)) + sign * e
    return exponents(total)


@lru_cache(maxsize=4096)
def _base_unit(of: Exponents, tag: str) -> str:
    if tag == DIFFERENCE:
        return "delta_degC"
    if tag == TORQUE:
        return "N*m"
    rest = dict(of)
    parts: list[tuple[str, Fraction]] = []
    for mark, power in marks_of(tag).items():
        name, inside = _MARKED[mark]
        parts.append((name, power))
        for base, e in inside.items():
            rest[base] = rest.get(base, Fraction(0)) - e * power
    parts += list(exponents(rest))
    return _product(parts)


def _product(parts: Iterable[tuple[str, Fraction]]) -> str:
    def raised(name: str, e: Fraction) -> str:
        if e == 1:
            return name
        return f"{name}^{e}" if e.denominator == 1 else f"{name}^({e})"

    listed = list(parts)
    above = [raised(name, e) for name, e in listed if e > 0]
    below = [raised(name, -e) for name, e in listed if e < 0]
    return "/".join(["*".join(above) or "1", *below])
