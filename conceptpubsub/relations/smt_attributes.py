"""Attributes as variables: whether one is there, which sort of value it holds, and the value."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import z3

from conceptpubsub.converters import Dimension, Money, Quantity
from conceptpubsub.model import Instant
from conceptpubsub.model.values import simplest
from conceptpubsub.relations import domains, texts
from conceptpubsub.relations.domains import Domain
from conceptpubsub.relations.events import Named
from conceptpubsub.relations.intervals import ABOVE, BELOW, INTEGERS, Grid, Intervals
from conceptpubsub.relations.kinds import Kind
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.smt_cases import BOOL, CONCEPT, INSTANT, NUMBER, OBJECT, STRANGE, TEXT, Case, Cases, Sort
from conceptpubsub.relations.smt_logic import conj, implies, ordered
from conceptpubsub.relations.smt_session import Session
from conceptpubsub.relations.smt_survey import Survey
from conceptpubsub.relations.smt_texts import CellText, StringText, Text

_NANOSECONDS = 1_000_000_000


class Attribute:
    """One attribute in a formula."""

    def __init__(
        self, session: Session, name: str, kind: Kind, survey: Survey, refs: frozenset[str], by_domains: bool
    ) -> None:
        self.session = session
        self.name = name
        self.kind = kind
        self.survey = survey
        self.by_domains = by_domains
        self.refs = refs
        """The keys of the references that may be bound to it."""
        self.present = z3.Bool("p|" + name, session.context)
        self.sides: list[Any] = []
        self.text: Text | None = None
        self.strange: Any = None
        self.cases: Cases = self._cases()

    @property
    def exact(self) -> bool:
        """Whether a model says what the text is."""
        return self.text is None or self.text.exact

    # ---------------------------------------------------------------- making

    def _cases(self) -> Cases:
        made = list(self._sorts(self.kind.universe))
        if len(made) == 1:
            guards = [self.present]
        else:
            tag = z3.Int("s|" + self.name, self.session.context)
            self.sides.append(conj(tag >= 0, tag < len(made)))
            guards = [conj(self.present, tag == i) for i in range(len(made))]
        cases: list[Case] = []
        for guard, (sort, value, sides) in zip(guards, made, strict=True):
            cases.append(Case(guard, sort, value))
            self.sides += [implies(guard, side) for side in sides]
            if sort is STRANGE:
                self.strange = guard
        return tuple(cases)

    def _sorts(self, universe: Domain) -> Iterator[tuple[Sort, Any, list[Any]]]:
        number = universe.part(domains.NUMBER)
        if number:
            yield NUMBER, *self._number("n", number, self.kind.grid(domains.NUMBER))
        yield from self._quantities(universe)
        yield from self._money(universe)
        room = universe.part(domains.TEXT)
        if room != texts.NONE:
            self.text = self._text(room)
            yield TEXT, self.text, self.text.side
        if universe.part(domains.BOOL):
            yield BOOL, z3.Bool("b|" + self.name, self.session.context), []
        if universe.part(domains.INSTANT):
            ns = z3.Int("i|" + self.name, self.session.context)
            yield INSTANT, z3.ToReal(ns) / _NANOSECONDS, []
        if domains.CONCEPT in universe.parts:
            index = z3.Int("k|" + self.name, self.session.context)
            yield CONCEPT, index, [one_of(self.session, index, universe.parts[domains.CONCEPT])]
        if self.kind.concepts and domains.COMPLEX in universe.parts:
            index = z3.Int("o|" + self.name, self.session.context)
            yield OBJECT, index, [one_of(self.session, index, universe.parts[domains.COMPLEX])]
        elif not self.kind.concepts and universe.rest:
            yield OBJECT, z3.String("o|" + self.name, self.session.context), []

    def _number(self, letter: str, room: Intervals, grid: Grid | None) -> tuple[Any, list[Any]]:
        if grid is None:
            value: Any = z3.Real(f"{letter}|{self.name}", self.session.context)
        else:
            value = z3.Int(f"{letter}|{self.name}|grid", self.session.context)
            if grid != INTEGERS:
                value = z3.ToReal(value) * self.session.real(grid.step) + self.session.real(grid.phase)
        inside = self.inside(value, room)
        return value, [] if inside is None else [inside]

    def _quantities(self, universe: Domain) -> Iterator[tuple[Sort, Any, list[Any]]]:
        if self.kind.dimension is not None:
            name = domains.quantity_sort(self.kind.dimension.key)
            made = self._number("q", universe.part(name), self.kind.grid(name))
            yield Sort("quantity", self.kind.dimension), *made
        elif universe.rest or self._measured():
            value = z3.Real("q|" + self.name, self.session.context)
            for dimension in self.survey.dimensions:
                yield Sort("quantity", dimension), value, []
            if self.survey.products and universe.rest:
                yield STRANGE, value, []

    def _measured(self) -> bool:
        """Whether a plain number is compared with quantities after all."""
        return self.kind.bare and not self.kind.grids and not self.refs.isdisjoint(self.survey.measured)

    def _money(self, universe: Domain) -> Iterator[tuple[Sort, Any, list[Any]]]:
        room: Intervals = universe.part(domains.MONEY)
        if not room and not self._measured():
            return
        value = z3.Real("m|" + self.name, self.session.context)
        inside = self.inside(value, room) if room else None
        for price in self.survey.prices:
            yield Sort("money", (price, 1)), value, [] if inside is None else [inside]

    def _text(self, room: texts.Texts) -> Text:
        if not self.refs.isdisjoint(self.survey.crossed):
            return StringText(self.session, self.name, room)
        tests = dict.fromkeys(test for key, tests in self.survey.tests if key in self.refs for test in tests)
        return CellText(self.session, self.name, room, tuple(tests), self.by_domains)

    def inside(self, value: Any, room: Intervals) -> Any | None:
        """Whether a number lies in a union of intervals; None where all do."""
        parts: list[Any] = []
        for i in range(0, len(room), 2):
            low, high = room[i], room[i + 1]
            ends: list[Any] = []
            if low != BELOW:
                ends.append(ordered(">" if low[2] else ">=", value, self.session.number(low[1])))
            if high != ABOVE:
                ends.append(ordered("<=" if high[2] else "<", value, self.session.number(high[1])))
            if not ends:
                return None
            parts.append(self.session.all_of(ends))
        return self.session.any_of(parts)

    # ---------------------------------------------------------------- reading a model

    def read(self, model: Any, currency: str, rate: Fraction) -> Any:
        """The canonical value in a model, money in a currency of that rate; None where the attribute is missing."""
        if not z3.is_true(model.eval(self.present, model_completion=True)):
            return None
        for guard, sort, value in self.cases:
            if z3.is_true(model.eval(guard, model_completion=True)):
                return self._read(model, sort, value, currency, rate)
        raise GaveUp("a model without a value")

    def _read(self, model: Any, sort: Sort, value: Any, currency: str, rate: Fraction) -> Any:
        if sort is TEXT:
            return value.read(model)
        if sort is BOOL:
            return z3.is_true(model.eval(value, model_completion=True))
        if sort in (CONCEPT, OBJECT):
            return self._named(model, sort, value)
        if sort is STRANGE:
            raise GaveUp("a product of quantities that the filters do not name")
        number = rational(model.eval(value, model_completion=True))
        if sort is NUMBER:
            return simplest(number)
        if sort is INSTANT:
            return Instant(int(number * _NANOSECONDS))
        if sort.name == "quantity":
            assert isinstance(sort.of, Dimension)
            return Quantity(simplest(number), sort.of)
        return Money(simplest(number / rate), currency + sort.of[0])

    def _named(self, model: Any, sort: Sort, value: Any) -> str:
        if not self.kind.concepts:
            name = str(model.eval(value, model_completion=True).as_string())
            return Named(name or "Thing")
        concept = self.kind.ontology.by_index(model.eval(value, model_completion=True).as_long())
        return Named(concept.name) if sort is OBJECT else str(concept.name)


def rational(value: Any) -> Fraction:
    """A number of a model as a fraction; an irrational one is rounded to a near one, for the evaluator to judge."""
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    if z3.is_int_value(value):
        return Fraction(value.as_long())
    if not z3.is_rational_value(value):
        raise GaveUp("a model without a number")
    return Fraction(value.numerator_as_long(), value.denominator_as_long())


def one_of(session: Session, index: Any, mask: int) -> Any:
    """Whether a number is one of the bits of a mask; a run of bits is one test."""
    runs: list[Any] = []
    low = 0
    while mask >> low:
        low += ((mask >> low) & -(mask >> low)).bit_length() - 1
        length = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
        runs.append(index == low if length == 1 else conj(index >= low, index < low + length))
        low += length
    return session.any_of(runs)
