"""The reference evaluator: short, obvious, and the judge of everything faster.

Bind, then evaluate. A binding gives each distinct reference one attribute whose concept lies at or below it; inside a
binding, logic is single-valued. The filter is true if some binding makes it true, else unknown if some makes it
unknown, else false.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from conceptpubsub.errors import LimitExceeded, MissingAttribute
from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.events import Found, View, candidates
from conceptpubsub.filters.normal import Ref, value_of
from conceptpubsub.filters.patterns import like_shape, text_test
from conceptpubsub.filters.scope import Scope
from conceptpubsub.filters.syntax import (
    All,
    Below,
    Between,
    Comparison,
    Condition,
    Constant,
    Flag,
    Inverse,
    Member,
    Minus,
    Null,
    Over,
    Pattern,
    Some,
    Times,
    Total,
    postorder,
)

MAX_BINDINGS = 100_000
DEFAULT = ("", "default")
"""The path of a declared default, which no attribute has."""
_OPS = {"STARTS WITH": "starts", "ENDS WITH": "ends", "CONTAINS": "contains", "WITHIN": "within", "MATCHES": "matches"}


class Binding(NamedTuple):
    """For each reference's key, the attribute it is bound to, or None."""

    bound: Mapping[str, Found | None]


def bindings(references: tuple[Ref, ...], view: View, scope: Scope) -> Iterator[Binding]:
    """Every binding of a filter's references to an event's attributes."""
    choices: list[list[Found | None]] = []
    count = 1
    for ref in references:
        found: list[Found | None] = list(candidates(ref, view, scope))
        if not found and ref.key in scope.defaults:
            found = [Found(DEFAULT, scope.defaults[ref.key], None)]
        count *= max(1, len(found))
        if count > MAX_BINDINGS:
            raise LimitExceeded(
                f"the event can be bound to the filter in more than {MAX_BINDINGS:,} ways: "
                "use narrower concepts in the filter",
                limit=MAX_BINDINGS,
            )
        choices.append(found or [None])
    keys = [ref.key for ref in references]
    for chosen in itertools.product(*choices):
        yield Binding(dict(zip(keys, chosen, strict=True)))


def evaluate(tree: Condition, references: tuple[Ref, ...], view: View, scope: Scope) -> bool | None:
    """True, False or None for an event, under the scope's semantics."""
    best: bool | None = False
    for binding in bindings(references, view, scope):
        value = evaluate_binding(tree, references, binding, view, scope)
        if value:
            return True
        if value is None:
            best = None
    return best


def evaluate_binding(
    tree: Condition, references: tuple[Ref, ...], binding: Binding, view: View, scope: Scope
) -> bool | None:
    """The value of a filter inside one binding."""
    if scope.semantics in ("strict", "total"):
        missing = [ref.shown for ref in references if binding.bound[ref.key] is None]
        if missing and scope.semantics == "total":
            raise MissingAttribute(
                f"the event lacks {', '.join(missing)}, and under 'total' every reference must be present",
                missing=tuple(missing),
            )
        if missing:
            return None
    return Evaluation(binding, view, scope).condition(tree)


class Evaluation:
    """One filter, one binding."""

    def __init__(self, binding: Binding, view: View, scope: Scope) -> None:
        self.binding = binding
        self.scope = scope
        self.view = view
        self.two_valued = scope.semantics == "default"

    def rate(self, source: str, target: str) -> Any:
        return 1 if source == target else self.scope.converters.rate(source, target, self.view.time)

    def condition(self, tree: Condition) -> bool | None:
        """Kleene's logic, from the atoms up."""
        values: list[bool | None] = []
        for node in postorder(tree):
            match node:
                case All(args):
                    values.append(conjoined(_last(values, len(args))))
                case Some(args):
                    values.append(disjoined(_last(values, len(args))))
                case Inverse():
                    values.append(inverted(values.pop()))
                case _:
                    values.append(self.atom(node))
        return values.pop()

    def atom(self, node: Any) -> bool | None:
        """An atom; BETWEEN and IN are what they stand for."""
        match node:
            case Between(term, low, high):
                return conjoined([self.test(">=", term, low), self.test("<=", term, high)])
            case Member(term, items):
                return disjoined([self.test("=", term, item) for item in items])
            case Comparison(op, left, right):
                return self.test(op, left, right)
            case _:
                return self.known(self.simple(node))

    def test(self, op: str, left: Any, right: Any) -> bool | None:
        """A comparison; under ``default``, ``<>`` is NOT ``=``."""
        if op == "<>" and self.two_valued:
            return not self.test("=", left, right)
        return self.known(self.compared(op, left, right))

    def compared(self, op: str, left: Any, right: Any) -> bool | None:
        """A comparison of two terms, or None where it is unknown."""
        a, b = self.value(left), self.value(right)
        return None if a is None or b is None else arithmetic.compare(op, a, b, self.rate)

    def known(self, value: bool | None) -> bool | None:
        """Under ``default`` an atom that would be unknown is false, so that only two values remain."""
        return False if value is None and self.two_valued else value

    def simple(self, node: Any) -> bool | None:
        """A test of one value; unknown over an unbound reference and on another type."""
        match node:
            case Pattern(op, term, text, escape):
                value = self.value(term)
                if not isinstance(value, str):
                    return None
                test, pattern = like_shape(text, escape) if op == "LIKE" else (_OPS[op], text)
                return value == pattern if test == "equals" else text_test(test, value, pattern)
            case Null(ref):
                return self.binding.bound[ref.key] is None
            case Below(ref, concept, name):
                return self.below(ref, concept, name)
            case Flag(term):
                value = self.value(term)
                return value if isinstance(value, bool) else None
            case _:
                raise AssertionError(f"no atom is a {type(node).__name__}")

    def below(self, ref: Ref, concept: Any, name: str) -> bool | None:
        found = self.binding.bound[ref.key]
        if found is None:
            return None
        held = found.concept if found.concept is not None else found.value
        if not isinstance(held, str):
            return None
        if self.scope.ontology is None:
            return held == name
        known = self.scope.ontology.find(held)
        return None if known is None else known.is_a(concept)

    def value(self, term: Any) -> Any:
        """The canonical value of a term, or None where it is unknown."""
        match term:
            case Ref():
                found = self.binding.bound[term.key]
                return None if found is None else found.value
            case Constant(lit):
                return value_of(lit)
            case Minus(arg):
                value = self.value(arg)
                return None if value is None else arithmetic.add([value], [-1], self.rate)
            case Over(arg):
                value = self.value(arg)
                return None if value is None else arithmetic.reciprocal(value)
            case Total(args):
                signs = [-1 if isinstance(arg, Minus) else 1 for arg in args]
                values = [self.value(arg.arg if isinstance(arg, Minus) else arg) for arg in args]
                return None if any(v is None for v in values) else arithmetic.add(values, signs, self.rate)
            case Times(args):
                values = [self.value(arg) for arg in args]
                return None if any(v is None for v in values) else arithmetic.multiply(values, self.rate)
            case _:
                raise AssertionError(f"no term is a {type(term).__name__}")


def _last(values: list[bool | None], count: int) -> list[bool | None]:
    """Take the last so many values off the list."""
    taken = values[len(values) - count :]
    del values[len(values) - count :]
    return taken


def conjoined(values: list[bool | None]) -> bool | None:
    """AND of some values; of none, true."""
    return False if False in values else None if None in values else True


def disjoined(values: list[bool | None]) -> bool | None:
    """OR of some values."""
    return True if True in values else None if None in values else False


def inverted(value: bool | None) -> bool | None:
    """NOT."""
    return None if value is None else not value
