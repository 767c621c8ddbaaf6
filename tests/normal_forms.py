"""A tiny evaluator of normal forms, written apart from the one of trees: the two judge each other."""

from __future__ import annotations

from typing import Any

from conceptpubsub.errors import MissingAttribute
from conceptpubsub.filters import Filter, arithmetic
from conceptpubsub.filters.evaluate import Binding, bindings
from conceptpubsub.filters.events import view
from conceptpubsub.filters.normal import (
    And,
    Compare,
    IsA,
    IsNull,
    Lit,
    Neg,
    Normal,
    Not,
    OneOf,
    Or,
    Product,
    Recip,
    Ref,
    Sum,
    Term,
    TextTest,
    Truth,
    value_of,
)
from conceptpubsub.filters.patterns import text_test


def evaluate_normal(f: Filter, event: Any) -> bool | None:
    """What a filter's normal form, with its names, semantics and defaults, says of an event."""
    seen = view(event)
    values = []
    for binding in bindings(f.references, seen, f.scope):
        if f.semantics in ("strict", "total") and None in binding.bound.values():
            if f.semantics == "total":
                raise MissingAttribute("a reference is missing")
            values.append(None)
        else:
            values.append(_Normal(f, binding, seen).condition(f.normal))
    return True if True in values else None if None in values else False


class _Normal:
    def __init__(self, f: Filter, binding: Binding, seen: Any) -> None:
        self.filter, self.bound, self.seen = f, binding.bound, seen

    def rate(self, source: str, target: str) -> Any:
        return self.filter.converters.rate(source, target, self.seen.time)

    def condition(self, node: Normal) -> bool | None:
        match node:
            case And():
                values = [self.condition(arg) for arg in node.args]
                return False if False in values else None if None in values else True
            case Or():
                values = [self.condition(arg) for arg in node.args]
                return True if True in values else None if None in values else False
            case Not():
                value = self.condition(node.atom)
                return None if value is None else not value
            case Truth():
                return node.value
            case _:
                value = self.atom(node)
                return False if value is None and self.filter.semantics == "default" else value

    def atom(self, node: Any) -> bool | None:
        match node:
            case Compare():
                a, b = self.term(node.left), self.term(node.right)
                return None if a is None or b is None else arithmetic.compare(node.op, a, b, self.rate)
            case OneOf():
                value = self.term(node.term)
                found = [arithmetic.compare("=", value, value_of(v), self.rate) for v in node.values]
                return None if value is None else True if True in found else None if None in found else False
            case TextTest():
                value = self.term(node.term)
                return text_test(node.op, value, node.pattern) if isinstance(value, str) else None
            case IsNull():
                return self.bound[node.ref.key] is None
            case IsA():
                found = self.bound[node.ref.key]
                held = None if found is None else found.concept or found.value
                if not isinstance(held, str):
                    return None
                ontology = self.filter.ontology
                if ontology is None:
                    return held == node.name
                known = ontology.find(held)
                return None if known is None else known.is_a(node.concept)
            case _:
                raise AssertionError(node)

    def term(self, node: Term) -> Any:
        match node:
            case Ref():
                found = self.bound[node.key]
                return None if found is None else found.value
            case Lit():
                return value_of(node)
            case Neg():
                value = self.term(node.arg)
                return None if value is None else arithmetic.add([value], [-1], self.rate)
            case Recip():
                value = self.term(node.arg)
                return None if value is None else arithmetic.reciprocal(value)
            case Sum():
                signs = [-1 if isinstance(arg, Neg) else 1 for arg in node.args]
                values = [self.term(arg.arg if isinstance(arg, Neg) else arg) for arg in node.args]
                return None if any(v is None for v in values) else arithmetic.add(values, signs, self.rate)
            case Product():
                values = [self.term(arg) for arg in node.args]
                return None if any(v is None for v in values) else arithmetic.multiply(values, self.rate)
