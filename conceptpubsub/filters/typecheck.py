"""Types of terms, and which may meet: what a filter cannot mean is refused before any event arrives.

A reference without a declared type may hold anything and is let through; the evaluator answers unknown where types
do not meet. Two constants are let through as well: the answer is merely unknown, as JMS has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from conceptpubsub.converters import Dimension
from conceptpubsub.filters.arithmetic import (
    inverse_dimension,
    is_absolute,
    product_dimension,
    sum_dimension,
    time_dimension,
)
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.scope import Meaningless
from conceptpubsub.filters.syntax import Constant, Minus, Over, Times, Total
from conceptpubsub.model import QuantityKind


class Type(NamedTuple):
    """kind: number, quantity, money, numeric (one of these three), text, bool, instant, concept, complex or None.

    None is undeclared: it may turn out to be anything.
    """

    kind: str | None
    dimension: Dimension | None = None
    shown: str = ""
    unit: str = ""
    quantity_kind: QuantityKind | None = None


ANY = Type(None)
_UNORDERED = {"bool": ("Booleans", "= or <>"), "concept": ("concepts", "=, <> or ISA")}
NUMERIC = ("number", "quantity", "money", "numeric")


def type_of(term: Any) -> Type:
    """The type of a term, or an error where its parts cannot be combined."""
    if isinstance(term, Ref):
        return _of_ref(term)
    if isinstance(term, Constant):
        return Type(term.lit.kind, term.lit.of if isinstance(term.lit.of, Dimension) else None, term.text)
    if isinstance(term, Minus):
        return _of_minus(term)
    if isinstance(term, Over):
        inner = _numeric(type_of(term.arg), "there is no division by {}", term.at)
        return (
            inner if inner.dimension is None else inner._replace(dimension=inverse_dimension(inner.dimension), unit="")
        )
    return _of_product(term) if isinstance(term, Times) else _of_sum(term)


def _of_ref(ref: Ref) -> Type:
    concept = ref.concept
    if concept is None:
        # A plain attribute declared to be real may still carry a unit.
        return Type({"int": "number", "number": "numeric"}.get(ref.type or "", ref.type), None, ref.shown)
    if ref.dimension is not None:
        return Type("quantity", ref.dimension, ref.shown, concept.canonical_unit or "", concept.quantity_kind)
    if "currency" in concept.default_context:
        return Type("money", None, ref.shown)
    if ref.type in ("number", "int"):
        return Type("number" if ref.type == "int" else "numeric", None, ref.shown)
    return Type(ref.type, None, ref.shown)


def _numeric(each: Type, message: str, at: int) -> Type:
    if each.kind not in (None, *NUMERIC):
        raise Meaningless(message.format(_named(each)), at=at)
    return each


def _of_minus(term: Minus) -> Type:
    inner = _numeric(type_of(term.arg), "there is no minus {}", term.at)
    if inner.dimension is not None and is_absolute(inner.dimension):
        raise Meaningless("an absolute temperature has no opposite; subtract two temperatures instead", at=term.at)
    return inner


def _of_product(term: Times) -> Type:
    types = [_numeric(type_of(arg), "{} is no factor of a product", term.at) for arg in term.args]
    kinds = {each.kind for each in types}
    if None in kinds:
        return ANY
    if kinds >= {"money", "quantity"}:
        raise Meaningless("money is multiplied by numbers only, not by quantities with a unit", at=term.at)
    if "numeric" in kinds:
        return Type("numeric", None, "the product")
    if "money" in kinds:
        return Type("money" if sum(each.kind == "money" for each in types) == 1 else "numeric", None, "the product")
    dimension = None
    for each in types:
        if each.dimension is not None:
            dimension = each.dimension if dimension is None else product_dimension(dimension, each.dimension)
    return Type("number", None, "the product") if dimension is None else Type("quantity", dimension, "the product")


def _of_sum(term: Total) -> Type:
    signs = [-1 if isinstance(arg, Minus) else 1 for arg in term.args]
    types = [type_of(arg.arg if isinstance(arg, Minus) else arg) for arg in term.args]
    for each in types:
        if each.kind not in (None, *NUMERIC, "instant"):
            raise Meaningless(f"{_named(each)} is no part of a sum", at=term.at)
    kinds = {each.kind for each in types}
    if None in kinds:
        return ANY
    if "instant" in kinds:
        return _moved(types, signs, term.at)
    for each in types:
        _meet(types[0], each, "{} and {} do not add up", term.at)
    if "numeric" in kinds or kinds != {"quantity"}:
        return next((each for each in types if each.kind != "numeric"), types[0])
    if len(types) == 1:
        return types[0]
    dimension = sum_dimension([(s, t.dimension) for s, t in zip(signs, types, strict=True) if t.dimension is not None])
    if dimension is None:
        raise Meaningless(f"{' and '.join(_named(t) for t in types[:3])} do not add up", at=term.at)
    return Type("quantity", dimension, "the sum", types[0].unit if dimension == types[0].dimension else "")


def _moved(types: Sequence[Type], signs: Sequence[int], at: int) -> Type:
    """Instants subtracted, or moved by durations."""
    count = sum(s for s, each in zip(signs, types, strict=True) if each.kind == "instant")
    durations = all(
        each.kind in ("instant", "numeric")
        or (each.dimension is not None and each.dimension.comparable(time_dimension()))
        for each in types
    )
    if durations and count == 0:
        return Type("quantity", time_dimension(), "the duration")
    if durations and count == 1:
        return Type("instant", None, "the instant")
    raise Meaningless("instants may be subtracted, or moved by a duration; nothing else", at=at)


def check_comparison(op: str, left: Any, right: Any, at: tuple[int, int]) -> None:
    """Refuse a comparison that can never be more than unknown. ``at`` is where the operands stand."""
    a, b = type_of(left), type_of(right)
    places = [term.at if isinstance(term, Constant) else where for term, where in zip((left, right), at, strict=True)]
    if op not in ("=", "<>"):
        for each, place in zip((a, b), places, strict=True):
            if each.kind in _UNORDERED:
                noun, instead = _UNORDERED[each.kind]
                raise Meaningless(f"{noun} have no order: use {instead} with {each.shown[:80]}", at=place)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return
    place = places[0] if isinstance(left, Constant) else places[1]
    _meet(a, b, "{} cannot be compared with {}", place)
    if a.dimension is not None and b.dimension is not None and not a.dimension.comparable(b.dimension):
        raise Meaningless(f"{_named(a)} cannot be compared with {_named(b)}: different kinds of quantity", at=place)


def _meet(a: Type, b: Type, message: str, at: int) -> None:
    """Refuse two types of which no two values compare or add up."""
    if a.kind is None or b.kind is None:
        return
    kinds = {a.kind, b.kind}
    if len(kinds) == 2 and kinds != {"concept", "text"} and not ("numeric" in kinds and kinds <= set(NUMERIC)):
        said = message.format(_named(a), _named(b))
        if kinds == {"number", "quantity"}:
            said += ": one has a unit and the other has none; write the number with its unit, as in 5 [km/h]"
        raise Meaningless(said, at=at)
    one, other = a.quantity_kind, b.quantity_kind
    if one is not None and other is not None and not (one.is_a(other) or other.is_a(one)):
        said = message.format(a.shown, b.shown)
        raise Meaningless(f"{said}: the one is of the kind {one.name}, the other of the kind {other.name}", at=at)


def check_text(op: str, term: Any, at: int) -> None:
    """Refuse a test of text on what is declared to be something else."""
    each = type_of(term)
    if each.kind not in (None, "text", "concept") and not isinstance(term, Constant):
        raise Meaningless(f"{op} tests text, and {_named(each)} is none", at=at)


def check_isa(ref: Ref, at: int) -> None:
    """Refuse ISA on what can hold no concept."""
    if ref.type not in (None, "text", "concept", "complex"):
        raise Meaningless(f"ISA asks which concept an attribute holds, and {_named(type_of(ref))} holds none", at=at)


_NOUNS = {
    "quantity": "a quantity",
    "money": "an amount of money",
    "numeric": "a number",
    "bool": "a Boolean",
    "instant": "an instant",
    "text": "text",
    "number": "a number",
    "concept": "a concept",
    "complex": "a complex object",
}


def _named(each: Type) -> str:
    noun = _NOUNS.get(each.kind or "", "a value")
    if each.kind == "quantity" and each.unit:
        noun = f"a quantity in {each.unit}"
    elif each.kind == "quantity" and each.dimension is not None:
        noun = f"a quantity in {each.dimension.base_unit}"
    return f"{each.shown[:80]} ({noun})" if each.shown else noun
