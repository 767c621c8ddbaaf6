"""The forwarding table: columns, segments, and how filters get into them and events through them.

A table is never changed but for what dies in it: new filters make a new table, so that readers need no lock. Segments
grow like the digits of a number: two are merged when they are of like size, and each filter is merged few times.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from conceptpubsub.matching.counting_bindings import Bound
from conceptpubsub.matching.counting_conjunctions import ColumnKey, Conjunction
from conceptpubsub.matching.counting_index import Ints, Segment, build, compacted, merge
from conceptpubsub.matching.counting_kernels import ABOVE, BELOW, BOTH, EQUAL, EQUAL_ONLY, RANGES_ONLY
from conceptpubsub.matching.counting_labels import PRESENT, TEST, Column, kind_of

_BOUNDS = {"=": (EQUAL, 0), "<": (BELOW, 0), "<=": (BELOW, 1), ">": (ABOVE, 0), ">=": (ABOVE, -1)}
"""Operator and what is added to the constant's label: ``x <= c`` is ``x < c + 1`` among labels."""
_TYPES: dict[str, tuple[type, ...]] = {"number": (int, float), "text": (str,), "bool": (bool,)}

Kinds: TypeAlias = dict[str | type | None, tuple[int, Column]]


class Pending(NamedTuple):
    """A filter that is not in a segment yet."""

    slot: int
    conjunctions: list[Conjunction]
    interfaces: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What events are matched against."""

    segments: tuple[Segment, ...] = ()
    numbers: Mapping[ColumnKey, int] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    places: Mapping[int, Kinds] = field(default_factory=dict)
    """For each reference its columns, by kind, and by the Python type of the values that are of that kind for sure."""
    interfaces: int = 0
    """One more than the greatest interface."""
    wanted: int = 0
    """How many interfaces have a filter: when so many are matched, there is no other."""

    # ------------------------------------------------------------------ events

    def entries(self, bound: Bound) -> Ints:
        """An event as the kernels want it: a row (column, least label, greatest label, lookup) for each attribute."""
        rows: list[int] = []
        places = self.places
        for reference, value in bound.values.items():
            kinds = places.get(reference)
            if kinds is None:
                continue
            if PRESENT in kinds:
                rows += (kinds[PRESENT][0], 0, 0, EQUAL_ONLY)
            if bound.several and reference in bound.several:
                rows += self._several(kinds, bound.several[reference])
                continue
            if TEST in kinds and type(value) is str:
                at, tests = kinds[TEST]
                for label in tests.passed(value):
                    rows += (at, label, label, EQUAL_ONLY)
            place = kinds.get(type(value))
            if place is None:
                kind, value = kind_of(value)
                place = kinds.get(kind)
                if place is None:
                    continue
            label = place[1].label(value)
            rows += (place[0], label, label, BOTH)
        return np.frombuffer(array("q", rows), np.int64).reshape(-1, 4)

    def _several(self, kinds: Kinds, values: Iterable[Any]) -> list[int]:
        """The values that one reference may be bound to, as if bound to all: whoever matches one of them is found."""
        found: dict[int, list[int]] = {}
        passed: set[int] = set()
        for value in values:
            kind, ordered = kind_of(value)
            place = kinds.get(kind)
            if place is not None:
                found.setdefault(place[0], []).append(place[1].label(ordered))
            if TEST in kinds and kind == "text":
                passed.update(kinds[TEST][1].passed(value))
        rows = [[at, min(labels), max(labels), RANGES_ONLY] for at, labels in found.items()]
        rows += [[at, label, label, EQUAL_ONLY] for at, labels in found.items() for label in set(labels)]
        rows += [[kinds[TEST][0], label, label, EQUAL_ONLY] for label in passed]
        return list(chain.from_iterable(rows))

    # ------------------------------------------------------------------ changes

    def extended(self, pending: list[Pending], wanted: int) -> Table:
        """The table with more filters, and so many interfaces in use."""
        table = self._with_constants(pending)
        segment = table._segment(pending)
        segments = [s if 2 * s.dead <= s.size else compacted(s, len(table.columns)) for s in table.segments]
        segments = [s for s in segments if s.size]
        while segments and 2 * segment.size > segments[-1].size:
            segment = merge(segments.pop(), segment, len(table.columns))
        used = max((i for p in pending for i in p.interfaces), default=-1) + 1
        return replace(table, segments=(*segments, segment), interfaces=max(self.interfaces, used), wanted=wanted)

    def _with_constants(self, pending: list[Pending]) -> Table:
        """The same table with columns for all constants of the new filters."""
        wanted: dict[ColumnKey, set[Any]] = {}
        for _, conjunctions, _ in pending:
            for constraints, _ in conjunctions:
                for column, either in constraints:
                    wanted.setdefault(column, set()).update(constant for _, constant in either)
        numbers, columns, segments = dict(self.numbers), list(self.columns), self.segments
        for key, constants in wanted.items():
            at = numbers.get(key)
            if at is None:
                at = numbers[key] = len(columns)
                columns.append(Column(key[1]))
            if key[1] == PRESENT:
                continue
            old = columns[at]
            columns[at], moved = old.extended(constants)
            if moved is not None:
                segments = tuple(s.moved(at, np.array(old.labels, np.int64), moved) for s in segments)
        places = dict(self.places)
        for reference in {key[0] for key in wanted}:
            places[reference] = dict(places.get(reference, ()))
        for reference, kind in wanted:
            at = numbers[reference, kind]
            kinds: tuple[str | type, ...] = (kind, *_TYPES.get(kind, ()))
            places[reference].update(dict.fromkeys(kinds, (at, columns[at])))
        return replace(self, numbers=numbers, columns=tuple(columns), places=places, segments=segments)

    def _segment(self, pending: list[Pending]) -> Segment:
        numbers, columns = self.numbers, self.columns
        cell: list[int] = []
        label: list[int] = []
        member: list[int] = []
        sizes: list[int] = []
        slots: list[int] = []
        checked: list[bool] = []
        ways: list[int] = []
        several, lists = [0], list[int]()
        for slot, conjunctions, interfaces in pending:
            way = interfaces[0] if len(interfaces) == 1 else -1
            if len(interfaces) > 1:
                lists.extend(interfaces)
                way = -1 - len(several)
                several.append(len(lists))
            for constraints, unsure in conjunctions:
                number = len(sizes)
                for key, either in constraints:
                    at = numbers[key]
                    for op, constant in either:
                        operator, beside = _BOUNDS[op]
                        cell.append(3 * at + operator)
                        label.append(0 if key[1] == PRESENT else columns[at].constant(constant) + beside)
                        member.append(number)
                sizes.append(len(constraints))
                slots.append(slot)
                checked.append(unsure)
                ways.append(way)
        parts = (cell, label, member, sizes, slots, checked, ways, several, lists)
        arrays: list[Ints] = [np.array(part, np.int64) for part in parts]
        return build(len(columns), *arrays)
