"""A filter as conjunctions of constraints that can be counted.

Rule 1  An event that matches the filter satisfies every constraint of some conjunction.
Rule 2  The converse holds for a conjunction that is not ``checked``; the others need the reference evaluator.
Rule 3  At most MAX_CONJUNCTIONS come of a filter: what would exceed that is left uncounted, and checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from conceptpubsub.filters.normal import (
    And,
    Atom,
    Compare,
    IsNull,
    Lit,
    Node,
    Normal,
    Not,
    OneOf,
    Or,
    Ref,
    TextTest,
    Truth,
    atom_refs,
)
from conceptpubsub.matching.counting_kernels import MOST
from conceptpubsub.matching.counting_labels import PRESENT, TEST, TestKey, quantity_kind

MAX_CONJUNCTIONS = 64
MAX_EXCLUDED = 16  # constants of a NOT IN that are counted
MAX_TESTS = 256  # tests of one attribute's text that each event is put to; more are left to the evaluator

ColumnKey = tuple[int, str]
"""A reference's number, and the kind of its constants: the paper's name and type."""


class Constraint(NamedTuple):
    """Alternatives (operator, constant) on one column, of which a value satisfies one at most; ``x <> 5`` has two."""

    column: ColumnKey
    either: tuple[tuple[str, Any], ...]


class Conjunction(NamedTuple):
    """Constraints that are counted, and whether the evaluator must look as well."""

    constraints: tuple[Constraint, ...]
    checked: bool


Number = Callable[[Ref], int]
Tests = dict[int, set[TestKey]]
"""The tests of text that are counted, by the reference they are put to."""


def conjunctions(
    normal: Normal, names: Iterable[int], semantics: str, number: Number, tests: Tests
) -> list[Conjunction]:
    """The conjunctions of a normal form; none where nothing can match. ``names`` are all references it names.

    >>> from conceptpubsub.filters import Filter
    >>> f = Filter.parse("x > 1 AND (y = 2 OR z + y > 3)")
    >>> [(len(c.constraints), c.checked) for c in conjunctions(f.normal, (), "sql", lambda ref: ord(ref.path[0]), {})]
    [(2, False), (3, True)]
    """
    reader = _Reader(semantics, number, tests)
    needed = tuple(names) if semantics in ("strict", "total") else ()
    return [made for terms in _split(normal) if (made := reader.conjunction(terms, needed)) is not None]


# ---------------------------------------------------------------------- disjunctive normal form

_UNCOUNTED = Truth(True)
_UNCOUNTED.key = "?"  # stands for a part that is left to the evaluator
_Terms = dict[str, Node]


def _split(normal: Normal) -> list[_Terms]:
    """The literals of each conjunction, by key. Walks without recursion: first down, then up in reverse."""
    order: list[Normal] = []
    stack = [normal]
    while stack:
        node = stack.pop()
        order.append(node)
        if isinstance(node, And | Or):
            stack.extend(node.args)
    made: dict[int, list[_Terms]] = {}
    for node in reversed(order):
        if id(node) in made:
            continue
        if isinstance(node, And):
            made[id(node)] = _product([made[id(arg)] for arg in node.args])
        elif isinstance(node, Or):
            made[id(node)] = _union([made[id(arg)] for arg in node.args])
        else:
            made[id(node)] = [{node.key: node}]
    return made[id(normal)]


def _product(parts: list[list[_Terms]]) -> list[_Terms]:
    whole: list[_Terms] = [{}]
    for part in sorted(parts, key=len):
        if len(whole) * len(part) > MAX_CONJUNCTIONS:
            whole = [{**terms, _UNCOUNTED.key: _UNCOUNTED} for terms in whole]
        else:
            whole = [{**one, **other} for one in whole for other in part]
    return whole


def _union(parts: list[list[_Terms]]) -> list[_Terms]:
    if sum(map(len, parts)) > MAX_CONJUNCTIONS:
        return [{_UNCOUNTED.key: _UNCOUNTED}]
    return [terms for part in parts for terms in part]


# ---------------------------------------------------------------------- literals


class _Reader:
    """Literals to constraints, under one semantics."""

    def __init__(self, semantics: str, number: Number, tests: Tests) -> None:
        self.two_valued = semantics == "default"
        self.all_bound = semantics in ("strict", "total")
        self.number = number
        self.tests = tests

    def conjunction(self, terms: _Terms, names: tuple[int, ...]) -> Conjunction | None:
        """The constraints of some literals and of names that must be bound; None where it can never hold."""
        found: dict[Constraint, None] = {}
        checked = False
        for literal in terms.values():
            if literal is _UNCOUNTED:
                checked = True
                continue
            read = self.literal(literal)
            if read is None:
                return None
            found.update(dict.fromkeys(read.constraints))
            checked = checked or read.checked
        bound = {constraint.column[0] for constraint in found}
        found.update((_present(name), None) for name in names if name not in bound)
        counted = tuple(found)
        return Conjunction(counted[:MOST], checked or len(counted) > MOST)

    def literal(self, node: Any) -> Conjunction | None:
        if isinstance(node, Truth):
            return Conjunction((), False) if node.value else None
        if isinstance(node, Not):
            return self.negated(node.atom)
        if isinstance(node, IsNull):
            return None if self.all_bound else Conjunction((), True)
        if isinstance(node, Compare) and isinstance(node.left, Ref) and isinstance(node.right, Lit):
            kind = constant_kind(node.right)
            if kind == "bool" and node.op not in ("=", "<>"):
                return None
            if kind is not None:
                return self.counted(node.left, kind, _alternatives(node.op, ordered_by(node.right)))
        if isinstance(node, OneOf) and isinstance(node.term, Ref):
            kind = constant_kind(node.values[0])
            if kind is not None:
                return self.counted(node.term, kind, tuple(("=", ordered_by(lit)) for lit in node.values))
        if isinstance(node, TextTest):
            return self.tested(node, False)
        return self.evaluated(node)

    def tested(self, atom: TextTest, negated: bool) -> Conjunction:
        """A test of text: a prefix is a range, and others are counted as long as they are not too many."""
        if not isinstance(atom.term, Ref):
            return self.evaluated(atom)
        number = self.number(atom.term)
        above = _after(atom.pattern) if atom.op == "starts" and not negated else None
        if above is not None:
            bounds = [((">=", atom.pattern),), (("<", above),)]
            return Conjunction(tuple(Constraint((number, "text"), bound) for bound in bounds), False)
        known, key = self.tests.setdefault(number, set()), (atom.op, atom.pattern, negated)
        if key not in known and len(known) >= MAX_TESTS:
            return self.evaluated(atom)
        known.add(key)
        return self.counted(atom.term, TEST, (("=", key),))

    def negated(self, atom: Atom) -> Conjunction | None:
        if isinstance(atom, IsNull):
            return Conjunction((_present(self.number(atom.ref)),), False)
        if self.two_valued:  # holds also where nothing is bound, so that there is nothing to count
            return Conjunction((), True)
        if isinstance(atom, OneOf) and isinstance(atom.term, Ref) and len(atom.values) <= MAX_EXCLUDED:
            kind = constant_kind(atom.values[0])
            if kind is not None:
                column = (self.number(atom.term), kind)
                parts = (Constraint(column, _alternatives("<>", ordered_by(lit))) for lit in atom.values)
                return Conjunction(tuple(parts), False)
        return self.tested(atom, True) if isinstance(atom, TextTest) else self.evaluated(atom)

    def counted(self, ref: Ref, kind: str, either: tuple[tuple[str, Any], ...]) -> Conjunction:
        return Conjunction((Constraint((self.number(ref), kind), either),), False)

    def evaluated(self, atom: Atom) -> Conjunction:
        """An atom for the evaluator: it is true only where its references are bound, and that much can be counted."""
        return Conjunction(tuple(_present(self.number(ref)) for ref in _distinct(atom_refs(atom))), True)


def _present(number: int) -> Constraint:
    return Constraint((number, PRESENT), (("=", 0),))


def _distinct(refs: Iterable[Ref]) -> Iterator[Ref]:
    yield from {ref.key: ref for ref in refs}.values()


def _alternatives(op: str, constant: Any) -> tuple[tuple[str, Any], ...]:
    if op != "<>":
        return ((op, constant),)
    if isinstance(constant, bool):
        return (("=", not constant),)
    return (("<", constant), (">", constant))


def constant_kind(lit: Lit) -> str | None:
    """The kind of column a constant stands in; None for what is not indexed: money, results of arithmetic on units."""
    if lit.kind in ("number", "text", "bool", "instant"):
        return lit.kind
    if lit.kind == "quantity" and not lit.of.derived:  # type: ignore[union-attr]
        return quantity_kind(lit.of.key)  # type: ignore[union-attr]
    return None


def ordered_by(lit: Lit) -> Any:
    """What a constant is ordered by in its column."""
    return lit.value.ns if lit.kind == "instant" else lit.value


def _after(prefix: str) -> str | None:
    """The least text above all that start with a prefix, where there is one."""
    cut = prefix.rstrip(chr(0x10FFFF))
    return cut[:-1] + chr(ord(cut[-1]) + 1) if cut else None
