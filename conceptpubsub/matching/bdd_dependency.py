"""How the variables of one attribute hang together: the dependency function d(A) of Campailla and others, made exact.

The paper joins implications between pairs of atoms (and prints one of them wrongly: the second conjunct should read
"u implies not v"). Pairs are not all: ``x <= 5`` without ``x < 5`` leaves ``x = 5``. Here the values of an attribute
are cut by its constants, and each piece says what its comparisons are; only tests of text are related in pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from conceptpubsub.filters.normal import Compare, IsNull, OneOf, TextTest
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.matching.bdd_atoms import Variable
from conceptpubsub.matching.bdd_diagram import Diagram, Function
from conceptpubsub.matching.counting_conjunctions import ordered_by

MAX_CONSTANTS = 64

Numbered = tuple[int, Variable]


def dependency(diagram: Diagram, variables: Sequence[Numbered], closed: bool, whole: bool) -> Function | None:
    """What the variables of one reference can be together; None where nothing is known.

    ``closed``: values are of the one kind that the variables compare. ``whole``: they are integers.
    """
    kinds = {v.kind for _, v in variables if v.kind is not None}
    constants = {ordered_by(lit) for _, v in variables for lit in _literals(v)}
    if len(constants) > MAX_CONSTANTS or not kinds:
        return None
    free = [n for n, v in variables if v.kind is None and not isinstance(v.atom, IsNull)]
    bound = [(n, v) for n, v in variables if n not in free]
    pieces = [
        piece for kind in sorted(kinds) for piece in _pieces(diagram, bound, kind, whole and kind == "number")
    ]  # fmt: skip
    if not closed:  # missing, or of a kind that none of them compares
        pieces.append(diagram.cube([(n, False) for n, _ in bound]))
        pieces.append(diagram.cube([(n, isinstance(v.atom, IsNull)) for n, v in bound]))
    return diagram.any(pieces)


def _pieces(diagram: Diagram, variables: Sequence[Numbered], kind: str, whole: bool) -> Iterator[Function]:
    """One function for each constant of a kind, and for each gap between two."""
    mine = [(n, v) for n, v in variables if v.kind == kind]
    rest = [(n, False) for n, v in variables if v.kind != kind]
    constants = sorted({ordered_by(lit) for _, v in mine for lit in _literals(v)})
    tests = [(n, v) for n, v in mine if isinstance(v.atom, TextTest)]
    related = _related(diagram, tests)
    for place in range(2 * len(constants) + 1):
        at, between = divmod(place, 2)  # even: the gap below constant at; odd: the constant itself
        if kind == "bool" and len(constants) == 2 and not between:
            continue
        if whole and not _holds_integer(constants, at, bool(between)):
            continue
        known = [(n, _compared(v, place, constants)) for n, v in mine if not isinstance(v.atom, TextTest)]
        if between:
            known += [(n, _tested(v, constants[at])) for n, v in tests]
            yield diagram.cube(known + rest)
        else:
            yield diagram.cube(known + rest) & related


def _literals(variable: Variable) -> Sequence[Any]:
    atom = variable.atom
    if variable.kind is None:
        return ()
    if isinstance(atom, OneOf):
        return atom.values
    return (atom.right,) if isinstance(atom, Compare) else ()


def _holds_integer(constants: list[Any], at: int, at_constant: bool) -> bool:
    if at_constant:
        return Fraction(constants[at]).denominator == 1
    if at == 0 or at == len(constants):
        return True
    return bool(math.floor(constants[at - 1]) + 1 < constants[at])


def _compared(variable: Variable, place: int, constants: list[Any]) -> bool:
    """The truth of a comparison at a place among the constants."""
    atom = variable.atom
    places = [2 * constants.index(ordered_by(lit)) + 1 for lit in _literals(variable)]
    if isinstance(atom, OneOf):
        return (place in places) is not variable.negated
    assert isinstance(atom, Compare)
    there = places[0]
    truth = {
        "=": place == there, "<>": place != there, "<": place < there, "<=": place <= there, ">": place > there,
        ">=": place >= there,
    }  # fmt: skip
    return truth[atom.op]


def _tested(variable: Variable, text: str) -> bool:
    assert isinstance(variable.atom, TextTest)
    return text_test(variable.atom.op, text, variable.atom.pattern) is not variable.negated


# ---------------------------------------------------------------------- tests of text, in pairs


def _related(diagram: Diagram, tests: Sequence[Numbered]) -> Function:
    """For every pair of tests, which of the four cases cannot be."""
    found = diagram.true
    for (one, u), (other, v) in itertools.combinations(tests, 2):
        assert isinstance(u.atom, TextTest)
        assert isinstance(v.atom, TextTest)
        cases = []
        if u.atom.key == v.atom.key:  # a test and its negation
            cases += [(True, True), (False, False)]
        else:
            cases += [(True, False)] if _implies(u.atom, v.atom) else []
            cases += [(False, True)] if _implies(v.atom, u.atom) else []
            cases += [(True, True)] if _apart(u.atom, v.atom) or _apart(v.atom, u.atom) else []
            cases = [(a is not u.negated, b is not v.negated) for a, b in cases]
        for a, b in cases:
            found = found & ~diagram.cube([(one, a), (other, b)])
    return found


def _implies(u: TextTest, v: TextTest) -> bool:
    """Whether every text that passes the first test passes the second."""
    a, b = u.pattern, v.pattern
    match u.op, v.op:
        case "within", "within":
            return a in b
        case (("starts" | "ends" | "contains"), "contains"):
            return b in a
        case "starts", "starts":
            return a.startswith(b)
        case "ends", "ends":
            return a.endswith(b)
        case _:
            return False


def _apart(u: TextTest, v: TextTest) -> bool:
    """Whether no text passes both."""
    a, b = u.pattern, v.pattern
    match u.op, v.op:
        case (("starts" | "ends" | "contains"), "within"):
            return a not in b
        case "starts", "starts":
            return not (a.startswith(b) or b.startswith(a))
        case "ends", "ends":
            return not (a.endswith(b) or b.endswith(a))
        case _:
            return False
