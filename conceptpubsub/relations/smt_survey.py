"""What two filters speak of, seen before anything is encoded: dimensions, currencies, and the tests of each text.

An undeclared attribute may hold a quantity of any dimension. Only those that the filters name can make a difference,
and a few that they do not name, for attributes that are compared with one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from conceptpubsub.converters import Dimension, Money, Quantity, resolve
from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.normal import (
    Atom,
    Compare,
    IsA,
    Lit,
    Neg,
    OneOf,
    Product,
    Recip,
    Ref,
    Sum,
    Term,
    TextTest,
    atom_refs,
    atoms,
    term_refs,
)
from conceptpubsub.relations.compiled import Compiled
from conceptpubsub.relations.smt_regex import Test

_FRESH = ("cd*mol", "cd*A", "mol*A", "cd^2", "mol^2", "A^2", "cd^3", "mol^3")
PRICED = "*(kg)"
"""What money that is a price for something is a price for, where the filters name no such price."""


class Survey(NamedTuple):
    """What a pair of filters speaks of."""

    dimensions: tuple[Dimension, ...]
    currencies: tuple[str, ...]
    """The pivot first."""
    prices: tuple[str, ...]
    """What amounts of money may be prices for; empty text for plain amounts."""
    measured: frozenset[str]
    """Keys of the references that are compared with quantities or money, directly or in a term."""
    crossed: frozenset[str]
    """Keys of the references that are compared with other references."""
    tests: tuple[tuple[str, tuple[Test, ...]], ...]
    """For each reference, the tests of its text."""
    products: bool
    """Whether undeclared values are multiplied or divided by one another."""


def survey(one: Compiled, other: Compiled) -> Survey:
    """Look through two filters."""
    found = _Surveyor()
    for each in {id(c): c for c in (one, other)}.values():
        for slot in each.signature.slots.values():
            if slot.kind.dimension is not None:
                found.dimension(slot.kind.dimension)
        for value in each.filter.scope.defaults.values():
            found.value(value)
        for atom in {atom.key: atom for atom in atoms(each.filter.normal)}.values():
            found.atom(atom)
    return found.result()


class _Surveyor:
    def __init__(self) -> None:
        self.dimensions: dict[str, Dimension] = {}
        self.currencies: dict[str, None] = {}
        self.measured: set[str] = set()
        self.crossed: set[str] = set()
        self.tests: dict[str, dict[Test, None]] = {}
        self.products = False

    def dimension(self, dimension: Dimension) -> None:
        self.dimensions.setdefault(dimension.key, dimension)
        if dimension.exponents == resolve("kelvin").dimension.exponents:
            for unit in ("kelvin", "delta_degC"):
                self.dimensions.setdefault(resolve(unit).dimension.key, resolve(unit).dimension)

    def value(self, value: Any) -> None:
        if isinstance(value, Quantity):
            self.dimension(value.dimension)
        elif isinstance(value, Money):
            self.currencies[value.currency] = None

    def lit(self, lit: Lit) -> None:
        if isinstance(lit.of, Dimension):
            self.dimension(lit.of)
        elif lit.kind == "money":
            self.currencies[str(lit.of).removeprefix("1/")] = None

    def atom(self, atom: Atom) -> None:
        terms = [atom.left, atom.right] if isinstance(atom, Compare) else [getattr(atom, "term", None)]
        lits = [lit for term in terms for lit in _lits(term)]
        lits += list(atom.values) if isinstance(atom, OneOf) else []
        for lit in lits:
            self.lit(lit)
        refs = [ref.key for ref in atom_refs(atom)]
        if any(lit.kind in ("quantity", "money") for lit in lits):
            self.measured.update(refs)
        if len(set(refs)) > 1 or (isinstance(atom, Compare) and not isinstance(atom.right, Lit)):
            self.crossed.update(refs)
            if any(ref.type == "instant" or ref.type is None for ref in atom_refs(atom)):
                self.dimension(arithmetic.time_dimension())
        self.products |= any(_multiplies(term) for term in terms if term is not None)
        for ref, test in tests_of(atom):
            self.tests.setdefault(ref.key, {})[test] = None

    def result(self) -> Survey:
        count = max(1, (len(self.crossed) + 1) // 2)
        fresh = [dimension for dimension in _fresh() if dimension.key not in self.dimensions][:count]
        currencies = tuple(sorted(self.currencies)) or ("EUR",)
        prices = {"", PRICED} | {currency.partition("*")[1] + currency.partition("*")[2] for currency in currencies}
        return Survey(
            dimensions=(*(d for _, d in sorted(self.dimensions.items()) if not d.derived), *fresh),
            currencies=tuple(dict.fromkeys(currency.partition("*")[0] for currency in currencies)),
            prices=tuple(sorted(prices)),
            measured=frozenset(self.measured),
            crossed=frozenset(self.crossed),
            tests=tuple((key, tuple(sorted(tests, key=repr))) for key, tests in sorted(self.tests.items())),
            products=self.products,
        )


@lru_cache(maxsize=1)
def _fresh() -> tuple[Dimension, ...]:
    return tuple(resolve(unit).dimension for unit in _FRESH)


def _lits(term: Term | None) -> Iterator[Lit]:
    stack: list[Any] = [] if term is None else [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Lit):
            yield top
        elif isinstance(top, Sum | Product):
            stack.extend(top.args)
        elif isinstance(top, Neg | Recip):
            stack.append(top.arg)


def _multiplies(term: Term) -> bool:
    """Whether undeclared references meet in a product or a quotient."""
    stack: list[Any] = [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Recip) and _open(term_refs(top.arg)):
            return True
        if isinstance(top, Product):
            others = [arg for arg in top.args if not (isinstance(arg, Lit) and arg.kind == "number")]
            if len(others) > 1 and _open(ref for arg in others for ref in term_refs(arg)):
                return True
        stack.extend(top.args if isinstance(top, Sum | Product) else [top.arg] if isinstance(top, Neg | Recip) else [])
    return False


def _open(refs: Iterable[Ref]) -> bool:
    return any(ref.type is None or (ref.type == "number" and ref.dimension is None) for ref in refs)


def tests_of(atom: Atom) -> Iterator[tuple[Ref, Test]]:
    """The tests of text that an atom comes down to. Orders are kept as = < and <=, whose negations are the others."""
    if isinstance(atom, Compare):
        if isinstance(atom.left, Ref) and isinstance(atom.right, Lit) and atom.right.kind == "text":
            yield atom.left, order_test(atom.op, atom.right.value)[0]
    elif isinstance(atom, OneOf):
        if isinstance(atom.term, Ref) and atom.values[0].kind == "text":
            yield atom.term, member_test(atom)
    elif isinstance(atom, TextTest):
        if isinstance(atom.term, Ref):
            yield atom.term, Test(atom.op, atom.pattern)
    elif isinstance(atom, IsA):
        for test in isa_tests(atom):
            yield atom.ref, test


def order_test(op: str, value: str) -> tuple[Test, bool]:
    """The test for a comparison with a text, and whether it must hold or fail."""
    base = {"=": "=", "<>": "=", "<": "<", ">=": "<", "<=": "<=", ">": "<="}[op]
    return Test(base, value), op == base


def member_test(atom: OneOf) -> Test:
    """The test for IN with texts."""
    return Test("in", tuple(sorted(lit.value for lit in atom.values)))


def isa_tests(atom: IsA) -> tuple[Test, ...]:
    """The texts for which ISA is true; and, with an ontology, those for which it is false (of others it is unknown)."""
    if isinstance(atom.concept, str) or atom.concept is None:
        return (Test("=", atom.name),)
    return _spelled(atom.concept.ontology, atom.concept.index)


@lru_cache(maxsize=1024)
def _spelled(ontology: Any, index: int) -> tuple[Test, Test]:
    below = ontology.indexes.below(index)
    named = sorted(ontology.spellings().items())
    return (
        Test("in", tuple(name for name, i in named if i in below)),
        Test("in", tuple(name for name, i in named if i not in below)),
    )
