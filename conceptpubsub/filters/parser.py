"""Filter text to tree: operator precedence with explicit stacks, so that no depth of nesting can overflow.

Precedence from loose to tight: OR, AND, NOT, comparisons and tests, + and -, * and /, signs.
Names, units and constants are resolved by the scope as they are met; a mistake is raised with its place.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from conceptpubsub.converters import Unit
from conceptpubsub.errors import ConceptPubSubError, FilterTypeError, LimitExceeded
from conceptpubsub.filters import lexer
from conceptpubsub.filters.normal import MIRRORED, Lit, Ref
from conceptpubsub.filters.operands import Raw, number_of, read_braces, settle
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.syntax import (
    CONDITIONS,
    MAX_DEPTH,
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
    Times,
    Total,
    depth,
)
from conceptpubsub.filters.typecheck import check_comparison, check_text
from conceptpubsub.model import Instant
from conceptpubsub.model.values import exact_decimal

RESERVED = frozenset(["AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "IS", "NULL", "ESCAPE", "TRUE", "FALSE"])
COMPARISONS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
TESTS = frozenset(["IN", "LIKE", "BETWEEN", "CONTAINS", "WITHIN", "STARTS", "ENDS", "MATCHES", "ISA", "IS"])
_ENDS = frozenset(["AND", "OR", ")", ""])
_DIGITS = frozenset("0123456789.")
OR, AND, NOT, TEST, PLUS, STAR, SIGN = range(1, 8)


class _Op(NamedTuple):
    """An operator waiting on the stack; an open parenthesis binds loosest of all."""

    level: int
    sign: str
    at: int


class _Chain:
    """An AND, OR, sum or product that still grows; frozen when something else takes it."""

    __slots__ = ("at", "items", "level")

    def __init__(self, level: int, items: list[Any], at: int) -> None:
        self.level, self.items, self.at = level, items, at

    def frozen(self) -> Any:
        kind: Any = {OR: Some, AND: All, PLUS: Total, STAR: Times}[self.level]
        return kind(tuple(self.items), self.at)


def parse(text: str, scope: Scope) -> Condition:
    """The tree of a filter text in a scope. The empty text is the filter that every event matches."""
    return _Parser(text, scope).run()


class _Parser:
    __slots__ = ("at", "deep", "operands", "ops", "scope", "text", "tokens")

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.tokens = lexer.tokens(text)
        self.tokens.append("")
        self.at = 0
        self.operands: list[Any] = []
        self.ops: list[_Op] = []
        self.deep = False

    # ------------------------------------------------------------------ the loop

    def run(self) -> Condition:
        if len(self.tokens) == 1:
            return All((), 0)
        try:
            while True:
                self.operand()
                if self.after_operand():
                    break
            tree = self.condition(self.operands.pop())
        except Meaningless as error:
            message, place = lexer.pointed(self.text, error.facts.pop("at", self.at), str(error))
            facts = {**error.facts, "reason": str(error), "line": place.line, "column": place.column}
            raise FilterTypeError(message, text=self.text[:1000], **facts) from None
        if self.deep and depth(tree) > MAX_DEPTH:
            raise LimitExceeded(f"the filter is nested deeper than {MAX_DEPTH} levels", limit=MAX_DEPTH)
        return tree

    def operand(self) -> None:
        """Read signs, NOTs and open parentheses up to one operand, and the operand."""
        while True:
            token = self.tokens[self.at]
            first = token[:1]
            if first in _DIGITS and first:
                self.operands.append(self.number())
                return
            if first == "'" and len(token) > 1:
                self.operands.append(self.quoted())
                return
            if token == "(":
                self.push(0, "(")
            elif token in ("+", "-"):
                self.push(SIGN, token)
            elif first.isalpha() or first in ('"', "$", "_") or (first == "<" and len(token) > 2):
                word = token.upper()
                if word not in RESERVED:
                    if not self.simple_comparison(token):
                        self.operands.append(self.name(token, word))
                    return
                if word == "NOT":
                    self.push(NOT, word)
                elif word in ("TRUE", "FALSE"):
                    self.operands.append(Raw(word == "TRUE", {}, word, self.at))
                    self.at += 1
                    return
                else:
                    self.expected("a name, a constant or a condition")
            else:
                self.expected("a name, a constant or a condition")

    def push(self, level: int, sign: str) -> None:
        self.ops.append(_Op(level, sign, self.at))
        self.at += 1
        if len(self.ops) > MAX_DEPTH:
            self.deep = True

    def simple_comparison(self, name: str) -> bool:
        """The common atom ``name op number [unit]`` in one step; False where the text is anything else."""
        tokens, at = self.tokens, self.at
        op = COMPARISONS.get(tokens[at + 1])
        if op is None:
            return False
        constant = tokens[at + 2]
        if not constant[-1:].isdigit() or constant[0] not in _DIGITS:
            return False
        after = tokens[at + 3]
        if after in _ENDS:
            unit_text, end = "", at + 3
        elif after[0] == "[":
            unit_text, end = after[1:-1].strip(), at + 4
        elif after[0].isalpha() and after.upper() not in RESERVED and after.upper() not in TESTS:
            unit_text, end = after, at + 4
        else:
            return False
        if tokens[end] not in _ENDS and tokens[end].upper() not in ("AND", "OR"):
            return False
        ops = self.ops
        if ops and ops[-1].level >= TEST:
            return False
        ref = self.scope.ref(name)
        unit = self.scope.unit(unit_text) if unit_text else None
        if (
            not isinstance(unit, Unit)
            or (ref.steps and unit.dimension != ref.dimension)
            or ref.type not in (None, "number")
        ):
            return False
        value = exact_decimal(constant)
        text = f"{constant} {after}"
        self.operands.append(
            Comparison(op, ref, Constant(Lit("quantity", unit.to_base(value), unit.dimension), text, at + 2), at)
        )
        self.at = end
        return True

    # ------------------------------------------------------------------ operands

    def number(self) -> Any:
        at, token = self.at, self.tokens[self.at]
        value = number_of(token, self.text, at)
        self.at += 1
        context: dict[str, Any] = {}
        shown = token
        after = self.tokens[self.at]
        if after[:1] == "[":
            unit = after[1:-1].strip()
            if not unit:
                raise lexer.fail(self.text, self.at, "a unit is missing between the brackets")
            context, shown = self.unit_context(unit), f"{token} [{unit}]"
        elif after[:1] in "°%‰µ" and after:
            context, shown = self.unit_context(after), f"{token} [{after}]"
        elif after[:1].isalpha() and after.upper() not in RESERVED and after.upper() not in TESTS:
            context, shown = self.unit_context(after), f"{token} {after}"
        return self.braced(value, context, shown, at)

    def unit_context(self, unit: str) -> dict[str, Any]:
        found = self.scope.unit(unit)
        self.at += 1
        return {"currency": found} if isinstance(found, str) else {"unit": unit}

    def quoted(self) -> Any:
        at, token = self.at, self.tokens[self.at]
        self.at += 1
        return self.braced(token[1:-1].replace("''", "'"), {}, token, at)

    def braced(self, value: Any, context: dict[str, Any], shown: str, at: int) -> Raw:
        after = self.tokens[self.at]
        if after[:1] == "{":
            extra = read_braces(after, self.text, self.at, self.scope.converters)
            context = {**context, **extra}
            shown += " {" + ", ".join(f"{k}: {_aspect(v)}" for k, v in extra.items()) + "}"
            self.at += 1
        return Raw(value, context, shown, at)

    def name(self, token: str, word: str) -> Any:
        at = self.at
        after = self.tokens[at + 1]
        if word in ("TIMESTAMP", "DATE") and after[:1] == "'" and len(after) > 1:
            self.at += 2
            try:
                instant = Instant.parse(after[1:-1].replace("''", "'"), "UTC" if word == "DATE" else None)
            except ConceptPubSubError as error:
                raise Meaningless(str(error), at=at + 1) from None
            return Raw(instant, {}, f"TIMESTAMP '{instant.isoformat()}'", at)
        ref = self.scope.ref(token)
        self.at += 1
        return ref

    # ------------------------------------------------------------------ operators

    def after_operand(self) -> bool:
        """Read what follows an operand; True at the end of the text."""
        while True:
            token = self.tokens[self.at]
            word = token.upper()
            if word == "AND":
                if self.between_waits():
                    self.ops[-1] = self.ops[-1]._replace(sign="BETWEEN AND")
                    self.at += 1
                    return False
                return self.operator(AND, "AND")
            if word == "OR":
                return self.operator(OR, "OR")
            if token in COMPARISONS:
                return self.operator(TEST, COMPARISONS[token])
            if token in ("+", "-"):
                return self.operator(PLUS, token)
            if token in ("*", "/"):
                return self.operator(STAR, token)
            if token == ")":
                self.reduce(1)
                if not self.ops or self.ops.pop().sign != "(":
                    raise lexer.fail(self.text, self.at, "this parenthesis closes nothing")
                self.at += 1
                continue
            if not token:
                self.reduce(1)
                if self.ops:
                    raise lexer.fail(self.text, self.ops[-1].at, "this parenthesis is never closed")
                return True
            if word == "NOT" and self.tokens[self.at + 1].upper() in ("IN", "LIKE", "BETWEEN", "CONTAINS", "WITHIN", "STARTS", "ENDS", "MATCHES", "ISA"):  # fmt: skip
                self.at += 1
                if self.test(self.tokens[self.at].upper(), negated=True):
                    return False
                continue
            if word in TESTS:
                if self.test(word, negated=False):
                    return False
                continue
            self.expected("AND, OR, an operator or the end")

    def operator(self, level: int, sign: str) -> bool:
        self.reduce(level)
        self.push(level, sign)
        return False

    def between_waits(self) -> bool:
        """Reduce arithmetic; whether a BETWEEN then waits for its AND."""
        self.reduce(PLUS)
        return bool(self.ops) and self.ops[-1].sign in ("BETWEEN", "NOT BETWEEN")

    def reduce(self, level: int) -> None:
        """Apply the waiting operators that bind at least as tightly."""
        ops = self.ops
        while ops and ops[-1].level >= level and ops[-1].level > 0:
            op = ops.pop()
            if op.level == SIGN:
                self.operands.append(self.signed(op, self.operands.pop()))
            elif op.level == NOT:
                inner = self.condition(self.operands.pop())
                self.operands.append(inner.arg if isinstance(inner, Inverse) else Inverse(inner, op.at))
            elif op.level == TEST:
                self.compared(op)
            else:
                right, left = self.operands.pop(), self.operands.pop()
                self.operands.append(self.joined(op, left, right))

    def joined(self, op: _Op, left: Any, right: Any) -> _Chain:
        if op.level <= AND:
            right = self.condition(right)
            left = left if isinstance(left, _Chain) and left.level == op.level else self.condition(left)
        else:
            right = self.term(right, op.at)
            left = left if isinstance(left, _Chain) and left.level == op.level else self.term(left, op.at)
            if op.sign == "-":
                right = Minus(right, op.at)
            elif op.sign == "/":
                right = Over(right, op.at)
        if not isinstance(left, _Chain):
            same = isinstance(left, {OR: Some, AND: All, PLUS: Total, STAR: Times}[op.level])
            left = _Chain(op.level, list(left.args) if same and left.args else [left], op.at)
        if isinstance(right, Some if op.level == OR else All if op.level == AND else ()) and right.args:
            left.items.extend(right.args)
        else:
            left.items.append(right)
        return left

    def signed(self, op: _Op, operand: Any) -> Any:
        term = self.term(operand, op.at)
        if op.sign == "+":
            return term if isinstance(term, Raw | Total | Minus) else Total((term,), op.at)
        if isinstance(term, Raw) and not isinstance(term.value, str | bool | Instant):
            return term._replace(value=-term.value, text=term.text[1:] if term.text[0] == "-" else "-" + term.text)
        return Total((term.arg,), op.at) if isinstance(term, Minus) else Minus(term, op.at)

    def compared(self, op: _Op) -> None:
        right = self.term(self.operands.pop(), op.at)
        if op.sign in ("BETWEEN", "NOT BETWEEN"):
            raise lexer.fail(self.text, self.at, "BETWEEN needs two bounds: BETWEEN low AND high")
        left = self.term(self.operands.pop(), op.at)
        if op.sign.endswith("BETWEEN AND"):
            term, low, high = self.term(self.operands.pop(), op.at), left, right
            low, high = settle(low, term, self.scope), settle(high, term, self.scope)
            term = settle(term, low, self.scope)
            check_comparison(">=", term, low)
            check_comparison("<=", term, high)
            made: Any = Between(term, low, high, op.at)
        else:
            left, right = settle(left, right, self.scope), settle(right, left, self.scope)
            if isinstance(left, Constant) and not isinstance(right, Constant):
                left, right, op = right, left, op._replace(sign=MIRRORED[op.sign])
            check_comparison(op.sign, left, right)
            made = Comparison(op.sign, left, right, op.at)
        self.operands.append(made)

    def test(self, word: str, negated: bool) -> bool:
        """A test after an operand; True when more operands must follow (BETWEEN)."""
        self.reduce(PLUS)
        at = self.at
        if word == "BETWEEN":
            if self.ops and self.ops[-1].level == TEST:
                raise lexer.fail(self.text, at, "a comparison is no operand of BETWEEN: use parentheses and AND")
            self.push(TEST, "BETWEEN")
            if negated:
                self.ops.insert(len(self.ops) - 1, _Op(NOT, "NOT", at))
            return True
        if self.ops and self.ops[-1].level == TEST:
            raise lexer.fail(self.text, at, f"{word} cannot follow a comparison without AND or OR")
        term = self.term(self.operands.pop(), at)
        self.at += 1
        made: Any
        if word == "IS":
            made = self.null(term, at)
        elif word == "IN":
            made = self.member(term, at)
        elif word == "ISA":
            made = self.below(term, at)
        else:
            made = self.pattern(word, settle(term, None, self.scope), at)
        self.operands.append(Inverse(made, at) if negated else made)
        return False

    def null(self, term: Any, at: int) -> Any:
        negated = self.tokens[self.at].upper() == "NOT"
        self.at += negated
        if self.tokens[self.at].upper() != "NULL":
            self.expected("NULL")
        self.at += 1
        if not isinstance(term, Ref):
            raise lexer.fail(self.text, at, "IS NULL asks about a name, not about a value")
        return Inverse(Null(term, at), at) if negated else Null(term, at)

    def member(self, term: Any, at: int) -> Member:
        if self.tokens[self.at] != "(":
            self.expected("an opening parenthesis after IN")
        items: list[Constant] = []
        while True:
            self.at += 1
            items.append(self.item(term))
            if self.tokens[self.at] == ")":
                break
            if self.tokens[self.at] != ",":
                self.expected("a comma or a closing parenthesis")
        self.at += 1
        term = settle(term, items[0], self.scope)
        for item in items:
            check_comparison("=", term, item)
        return Member(term, tuple(items), at)

    def item(self, term: Any) -> Constant:
        token = self.tokens[self.at]
        sign = token if token in ("+", "-") else ""
        self.at += bool(sign)
        token = self.tokens[self.at]
        word = token.upper()
        if token[:1] in _DIGITS and token:
            raw = self.number()
        elif sign:
            self.expected("a number")
        elif token[:1] == "'" and len(token) > 1:
            raw = self.quoted()
        elif word in ("TRUE", "FALSE"):
            raw = Raw(word == "TRUE", {}, word, self.at)
            self.at += 1
        elif word in ("TIMESTAMP", "DATE"):
            raw = self.name(token, word)
        else:
            self.expected("a constant")
        if sign == "-":
            raw = raw._replace(value=-raw.value, text="-" + raw.text)
        made = settle(raw, term, self.scope)
        assert isinstance(made, Constant)
        return made

    def below(self, term: Any, at: int) -> Below:
        token = self.tokens[self.at]
        if not isinstance(term, Ref):
            raise lexer.fail(self.text, at, "ISA asks about a name or EVENT, not about a value")
        if token[:1] == "'" and len(token) > 1:
            name, shown = token[1:-1].replace("''", "'"), token
        elif token and (token[0].isalpha() or token[0] in '"<_$') and token.upper() not in RESERVED:
            name = shown = token
            name = token[1:-1].replace('""', '"') if token[0] == '"' else token[1:-1] if token[0] == "<" else token
        else:
            self.expected("a concept after ISA")
        concept = self.scope.named(name) if self.scope.ontology is not None else None
        self.at += 1
        return Below(term, concept, concept.representative if concept is not None else name, shown, at)

    def pattern(self, word: str, term: Any, at: int) -> Pattern:
        if word in ("STARTS", "ENDS"):
            if self.tokens[self.at].upper() != "WITH":
                self.expected(f"WITH after {word}")
            self.at += 1
            word += " WITH"
        token = self.tokens[self.at]
        if token[:1] != "'" or len(token) < 2:
            self.expected(f"a text in quotes after {word}")
        text, escape = token[1:-1].replace("''", "'"), None
        self.at += 1
        if word == "LIKE" and self.tokens[self.at].upper() == "ESCAPE":
            self.at += 1
            token = self.tokens[self.at]
            escape = token[1:-1].replace("''", "'") if token[:1] == "'" and len(token) > 1 else ""
            if len(escape) != 1:
                raise lexer.fail(self.text, self.at, "ESCAPE takes one character in quotes")
            self.at += 1
        from conceptpubsub.filters.patterns import check_pattern

        check_pattern(word, text, escape, self.text, self.at - 1)
        check_text(word, term)
        return Pattern(word, term, text, escape, at)

    # ------------------------------------------------------------------ shapes

    def condition(self, operand: Any) -> Any:
        """An operand as a condition: a reference or Boolean stands for itself."""
        if isinstance(operand, _Chain):
            operand = operand.frozen()
        if isinstance(operand, CONDITIONS):
            return operand
        if isinstance(operand, Ref):
            if operand.steps and operand.type not in (None, "bool"):
                raise Meaningless(f"{operand.shown} is no Boolean: compare it with something", at=self.at - 1)
            return Flag(operand, self.at - 1)
        if isinstance(operand, Raw) and isinstance(operand.value, bool):
            return Flag(Constant(Lit("bool", operand.value), operand.text, operand.at), operand.at)
        at = operand.at if isinstance(operand, Raw) else self.at - 1
        raise lexer.fail(self.text, at, "this is a value, not a condition: compare it with something")

    def term(self, operand: Any, at: int) -> Any:
        """An operand as a value."""
        if isinstance(operand, _Chain):
            operand = operand.frozen()
        if isinstance(operand, CONDITIONS):
            raise lexer.fail(
                self.text, at, "this operator takes values, and a condition stands beside it: use AND or OR"
            )
        return operand

    def expected(self, what: str) -> NoReturn:
        token = self.tokens[self.at]
        if not token:
            raise lexer.fail(self.text, self.at, f"the filter ends where {what} is expected")
        if token in "'\"":
            raise lexer.fail(self.text, self.at, f"a {'text' if token != chr(34) else 'name'} that is never closed: add the missing {token}")  # fmt: skip
        if token in "[{":
            raise lexer.fail(self.text, self.at, f"'{token}' is never closed")
        reserved = (
            " (a reserved word; write it in double quotes to use it as a name)" if token.upper() in RESERVED else ""
        )
        raise lexer.fail(self.text, self.at, f"{what} is expected, not '{token[:60]}'{reserved}", token=token[:200])


def _aspect(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) and not value.isidentifier() else str(value)
