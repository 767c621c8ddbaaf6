"""Codes: every value an event may hold as a small number, so that a kernel compares numbers only.

Rule 1  A *space* is what is ordered among itself: numbers, text, instants, quantities of one dimension, money of one
        currency, Booleans, truth values. Each constant of a space has an even *label*, in the order of the constants.
Rule 2  The code of a value is the label of the constant it equals, else one more than the label of the constant below
        it, else 1. Code 0 is no value of this space at all: missing, or of another type.
Rule 3  A test is a run of codes on the circle of 2**32: a code passes when ``(code - low) % 2**32 <= span``.
Rule 4  A new constant gets a label between its neighbours'. Where none is left there must be a new codebook, in which
        all constants keep their numbers and get new labels. Within a codebook no label ever changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.converters import Dimension

MISSING: Final = 0
BELOW_ALL: Final = 1
TOP: Final = 0xFFFF_FFFF
MAX_AXIS: Final = 1 << 26
_LAST_LABEL: Final = 0xFFFF_FFF0
_MOST_LATE: Final = 512
CONSTANT_BITS: Final = 32
OP_BITS: Final = 4

# Tests. Those with a 0 in their name hold where there is no value of the space, too: NOT under ``default``.
EQ, LT, LE, GT, GE, NE0, LT0, LE0, GT0, GE0, ANY, NONE = range(12)
OPS: Final = {"=": EQ, "<": LT, "<=": LE, ">": GT, ">=": GE}
COMPLEMENT: Final = {EQ: NE0, LT: GE0, LE: GT0, GT: LE0, GE: LT0, ANY: NONE, NONE: ANY}
"""The test that holds for all other codes."""

Kind: TypeAlias = tuple[str, Hashable]
"""What a space holds: its kind (number, text, bool, instant, quantity, money, concept, truth) and dimension, currency
or ontology."""
CONCEPT: Final = "concept"
TRUTH: Final[Kind] = ("truth", None)


def literal(axis: int, op: int, constant: int) -> int:
    """One test of one axis, as one number."""
    return axis << (CONSTANT_BITS + OP_BITS) | op << CONSTANT_BITS | constant


class Clock:
    """Moves on whenever anything comes that readers have to take in: columns, axes, constants, targets, lookups."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0


class _Run:
    """Constants in order, and the number of each."""

    __slots__ = ("numbers", "values")

    def __init__(self, pairs: Iterable[tuple[Any, int]] = ()) -> None:
        ordered = in_order(list(pairs))
        self.values = [value for value, _ in ordered]
        self.numbers = [number for _, number in ordered]

    def pairs(self) -> Iterable[tuple[Any, int]]:
        """The constants in order, each with its number."""
        return zip(self.values, self.numbers, strict=True)


