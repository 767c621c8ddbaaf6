"""Tree to normal form, without changing what any event evaluates to.

Under ``default`` logic is two-valued: an unknown atom is false, ``<>`` is NOT ``=``, and NOT stays at the atom because
it holds where the attribute is absent. Under the other semantics NOT turns a comparison into its opposite, which is
unknown exactly where the comparison is.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from conceptpubsub.converters import Dimension
from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.arithmetic import is_absolute
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
from conceptpubsub.filters.normal import value_of as value_of
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

_MODEST_BITS, _MOST_STEPS = 4096, 8
_OPS = {"STARTS WITH": "starts", "ENDS WITH": "ends", "CONTAINS": "contains", "WITHIN": "within", "MATCHES": "matches"}
_TRUE = Lit("bool", True)


def normalise(tree: Condition, semantics: str, defaulted: Iterable[str] = ()) -> Normal:
    """The normal form of a tree; ``defaulted`` are the keys of references that have a declared default."""
    return _Normaliser(semantics == "default", frozenset(defaulted)).condition(tree)


class _Normaliser:
    __slots__ = ("defaulted", "two_valued")

    def __init__(self, two_valued: bool, defaulted: frozenset[str]) -> None:
        self.two_valued = two_valued
        self.defaulted = defaulted

    def condition(self, tree: Condition) -> Normal:
        """De Morgan on the way down, without recursion: each node waits with its sign until those below are done."""
        done: list[Normal] = []
        plain = not self.two_valued
        work: list[tuple[Any, bool, bool]] = [(tree, True, False)]
        while work:
            node, positive, ready = work.pop()
            kind = type(node)
            if kind is Comparison:
                op, left, right, _ = node
                if plain and positive and type(left) is Ref and type(right) is Constant and right.lit.kind != "bool":
                    done.append(Compare(op, left, right.lit))  # the common case, in one step
                else:
                    done.append(self.comparison(node, positive))
            elif kind is All or kind is Some:
                if not ready:
                    work.append((node, positive, True))
                    work.extend([(arg, positive, False) for arg in reversed(node.args)])
                    continue
                count = len(done) - len(node.args)
                parts = done[count:]
                del done[count:]
                done.append(conjunction(parts) if (kind is All) == positive else disjunction(parts))
            elif kind is Inverse:
                work.append((node.arg, not positive, False))
            else:
                done.append(self.atom(node, positive))
        return done.pop()

    def atom(self, node: Condition, positive: bool) -> Normal:
        match node:
            case Between(term, low, high):
                whole = term_of(term)
                both = [
                    self.compare(">=", whole, term_of(low), positive),
                    self.compare("<=", whole, term_of(high), positive),
                ]
                return conjunction(both) if positive else disjunction(both)
            case Member(term, items):
                return self.member(term_of(term), items, positive)
            case Pattern():
                return self.pattern(node, positive)
            case Null(ref):
                return FALSE if positive and ref.key in self.defaulted else self.signed(IsNull(ref), positive)
            case Below(ref, concept, name):
                return self.signed(IsA(ref, concept, name), positive)
            case Flag(Constant(lit)):
                return TRUE if lit.value == positive else FALSE
            case Flag(Ref() as ref):
                return self.compare("=", ref, _TRUE, positive)
            case _:
                raise AssertionError(f"no atom is a {type(node).__name__}")

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
        if type(left) is Ref and type(right) is Constant:
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
        if not isinstance(right, Lit) and right.key < left.key:
            op, left, right = MIRRORED[op], right, left
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


def isolate(op: str, left: Term, right: Lit) -> tuple[str, Term, Lit]:
    """Move constants to the right until, if possible, a reference stands alone: ``2 * x + 1 > 7`` is ``x > 3``.

    Only where nothing can be lost: one reference, constants of modest size (a result of absurd size is unknown, and
    must stay so), no absolute temperature, whose opposite does not exist.
    """
    steps, kept = 0, (op, left, right)
    while not isinstance(left, Ref):
        steps += 1
        moved = _moved(op, left, right)
        if moved is None or steps > _MOST_STEPS:
            return kept
        op, left, right = moved
    return op, left, right


def _moved(op: str, left: Term, right: Lit) -> tuple[str, Term, Lit] | None:
    """One constant or sign of the left side, moved to the right."""
    if right.kind not in ("number", "quantity") or (isinstance(right.of, Dimension) and is_absolute(right.of)):
        return None
    if isinstance(left, Neg):
        if isinstance(right.of, Dimension) and right.of.derived:
            return None
        return MIRRORED[op], left.arg, Lit(right.kind, -right.value, right.of)
    if not isinstance(left, Sum | Product):
        return None
    constants = [a for a in left.args if isinstance(a, Lit)]
    rest = [a for a in left.args if not isinstance(a, Lit)]
    if len(constants) != 1 or len(rest) != 1 or _large(constants[0].value):
        return None
    constant, kept = constants[0], rest[0]
    if isinstance(left, Sum):
        if constant.kind != right.kind or constant.of != right.of:
            return None
        return op, kept, Lit(right.kind, simplest(right.value - constant.value), right.of)
    if constant.kind != "number" or constant.value == 0:
        return None
    value = simplest(Fraction(right.value) / constant.value)
    return op if constant.value > 0 else MIRRORED[op], kept, Lit(right.kind, value, right.of)


def _large(value: Any) -> bool:
    return bool(max(value.numerator.bit_length(), value.denominator.bit_length()) > _MODEST_BITS)
