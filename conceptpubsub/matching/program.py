"""Filters as programs: postfix over literals, negations gone, the semantics compiled in.

A program is a list of ints. A literal is its packed number, well above the rest; TRUE, FALSE and OPAQUE are small;
AND and OR of n are negative. OPAQUE stands for a test that only the evaluator can decide: it is taken as true, and
what then matches is a candidate to ask the evaluator about. As negations stand at the literals only, a program with
OPAQUE in it matches no less than the filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conceptpubsub.converters import Money
from conceptpubsub.filters.normal import (
    FLIPPED,
    MIRRORED,
    And,
    Compare,
    IsA,
    IsNull,
    Lit,
    Normal,
    Not,
    OneOf,
    Or,
    Ref,
    Term,
    TextTest,
    Truth,
    atom_refs,
    term_refs,
)
from conceptpubsub.filters.normalise import normalise
from conceptpubsub.filters.syntax import All, Below, Comparison, Constant, Inverse, Pattern, Some, references
from conceptpubsub.matching.codes import ANY, COMPLEMENT, EQ, GE, LT, LT0, NE0, NONE, OPS, literal
from conceptpubsub.matching.hierarchy import row_of
from conceptpubsub.matching.predicates import BelowPredicate, MemberPredicate, Predicate, TextPredicate
from conceptpubsub.matching.vocabulary import Column, Vocabulary, plain_value

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

TRUE: Final = 1
FALSE: Final = 2
OPAQUE: Final = 3
MOST_ALTERNATIVES: Final = 8
"""A longer IN list is one predicate rather than an OR of equalities."""
_REMEMBERED: Final = 16384
_LAST_CHARACTER: Final = chr(0x10FFFF)


def and_of(count: int) -> int:
    """The token for AND of so many."""
    return -2 * count


def or_of(count: int) -> int:
    """The token for OR of so many."""
    return -2 * count - 1


class Program(NamedTuple):
    """What a filter tests. A conjunction of literals is kept as such: most filters are one."""

    tokens: list[int]
    is_conjunction: bool
    named: tuple[int, ...] = ()
    """Under ``total``, the columns of all references, for the report of what is missing."""
    computed: tuple[int, ...] = ()
    """The computed columns it tests."""
    bound: tuple[int, ...] = ()
    """Under ``strict`` and ``total``: the columns that must be bound, whatever the tokens say."""


class Compiler:
    """Compiles filters with one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._spaces = {kind: vocabulary.space((kind, None)) for kind in ("number", "text", "bool", "instant")}
        self._known: dict[tuple[Any, ...], tuple[int, list[int]]] = {}
        """What atoms compiled to, each with its column: Boolean filters say the same things again and again."""

    def compile(self, filter: Filter) -> Program:
        """The program of a filter."""
        tree, scope = filter.tree, filter.scope
        work = _Compilation(self, filter)
        simple = tree.args if type(tree) is All else (tree,)
        if scope.semantics != "default":
            tokens = work.conjunction(simple)
            if tokens is not None:
                named = tuple(sorted(work.named)) if scope.semantics == "total" else ()
                return Program(tokens, True, named)
        work.condition(tree)
        named = tuple(sorted(work.named)) if scope.semantics in ("strict", "total") else ()
        total = named if scope.semantics == "total" else ()
        return Program(work.tokens, False, total, tuple(sorted(work.computed)), named)

    def space(self, lit: Lit) -> int:
        """The space of a constant."""
        return self._spaces[lit.kind] if lit.of is None else self.vocabulary.space_of(lit)