def in_order(pairs: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """Constants of one space in order, each with its number. Rationals are compared as floats where that suffices."""
    if not any(type(value) is Fraction for value, _ in pairs):
        return sorted(pairs, key=itemgetter(0))
    try:
        near = [float(value) for value, _ in pairs]
    except OverflowError:
        return sorted(pairs, key=itemgetter(0))
    places = sorted(range(len(pairs)), key=near.__getitem__)  # a greater rational never has a smaller float
    made: list[tuple[Any, int]] = []
    for _, alike in groupby(places, near.__getitem__):
        equal = [pairs[place] for place in alike]
        made += equal if len(equal) == 1 else sorted(equal, key=itemgetter(0))
    return made


class Space:
    """The constants of one space, each with its number and, through the codebook, its label.

    Late constants stand in a short run of their own until there are enough of them to merge, so that a new one among a
    hundred thousand costs no more than one among a hundred.
    """

    __slots__ = ("_late", "_main", "added", "book", "dimension", "ids", "kind", "memo")

    def __init__(self, kind: Kind, book: Codebook, dimension: Dimension | None) -> None:
        self.kind = kind
        self.dimension = dimension
        self.book = book
        self.ids: dict[Any, int] = {}
        """The number of each constant. Events look theirs up here first."""
        self._main = _Run()
        self._late = _Run()
        self.added: list[Any] = []
        """The constants in the order they came: who has seen n of them asks for the rest."""
        self.memo: dict[Any, int] = {}
        """Codes of values that are no constants; replaced whenever a constant comes."""

    def insert(self, value: Any, number: int) -> None:
        """Take a new constant. Raises `Crowded`, with nothing changed, where there is no label for it."""
        low, high = self._neighbours(value)
        step = (high - low) // 2
        if self.ids and high == _LAST_LABEL:
            step = min(step, self._stride())
        elif self.ids and low == 0:
            step = high - low - min(step, self._stride())
        label = (low + step) & ~1
        if not low + 1 < label < high - 1:
            raise Crowded
        self.book.set_label(number, label)
        late = self._late
        place = bisect_left(late.values, value)
        late.values.insert(place, value)
        late.numbers.insert(place, number)
        self.added.append(value)
        self.ids[value] = number
        self.memo = {}
        if len(late.values) > _MOST_LATE:
            self._main, self._late = _Run([*self._main.pairs(), *late.pairs()]), _Run()

    def _neighbours(self, value: Any) -> tuple[int, int]:
        """The labels at or below a value, and above it."""
        array, low, high = self.book.labels, 0, _LAST_LABEL
        for run in (self._main, self._late):
            place = bisect_right(run.values, value)
            if place:
                low = max(low, int(array[run.numbers[place - 1]]))
            if place < len(run.numbers):
                high = min(high, int(array[run.numbers[place]]))
        return low, high

    def _stride(self) -> int:
        """How far apart constants are placed at the ends, where they often come one above the other."""
        return max(4, (1 << 31) // (len(self.ids) + 16))

    def fill(self, ids: dict[Any, int]) -> None:
        """Take all constants at once and label them evenly, with room between and at both ends."""
        self.ids = ids
        self.added = list(ids)
        self._main = _Run(ids.items())
        stride = (1 << 31) // (len(ids) + 1)
        places = (1 << 30) + stride * np.arange(1, len(ids) + 1, dtype=np.int64)
        self.book.labels[self._main.numbers] = (places & ~1).astype(np.uint32)

    def code(self, value: Any) -> int:
        """The code of an exact value of this space."""
        low, _ = self._neighbours(value)
        if value in self.ids:
            return low
        return low + 1 if low else BELOW_ALL

    def since(self, seen: int) -> list[tuple[Any, int]]:
        """The constants that came after the first so many, in order, each with its label."""
        if not seen:
            added, numbers = list(self.ids), list(self.ids.values())
        else:
            added = self.added[seen:]
            numbers = [self.ids[value] for value in added]
        labels = self.book.labels[np.array(numbers, np.int64)]
        order = np.argsort(labels)  # labels have the order of the constants, and are compared sooner
        return [(added[place], label) for place, label in zip(order.tolist(), labels[order].tolist(), strict=True)]


class Crowded(Exception):
    """No label is left between two neighbours: there must be a new codebook."""


class NewConstant(NamedTuple):
    """A constant that waits for the next codebook."""

    space: int
    value: Any
    number: int


class Codebook:
    """All spaces and the label of every constant, by its number. Grows; what is in it never changes."""

    def __init__(self, clock: Clock, capacity: int = 64) -> None:
        self.clock = clock
        self.spaces: list[Space] = []
        self.revision = 0
        """Raised whenever a constant comes."""
        self.labels: NDArray[np.uint32] = np.zeros(capacity, np.uint32)

    def add_space(self, kind: Kind, dimension: Dimension | None = None) -> None:
        """One more space, without constants."""
        self.spaces.append(Space(kind, self, dimension))

    def set_label(self, number: int, label: int) -> None:
        """Label a new constant. The array is replaced when it is full; old ones stay as they are."""
        if number >= len(self.labels):
            self.labels = np.concatenate([self.labels, np.zeros(number, np.uint32)])
        self.labels[number] = label
        self.revision += 1
        self.clock.now += 1

    def successor(self, fresh: Iterable[NewConstant], count: int) -> Codebook:
        """A codebook of the same constants and some new ones, all labelled anew; ``count`` of them in all."""
        made = Codebook(self.clock, max(64, count + count // 4))
        ids = [dict(space.ids) for space in self.spaces]
        for space, value, number in fresh:
            ids[space][value] = number
        for old, known in zip(self.spaces, ids, strict=True):
            made.add_space(old.kind, old.dimension)
            made.spaces[-1].fill(known)
        return made

    def nbytes(self) -> int:
        """Roughly the memory it holds: constants with their places in dictionaries and lists."""
        return self.labels.nbytes + sum(150 * len(space.ids) for space in self.spaces)
