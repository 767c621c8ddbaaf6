"""One filter under one binding as a formula: for each atom where it is true and where it is false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import z3

from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.normal import (
    MIRRORED,
    And,
    Atom,
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
)
from conceptpubsub.filters.patterns import text_test
from conceptpubsub.relations.atoms import iris
from conceptpubsub.relations.smt_attributes import one_of
from conceptpubsub.relations.smt_cases import (
    CONCEPT,
    OBJECT,
    STRANGE,
    TEXT,
    Case,
    Cases,
    added,
    comparable,
    multiplied,
    reciprocal,
)
from conceptpubsub.relations.smt_logic import conj, disj, neg, ordered
from conceptpubsub.relations.smt_regex import Test
from conceptpubsub.relations.smt_session import Session
from conceptpubsub.relations.smt_survey import isa_tests, member_test, order_test
from conceptpubsub.relations.smt_texts import FixedText, Text


class Held(NamedTuple):
    """What a reference is bound to: whether anything, and its value."""

    present: Any
    cases: Cases


Environment = Mapping[str, Held]


class Formula:
    """One filter under one binding."""

    def __init__(
        self,
        session: Session,
        environment: Environment,
        constant: Callable[[Lit], Case],
        two_valued: bool,
        ontology: Any,
    ) -> None:
        self.session = session
        self.environment = environment
        self.constant = constant
        self.two_valued = two_valued
        self.ontology = ontology

    def normal(self, node: Normal) -> Any:
        """Where a normal form is true."""
        if isinstance(node, And):
            return conj(*[self.normal(arg) for arg in node.args])
        if isinstance(node, Or):
            return disj(*[self.normal(arg) for arg in node.args])
        if isinstance(node, Truth):
            return z3.BoolVal(node.value is True, self.session.context)
        if isinstance(node, Not):
            true, false = self.truths(node.atom)
            return neg(true) if self.two_valued else false
        return self.truths(node)[0]

    def truths(self, atom: Atom) -> tuple[Any, Any]:
        """Where an atom is true, and where it is false."""
        if isinstance(atom, Compare):
            return self.compare(atom.op, self.value(atom.left), self.value(atom.right), (atom.left.key, atom.right.key))
        if isinstance(atom, OneOf):
            return self.member(atom)
        if isinstance(atom, TextTest):
            return self.text_test(atom)
        if isinstance(atom, IsNull):
            present = self.environment[atom.ref.key].present
            return neg(present), present
        return self.isa(atom)

    def value(self, term: Term) -> Cases:
        """The value of a term, in cases."""
        if isinstance(term, Ref):
            return self.environment[term.key].cases
        if isinstance(term, Lit):
            return (self.constant(term),)
        if isinstance(term, Product):
            return multiplied([self.value(arg) for arg in term.args])
        if isinstance(term, Recip):
            return reciprocal(self.value(term.arg))
        args = term.args if isinstance(term, Sum) else (term,)
        parts = [(-1, self.value(arg.arg)) if isinstance(arg, Neg) else (1, self.value(arg)) for arg in args]
        return added(parts, self.free("adds", term.key))

    def free(self, *key: str) -> Any:
        """Something that nothing is known of."""
        return z3.Bool("|".join(key), self.session.context)

    def compare(self, op: str, left: Cases, right: Cases, keys: tuple[str, str]) -> tuple[Any, Any]:
        """A comparison of two terms (with their keys): defined where the sorts of both sides meet."""
        true: list[Any] = []
        false: list[Any] = []
        for one in left:
            for other in right:
                guards = [one.guard, other.guard]
                if STRANGE in (one.sort, other.sort):
                    if {one.sort.name, other.sort.name} - {"strange", "quantity"}:
                        continue
                    of = [
                        key if case.sort is STRANGE else case.sort.of.key
                        for key, case in zip(keys, (one, other), strict=True)
                    ]
                    guards.append(self.free("compares", *sorted(of)))
                elif not comparable(one.sort, other.sort, op):
                    continue
                elif one.sort.name == "money" and one.sort.of[1] < 0 and keys[0] != keys[1]:
                    guards.append(self.free("compares", *sorted(keys)))  # only if both are in one currency
                holds = self.related(op, one, other)
                true.append(conj(*guards, holds))
                false.append(conj(*guards, neg(holds)))
        return self.session.any_of(true), self.session.any_of(false)

    def related(self, op: str, one: Case, other: Case) -> Any:
        """A comparison of two cases of sorts that compare."""
        if one.sort is TEXT and other.sort is TEXT:
            for text, fixed, turned in ((one, other, op), (other, one, MIRRORED[op])):
                if isinstance(fixed.value, FixedText):
                    test, holds = order_test(turned, fixed.value.value)
                    passed = text.value.passes(test)
                    return passed if holds else neg(passed)
            return ordered(op, one.value.string(), other.value.string())
        if one.sort is CONCEPT and other.sort is CONCEPT:
            return self.related_concepts(op, one.value, other.value)
        if CONCEPT in (one.sort, other.sort):
            turned = op if one.sort is CONCEPT else MIRRORED[op]
            concept, text = (one, other) if one.sort is CONCEPT else (other, one)
            return self.related_names(turned, concept.value, text.value)
        return ordered(op, one.value, other.value)

    def related_concepts(self, op: str, one: Any, other: Any) -> Any:
        """Two concepts compare as their IRIs."""
        if op in ("=", "<>"):
            return ordered(op, one, other)
        names = iris(self.ontology)
        ranks = {iri: rank for rank, iri in enumerate(sorted(names))}
        ranked = [z3.Sum([z3.If(each == i, ranks[iri], 0) for i, iri in enumerate(names)]) for each in (one, other)]
        return ordered(op, *ranked)

    def related_names(self, op: str, concept: Any, text: Text) -> Any:
        """A concept compares with a text as its IRI."""
        if isinstance(text, FixedText):
            value = text.value
            return self.named(concept, lambda iri: arithmetic.ordered(op, iri, value))
        string = text.string()
        return self.session.any_of(
            conj(concept == i, ordered(op, FixedText(self.session, iri).string(), string))
            for i, iri in enumerate(iris(self.ontology))
        )

    def named(self, index: Any, test: Callable[[str], bool]) -> Any:
        """Whether the IRI of a concept passes a test."""
        return one_of(self.session, index, sum(1 << i for i, iri in enumerate(iris(self.ontology)) if test(iri)))

    def member(self, atom: OneOf) -> tuple[Any, Any]:
        """IN, as the equalities that it stands for."""
        cases = self.value(atom.term)
        if atom.values[0].kind == "text" and isinstance(atom.term, Ref):
            return self.tested(cases, member_test(atom), {lit.value for lit in atom.values}.__contains__)
        both = [self.compare("=", cases, (self.constant(lit),), (atom.term.key, lit.key)) for lit in atom.values]
        return self.session.any_of(true for true, _ in both), self.session.all_of(false for _, false in both)

    def text_test(self, atom: TextTest) -> tuple[Any, Any]:
        """A test of text; arithmetic never gives text."""
        cases = self.value(atom.term) if isinstance(atom.term, Ref) else ()
        return self.tested(cases, Test(atom.op, atom.pattern), lambda iri: text_test(atom.op, iri, atom.pattern))

    def tested(self, cases: Cases, test: Test, of_iri: Callable[[str], bool]) -> tuple[Any, Any]:
        """A test of texts, and of concepts as their IRIs."""
        true: list[Any] = []
        false: list[Any] = []
        for guard, sort, value in cases:
            if sort is TEXT or sort is CONCEPT:
                holds = value.passes(test) if sort is TEXT else self.named(value, of_iri)
                true.append(conj(guard, holds))
                false.append(conj(guard, neg(holds)))
        return self.session.any_of(true), self.session.any_of(false)

    def isa(self, atom: IsA) -> tuple[Any, Any]:
        """Whether what is held names a concept below another."""
        true: list[Any] = []
        false: list[Any] = []
        for guard, sort, value in self.environment[atom.ref.key].cases:
            if sort is TEXT:
                tests = isa_tests(atom)
                holds = value.passes(tests[0])
                fails = value.passes(tests[1]) if len(tests) > 1 else neg(holds)
            elif sort is OBJECT and self.ontology is None:
                holds = value == FixedText(self.session, atom.name).string()
                fails = neg(holds)
            elif sort is OBJECT or sort is CONCEPT:
                holds = one_of(self.session, value, atom.concept.mask)
                fails = neg(holds)
            else:
                continue
            true.append(conj(guard, holds))
            false.append(conj(guard, fails))
        return self.session.any_of(true), self.session.any_of(false)
