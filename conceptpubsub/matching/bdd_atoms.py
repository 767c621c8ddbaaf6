"""Atoms as Boolean variables: which variable a literal is, and when a variable is true.

Rule 1  A variable is true where its literal is known to hold, and false otherwise. With negations at the atoms a filter
        is then a monotone function of its variables, and two values are enough for three.
Rule 2  Two literals share a variable, one of them as its complement, where exactly one of them holds: under
        ``default`` an atom and its negation; else ``x < 5`` and ``x >= 5`` of an x whose kind is declared. An event
        whose x is of another kind all the same is *odd*, and its filters on x are left to the evaluator.
Rule 3  Under ``strict`` and ``total`` a filter is asked only where all its names are bound, so IS NULL is false there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.events import Complex, View
from conceptpubsub.filters.normal import (
    FLIPPED,
    Atom,
    Compare,
    IsA,
    IsNull,
    Lit,
    Neg,
    Not,
    OneOf,
    Product,
    Recip,
    Ref,
    Sum,
    TextTest,
    atom_refs,
)
from conceptpubsub.filters.normalise import value_of
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.matching.counting_bindings import References
from conceptpubsub.matching.counting_conjunctions import constant_kind
from conceptpubsub.matching.counting_labels import quantity_kind
from conceptpubsub.model import exact

if TYPE_CHECKING:
    from conceptpubsub.filters.scope import Scope

_BASE = {"=": True, "<": True, "<=": True, "<>": False, ">=": False, ">": False}
"""The comparisons that stand for themselves; the others are complements."""

Key = tuple[Any, ...]


class Variable(NamedTuple):
    """A literal, the numbers of its references, and the kind of values it compares (None: not one of a column)."""

    atom: Atom
    negated: bool
    numbers: tuple[int, ...]
    kind: str | None
    scope: Scope

    @property
    def key(self) -> Key:
        """Equal for variables that are one."""
        return (self.atom.key, self.negated, self.numbers)


class Literal(NamedTuple):
    """A variable or its complement."""

    variable: Variable
    positive: bool


class Reader:
    """Literals of the normal form to variables, for one of two logics."""

    def __init__(self, references: References, two_valued: bool) -> None:
        self.references = references
        self.two_valued = two_valued
        self._read: dict[tuple[int, str], Literal | bool] = {}
        self._scopes: dict[int, Scope] = {}

    def literal(self, node: Any, scope: Scope) -> Literal | bool:
        """The variable that a literal is, or the constant that it comes down to."""
        key = (id(scope), node.key)
        found = self._read.get(key)
        if found is None:
            self._scopes[id(scope)] = scope  # kept, for the key knows it by identity
            found = self._read[key] = self._literal(node, scope)
        return found

    def _literal(self, node: Any, scope: Scope) -> Literal | bool:
        negated = isinstance(node, Not)
        atom: Atom = node.atom if isinstance(node, Not) else node
        if isinstance(atom, IsNull) and not self.two_valued:
            return negated
        refs = {ref.key: ref for ref in atom_refs(atom)}.values()
        numbers = tuple(self.references.number(ref, scope) for ref in refs)
        kind = _kind(atom)
        if self.two_valued:
            return Literal(Variable(atom, False, numbers, kind, scope), not negated)
        if kind is None or kind != declared_kind(next(iter(refs))):
            return Literal(Variable(atom, negated, numbers, kind, scope), True)
        positive = not negated
        if isinstance(atom, Compare) and not _BASE[atom.op]:
            atom, positive = Compare(FLIPPED[atom.op], atom.left, atom.right), not positive
        return Literal(Variable(atom, False, numbers, kind, scope), positive)


def declared_kind(ref: Ref) -> str | None:
    """The kind that values of a reference are declared to be of."""
    if ref.dimension is not None:
        return quantity_kind(ref.dimension.key)
    known = {"int": "number", "concept": "text", "complex": None}
    return known.get(ref.type, ref.type) if ref.type is not None else None


def _kind(atom: Atom) -> str | None:
    if isinstance(atom, Compare) and isinstance(atom.left, Ref) and isinstance(atom.right, Lit):
        return constant_kind(atom.right)
    if isinstance(atom, OneOf) and isinstance(atom.term, Ref):
        return constant_kind(atom.values[0])
    if isinstance(atom, TextTest) and isinstance(atom.term, Ref):
        return "text"
    return None


# ---------------------------------------------------------------------- truth


def holds(variable: Variable, values: dict[int, Any], seen: View) -> bool:
    """Whether a variable is true of an event; its references are bound, but for IS NULL's."""
    atom = variable.atom
    if isinstance(atom, IsNull):
        return variable.numbers[0] not in values
    if not all(number in values for number in variable.numbers):
        return False
    refs = {ref.key: ref for ref in atom_refs(atom)}
    bound = {key: values[number] for key, number in zip(refs, variable.numbers, strict=True)}
    value = _Valuation(bound, variable.scope, seen).atom(atom)
    return value is (not variable.negated)


class _Valuation:
    """Atoms of the normal form for some values of their references."""

    def __init__(self, bound: dict[str, Any], scope: Scope, seen: View) -> None:
        self.bound = bound
        self.scope = scope
        self.seen = seen

    def rate(self, source: str, target: str) -> Any:
        return 1 if source == target else self.scope.converters.rate(source, target, self.seen.time)

    def atom(self, atom: Atom) -> bool | None:
        if isinstance(atom, Compare):
            left, right = self.term(atom.left), self.term(atom.right)
            return None if left is None or right is None else arithmetic.compare(atom.op, left, right, self.rate)
        if isinstance(atom, OneOf):
            value = self.term(atom.term)
            if value is None:
                return None
            known = [arithmetic.compare("=", value, value_of(lit), self.rate) for lit in atom.values]
            return True if True in known else None if None in known else False
        if isinstance(atom, TextTest):
            value = self.term(atom.term)
            return text_test(atom.op, value, atom.pattern) if isinstance(value, str) else None
        assert isinstance(atom, IsA)
        return self.below(atom)

    def below(self, atom: IsA) -> bool | None:
        value = self.bound[atom.ref.key]
        held = value.concept if isinstance(value, Complex) else value
        if not isinstance(held, str):
            return None
        if self.scope.ontology is None:
            return held == atom.name
        known = self.scope.ontology.find(held)
        return None if known is None else bool(known.is_a(atom.concept))

    def term(self, term: Any) -> Any:
        if isinstance(term, Ref):
            value = self.bound[term.key]
            return exact(value) if type(value) is float else value
        if isinstance(term, Lit):
            return value_of(term)
        if isinstance(term, Neg):
            return self.signed([term])
        if isinstance(term, Recip):
            value = self.term(term.arg)
            return None if value is None else arithmetic.reciprocal(value)
        if isinstance(term, Sum):
            return self.signed(term.args)
        assert isinstance(term, Product)
        values = [self.term(arg) for arg in term.args]
        return None if None in values else arithmetic.multiply(values, self.rate)

    def signed(self, args: Any) -> Any:
        signs = [-1 if isinstance(arg, Neg) else 1 for arg in args]
        values = [self.term(arg.arg if isinstance(arg, Neg) else arg) for arg in args]
        return None if None in values else arithmetic.add(values, signs, self.rate)
