"""The vocabulary of a matcher: what its filters speak of, as numbers.

A *world* is an ontology with converters: what gives names and values their meaning. A *column* is a reference in a
world; an event binds it to one of its attributes, to several in turn, or to none. A column has an *axis* for each
space its constants belong to, one for each predicate, and one that tells whether it is bound: its number is the
column's own. The vocabulary only grows, until the matcher is built anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.converters import Dimension, Money, Quantity
from conceptpubsub.errors import LimitExceeded
from conceptpubsub.filters.events import PARTS
from conceptpubsub.filters.normal import Lit, Ref, Term, literal, term_refs
from conceptpubsub.matching.codes import CONCEPT, MAX_AXIS, TRUTH, Clock, Codebook, Crowded, Kind, NewConstant
from conceptpubsub.matching.hierarchy import row_of
from conceptpubsub.matching.predicates import Predicate
from conceptpubsub.model import Exact, Instant
from conceptpubsub.model.values import simplest

if TYPE_CHECKING:
    from conceptpubsub.filters.scope import Scope

NO_CONSTANT = -1


def kind_of(lit: Lit) -> Kind:
    """The space that a constant belongs to."""
    return (lit.kind, lit.of.key if isinstance(lit.of, Dimension) else lit.of)


def plain_value(lit: Lit) -> Any:
    """A constant as its space holds it: instants as nanoseconds."""
    return lit.value.ns if lit.kind == "instant" else lit.value


class World:
    """An ontology and converters, with one scope that stands for all of theirs."""

    def __init__(self, number: int, scope: Scope) -> None:
        self.number = number
        self.scope = scope
        self.by_path: dict[tuple[str, ...], list[Column]] = {}
        self.by_last: dict[int, list[Column]] = {}
        """With an ontology, the columns by the index of their last step."""
        self.entered: dict[Any, list[Column]] = {}
        """The columns of dotted paths, by the name or index of their first step."""
        self.of_event: list[Column] = []
        self.computed: list[Column] = []

    @property
    def ontology(self) -> Any:
        """The ontology, or None where names are plain."""
        return self.scope.ontology

    def add(self, column: Column) -> None:
        """Take a new column."""
        ref = column.ref
        if ref is None:
            self.computed.append(column)
        elif ref.event:
            self.of_event.append(column)
        else:
            self.by_path.setdefault(ref.path, []).append(column)
            if ref.steps:
                self.by_last.setdefault(ref.steps[-1].index, []).append(column)
            if len(ref.path) > 1:
                self.entered.setdefault(ref.steps[0].index if ref.steps else ref.path[0], []).append(column)

    def columns(self, path: tuple[str, ...]) -> Iterator[tuple[Column, Any]]:
        """The columns that an attribute under a path may be bound to, each with the concept of its last key."""
        onto = self.ontology
        if onto is None:
            for column in self.by_path.get(path, ()):
                yield column, None
            return
        keys = [onto.find(key) for key in path]
        if None in keys or path[0] in PARTS:
            return
        for index in keys[-1].lineage:
            for column in self.by_last.get(index, ()):
                steps = column.ref.steps if column.ref is not None else ()
                if len(steps) == len(keys) and all(key.is_a(step) for key, step in zip(keys, steps, strict=True)):
                    yield column, keys[-1]

    def leads_inside(self, path: tuple[str, ...]) -> bool:
        """Whether some column lies below a path, so that a complex value there must be entered."""
        onto = self.ontology
        if onto is None:
            columns = self.entered.get(path[0], ())
            return any(column.ref is not None and column.ref.path[: len(path)] == path for column in columns)
        keys = [onto.find(key) for key in path]
        if None in keys:
            return False
        for index in keys[0].lineage:
            for column in self.entered.get(index, ()):
                steps = column.ref.steps if column.ref is not None else ()
                if len(steps) > len(keys) and all(key.is_a(step) for key, step in zip(keys, steps, strict=False)):
                    return True
        return False


class Column:
    """A reference in a world, or a term computed from several."""

    __slots__ = ("axes", "default", "number", "parts", "predicates", "ref", "term", "world")

    def __init__(self, number: int, world: World, ref: Ref | None, term: Term | None, default: Any) -> None:
        self.number = number
        self.world = world
        self.ref = ref
        self.term = term
        self.default = default
        self.axes: dict[int, int] = {}
        """The axis of each space."""
        self.predicates: dict[str, Predicate] = {}
        self.parts: tuple[Column, ...] = ()
        """Of a computed column, the columns it is computed from."""

    @property
    def shown(self) -> str:
        """What an explanation calls it."""
        return self.ref.shown if self.ref is not None else self.term.key if self.term is not None else ""


class Vocabulary:
    """Worlds, columns, axes and constants. Constants get their labels from the codebook."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.book = Codebook(self.clock)
        self.worlds: list[World] = []
        self.by_number: dict[int, Column] = {}
        self.axis_count = 1  # axis 0 is none
        self.constant_count = 0
        self.column_of: NDArray[np.uint32] = np.zeros(64, np.uint32)
        self.base_of: NDArray[np.int32] = np.full(64, NO_CONSTANT, np.int32)
        """The constant whose label an axis has where the column is unbound, if there is a default; else none."""
        self.is_truth: NDArray[np.bool_] = np.zeros(64, np.bool_)
        """Which axes hold one of two values: Booleans, and whether a predicate holds."""
        self.revision = 0
        """Raised whenever a column or an axis comes."""
        self.waiting: list[NewConstant] = []
        self._waiting_ids: dict[tuple[int, Any], int] = {}
        self._spaces: dict[Kind, int] = {}
        self._worlds: dict[Any, World] = {}
        self.converters: tuple[Any, ...] = ()
        """Those of all worlds: what they convert may change under us."""
        self._columns: dict[tuple[int, str, Any], Column] = {}
        self._by_scope: dict[int, tuple[Scope, World, dict[str, Column]]] = {}
        self.bulk = False
        truth = self.space(TRUTH)
        self.false, self.true = self.constant(truth, False), self.constant(truth, True)

    # ------------------------------------------------------------------ spaces and constants

    def space(self, kind: Kind, dimension: Dimension | None = None) -> int:
        """The number of a space."""
        found = self._spaces.get(kind)
        if found is None:
            found = self._spaces[kind] = len(self.book.spaces)
            self.book.add_space(kind, dimension)
        return found

    def space_of(self, lit: Lit) -> int:
        """The space of a constant."""
        return self.space(kind_of(lit), lit.of if isinstance(lit.of, Dimension) else None)

    def constant(self, space: int, value: Any) -> int:
        """The number of a constant. In bulk, or where labels are crowded, a new one waits for the next codebook."""
        held = self.book.spaces[space]
        found = held.ids.get(value)
        if found is not None:
            return found
        found = self._waiting_ids.get((space, value))
        if found is not None:
            return found
        number = self.constant_count
        self.constant_count += 1
        if not self.bulk:
            try:
                held.insert(value, number)
            except Crowded:
                self.bulk = True
        if self.bulk:
            self.waiting.append(NewConstant(space, value, number))
            self._waiting_ids[space, value] = number
        return number

    def settle(self) -> None:
        """Take what waits into a new codebook."""
        self.book = self.book.successor(self.waiting, self.constant_count)
        self.waiting, self._waiting_ids = [], {}

    # ------------------------------------------------------------------ columns and axes

    def columns_of(self, scope: Scope) -> dict[str, Column]:
        """The columns of a scope by the key of their reference; what is not in there yet, `column` makes."""
        found = self._by_scope.get(id(scope))
        if found is None:
            found = self._by_scope[id(scope)] = (scope, self._world(scope), {})
        return found[2]

    def _world(self, scope: Scope) -> World:
        onto, conv = scope.ontology, scope.converters
        key = (None if onto is None else onto.digest, conv.digest if conv.revision == 0 else id(conv))
        found = self._worlds.get(key)
        if found is None:
            found = self._worlds[key] = World(len(self.worlds), scope)
            self.worlds.append(found)
            self.converters += (conv,)
        return found

    def column(self, scope: Scope, ref: Ref) -> Column:
        """The column of a reference."""
        known = self.columns_of(scope)
        found = known.get(ref.key)
        if found is None:
            world = self._by_scope[id(scope)][1]
            default = scope.defaults.get(ref.key)
            declared = None if ref.steps or ref.event else ref.type
            key = (world.number, ref.key, (declared, None if default is None else literal(default).key))
            found = known[ref.key] = self._columns.get(key) or self._new_column(
                key, Column(0, world, ref, None, default)
            )
        return found

    def computed(self, scope: Scope, term: Term) -> Column:
        """The column of a term over several references, or arithmetic over one."""
        known = self.columns_of(scope)
        found = known.get(term.key)
        if found is None:
            world = self._by_scope[id(scope)][1]
            parts = tuple({ref.key: self.column(scope, ref) for ref in term_refs(term)}.values())
            key = (world.number, term.key, tuple(part.number for part in parts))
            made = self._columns.get(key)
            if made is None:
                made = self._new_column(key, Column(0, world, None, term, None))
                made.parts = parts
            found = known[term.key] = made
        return found

    def _new_column(self, key: tuple[int, str, Any], column: Column) -> Column:
        column.number = self._new_axis(self.axis_count)
        self._columns[key] = column
        self.by_number[column.number] = column
        column.world.add(column)
        return column

    def axis(self, column: Column, space: int) -> int:
        """The axis of a column for values of one space."""
        found = column.axes.get(space)
        if found is None:
            base = NO_CONSTANT if column.default is None else self._default_in(space, literal(column.default))
            two_valued = self.book.spaces[space].kind[0] == "bool"
            found = column.axes[space] = self._new_axis(column.number, base, two_valued)
        return found

    def _default_in(self, space: int, default: Lit) -> int:
        """The constant that a default is in a space, if it is of that space."""
        held = self.book.spaces[space]
        fits = held.kind == kind_of(default)
        if held.dimension is not None and isinstance(default.of, Dimension):
            fits = held.dimension.comparable(default.of)
        return self.constant(space, plain_value(default)) if fits else NO_CONSTANT

    def concept_axis(self, column: Column) -> tuple[int, int]:
        """The axis of a column for concepts in their row, and its space."""
        space = self.space((CONCEPT, column.world.ontology.digest))
        found = column.axes.get(space)
        if found is None:
            place = row_of(column.world.ontology).place(column.default) if isinstance(column.default, str) else None
            base = NO_CONSTANT if place is None else self.constant(space, place)
            found = column.axes[space] = self._new_axis(column.number, base)
        return found, space

    def predicate_axis(self, column: Column, predicate: Predicate) -> int:
        """The axis that tells whether a predicate holds for the value of a column."""
        found = column.predicates.get(predicate.key)
        if found is None:
            base = NO_CONSTANT
            if column.default is not None:
                holds = predicate.test(column.default, None)
                base = NO_CONSTANT if holds is None else self.true if holds else self.false
            predicate.axis = self._new_axis(column.number, base, True)
            found = column.predicates[predicate.key] = predicate
        return found.axis

    def _new_axis(self, column: int, base: int = NO_CONSTANT, two_valued: bool = False) -> int:
        number = self.axis_count
        if number >= MAX_AXIS:
            raise LimitExceeded(f"more than {MAX_AXIS:,} axes: too many different predicates in one matcher")
        if number == len(self.column_of):
            self.column_of = np.concatenate([self.column_of, np.zeros(number, np.uint32)])
            self.base_of = np.concatenate([self.base_of, np.full(number, NO_CONSTANT, np.int32)])
            self.is_truth = np.concatenate([self.is_truth, np.zeros(number, np.bool_)])
        self.column_of[number] = column
        self.base_of[number] = base
        self.is_truth[number] = two_valued
        self.axis_count = number + 1
        self.revision += 1
        self.clock.now += 1
        return number

    def base_codes(self, book: Codebook | None = None) -> NDArray[np.uint32]:
        """The code of each axis where its column is unbound."""
        base = self.base_of[: self.axis_count]
        codes = (book or self.book).labels[np.maximum(base, 0)].astype(np.uint32)
        codes[base == NO_CONSTANT] = 0
        return codes

    # ------------------------------------------------------------------ values

    def effects(
        self, book: Codebook, column: Column, value: Any, concept: str | None, rate: Any
    ) -> Iterator[tuple[int, int]]:
        """What a canonical value does to the axes of a column: (axis, code), for all that are not 0 or have a base."""
        spaces, base_of = book.spaces, self.base_of
        for number, axis in list(column.axes.items()):
            if number >= len(spaces):  # it came after this codebook
                continue
            space = spaces[number]
            if space.kind[0] == CONCEPT:
                code = _concept_code(space, column, value if concept is None else concept)
            else:
                code = code_in(space, value, rate)
            if code or base_of[axis] != NO_CONSTANT:
                yield axis, code
        labels = book.labels
        for predicate in list(column.predicates.values()):
            holds = predicate.test(value, concept)
            code = 0 if holds is None else int(labels[self.true if holds else self.false])
            if code or base_of[predicate.axis] != NO_CONSTANT:
                yield predicate.axis, code


