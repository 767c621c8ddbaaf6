"""From meaning back to text: domains, terms and literals as conditions of the filter language.

Rule 1  A condition is true for exactly the values of its domain, and missing if that is inside. What cannot be said so
        is refused with `Unsayable`.
Rule 2  Under ``sql`` no condition is true of "any other type" as such; there an undeclared attribute is taken to range
        over numbers, texts, Booleans, instants and missing, each of which can be said.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from conceptpubsub.converters import Unit, resolve
from conceptpubsub.filters.spelling import constant_text, name_text, quoted
from conceptpubsub.model import Instant
from conceptpubsub.model.values import Exact, simplest
from conceptpubsub.relations import domains, texts
from conceptpubsub.relations.domains import Domain, Sort
from conceptpubsub.relations.events import dimension_of
from conceptpubsub.relations.intervals import ABOVE, BELOW, Grid, Intervals, difference
from conceptpubsub.relations.slots import Slot
from conceptpubsub.relations.terms import Term

MOST_VALUES = 64
_SAYABLE = (domains.NUMBER, domains.TEXT, domains.BOOL, domains.INSTANT)


class Unsayable(Exception):
    """A set that no condition of the language says."""


def term_text(term: Term, slots: dict[str, Slot], semantics: str, currency: str | None) -> str:
    """A term as a conjunction; the empty one as TRUE."""
    parts = [domain_text(term[key], slots[key], semantics, currency) for key in sorted(term)]
    return " AND ".join(f"({part})" if " OR " in part else part for part in parts) or "TRUE"


def domain_text(domain: Domain, slot: Slot, semantics: str, currency: str | None) -> str:
    """A domain as a condition on its reference."""
    name = slot.ref.shown
    values = domains.without_missing(domain)
    nullable = domain.missing and slot.universe.missing
    if values == slot.present:
        return "TRUE" if nullable else f"{name} IS NOT NULL"
    if values.rest and semantics == "default":
        (opposite,) = domains.minus(slot.universe, domain) or [domains.EMPTY]
        return f"NOT ({domain_text(opposite, slot, semantics, currency)})"
    said = _Saying(slot, currency).values(values)
    if nullable:
        said.append(f"{name} IS NULL")
    if not said:
        return "FALSE"
    return " OR ".join(f"({part})" if " AND " in part and len(said) > 1 else part for part in said)


class _Saying:
    """Conditions on one reference."""

    def __init__(self, slot: Slot, currency: str | None) -> None:
        self.slot = slot
        self.name = slot.ref.shown
        self.currency = currency

    def values(self, domain: Domain) -> list[str]:
        """The alternatives that together make a domain without missing."""
        said: list[str] = []
        for sort in dict.fromkeys((*domain.parts, *(_SAYABLE if domain.rest else ()))):
            part = domain.part(sort)
            if sort == domains.TEXT:
                said += self.text(part)
            elif sort == domains.BOOL:
                said += [f"{self.name} = {word}" for bit, word in ((2, "TRUE"), (1, "FALSE")) if part & bit]
            elif sort in (domains.CONCEPT, domains.COMPLEX):
                said += self.concepts(sort, part)
            elif sort[0] in "nqmi":
                said += self.ordered(sort, part)
            elif part not in (0, texts.NONE):
                raise Unsayable
        return said

    # ---------------------------------------------------------------- ordered sorts

    def ordered(self, sort: Sort, part: Intervals) -> list[str]:
        grid, room = self.slot.kind.grid(sort), self.slot.universe.part(sort)
        if part == room:
            zero = self.constant(sort, 0)
            return [f"{self.name} < {zero}", f"{self.name} >= {zero}"]
        part = tuple(_outermost(place, room) for place in part)  # what no value passes need not be said
        points: list[Exact] = []
        ranges: list[str] = []
        holes = _holes(part, grid)
        if holes:
            return [self.listed(sort, "<>", "NOT IN", holes)]
        for i in range(0, len(part), 2):
            value = _point(part[i], part[i + 1], grid)
            if value is not None:
                points.append(value)
            else:
                ranges.append(self.range(sort, part[i], part[i + 1]))
        if len(points) + len(ranges) > MOST_VALUES:
            raise Unsayable
        return ([self.listed(sort, "=", "IN", points)] if points else []) + ranges

    def range(self, sort: Sort, low: Any, high: Any) -> str:
        ends: list[str] = []
        if low != BELOW:
            ends.append(f"{self.name} {'>' if low[2] else '>='} {self.constant(sort, low[1])}")
        if high != ABOVE:
            ends.append(f"{self.name} {'<=' if high[2] else '<'} {self.constant(sort, high[1])}")
        return " AND ".join(ends)

    def listed(self, sort: Sort, one: str, several: str, values: list[Exact]) -> str:
        shown = [self.constant(sort, value) for value in values]
        return f"{self.name} {one} {shown[0]}" if len(shown) == 1 else f"{self.name} {several} ({', '.join(shown)})"

    def constant(self, sort: Sort, value: Any) -> str:
        if sort == domains.NUMBER:
            return constant_text(value)
        if sort == domains.INSTANT:
            return constant_text(Instant(int(value)))
        scale = self._scale()
        if sort == domains.MONEY:
            return constant_text(value, {"currency": self.currency or "EUR", **scale})
        unit = self._unit(sort)
        return constant_text(unit.from_base(value), {"unit": unit.name, **scale})

    def _scale(self) -> dict[str, Any]:
        steps = self.slot.ref.steps
        return {"scale": 1} if steps and "scale" in steps[-1].default_context else {}

    def _unit(self, sort: Sort) -> Unit:
        steps = self.slot.ref.steps
        if steps and steps[-1].canonical_unit is not None:
            return resolve(steps[-1].canonical_unit)
        return resolve(dimension_of(sort, self.slot.kind).base_unit)

    # ---------------------------------------------------------------- texts and concepts

    def text(self, part: texts.Texts) -> list[str]:
        if not part.intervals:
            return []
        tests = [f"{'' if holds else 'NOT '}{self.test(op, pattern)}" for holds, op, pattern in sorted(part.literals)]
        alternatives = self.spans(part.intervals)
        if not tests:
            return alternatives
        if part.intervals == texts.ALL:
            return [" AND ".join(tests)]
        return [" AND ".join([one, *tests]) for one in alternatives]

    def test(self, op: str, pattern: str) -> str:
        if op == "like":
            return f"{self.name} LIKE {quoted(pattern)} ESCAPE '\\'"
        word = {"ends": "ENDS WITH", "contains": "CONTAINS", "within": "WITHIN", "matches": "MATCHES"}[op]
        return f"{self.name} {word} {quoted(pattern)}"

    def spans(self, intervals: Intervals) -> list[str]:
        if intervals == texts.ALL:
            return [f"{self.name} LIKE '%'"]
        outside = texts.finite(difference(texts.ALL, intervals, texts.ALL))
        if outside is not None and len(outside) <= MOST_VALUES:
            return [self.texts_listed("<>", "NOT IN", outside)]
        values: list[str] = []
        said: list[str] = []
        for i in range(0, len(intervals), 2):
            listed = texts.finite(intervals[i : i + 2])
            if listed is not None:
                values += listed
            else:
                said.append(self.span(intervals[i], intervals[i + 1]))
        if len(values) + len(said) > MOST_VALUES:
            raise Unsayable
        return ([self.texts_listed("=", "IN", values)] if values else []) + said

    def span(self, low: Any, high: Any) -> str:
        if texts.tested("starts", low[1]).intervals == (low, high):
            return f"{self.name} STARTS WITH {quoted(low[1])}"
        ends = [f"{self.name} >= {quoted(low[1])}"] if low[1] else []
        if high != texts.TOP:
            ends.append(f"{self.name} < {quoted(high[1])}")
        return " AND ".join(ends)

    def texts_listed(self, one: str, several: str, values: Iterable[str]) -> str:
        shown = [quoted(value) for value in values]
        return f"{self.name} {one} {shown[0]}" if len(shown) == 1 else f"{self.name} {several} ({', '.join(shown)})"

    def concepts(self, sort: Sort, mask: int) -> list[str]:
        if not mask:
            return []
        room = self.slot.universe.parts[sort]
        ontology = self.slot.kind.ontology
        for index in range(ontology.index_count):
            if ontology.indexes.mask(index) & room == mask:
                return [f"{self.name} ISA {name_text(ontology.by_index(index).name)}"]
        listed = [index for index in range(ontology.index_count) if mask >> index & 1]
        if sort == domains.COMPLEX or len(listed) > MOST_VALUES:
            raise Unsayable
        return [self.texts_listed("=", "IN", [ontology.by_index(index).name for index in listed])]


def _outermost(place: Any, room: Intervals) -> Any:
    return BELOW if place == room[0] else ABOVE if place == room[-1] else place


def _holes(part: Intervals, grid: Grid | None) -> list[Exact]:
    """The points that alone are left out, if that is what a set is."""
    if part[0] != BELOW or part[-1] != ABOVE or len(part) > 2 * MOST_VALUES:
        return []
    found = [_point(part[i], part[i + 1], grid) for i in range(1, len(part) - 1, 2)]
    return [] if None in found else [value for value in found if value is not None]


def _point(low: Any, high: Any, grid: Grid | None) -> Exact | None:
    """The one value between two cuts, if there is one."""
    if BELOW in (low, high) or ABOVE in (low, high):
        return None
    if low[1] == high[1]:
        return simplest(Fraction(low[1]))
    if grid is not None and low[1] + grid.step == high[1]:
        return simplest(Fraction(low[1]))
    return None
