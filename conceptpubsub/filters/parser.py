"""Filter text to tree, with explicit stacks, so that no depth of nesting can overflow.

Precedence from loose to tight: OR, AND, NOT, comparisons and tests, + and -, * and /, signs. A *group* is what stands
between two parentheses, or the whole text: conditions collect in its lists of AND and OR, values and the operators
between them on its two stacks. Names, units and constants are resolved by the scope as they are met; a mistake is
raised with its place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from conceptpubsub.errors import FilterTypeError, LimitExceeded
from conceptpubsub.filters import lexer
from conceptpubsub.filters.common import common_atom
from conceptpubsub.filters.lexer import COMPARISONS, DIGITS, RESERVED, TESTS, is_name, is_text, word_of
from conceptpubsub.filters.normal import MIRRORED, Ref
from conceptpubsub.filters.operands import Raw, settle
from conceptpubsub.filters.predicates import predicate
from conceptpubsub.filters.reader import Reader
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.syntax import (
    CONDITIONS,
    MAX_DEPTH,
    MAX_TERM_DEPTH,
    All,
    Between,
    Comparison,
    Condition,
    Constant,
    Flag,
    Inverse,
    Minus,
    Over,
    Some,
    Times,
    Total,
    depth,
)
from conceptpubsub.filters.typecheck import check_comparison

TEST, PLUS, STAR, SIGN = range(1, 5)
_ARITHMETIC = {"+": PLUS, "-": PLUS, "*": STAR, "/": STAR}
_NEGATABLE = TESTS - {"IS"}
_MOST_OPEN = 200_000
_SUSPECT = 8  # open parentheses from which on the depth of a tree is counted: each makes at most four levels


class _Op(NamedTuple):
    """An operator waiting for its right operand."""

    level: int
    sign: str
    at: int


class _Chain:
    """A sum or product that still grows; frozen when something else takes it."""

    __slots__ = ("at", "items", "level")

    def __init__(self, level: int, items: list[Any], at: int) -> None:
        self.level, self.items, self.at = level, items, at

    def frozen(self) -> Total | Times:
        items = tuple(self.items)
        return Total(items, self.at) if self.level == PLUS else Times(items, self.at)


class _Group:
    """What has been read since a parenthesis opened (or the text began)."""

    __slots__ = ("ands", "at", "negated", "operands", "ops", "ors")

    def __init__(self, at: int) -> None:
        self.at = at
        self.ors: list[Condition] = []
        self.ands: list[Condition] = []
        self.negated = False
        self.operands: list[Any] = []
        self.ops: list[_Op] = []


def parse(text: str, scope: Scope) -> Condition:
    """The tree of a filter text in a scope. The empty text is the filter that every event matches."""
    return _Parser(text, scope).run()


class _Parser(Reader):
    __slots__ = ("deep", "group", "outer")

    def __init__(self, text: str, scope: Scope) -> None:
        super().__init__(text, scope)
        self.outer: list[_Group] = []
        self.group = _Group(-1)
        self.deep = False

    def run(self) -> Condition:
        if not self.tokens[0]:
            return All((), 0)
        try:
            while True:
                self.operand()
                if self.after_operand():
                    break
            tree: Condition = self.condition(self.closed())
        except Meaningless as error:
            message, place = lexer.pointed(self.text, error.facts.pop("at", self.at), str(error))
            facts = {**error.facts, "reason": str(error), "line": place.line, "column": place.column}
            raise FilterTypeError(message, text=self.text[:1000], **facts) from None
        if self.deep and depth(tree) > MAX_DEPTH:
            raise LimitExceeded(f"the filter is nested deeper than {MAX_DEPTH} levels", limit=MAX_DEPTH)
        return tree

    # ------------------------------------------------------------------ operands

    def operand(self) -> None:
        """Read signs, NOTs and open parentheses up to one operand, and the operand."""
        while True:
            token = self.tokens[self.at]
            group = self.group
            made = None if group.ops else common_atom(self)
            if made is not None:
                group.operands.append(made)
                return
            if is_name(token):
                word = word_of(token)
                if word in ("TRUE", "FALSE"):
                    group.operands.append(self.truth(word))
                elif word == "NOT":
                    self.negate()
                    continue
                elif word in RESERVED:
                    self.expected("a name, a constant or a condition")
                else:
                    group.operands.append(self.instant(word) if self.is_instant(word) else self.name(token))
                return
            if token and token[0] in DIGITS:
                group.operands.append(self.number())
                return
            if is_text(token):
                group.operands.append(self.quoted())
                return
            if token == "(":
                self.outer.append(group)
                self.group = _Group(self.at)
                self.deep = self.deep or len(self.outer) > _SUSPECT
                self.at += 1
                if len(self.outer) > _MOST_OPEN:
                    raise LimitExceeded(f"more than {_MOST_OPEN:,} open parentheses", limit=_MOST_OPEN)
            elif token in ("+", "-"):
                self.push(SIGN, token)
            else:
                self.expected("a name, a constant or a condition")

    def negate(self) -> None:
        if self.group.ops:
            raise lexer.fail(self.text, self.at, "NOT stands before a condition, and a value is expected here")
        self.group.negated = not self.group.negated
        self.at += 1

    def push(self, level: int, sign: str) -> None:
        self.group.ops.append(_Op(level, sign, self.at))
        self.at += 1

    # ------------------------------------------------------------------ what follows an operand

    def after_operand(self) -> bool:
        """Read what follows an operand, up to where the next one is expected; True at the end of the text."""
        while True:
            token = self.tokens[self.at]
            word = token if token == "AND" else word_of(token)
            if word == "AND":
                if not (self.group.ops and self.between_waits()):
                    self.complete()
                self.at += 1
                return False
            if not token:
                if self.outer:
                    raise lexer.fail(self.text, self.group.at, "this parenthesis is never closed")
                return True
            if token == ")":
                self.close()
                continue
            if word == "OR":
                self.complete()
                self.disjoin()
                self.at += 1
                return False
            sign = COMPARISONS.get(token)
            if sign is not None:
                self.reduce(TEST)
                self.push(TEST, sign)
                return False
            level = _ARITHMETIC.get(token)
            if level is not None:
                self.reduce(level)
                self.push(level, token)
                return False
            if word == "NOT" and word_of(self.tokens[self.at + 1]) in _NEGATABLE:
                self.at += 1
                if self.test(word_of(self.tokens[self.at]), negated=True):
                    return False
            elif word in TESTS:
                if self.test(word, negated=False):
                    return False
            else:
                self.expected("AND, OR, an operator or the end")

    def test(self, word: str, negated: bool) -> bool:
        """A test after an operand; True when more operands must follow (BETWEEN)."""
        self.reduce(PLUS)
        group, at = self.group, self.at
        if group.ops:
            raise lexer.fail(self.text, at, f"{word} cannot follow a comparison without AND or OR")
        if word == "BETWEEN":
            self.push(TEST, "NOT BETWEEN" if negated else "BETWEEN")
            return True
        term = self.term(group.operands.pop(), at)
        self.at += 1
        made = predicate(self, word, term, at, at - 1 - negated)
        group.operands.append(Inverse(made, at) if negated else made)
        return False

    def between_waits(self) -> bool:
        """Reduce arithmetic; whether a BETWEEN then waits for its AND, which is thereby found."""
        self.reduce(PLUS)
        op = self.group.ops[-1] if self.group.ops else None
        if op is None or not op.sign.endswith("BETWEEN"):
            return False
        self.group.ops[-1] = op._replace(sign=op.sign + " AND")
        return True

    # ------------------------------------------------------------------ conditions

    def complete(self) -> None:
        """The operand read last becomes a condition of the group."""
        group = self.group
        made = group.operands[-1]
        if type(made) is Comparison and not group.ops:
            group.operands.pop()
        else:
            made = self.condition(self.operand_read())
        if group.negated:
            group.negated = False
            made = made.arg if isinstance(made, Inverse) else Inverse(made, made.at)
        group.ands.append(made)

    def operand_read(self) -> Any:
        if self.group.ops:
            self.reduce(TEST)
        return self.group.operands.pop()

    def disjoin(self) -> None:
        """The conditions joined by AND become a condition joined by OR."""
        group = self.group
        group.ors.append(group.ands[0] if len(group.ands) == 1 else All(tuple(group.ands), group.ands[0].at))
        group.ands = []

    def closed(self) -> Any:
        """The whole group, as a condition or, if it is one, as a value."""
        group = self.group
        if not (group.ors or group.ands or group.negated):
            return self.operand_read()
        self.complete()
        if group.ors:
            self.disjoin()
            return Some(tuple(group.ors), group.ors[0].at)
        return group.ands[0] if len(group.ands) == 1 else All(tuple(group.ands), group.ands[0].at)

    def close(self) -> None:
        if not self.outer:
            raise lexer.fail(self.text, self.at, "this parenthesis closes nothing")
        made = self.closed()
        self.group = self.outer.pop()
        self.group.operands.append(made)
        self.at += 1

    # ------------------------------------------------------------------ values

    def reduce(self, level: int) -> None:
        """Apply the waiting operators that bind at least as tightly."""
        ops, operands = self.group.ops, self.group.operands
        while ops and ops[-1].level >= level:
            op = ops.pop()
            if op.level == SIGN:
                operands.append(self.signed(op, operands.pop()))
            elif op.level == TEST:
                operands.append(self.compared(op))
            else:
                right, left = operands.pop(), operands.pop()
                operands.append(self.joined(op, left, right))

    def joined(self, op: _Op, left: Any, right: Any) -> _Chain:
        right = self.term(right, op.at)
        if op.sign == "-":
            right = Minus(right, op.at)
        elif op.sign == "/":
            right = Over(right, op.at)
        if isinstance(left, _Chain) and left.level == op.level:
            left.items.append(right)
            return left
        return _Chain(op.level, [self.term(left, op.at), right], op.at)

    def signed(self, op: _Op, operand: Any) -> Any:
        """A sign before a value. Even a plus asks for a number, so it is kept, as a sum of one."""
        term = self.term(operand, op.at)
        if op.sign == "-":
            if isinstance(term, Raw) and term.is_number:
                return term.negated()
            if not isinstance(term, Minus):
                return Minus(term, op.at)
            term = term.arg
        return (
            Total((term,), op.at) if isinstance(term, Ref) or (isinstance(term, Raw) and not term.is_number) else term
        )

    def compared(self, op: _Op) -> Condition:
        operands, scope = self.group.operands, self.scope
        right = self.term(operands.pop(), op.at)
        if op.sign.endswith("BETWEEN"):
            raise lexer.fail(self.text, self.at, "BETWEEN needs two bounds: BETWEEN low AND high")
        left = self.term(operands.pop(), op.at)
        before, after = op.at - 1, op.at + 1
        if op.sign.endswith("AND"):
            term, low, high = self.term(operands.pop(), op.at), left, right
            low, high = settle(low, term, scope), settle(high, term, scope)
            term = settle(term, low, scope)
            check_comparison(">=", term, low, (before, after))
            check_comparison("<=", term, high, (before, after))
            made = Between(term, low, high, op.at)
            return Inverse(made, op.at) if op.sign.startswith("NOT") else made
        left, right = settle(left, right, scope), settle(right, left, scope)
        if isinstance(left, Ref) and isinstance(right, Constant) and right.lit.kind == "text":
            scope.remember(scope.texts, (left.shown, right.text), right.lit)
        if isinstance(left, Constant) and not isinstance(right, Constant):
            check_comparison(op.sign, left, right, (before, after))
            return Comparison(MIRRORED[op.sign], right, left, op.at)
        check_comparison(op.sign, left, right, (before, after))
        return Comparison(op.sign, left, right, op.at)

    # ------------------------------------------------------------------ shapes

    def condition(self, operand: Any) -> Any:
        """An operand as a condition: a reference or Boolean stands for itself."""
        if isinstance(operand, CONDITIONS):
            return operand
        if isinstance(operand, Ref):
            if operand.type not in (None, "bool"):
                raise Meaningless(f"{operand.shown} is no Boolean: compare it with something", at=self.at - 1)
            return Flag(operand, self.at - 1)
        if isinstance(operand, Raw) and isinstance(operand.value, bool):
            return Flag(Constant(self.scope.constant(operand.value, {}, None), operand.text, operand.at), operand.at)
        at = operand.at if isinstance(operand, Raw) else self.at - 1
        raise lexer.fail(self.text, at, "this is a value, not a condition: compare it with something")

    def term(self, operand: Any, at: int) -> Any:
        """An operand as a value."""
        if isinstance(operand, CONDITIONS):
            message = "this operator takes values, and a condition stands beside it: use AND or OR"
            raise lexer.fail(self.text, at, message)
        if isinstance(operand, _Chain):
            operand = operand.frozen()
        if self.deep and depth(operand) > MAX_TERM_DEPTH:
            raise LimitExceeded(f"arithmetic is nested deeper than {MAX_TERM_DEPTH} levels", limit=MAX_TERM_DEPTH)
        return operand
