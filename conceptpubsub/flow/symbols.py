"""Steps of a path as z3 terms: every attribute is a value and whether it is there.

A text that comes from a table is a list of cases, each a guard and a constant, so that tests on it are decided entry by
entry; tests on other texts are uninterpreted predicates, the same on both sides of a proof. An opaque function is an
uninterpreted function. Amounts of money stand in an unknown common currency.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import z3

from conceptpubsub.filters.normal import Lit
from conceptpubsub.filters.patterns import like_shape, text_test
from conceptpubsub.filters.syntax import All, Between, Comparison, Flag, Inverse, Member, Null, Pattern, Some
from conceptpubsub.flow.expressions import Attribute, Call, Const, Expr
from conceptpubsub.flow.functions import Function, Table
from conceptpubsub.flow.predicates import expression
from conceptpubsub.flow.schema import Schema
from conceptpubsub.model import Instant

_OPS = {"STARTS WITH": "starts", "ENDS WITH": "ends", "CONTAINS": "contains", "WITHIN": "within", "MATCHES": "matches"}


class Symbol(NamedTuple):
    """There or not, and the cases of its value: guard and z3 term or Python constant."""

    there: Any
    cases: tuple[tuple[Any, Any], ...]


class Unprovable(Exception):
    """Something in a path that has no z3 form; the proof says so."""


class Symbols:
    """One z3 context for both sides of a proof."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.true = z3.BoolVal(True, self.context)
        self.text = z3.StringSort(self.context)
        self.real = z3.RealSort(self.context)
        self.rates: dict[str, Any] = {}

    def attributes(self, of: Schema) -> dict[str, Symbol]:
        """The attributes of an event at the source, all unknown."""
        found = {}
        for name, kind in of.items():
            if kind.type == "any":
                raise Unprovable(f"the type of '{name}' is unknown: an opaque function computes it")
            sort = {"text": self.text, "bool": z3.BoolSort(self.context)}.get(kind.type, self.real)
            value = z3.Const(f"v_{name}", sort)
            found[name] = Symbol(z3.Bool(f"d_{name}", self.context), ((self.true, value),))
        return found

    # ------------------------------------------------------------------ values

    def lit(self, lit: Lit) -> Any:
        """A constant; numbers are z3 reals, texts stay Python so that tests on them are decided."""
        value = lit.value
        if lit.kind == "text":
            return value
        if lit.kind == "bool":
            return z3.BoolVal(value, self.context)
        if isinstance(value, Instant):
            value = Fraction(value.ns, 1_000_000_000)
        number = z3.RealVal(str(Fraction(value)), self.context)
        if lit.kind == "money":
            rate = self.rates.setdefault(str(lit.of), z3.Real(f"rate_{lit.of}", self.context))
            return number * rate
        return number

    def expr(
        self, expr: Expr, env: Mapping[str, Symbol], functions: Mapping[str, Function], fails: list[Any]
    ) -> Symbol:
        """An expression; what it can fail on is added to ``fails``."""
        if isinstance(expr, Attribute):
            return env.get(expr.name, Symbol(z3.Not(self.true), ()))
        if isinstance(expr, Const):
            return Symbol(self.true, ((self.true, self.lit(expr.lit)),))
        if isinstance(expr, Call):
            return self.call(expr, env, functions, fails)
        left, right = self.expr(expr.left, env, functions, fails), self.expr(expr.right, env, functions, fails)
        there = z3.And(left.there, right.there)
        a, b = self.number(left), self.number(right)
        if expr.sign == "/":
            fails.append(z3.And(there, b == 0))
            return Symbol(there, ((self.true, a / b),))
        made = a + b if expr.sign == "+" else a - b if expr.sign == "-" else a * b
        return Symbol(there, ((self.true, made),))

    def call(
        self, expr: Call, env: Mapping[str, Symbol], functions: Mapping[str, Function], fails: list[Any]
    ) -> Symbol:
        known = functions[expr.function]
        args = [self.expr(arg, env, functions, fails) for arg in expr.args]
        there = z3.And([arg.there for arg in args]) if args else self.true
        if isinstance(known, Table) and len(args) == 1:
            cases = []
            for key, value in known.entries.items():
                guard = self.equals(args[0], key)
                cases.append(
                    (guard, value if isinstance(value, str) else z3.RealVal(str(Fraction(value)), self.context))
                )
            fails.append(z3.And(there, z3.Not(z3.Or([guard for guard, _ in cases]))))
            return Symbol(there, tuple(cases))
        merged = [self.merged(arg) for arg in args]
        sorts = [term.sort() for term in merged]
        # The sort of an opaque result is unknown; text is the usual one, and both sides use the same.
        made = z3.Function(f"f_{expr.function}", *sorts, self.text)(*merged)
        failed = z3.Function(f"fails_{expr.function}", *sorts, z3.BoolSort(self.context))(*merged)
        fails.append(z3.And(there, failed))
        return Symbol(there, ((self.true, made),))

    def merged(self, symbol: Symbol) -> Any:
        """The cases of a symbol as one term."""
        terms = [(guard, z3.StringVal(v, self.context) if isinstance(v, str) else v) for guard, v in symbol.cases]
        if not terms:
            raise Unprovable("an attribute that is never there")
        made = terms[-1][1]
        for guard, value in reversed(terms[:-1]):
            if value.sort() != made.sort():
                raise Unprovable("a value that is sometimes text and sometimes a number")
            made = z3.If(guard, value, made)
        return made

    def number(self, symbol: Symbol) -> Any:
        """A symbol as a real number."""
        made = self.merged(symbol)
        if made.sort() != self.real:
            raise Unprovable("arithmetic on what is no number")
        return made

    def equals(self, symbol: Symbol, value: Any) -> Any:
        """Whether a symbol equals a Python constant."""
        made = self.merged(symbol)
        if isinstance(value, str):
            return made == z3.StringVal(value, self.context) if made.sort() == self.text else z3.Not(self.true)
        return made == z3.RealVal(str(Fraction(value)), self.context) if made.sort() == self.real else z3.Not(self.true)

    # ------------------------------------------------------------------ conditions

    def condition(self, node: Any, env: Mapping[str, Symbol], positive: bool) -> Any:
        """When a condition is true (or, with ``positive`` false, when it is false)."""
        match node:
            case All(args) | Some(args):
                inner = [self.condition(arg, env, positive) for arg in args]
                if not inner:
                    return self.true if positive else z3.Not(self.true)
                return z3.And(inner) if isinstance(node, All) == positive else z3.Or(inner)
            case Inverse(arg):
                return self.condition(arg, env, not positive)
            case Null(ref):
                there = env[ref.path[0]].there if ref.path[0] in env else z3.Not(self.true)
                return z3.Not(there) if positive else there
            case Between(term, low, high, at):
                both = (Comparison(">=", term, low, at), Comparison("<=", term, high, at))
                return self.condition(All(both, at), env, positive)
            case Member(term, items, at):
                return self.condition(Some(tuple(Comparison("=", term, item, at) for item in items), at), env, positive)
            case Comparison(op, left, right):
                return self.comparison(op, left, right, env, positive)
            case Pattern() | Flag():
                return self.test(node, env, positive)
            case _:
                raise Unprovable(f"a condition of the kind {type(node).__name__}")

    def term(self, term: Any, env: Mapping[str, Symbol], fails: list[Any]) -> Symbol:
        made = expression(term)
        if made is None:
            raise Unprovable("a condition on the event itself")
        return self.expr(made, env, {}, fails)

    def comparison(self, op: str, left: Any, right: Any, env: Mapping[str, Symbol], positive: bool) -> Any:
        fails: list[Any] = []
        a, b = self.term(left, env, fails), self.term(right, env, fails)
        found = []
        for guard, x in a.cases:
            for other, y in b.cases:
                holds = self.compared(op, x, y)
                if holds is not None:
                    found.append(z3.And(guard, other, holds if positive else z3.Not(holds)))
        known = z3.And(a.there, b.there, *(z3.Not(fail) for fail in fails))
        return z3.And(known, z3.Or(found) if found else z3.Not(self.true))

    def compared(self, op: str, x: Any, y: Any) -> Any:
        if isinstance(x, str) and isinstance(y, str):
            from conceptpubsub.filters.arithmetic import ordered

            return z3.BoolVal(ordered(op, x, y), self.context)
        a = z3.StringVal(x, self.context) if isinstance(x, str) else x
        b = z3.StringVal(y, self.context) if isinstance(y, str) else y
        if a.sort() != b.sort():
            return None
        if op in ("=", "<>"):
            return a == b if op == "=" else a != b
        if a.sort() == self.real:
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
        if a.sort() == self.text:
            less = z3.Function("text_below", self.text, self.text, z3.BoolSort(self.context))
            return {"<": less(a, b), ">": less(b, a), "<=": z3.Not(less(b, a)), ">=": z3.Not(less(a, b))}[op]
        return None

    def test(self, node: Any, env: Mapping[str, Symbol], positive: bool) -> Any:
        symbol = self.term(node.term, env, [])
        found = []
        for guard, value in symbol.cases:
            holds = self.tested(node, value)
            if holds is not None:
                found.append(z3.And(guard, holds if positive else z3.Not(holds)))
        return z3.And(symbol.there, z3.Or(found) if found else z3.Not(self.true))

    def tested(self, node: Any, value: Any) -> Any:
        if isinstance(node, Flag):
            return None if isinstance(value, str) or not z3.is_bool(value) else value
        op, pattern = like_shape(node.text, node.escape) if node.op == "LIKE" else (_OPS[node.op], node.text)
        if isinstance(value, str):
            return z3.BoolVal(value == pattern if op == "equals" else text_test(op, value, pattern), self.context)
        if value.sort() != self.text:
            return None
        if op == "equals":
            return value == z3.StringVal(pattern, self.context)
        return z3.Function(f"{op}:{pattern}", self.text, z3.BoolSort(self.context))(value)