class _Compilation:
    """One filter on its way to a program."""

    __slots__ = ("columns", "compiler", "computed", "named", "scope", "tokens", "two_valued", "vocabulary")

    def __init__(self, compiler: Compiler, filter: Filter) -> None:
        self.compiler = compiler
        self.vocabulary = compiler.vocabulary
        self.scope = filter.scope
        self.two_valued = filter.scope.semantics == "default"
        self.columns = compiler.vocabulary.columns_of(filter.scope)
        self.named: set[int] = set()
        self.computed: set[int] = set()
        self.tokens: list[int] = []

    def column(self, ref: Ref) -> Column:
        found = self.columns.get(ref.key)
        return self.vocabulary.column(self.scope, ref) if found is None else found

    def conjunction(self, nodes: Iterable[Any]) -> list[int] | None:
        """The literals of plain comparisons and of ISA, or None where anything else is among them."""
        made: list[int] = []
        vocabulary, spaces, columns, named = self.vocabulary, self.compiler._spaces, self.columns, self.named
        for node in nodes:
            if type(node) is Below:
                found = self.run(column := self.column(node.ref), node.concept)
                if found is None:
                    return None
                made += (literal(found[0], GE, found[1]), literal(found[0], LT, found[2]))
                named.add(column.number)
                continue
            if type(node) is not Comparison:
                return None
            op, left, right, _ = node
            if type(left) is not Ref or type(right) is not Constant:
                return None
            lit = right.lit
            kind = lit.kind
            if kind == "bool" and op not in ("=", "<>"):
                return None
            column = columns.get(left.key) or self.column(left)
            space = spaces[kind] if lit.of is None else vocabulary.space_of(lit)
            axis = column.axes.get(space)
            if axis is None:
                axis = vocabulary.axis(column, space)
            constant = vocabulary.constant(space, lit.value.ns if kind == "instant" else lit.value)
            if op == "<>":
                made.append(literal(axis, ANY, 0))
                made.append(literal(axis, NE0, constant))
            else:
                made.append(literal(axis, OPS[op], constant))
            named.add(column.number)
        return made

    def condition(self, tree: Any) -> None:
        """De Morgan on the way down, tokens on the way up, without recursion."""
        work: list[tuple[Any, bool, int]] = [(tree, True, 0)]
        tokens = self.tokens
        while work:
            node, positive, joined = work.pop()
            if joined:
                tokens.append(joined)
                continue
            kind = type(node)
            if kind is Comparison:
                self.comparison(node, positive)
            elif kind is All or kind is Some:
                count = len(node.args)
                if count == 0:
                    tokens.append(TRUE if (kind is All) == positive else FALSE)
                    continue
                work.append((None, True, and_of(count) if (kind is All) == positive else or_of(count)))
                work.extend([(arg, positive, 0) for arg in node.args])
            elif kind is Inverse:
                work.append((node.arg, not positive, 0))
            else:
                self.leaf(node, positive)

    def comparison(self, node: Comparison, positive: bool) -> None:
        op, left, right, _ = node
        if type(left) is Constant and type(right) is Ref:
            op, left, right = MIRRORED[op], right, left
        if type(left) is Ref and type(right) is Constant:
            key = (id(self.columns), left.key, op, right.lit.key, positive)
            if not self.recall(key):
                start, column = len(self.tokens), self.column(left)
                self.compare(op, column, right.lit, positive)
                self.keep(key, column, start)
        else:
            self.leaf(node, positive)

    def recall(self, key: tuple[Any, ...]) -> bool:
        """Append what an atom compiled to before, if it did."""
        found = self.compiler._known.get(key)
        if found is None:
            return False
        self.named.add(found[0])
        self.tokens += found[1]
        return True

    def keep(self, key: tuple[Any, ...], column: Column, start: int) -> None:
        """Remember what an atom compiled to."""
        known = self.compiler._known
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = column.number, self.tokens[start:]
        self.named.add(column.number)

    def leaf(self, node: Any, positive: bool) -> None:
        """An atom that is no plain comparison, by way of the normal form."""
        if type(node) is Pattern and type(node.term) is Ref:
            key = (id(self.columns), node.term.key, node.op, node.text, node.escape, positive)
            if not self.recall(key):
                start = len(self.tokens)
                self.normal(self.normalised(node, positive))
                self.keep(key, self.column(node.term), start)
            return
        for ref in references(node):
            self.named.add(self.column(ref).number)
        self.normal(self.normalised(node, positive))

    def normalised(self, node: Any, positive: bool) -> Normal:
        return normalise(node if positive else Inverse(node, 0), self.scope.semantics, self.scope.defaults)

    # ------------------------------------------------------------------ normal forms of single atoms

    def normal(self, node: Normal) -> None:
        """The tokens of a normal form. Those of one atom are shallow, so this may recurse."""
        match node:
            case Truth(value=value):
                self.tokens.append(TRUE if value else FALSE)
            case And(args=args):
                for arg in args:
                    self.normal(arg)
                self.tokens.append(and_of(len(args)))
            case Or(args=args):
                for arg in args:
                    self.normal(arg)
                self.tokens.append(or_of(len(args)))
            case Not(atom=atom):
                self.atom(atom, False)
            case _:
                self.atom(node, True)

    def atom(self, atom: Any, positive: bool) -> None:
        match atom:
            case Compare(op=op, left=left, right=Lit() as lit) if (column := self.of_term(left)) is not None:
                self.compare(op, column, lit, positive)
            case OneOf(term=term, values=lits) if (column := self.of_term(term)) is not None:
                self.member(column, lits, atom.key, positive)
            case TextTest(op="starts", term=Ref() as ref, pattern=pattern):
                self.prefix(self.column(ref), pattern, positive)
            case TextTest(op=op, term=Ref() as ref, pattern=pattern):
                self.predicate(self.column(ref), TextPredicate(op, pattern), positive)
            case IsA(ref=ref, concept=concept, name=name):
                self.below(self.column(ref), concept, name, positive)
            case IsNull(ref=ref):
                self.tokens.append(literal(self.column(ref).number, NONE if positive else ANY, 0))
            case _:
                self.opaque(atom, positive)

    def of_term(self, term: Term) -> Column | None:
        if type(term) is Ref:
            return self.column(term)
        if next(term_refs(term), None) is None:
            return None
        column = self.vocabulary.computed(self.scope, term)
        self.computed.add(column.number)
        return column

    def opaque(self, atom: Any, positive: bool) -> None:
        """What only the evaluator decides; where the atom must be known, its references must be bound."""
        bound = [column for ref in atom_refs(atom) if (column := self.column(ref)).default is None]
        if self.two_valued and not positive:
            bound = []
        self.tokens.extend(literal(column.number, ANY, 0) for column in bound)
        self.tokens.append(OPAQUE)
        if bound:
            self.tokens.append(and_of(len(bound) + 1))

    def compare(self, op: str, column: Column, lit: Lit, positive: bool) -> None:
        """``column op constant``; under ``default`` its negation holds where there is nothing to compare, too."""
        tokens, vocabulary = self.tokens, self.vocabulary
        if lit.kind == "bool" and op not in ("=", "<>"):
            tokens.append(TRUE if self.two_valued and not positive else FALSE)
            return
        if isinstance(column.default, Money) and lit.kind == "money" and lit.of != column.default.currency:
            tokens.append(OPAQUE)  # the default in another currency depends on the rate of the time
            return
        if self.two_valued:
            if op == "<>":
                op, positive = "=", not positive
        elif not positive:
            op, positive = FLIPPED[op], True
        space = self.compiler.space(lit)
        axis = vocabulary.axis(column, space)
        constant = vocabulary.constant(space, plain_value(lit))
        if op == "<>":
            tokens += (literal(axis, ANY, 0), literal(axis, NE0, constant), and_of(2))
        else:
            code = OPS[op]
            tokens.append(literal(axis, code if positive else COMPLEMENT[code], constant))

    def member(self, column: Column, lits: tuple[Lit, ...], key: str, positive: bool) -> None:
        """One of several constants of one kind."""
        tokens, vocabulary = self.tokens, self.vocabulary
        if len(lits) > MOST_ALTERNATIVES:
            values = frozenset(plain_value(lit) for lit in lits)
            self.predicate(column, MemberPredicate(lits[0].kind, lits[0].of, values, key), positive)
            return
        space = self.compiler.space(lits[0])
        axis = vocabulary.axis(column, space)
        constants = [vocabulary.constant(space, plain_value(lit)) for lit in lits]
        if positive:
            tokens.extend(literal(axis, EQ, constant) for constant in constants)
            tokens.append(or_of(len(constants)))
            return
        tokens.extend(literal(axis, NE0, constant) for constant in constants)
        if self.two_valued:
            tokens.append(and_of(len(constants)))
        else:
            tokens += (literal(axis, ANY, 0), and_of(len(constants) + 1))

    def prefix(self, column: Column, pattern: str, positive: bool) -> None:
        """STARTS WITH is a run of texts: from the prefix up to the first text after all that begin with it."""
        tokens, vocabulary = self.tokens, self.vocabulary
        space = self.compiler._spaces["text"]
        axis = vocabulary.axis(column, space)
        if not pattern:
            negative = literal(axis, NONE, 0) if self.two_valued else FALSE
            tokens.append(literal(axis, ANY, 0) if positive else negative)
            return
        low = vocabulary.constant(space, pattern)
        after = pattern.rstrip(_LAST_CHARACTER)
        if not after:
            code = GE if positive else COMPLEMENT[GE] if self.two_valued else LT
            tokens.append(literal(axis, code, low))
            return
        high = vocabulary.constant(space, after[:-1] + chr(ord(after[-1]) + 1))
        if positive:
            tokens += (literal(axis, GE, low), literal(axis, LT, high), and_of(2))
        else:
            tokens += (literal(axis, LT0 if self.two_valued else LT, low), literal(axis, GE, high), or_of(2))

    def run(self, column: Column, concept: Any) -> tuple[int, int, int] | None:
        """The axis of concepts in their row, and the ends of a concept's run; None where it has none."""
        ontology, vocabulary = column.world.ontology, self.vocabulary
        if ontology is None or (run := row_of(ontology).run(ontology.translate(concept))) is None:
            return None
        axis, space = vocabulary.concept_axis(column)
        return axis, vocabulary.constant(space, run[0]), vocabulary.constant(space, run[1])

    def below(self, column: Column, concept: Any, name: str, positive: bool) -> None:
        """ISA: a run of concepts in their row, or a predicate where they are none."""
        found = self.run(column, concept)
        if found is None:
            self.predicate(column, BelowPredicate(self.scope.ontology, concept, name), positive)
            return
        axis, low, high = found
        if positive:
            self.tokens += (literal(axis, GE, low), literal(axis, LT, high), and_of(2))
        else:
            self.tokens += (literal(axis, LT0 if self.two_valued else LT, low), literal(axis, GE, high), or_of(2))

    def predicate(self, column: Column, predicate: Predicate, positive: bool) -> None:
        """A predicate that holds; or, in the negative, one that fails (or, under ``default``, does not hold)."""
        vocabulary = self.vocabulary
        axis = vocabulary.predicate_axis(column, predicate)
        if positive:
            self.tokens.append(literal(axis, EQ, vocabulary.true))
        elif self.two_valued:
            self.tokens.append(literal(axis, NE0, vocabulary.true))
        else:
            self.tokens.append(literal(axis, EQ, vocabulary.false))
