"""Types of terms, and which may meet: what a filter cannot mean is refused before any event arrives.

A reference without a declared type may hold anything and is let through; the evaluator answers unknown where types
do not meet. Two constants are let through as well: the answer is merely unknown, as JMS has it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from conceptpubsub.converters import Dimension
from conceptpubsub.filters.arithmetic import is_absolute, sum_dimension, time_dimension
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.scope import Meaningless
from conceptpubsub.filters.syntax import Constant, Minus, Over, Times, Total


class Type(NamedTuple):
    """kind: number, quantity, money, text, bool, instant, concept, complex; None when undeclared."""

    kind: str | None
    dimension: Dimension | None = None
    shown: str = ""
    unit: str = ""
    quantity_kind: Any = None


ANY = Type(None)
_NUMERIC = ("number", "quantity", "money")


def type_of(term: Any) -> Type:
    """The type of a term, or an error where its parts cannot be combined."""
    if isinstance(term, Ref):
        return _of_ref(term)
    if isinstance(term, Constant):
        lit = term.lit
        if lit is None:
            return ANY
        dimension = lit.of if isinstance(lit.of, Dimension) else None
        return Type(lit.kind, dimension, term.text)
    if isinstance(term, Minus):
        inner = type_of(term.arg)
        if inner.kind not in (None, *_NUMERIC):
            raise Meaningless(f"there is no minus {_named(inner)}")
        if inner.dimension is not None and is_absolute(inner.dimension):
            raise Meaningless("an absolute temperature has no opposite; subtract two temperatures instead")
        return inner
    if isinstance(term, Over):
        return _inverse(type_of(term.arg))
    return _of_product(term) if isinstance(term, Times) else _of_sum(term)


def _of_ref(ref: Ref) -> Type:
    if not ref.steps:
        # A plain attribute declared a number may still carry a unit, so only its being a number is known.
        return Type({"int": "number", "number": None}.get(ref.type or "", ref.type), None, ref.shown)
    concept = ref.steps[-1]
    if ref.dimension is not None:
        return Type("quantity", ref.dimension, ref.shown, concept.canonical_unit or "", concept.quantity_kind)
    if "currency" in concept.default_context:
        return Type("money", None, ref.shown)
    if ref.type in ("number", "int"):
        return Type("number" if ref.type == "int" else None, None, ref.shown)
    return Type(ref.type, None, ref.shown)


def _inverse(inner: Type) -> Type:
    if inner.kind not in (None, *_NUMERIC):
        raise Meaningless(f"there is no division by {_named(inner)}")
    return inner._replace(dimension=inner.dimension**-1) if inner.dimension is not None else inner


def _of_product(term: Times) -> Type:
    types = [type_of(arg) for arg in term.args]
    for each in types:
        if each.kind not in (None, *_NUMERIC):
            raise Meaningless(f"{_named(each)} is no factor of a product")
    if any(each.kind is None for each in types):
        return ANY
    if any(each.kind == "money" for each in types):
        if any(each.kind == "quantity" for each in types):
            raise Meaningless("money is multiplied by numbers only, not by quantities with a unit")
        return Type("money") if sum(each.kind == "money" for each in types) == 1 else ANY
    dimension = None
    for each in types:
        if each.dimension is not None:
            dimension = each.dimension if dimension is None else dimension * each.dimension
    return Type("number") if dimension is None else Type("quantity", dimension, "the product")


def _of_sum(term: Total) -> Type:
    signs = [-1 if isinstance(arg, Minus) else 1 for arg in term.args]
    types = [type_of(arg.arg if isinstance(arg, Minus) else arg) for arg in term.args]
    for each in types:
        if each.kind not in (None, *_NUMERIC, "instant"):
            raise Meaningless(f"{_named(each)} is no part of a sum")
    if any(each.kind is None for each in types):
        return ANY
    kinds = {each.kind for each in types}
    if "instant" in kinds:
        if kinds <= {"instant", "quantity"}:
            count = sum(s for s, each in zip(signs, types, strict=True) if each.kind == "instant")
            if count == 0:
                return Type("quantity", time_dimension(), "the duration")
            if count == 1:
                return Type("instant", None, "the instant")
        raise Meaningless("instants may be subtracted, or moved by a duration; nothing else")
    if len(kinds) > 1:
        raise Meaningless(
            f"{_named(types[0])} and {_named(next(t for t in types if t.kind != types[0].kind))} do not add up"
        )
    if kinds != {"quantity"}:
        return types[0]
    if len(types) == 1:
        return types[0]
    dimension = sum_dimension([(s, t.dimension) for s, t in zip(signs, types, strict=True) if t.dimension is not None])
    if dimension is None:
        raise Meaningless(f"{' and '.join(_named(t) for t in types[:3])} do not add up")
    return types[0]._replace(dimension=dimension)


def check_comparison(op: str, left: Any, right: Any) -> None:
    """Refuse a comparison that can never be more than unknown."""
    a, b = type_of(left), type_of(right)
    for each in (a, b):
        if each.kind == "bool" and op not in ("=", "<>"):
            raise Meaningless(f"Booleans have no order: use = or <> with {each.shown or 'a Boolean'}")
    if a.kind is None or b.kind is None or (isinstance(left, Constant) and isinstance(right, Constant)):
        return
    if a.kind != b.kind and {a.kind, b.kind} != {"concept", "text"}:
        if {a.kind, b.kind} == {"number", "quantity"}:
            quantity, number = (a, b) if a.kind == "quantity" else (b, a)
            raise Meaningless(
                f"{_named(quantity)} has a unit and {_named(number)} has none: write the number with its unit, as in 5 [km/h]"
            )
        raise Meaningless(f"{_named(a)} cannot be compared with {_named(b)}")
    if a.dimension is not None and b.dimension is not None and not a.dimension.comparable(b.dimension):
        raise Meaningless(f"{_named(a)} cannot be compared with {_named(b)}: different kinds of quantity")
    if a.quantity_kind is not None and b.quantity_kind is not None:
        one, other = a.quantity_kind, b.quantity_kind
        if not (one.is_a(other) or other.is_a(one)):
            raise Meaningless(
                f"{a.shown} is of the kind {one.name}, {b.shown} of the kind {other.name}: they do not compare"
            )


def check_text(op: str, term: Any) -> None:
    """Refuse a test of text on what is declared to be something else."""
    kind = type_of(term).kind
    if kind not in (None, "text", "concept") and not isinstance(term, Constant):
        raise Meaningless(f"{op} tests text, and {_named(type_of(term))} is none")


_NOUNS = {"quantity": "a quantity", "money": "an amount of money", "bool": "a Boolean", "instant": "an instant",
          "text": "text", "number": "a number", "concept": "a concept", "complex": "a complex object"}  # fmt: skip


def _named(each: Type) -> str:
    noun = _NOUNS.get(each.kind or "", "a value")
    if each.kind == "quantity" and each.unit:
        noun = f"a quantity in {each.unit}"
    elif each.kind == "quantity" and each.dimension is not None:
        noun = f"a quantity in {each.dimension.base_unit}"
    return f"{each.shown} ({noun})" if each.shown else noun
