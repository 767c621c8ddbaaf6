"""Computed columns: the words of terms over other columns, such as ``price * volume``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.events import View, candidates, view
from conceptpubsub.filters.normal import Lit, Neg, Product, Recip, Ref, Sum, Term, value_of
from conceptpubsub.matching.entries import Words
from conceptpubsub.matching.readers import Readers
from conceptpubsub.matching.vocabulary import Column
from conceptpubsub.model import Instant


def compute_words(
    columns: list[Column], readers: Readers, event: Any, n: int, out: Words, doubtful: list[Column]
) -> int:
    """Write the words of columns whose value is a term over others; returns the place after them.

    ``doubtful`` gets those whose value depends on the binding.
    """
    seen = view(event)
    values: dict[int, list[Any]] = {}
    for column in columns:
        bound: dict[str, Any] = {}
        for part in column.parts:
            found = values.get(part.number)
            if found is None:
                found = values[part.number] = _values_of(part, seen)
            assert part.ref is not None
            bound[part.ref.key] = found[0] if found else None
            if len(found) > 1:
                doubtful.append(column)
                break
        else:
            rate = rates(column.world.scope, seen.time)
            assert column.term is not None
            value = value_of_term(column.term, bound, rate)
            if value is not None:
                n = out.append(list(readers.group(column, value, None, rate)), n)
    return n


def _values_of(column: Column, seen: View) -> list[Any]:
    """The values a column may be bound to; its default where there are none."""
    assert column.ref is not None
    found = [each.value for each in candidates(column.ref, seen, column.world.scope)]
    return found or ([] if column.default is None else [column.default])


def rates(scope: Any, at: Instant | None) -> Any:
    """The rates of a moment, as terms ask for them."""

    def rate(source: str, target: str) -> Any:
        if source == target:
            return 1
        return None if source.startswith("1/") or target.startswith("1/") else scope.converters.rate(source, target, at)

    return rate


def value_of_term(term: Term, bound: Mapping[str, Any], rate: Any) -> Any:
    """The canonical value of a term, or None where it has none."""
    if isinstance(term, Ref):
        return bound[term.key]
    if isinstance(term, Lit):
        return value_of(term)
    if isinstance(term, Neg | Recip):
        inner = value_of_term(term.arg, bound, rate)
        if inner is None:
            return None
        return arithmetic.add([inner], [-1], rate) if isinstance(term, Neg) else arithmetic.reciprocal(inner)
    signs = [-1 if isinstance(arg, Neg) and isinstance(term, Sum) else 1 for arg in term.args]
    inner_terms = [arg.arg if sign < 0 else arg for arg, sign in zip(term.args, signs, strict=True)]  # type: ignore[union-attr]
    values = [value_of_term(each, bound, rate) for each in inner_terms]
    if any(value is None for value in values):
        return None
    return arithmetic.multiply(values, rate) if isinstance(term, Product) else arithmetic.add(values, signs, rate)
