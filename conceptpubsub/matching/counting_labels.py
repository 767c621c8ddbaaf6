"""Constants in order, under labels: comparing a value with every constant of an attribute becomes comparing integers.

Rule 1  Constants of one attribute and kind have even labels that rise with them. A value has the label of the constant
        it equals, else the odd label just above the greatest constant below it. So ``x < c`` is, exactly,
        ``label(x) < label(c)``, and ``x <= c`` is ``label(x) < label(c) + 1``.
Rule 2  Numbers are found by their nearest float and, where a constant shares it, told apart as the rationals they are.
Rule 3  Labels have gaps, so that new constants rarely move old ones; `extended` says when they do.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.converters import Money, Quantity
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.model import Instant, exact
from conceptpubsub.model.values import to_float

GAP = 1 << 32
_FAR = 1 << 61
PRESENT = "any"
"""The kind of the column that says no more than that a reference is bound."""
TEST = "test"
"""The kind of the column whose constants are tests of text: (operator, pattern, negated)."""

TestKey = tuple[str, str, bool]
_KEPT_TEXTS, _KEPT_LENGTH = 4096, 256


def kind_of(value: Any) -> tuple[str | None, Any]:
    """The kind of a canonical value, and what it is ordered by there; None where it compares with no constant.

    >>> kind_of(2), kind_of(True), kind_of("a")
    (('number', 2), ('bool', True), ('text', 'a'))
    """
    kind = type(value)
    if kind is int or kind is float:
        return "number", value
    if kind is str:
        return "text", value
    if kind is bool:
        return "bool", value
    if isinstance(value, Quantity):
        return quantity_kind(value.dimension.key), value.value
    if isinstance(value, Instant):
        return "instant", value.ns
    if isinstance(value, Money) or not hasattr(value, "denominator"):
        return None, None
    return "number", value


def quantity_kind(dimension: str) -> str:
    """The kind of quantities of a dimension, given by its key."""
    return "quantity " + dimension


class Column:
    """The constants that one attribute is compared with, of one kind; immutable.

    >>> column, _ = Column("number").extended([10, 30])
    >>> ten, thirty = column.labels
    >>> column.label(10) == ten, ten < column.label(29.5) < thirty < column.label(31)
    (True, True)
    """

    __slots__ = ("_equal", "_floats", "_passed", "constants", "kind", "labels", "ordered_as_floats")

    def __init__(self, kind: str, constants: list[Any] | None = None, labels: list[int] | None = None) -> None:
        self.kind = kind
        self.constants: list[Any] = constants or []
        self.labels: list[int] = labels or []
        self.ordered_as_floats = kind not in ("text", "bool", TEST)
        self._equal: dict[Any, int] = dict(zip(self.constants, self.labels, strict=True))
        self._floats = [to_float(c) for c in self.constants] if self.ordered_as_floats else []
        self._passed: dict[str, list[int]] = {}

    def label(self, value: Any) -> int:
        """The label of a value of this kind."""
        near = value
        if type(value) is not float:  # a float equals the rational it is, which is not the one it means
            found = self._equal.get(value)
            if found is not None:
                return found
            if not self.ordered_as_floats:
                return self._above(bisect_left(self.constants, value))
            near = to_float(value)
        floats = self._floats
        at = bisect_left(floats, near)
        if at < len(floats) and floats[at] == near:
            number = exact(value)
            end = bisect_right(floats, near, at)
            at = bisect_left(self.constants, number, at, end)
            if at < end and self.constants[at] == number:
                return self.labels[at]
        return self._above(at)

    def _above(self, at: int) -> int:
        """The label of a value that lies just below the constant at that place."""
        if at:
            return self.labels[at - 1] + 1
        return self.labels[0] - 1 if self.labels else 1

    def passed(self, text: str) -> list[int]:
        """The labels of the tests that a text passes; remembered, for texts come again."""
        found = self._passed.get(text)
        if found is None:
            tests = zip(self.constants, self.labels, strict=True)
            found = [label for (op, pattern, negated), label in tests if text_test(op, text, pattern) is not negated]
            if len(self._passed) >= _KEPT_TEXTS:
                self._passed = {}
            if len(text) <= _KEPT_LENGTH:
                self._passed[text] = found
        return found

    def constant(self, value: Any) -> int:
        """The label of a constant that is here."""
        return self._equal[value]

    def extended(self, constants: Iterable[Any]) -> tuple[Column, NDArray[np.int64] | None]:
        """This column with more constants; and, if the old ones had to move, their new labels in order."""
        new = {constant for constant in constants if constant not in self._equal}
        if not new:
            return self, None
        merged = sorted([*self.constants, *new])
        labels = self._labelled(merged)
        if labels is not None:
            return Column(self.kind, merged, labels), None
        spaced = [number * GAP for number in range(1, len(merged) + 1)]
        column = Column(self.kind, merged, spaced)
        return column, np.array([column._equal[constant] for constant in self.constants], np.int64)

    def _labelled(self, merged: list[Any]) -> list[int] | None:
        """Labels for all that keep the old ones; None where a gap is too small."""
        labels: list[int] = []
        at, known = 0, self._equal
        while at < len(merged):
            label = known.get(merged[at])
            if label is not None:
                labels.append(label)
                at += 1
                continue
            end = at
            while end < len(merged) and merged[end] not in known:
                end += 1
            step = self._step(labels, merged, at, end)
            if step is None:
                return None
            first = labels[-1] if labels else (known[merged[end]] - (end - at + 1) * step if end < len(merged) else 0)
            labels.extend(first + step * n for n in range(1, end - at + 1))
            at = end
        return labels if labels[0] > -_FAR and labels[-1] < _FAR else None

    def _step(self, labels: list[int], merged: list[Any], at: int, end: int) -> int | None:
        """An even step that fits the run ``merged[at:end]`` between its neighbours."""
        if not labels or end == len(merged):
            return GAP
        step = (self._equal[merged[end]] - labels[-1]) // (end - at + 1) & ~1
        return step if step >= 4 else None
