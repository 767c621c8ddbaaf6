"""The forwarding table: columns, segments, and how filters get into them and events through them.

A table is never changed but for what dies in it: new filters make a new table, so that readers need no lock. Segments
grow like the digits of a number: two are merged when they are of like size, and each filter is merged few times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from conceptpubsub.matching.counting_bindings import Bound
from conceptpubsub.matching.counting_conjunctions import ColumnKey, Conjunction
from conceptpubsub.matching.counting_index import Ints, Segment, build, compacted, merge
from conceptpubsub.matching.counting_kernels import ABOVE, BELOW, BOTH, EQUAL, EQUAL_ONLY, RANGES_ONLY
from conceptpubsub.matching.counting_labels import PRESENT, Column, kind_of

_BOUNDS = {"=": (EQUAL, 0), "<": (BELOW, 0), "<=": (BELOW, 1), ">": (ABOVE, 0), ">=": (ABOVE, -1)}
"""Operator and what is added to the constant's label: ``x <= c`` is ``x < c + 1`` among labels."""


class Pending(NamedTuple):
    """A filter that is not in a segment yet."""

    slot: int
    conjunctions: list[Conjunction]
    interfaces: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What events are matched against."""

    segments: tuple[Segment, ...] = ()
    numbers: dict[ColumnKey, int] | None = None
    columns: tuple[Column, ...] = ()
    interfaces: int = 0
    """One more than the greatest interface."""
    wanted: int = 0
    """How many interfaces have a filter: when so many are matched, there is no other."""

    # ------------------------------------------------------------------ events

    def entries(self, bound: Bound) -> Ints:
        """An event as the kernels want it: a row (column, least label, greatest label, lookup) for each attribute."""
        rows: list[tuple[int, int, int, int]] = []
        numbers, columns = self.numbers or {}, self.columns
        for reference, value in bound.values.items():
            at = numbers.get((reference, PRESENT))
            if at is not None:
                rows.append((at, 0, 0, EQUAL_ONLY))
            if bound.several and reference in bound.several:
                rows.extend(self._several(reference, bound.several[reference]))
                continue
            kind, ordered = kind_of(value)
            at = numbers.get((reference, kind)) if kind is not None else None
            if at is not None:
                label = columns[at].label(ordered)
                rows.append((at, label, label, BOTH))
        return np.array(rows, np.int64).reshape(-1, 4)

    def _several(self, reference: int, values: Iterable[Any]) -> list[tuple[int, int, int, int]]:
        """The values that one reference may be bound to, as if bound to all: whoever matches one of them is found."""
        found: dict[int, list[int]] = {}
        for value in values:
            kind, ordered = kind_of(value)
            at = (self.numbers or {}).get((reference, kind)) if kind is not None else None
            if at is not None:
                found.setdefault(at, []).append(self.columns[at].label(ordered))
        rows = [(at, min(labels), max(labels), RANGES_ONLY) for at, labels in found.items()]
        return rows + [(at, label, label, EQUAL_ONLY) for at, labels in found.items() for label in set(labels)]

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
        numbers, columns, segments = dict(self.numbers or {}), list(self.columns), self.segments
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
        return replace(self, numbers=numbers, columns=tuple(columns), segments=segments)

    def _segment(self, pending: list[Pending]) -> Segment:
        numbers, columns = self.numbers or {}, self.columns
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
