"""Predicates: tests of one value that no order of constants decides. True, False, or None where they say nothing."""

from __future__ import annotations

from typing import Any

from conceptpubsub.converters import Dimension, Quantity
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.model import Instant


class Predicate:
    """A test of the canonical value of a column, or of the concept of a complex one."""

    __slots__ = ("axis", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self.axis = 0

    def test(self, value: Any, concept: str | None) -> bool | None:
        """Whether a value passes."""
        raise NotImplementedError


class TextPredicate(Predicate):
    """CONTAINS, WITHIN, ENDS WITH, LIKE, MATCHES."""

    __slots__ = ("op", "pattern")

    def __init__(self, op: str, pattern: str) -> None:
        super().__init__(f"{op} {pattern}")
        self.op = op
        self.pattern = pattern

    def test(self, value: Any, concept: str | None) -> bool | None:
        return text_test(self.op, value, self.pattern) if isinstance(value, str) else None


class MemberPredicate(Predicate):
    """IN, of a long list of constants of one kind."""

    __slots__ = ("kind", "of", "values")

    def __init__(self, kind: str, of: Any, values: frozenset[Any], key: str) -> None:
        super().__init__(key)
        self.kind = kind
        self.of = of
        self.values = values

    def test(self, value: Any, concept: str | None) -> bool | None:
        if self.kind == "text":
            return value in self.values if isinstance(value, str) else None
        if self.kind == "number":
            fits = hasattr(value, "denominator") and not isinstance(value, bool)
            return value in self.values if fits else None
        if self.kind == "instant":
            return value.ns in self.values if isinstance(value, Instant) else None
        of = self.of
        fits = isinstance(value, Quantity) and isinstance(of, Dimension) and of.comparable(value.dimension)
        return value.value in self.values if fits else None


class BelowPredicate(Predicate):
    """ISA: the concept a value names, or a complex object is of, lies at or below another."""

    __slots__ = ("concept", "name", "ontology")

    def __init__(self, ontology: Any, concept: Any, name: str) -> None:
        super().__init__(f"isa {name}")
        self.ontology = ontology
        self.concept = concept
        self.name = name

    def test(self, value: Any, concept: str | None) -> bool | None:
        held = value if concept is None else concept
        if not isinstance(held, str):
            return None
        if self.ontology is None:
            return held == self.name
        known = self.ontology.find(held)
        return None if known is None else bool(known.is_a(self.concept))
