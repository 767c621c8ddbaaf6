"""Tree to normal form, without changing what any event evaluates to.

Under ``default`` logic is two-valued: an unknown atom is false, ``<>`` is NOT ``=``, and NOT stays at the atom because
it holds where the attribute is absent. Under the other semantics NOT turns a comparison into its opposite, which is
unknown exactly where the comparison is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from conceptpubsub.converters import Money, Quantity
from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.normal import (
    FALSE,
    FLIPPED,
    MIRRORED,
    TRUE,
    UNKNOWN,
    Atom,
    Compare,
    IsA,
    IsNull,
    Lit,
    Neg,
    Normal,
    Not,
    OneOf,
    Product,
    Recip,
    Ref,
    Sum,
    Term,
    TextTest,
    Truth,
    conjunction,
    disjunction,
    literal,
)
from conceptpubsub.filters.patterns import like_shape, text_test
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
    SourceTerm,
    Times,
)
from conceptpubsub.model.values import simplest

_OPS = {"STARTS WITH": "starts", "ENDS WITH": "ends", "CONTAINS": "contains", "WITHIN": "within", "MATCHES": "matches"}
_TRUE = Lit("bool", True)


def normalise(tree: Condition, semantics: str, defaulted: Iterable[str] = ()) -> Normal:
    """The normal form of a tree; ``defaulted`` are the keys of references that have a declared default."""
    return _Normaliser(semantics == "default", frozenset(defaulted)).condition(tree, True)


class _Normaliser:
    __slots__ = ("defaulted", "two_valued")

    def __init__(self, two_valued: bool, defaulted: frozenset[str]) -> None:
        self.two_valued = two_valued
        self.defaulted = defaulted

    def condition(self, node: Condition, positive: bool) -> Normal:
        kind = type(node)
        if kind is Comparison:
            return self.comparison(node, positive)  # type: ignore[arg-type]
        match node:
            case All(args):
                inner = [self.condition(arg, positive) for arg in args]
                return conjunction(inner) if positive else disjunction(inner)
            case Some(args):
                inner = [self.condition(arg, positive) for arg in args]
                return disjunction(inner) if positive else conjunction(inner)
            case Inverse(arg):
                return self.condition(arg, not positive)
            case Between(term, low, high, at):
                both = (Comparison(">=", term, low, at), Comparison("<=", term, high, at))
                return self.condition(All(both, at), positive)
            case Member(term, items):
                return self.member(term_of(term), items, positive)
            case Pattern():
                return self.pattern(node, positive)
            case Null(ref):
                return FALSE if positive and ref.key in self.defaulted else self.signed(IsNull(ref), positive)
            case Below(ref, concept, name):
                return self.signed(IsA(ref, concept, name), positive)
            case Flag(term):
                if isinstance(term, Constant):
                    return TRUE if (term.lit is not None and term.lit.value) == positive else FALSE
                return self.compare("=", term, _TRUE, positive)
            case Comparison():
                return self.comparison(node, positive)
            case _:
                assert_never(node)

    def signed(self, atom: Atom, positive: bool) -> Normal:
        if positive:
            return atom
        if isinstance(atom, IsNull) and atom.ref.key in self.defaulted:
            return TRUE
        return Not(atom)

    def truth(self, value: bool | None, positive: bool) -> Truth:
        if value is None:
            if not self.two_valued:
                return UNKNOWN
            return FALSE if positive else TRUE
        return TRUE if value == positive else FALSE

    def comparison(self, node: Comparison, positive: bool) -> Normal:
        op, left, right, _ = node
        if type(left) is Ref and type(right) is Constant and right.lit is not None:
            return self.compare(op, left, right.lit, positive)
        return self.compare(op, term_of(left), term_of(right), positive)

    def compare(self, op: str, left: Term, right: Term, positive: bool) -> Normal:
        """A comparison of normal terms, folded where both are constant, turned so that a constant stands right."""
        if type(left) is not Ref:
            if isinstance(left, Lit) and isinstance(right, Lit):
                if not (left.kind == right.kind == "money" and left.of != right.of):
                    return self.truth(arithmetic.compare(op, value_of(left), value_of(right)), positive)
            elif isinstance(left, Lit):
                op, left, right = MIRRORED[op], right, left
            if isinstance(right, Lit):
                op, left, right = isolate(op, left, right)
        if self.two_valued:
            if op == "<>":
                op, positive = "=", not positive
            atom = Compare(op, left, right)
            return atom if positive else Not(atom)
        if not positive:
            op = FLIPPED[op]
        if op == "<>" and isinstance(right, Lit) and right.kind == "bool":
            op, right = "=", Lit("bool", not right.value)
        return Compare(op, left, right)

    def member(self, term: Term, items: tuple[Constant, ...], positive: bool) -> Normal:
        """IN is the OR of its equalities; constants of one kind go together, so that unknown stays exact."""
        groups: dict[tuple[str, Any], dict[str, Lit]] = {}
        for item in items:
            if item.lit is not None:
                groups.setdefault((item.lit.kind, item.lit.of), {})[item.lit.key] = item.lit
        parts: list[Normal] = []
        for (kind, _), lits in groups.items():
            if len(lits) == 1 or isinstance(term, Lit) or kind in ("bool", "money"):
                parts.extend(self.compare("=", term, lit, positive) for lit in lits.values())
            else:
                parts.append(self.signed(OneOf(term, tuple(lits[key] for key in sorted(lits))), positive))
        return disjunction(parts) if positive else conjunction(parts)

    def pattern(self, node: Pattern, positive: bool) -> Normal:
        term = term_of(node.term)
        op, pattern = like_shape(node.text, node.escape) if node.op == "LIKE" else (_OPS[node.op], node.text)
        if op == "equals":
            return self.compare("=", term, Lit("text", pattern), positive)
        if isinstance(term, Lit):
            known = text_test(op, term.value, pattern) if term.kind == "text" else None
            return self.truth(known, positive)
        return self.signed(TextTest(op, term, pattern), positive)


def term_of(term: SourceTerm) -> Term:
    """The normal form of a term: constant parts folded, the rest sorted."""
    if isinstance(term, Ref):
        return term
    if isinstance(term, Constant):
        assert term.lit is not None
        return term.lit
    if isinstance(term, Minus):
        inner = term_of(term.arg)
        if isinstance(inner, Lit):
            return _folded(arithmetic.add([value_of(inner)], [-1]), Neg(inner))
        return Neg(inner)
    if isinstance(term, Over):
        inner = term_of(term.arg)
        if isinstance(inner, Lit):
            return _folded(arithmetic.reciprocal(value_of(inner)), Recip(inner))
        return Recip(inner)
    args = [term_of(arg) for arg in term.args]
    if isinstance(term, Times):
        return _product(args)
    return _sum(args)


def _sum(args: list[Term]) -> Term:
    constants = [a for a in args if isinstance(a, Lit)]
    if len(constants) == len(args):
        whole = arithmetic.add([value_of(a) for a in constants], [1] * len(args))
        if whole is not None:
            return literal(whole)
    elif len(constants) > 1:
        part = arithmetic.add([value_of(a) for a in constants], [1] * len(constants))
        if part is not None:
            args = [*(a for a in args if not isinstance(a, Lit)), literal(part)]
    return Sum(tuple(sorted(args)))


def _product(args: list[Term]) -> Term:
    numbers = [a for a in args if isinstance(a, Lit) and a.kind == "number"]
    others = [a for a in args if not (isinstance(a, Lit) and a.kind == "number")]
    factor = arithmetic.multiply([a.value for a in numbers])
    if not others:
        return Product(tuple(sorted(args))) if factor is None else literal(factor)
    if all(isinstance(a, Lit) for a in others):
        whole = arithmetic.multiply([value_of(a) for a in args if isinstance(a, Lit)])
        if whole is not None:
            return literal(whole)
    if numbers and factor is not None:
        return Product(tuple(sorted([*others, literal(factor)])))
    return Product(tuple(sorted(args)))


def _folded(value: Any, kept: Term) -> Term:
    return kept if value is None else literal(value)


def value_of(lit: Lit) -> Any:
    """A constant of the normal form as a canonical value."""
    if lit.kind == "quantity":
        return Quantity(lit.value, lit.of)  # type: ignore[arg-type]
    if lit.kind == "money":
        return Money(lit.value, str(lit.of))
    return lit.value


def isolate(op: str, left: Term, right: Lit) -> tuple[str, Term, Term]:
    """Move constants to the right until, if possible, a reference stands alone: ``2 * x + 1 > 7`` is ``x > 3``."""
    while right.kind in ("number", "quantity"):
        if isinstance(left, Neg):
            moved = arithmetic.add([value_of(right)], [-1])
            if isinstance(right.of, arithmetic.Dimension) and arithmetic.is_absolute(right.of):
                break
            op, left, right = MIRRORED[op], left.arg, literal(moved)
            continue
        constants = [a for a in left.args if isinstance(a, Lit)] if isinstance(left, Sum | Product) else []
        rest = [a for a in left.args if not isinstance(a, Lit)] if isinstance(left, Sum | Product) else []
        if len(constants) != 1 or len(rest) != 1:
            break
        constant = constants[0]
        if isinstance(left, Product):
            if constant.kind != "number" or constant.value == 0:
                break
            value = simplest(right.value / arithmetic.Fraction(constant.value))
            op = op if constant.value > 0 else MIRRORED[op]
            left, right = rest[0], Lit(right.kind, value, right.of)
        else:
            if constant.kind != right.kind or (right.kind == "quantity" and constant.of != right.of):
                break
            if isinstance(right.of, arithmetic.Dimension) and arithmetic.is_absolute(right.of):
                break
            left, right = rest[0], Lit(right.kind, simplest(right.value - constant.value), right.of)
    return op, left, right