def code_in(space: Any, value: Any, rate: Any) -> int:
    """The code of a canonical value in a space; 0 where it is none of that space."""
    kind, of = space.kind
    if kind == "number":
        fits = hasattr(value, "denominator") and not isinstance(value, bool)
        return int(space.code(value)) if fits else 0
    if kind == "text":
        return int(space.code(value)) if isinstance(value, str) else 0
    if kind == "bool":
        return int(space.code(value)) if isinstance(value, bool) else 0
    if kind == "instant":
        return int(space.code(value.ns)) if isinstance(value, Instant) else 0
    if kind == "quantity":
        fits = isinstance(value, Quantity) and space.dimension.comparable(value.dimension)
        return int(space.code(value.value)) if fits else 0
    if isinstance(value, Money):
        factor = rate(of, value.currency)
        return 0 if factor is None else int(space.code(_divided(value.value, factor)))
    return 0


def _concept_code(space: Any, column: Column, held: Any) -> int:
    """The code of the concept that a value names, or that a complex object is of."""
    place = row_of(column.world.ontology).place(held) if isinstance(held, str) else None
    return 0 if place is None else int(space.code(place))


def _divided(value: Exact, factor: Exact) -> Exact:
    return value if factor == 1 else simplest(Fraction(value) / factor)
