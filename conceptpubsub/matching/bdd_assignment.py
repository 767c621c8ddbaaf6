"""From an event to an assignment of truth values: 0, 1, or 2 where the variable's reference is not bound.

The comparisons of one attribute are worked out together: its constants are in order, the value falls between two of
them, and the truth of all its variables is one row, which is remembered. Tests of text are remembered by the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.filters.events import View
from conceptpubsub.filters.normal import Compare, OneOf, Ref, TextTest
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.matching.bdd_atoms import Variable, declared_kind, holds
from conceptpubsub.matching.counting_conjunctions import ordered_by
from conceptpubsub.matching.counting_labels import Column, kind_of

FALSE, TRUE, UNDEFINED = 0, 1, 2
_KEPT_ROWS, _KEPT_TEXT = 4096, 256
_TRUE_WHERE = {  # below the constant, at it, above it
    "=": (0, 1, 0),
    "<>": (1, 0, 1),
    "<": (1, 0, 0),
    "<=": (1, 1, 0),
    ">": (0, 0, 1),
    ">=": (0, 1, 1),
}


class KindRows:
    """The variables of one reference that compare values of one kind; ``row(value)`` is their truth."""

    def __init__(self, kind: str, variables: Sequence[Variable]) -> None:
        self.variables = variables
        self._compared = [i for i, v in enumerate(variables) if isinstance(v.atom, Compare)]
        self._others = [(i, v) for i, v in enumerate(variables) if not isinstance(v.atom, Compare)]
        self._by_text = any(isinstance(v.atom, TextTest) for v in variables)
        self._rows: dict[Any, NDArray[np.uint8]] = {}
        constants = [ordered_by(lit) for v in variables for lit in _constants(v)]
        self.column, _ = Column(kind).extended(constants)
        atoms: list[Any] = [variables[i].atom for i in self._compared]
        self._labels = np.array([self.column.constant(ordered_by(a.right)) for a in atoms], np.int64)
        self._where = np.array([_TRUE_WHERE[a.op] for a in atoms], np.uint8).reshape(-1, 3)

    def row(self, value: Any) -> NDArray[np.uint8]:
        """The truth of each variable for a value of this kind."""
        known: Any = value if self._by_text else self.column.label(value)
        found = self._rows.get(known)
        if found is None:
            found = self._made(value)
            if len(self._rows) >= _KEPT_ROWS:
                self._rows = {}
            if not self._by_text or len(value) <= _KEPT_TEXT:
                self._rows[known] = found
        return found

    def _made(self, value: Any) -> NDArray[np.uint8]:
        row = np.zeros(len(self.variables), np.uint8)
        label = self.column.label(value)
        side = 1 + np.sign(label - self._labels)
        row[self._compared] = self._where[np.arange(len(side)), side]
        for i, variable in self._others:
            row[i] = self._test(variable, value, label) is not variable.negated
        return row

    def _test(self, variable: Variable, value: Any, label: int) -> bool:
        atom = variable.atom
        if isinstance(atom, TextTest):
            return text_test(atom.op, value, atom.pattern)
        return any(label == self.column.constant(ordered_by(lit)) for lit in _constants(variable))


def _constants(variable: Variable) -> Sequence[Any]:
    atom = variable.atom
    if isinstance(atom, OneOf):
        return atom.values
    return (atom.right,) if isinstance(atom, Compare) else ()


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRows:
    """All variables of one reference that are of some kind: their numbers, and the rows by kind."""

    variables: NDArray[np.int64]
    kinds: Mapping[str, tuple[NDArray[np.int64], KindRows]]
    declared: str | None
    """The only kind that events are expected to hold, where complements rely on it."""


class Assigner:
    """Assigns all variables at once. Immutable but for what it remembers."""

    def __init__(self, count: int, rows: Mapping[int, ReferenceRows], others: Sequence[tuple[int, Variable]]) -> None:
        self.count = count
        self.rows = rows
        self.others = others

    def extended(self, variables: Sequence[Variable], refs: Sequence[Ref], two_valued: bool) -> Assigner:
        """The same for more variables: those from ``count`` on are new, and only their references are read anew."""
        others = [(n, v) for n, v in enumerate(variables[self.count :], self.count) if v.kind is None]
        touched = {v.numbers[0] for v in variables[self.count :] if v.kind is not None}
        rows = dict(self.rows)
        by_kind: dict[int, dict[str, list[int]]] = {reference: {} for reference in touched}
        for reference in touched & rows.keys():
            for kind, (numbers, _) in rows[reference].kinds.items():
                by_kind[reference][kind] = numbers.tolist()
        for number, variable in enumerate(variables[self.count :], self.count):
            if variable.kind is not None:
                by_kind[variable.numbers[0]].setdefault(variable.kind, []).append(number)
        for reference, kinds in by_kind.items():
            places = {kind: np.array(numbers, np.int64) for kind, numbers in kinds.items()}
            rows[reference] = ReferenceRows(
                np.concatenate(list(places.values())),
                {kind: (at, KindRows(kind, [variables[n] for n in at])) for kind, at in places.items()},
                None if two_valued else declared_kind(refs[reference]),
            )
        return Assigner(len(variables), rows, [*self.others, *others])

    def assign(self, values: dict[int, Any], seen: View, missing: int) -> tuple[NDArray[np.uint8], list[int]]:
        """The assignment, with ``missing`` for what is not bound; and the references that hold an odd value."""
        alpha = np.full(self.count, missing, np.uint8)
        odd: list[int] = []
        for reference, value in values.items():
            mine = self.rows.get(reference)
            if mine is None:
                continue
            kind, ordered = kind_of(value)
            if mine.declared is not None and kind != mine.declared:
                odd.append(reference)
            here = mine.kinds.get(kind) if kind is not None else None
            if here is None or len(mine.kinds) > 1:
                alpha[mine.variables] = FALSE
            if here is not None:
                alpha[here[0]] = here[1].row(ordered)
        for number, variable in self.others:
            if missing != UNDEFINED or all(reference in values for reference in variable.numbers):
                alpha[number] = holds(variable, values, seen)
        return alpha, odd
