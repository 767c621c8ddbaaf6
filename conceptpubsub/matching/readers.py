"""How the value of an attribute is turned into words, worked out once for each name, context and Python type.

Where a value decides no more than its place among constants, a reader is a dictionary's ``get`` or a lookup, and an
event pays for one call. Everything else (predicates, defaults, money, code lists, paths) is read through the canonical
value, exactly as the evaluator does, and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from conceptpubsub.converters.plans import Plan
from conceptpubsub.matching.codes import CONCEPT, Clock, Codebook, Space
from conceptpubsub.matching.cubes import Growing
from conceptpubsub.matching.event_kernels import CODE, CONSTANT, GROUP, KIND_SHIFT, NUMBER, TARGET_SHIFT
from conceptpubsub.matching.lookups import LookupTable, Reading
from conceptpubsub.matching.thresholds import PLAIN, Affine
from conceptpubsub.matching.vocabulary import NO_CONSTANT, Column, Vocabulary
from conceptpubsub.model import Context

MAX_LOOKUPS: Final = 4096


Reader: TypeAlias = tuple[Callable[[Any], Any] | None, int]
"""(get, base): the word is ``base``, and beside it stands the number that ``get`` makes of the value; without ``get``,
the value itself. A negative base: ``get`` gives all the words there are. No ``get`` and base 0: there are none.

A plain tuple: the hot loop unpacks one for each attribute, which takes four times as long for a named one."""
NOTHING: Final[Reader] = (None, 0)


def word(kind: int, target: int, payload: int = 0) -> int:
    """One word of an event."""
    return kind << KIND_SHIFT | target << TARGET_SHIFT | payload


class Targets:
    """Lists of axes, numbered."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ends = Growing(np.uint32)
        self.ends.extend((0,))
        self.axes = Growing(np.uint32)
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, axes: tuple[int, ...]) -> int:
        """The number of a list of axes."""
        found = self._numbers.get(axes)
        if found is None:
            self.axes.extend(axes)
            self.ends.extend((self.axes.count,))
            found = self._numbers[axes] = len(self._numbers)
            self._clock.now += 1
        return found


class Binding(NamedTuple):
    """A column that an attribute may be bound to, and how its values are read."""

    column: Column
    concept: Any
    plan: Plan


