"""Canonical values: what evaluator, index, solver and archive all compute with.

Rule 1  A quantity is in the coherent SI unit of its dimension; money is in its own currency; a number is a rational.
Rule 2  A value outside its declared type is missing, and a ``Problem`` says why in one sentence.
Rule 3  Bad data never raises here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from conceptpubsub.converters.dimensions import Dimension
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.values import Exact, decimal_text


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in the coherent SI unit of its dimension.

    >>> from conceptpubsub.converters import Converters
    >>> str(Converters.default().canonical(None, 72, {"unit": "km/h"}))
    '20 m/s'
    """

    value: Exact
    dimension: Dimension

    def __str__(self) -> str:
        return f"{decimal_text(self.value)} {self.dimension.base_unit}"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in its own currency; a price per unit names the coherent unit too: ``EUR/kg``.

    >>> str(Money(Fraction(21, 2), "EUR"))
    '10.5 EUR'
    """

    value: Exact
    currency: str

    def __str__(self) -> str:
        return f"{decimal_text(self.value)} {self.currency}"


Canonical: TypeAlias = int | Fraction | str | bool | Instant | Quantity | Money


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a value counts as missing."""

    sentence: str