class Readers:
    """Makes readers for one codebook."""

    def __init__(self, vocabulary: Vocabulary, book: Codebook) -> None:
        self.vocabulary = vocabulary
        self.book = book
        self.targets = Targets(vocabulary.clock)
        self.lookups = LookupTable(book)

    # ------------------------------------------------------------------ names

    def columns(self, path: tuple[str, ...]) -> Iterator[tuple[Column, Any]]:
        """The columns that an attribute under a path may be bound to, each with the concept of its last key."""
        for world in self.vocabulary.worlds:
            yield from world.columns(path)

    def leads_inside(self, path: tuple[str, ...]) -> bool:
        """Whether some column lies below a path, so that a complex value there must be entered."""
        return any(world.leads_inside(path) for world in self.vocabulary.worlds)

    def bindings(self, path: tuple[str, ...], context: Context) -> list[Binding]:
        """The columns of a path, with the plans their values are read by in a context."""
        return [
            Binding(column, concept, column.world.scope.converters.plan(concept, context))
            for column, concept in self.columns(path)
        ]

    def spaces(self, column: Column) -> Iterator[tuple[int, Space]]:
        """The spaces a column has an axis for; those that came after this codebook are none of its business."""
        spaces = self.book.spaces
        return ((number, spaces[number]) for number in list(column.axes) if number < len(spaces))

    def kinds(self, column: Column) -> set[str]:
        """What kinds of values a column is compared with."""
        return {space.kind[0] for _, space in self.spaces(column)}

    # ------------------------------------------------------------------ readers

    def simple(self, bindings: list[Binding]) -> dict[type, Reader]:
        """Readers for the plain types; `NOTHING` for a type whose values count as missing in every column.

        A type that is not in there must be read through the canonical value.
        """
        made: dict[type, Reader] = {}
        for kind in (str, bool, float, int):
            common = self.common(bindings, kind)
            if common == ():
                made[kind] = NOTHING
            elif common:
                reader = self._reader(kind, common[0], self.targets.number(common[1]))
                if reader is not None:
                    made[kind] = reader
        return made

    def common(self, bindings: list[Binding], kind: type) -> tuple[Reading, tuple[int, ...]] | tuple[()] | None:
        """The one reading of a type in all columns, and their axes; () where it is missing in all; None if neither."""
        parts = [self._part(binding, kind) for binding in bindings]
        if any(part is None for part in parts):
            return None
        used = [part for part in parts if part]
        if not used:
            return ()
        if len({part[0] for part in used}) > 1:
            return None
        return used[0][0], tuple(part[1] for part in used)

    def _reader(self, kind: type, reading: Reading, target: int) -> Reader | None:
        space = self.book.spaces[reading.space]
        if kind in (str, bool):
            return (space.ids.get, word(CONSTANT, target))
        if kind is int:
            if reading == Reading(reading.space):
                return (space.ids.get, word(CONSTANT, target))
            return None
        if len(self.lookups.lookups) >= MAX_LOOKUPS:
            return None
        return (None, word(NUMBER, target, self.lookups.number(reading)))

    def _part(self, binding: Binding, kind: type) -> tuple[Reading, int] | tuple[()] | None:
        """How a column reads values of a type: (reading, axis); () where they are missing; None where it takes more."""
        column, concept, plan = binding
        if plan.problem is not None:
            return ()
        if plan.moves or column.predicates or self._has_base(column) or CONCEPT in self.kinds(column):
            return None
        declared = plan.value_type
        typed = None if concept is not None or column.ref is None else column.ref.type
        if kind is str:
            if declared not in (None, "text") or typed not in (None, "text"):
                return None if declared in ("instant", "concept") or typed == "instant" else ()
            if concept is not None and concept.values is not None:
                return None
            return self._axis(column, Reading(self.vocabulary.space(("text", None))))
        if kind is bool:
            if declared not in (None, "bool") or typed not in (None, "bool"):
                return ()
            return self._axis(column, Reading(self.vocabulary.space(("bool", None))))
        if declared not in (None, "real", "int") or typed not in (None, "number", "int"):
            return ()
        return self._number(column, plan, typed)

    def _number(self, column: Column, plan: Plan, typed: str | None) -> tuple[Reading, int] | tuple[()] | None:
        if plan.currency is not None or (plan.whole is None and plan.unit is not None):
            return None
        if plan.dimension is None:
            spaces = [n for n, space in self.spaces(column) if space.kind[0] == "number"]
        else:
            if typed == "int":
                return ()
            spaces = [
                n for n, space in self.spaces(column)
                if space.dimension is not None and space.dimension.comparable(plan.dimension)
            ]  # fmt: skip
        affine = Affine(*plan.whole) if plan.whole is not None else PLAIN
        if len(spaces) > 1 or affine.times <= 0:
            return None
        low = high = None
        whole = typed == "int"
        if plan.checked:
            unit = plan.canonical_unit
            if plan.value_type == "int":
                if unit is not None or affine != PLAIN:
                    return None
                whole = True
            ends = (plan.concept.minimum, plan.concept.maximum)
            low, high = [end if end is None or unit is None else unit.to_base(end) for end in ends]
            if unit is not None and unit.log is not None:
                return None
        elif whole and affine != PLAIN:
            return None
        number = self.vocabulary.space(("number", None))
        reading = Reading(spaces[0] if spaces else number, affine, low, high, whole)
        return (reading, column.axes[spaces[0]]) if spaces else (reading, column.number)

    def _axis(self, column: Column, reading: Reading) -> tuple[Reading, int]:
        return reading, column.axes.get(reading.space, column.number)

    def _has_base(self, column: Column) -> bool:
        base_of = self.vocabulary.base_of
        return column.default is not None and any(base_of[axis] != NO_CONSTANT for axis in list(column.axes.values()))

    # ------------------------------------------------------------------ words

    def group(self, column: Column, value: Any, concept: str | None, rate: Any) -> Iterator[int]:
        """The words for a canonical value of a column."""
        pairs = [
            axis << TARGET_SHIFT | code
            for axis, code in self.vocabulary.effects(self.book, column, value, concept, rate)
        ]
        if not pairs:
            yield word(CODE, self.targets.number((column.number,)), 1)
            return
        yield word(GROUP, 0, len(pairs))
        yield from pairs
