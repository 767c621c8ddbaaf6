"""Transforms at work: an event's attributes in, another's out.

Rule 1  A missing input makes its outputs missing; that is no failure.
Rule 2  What cannot be computed from inputs that are there (a division by zero, a code that is in no table) fails the
        event, with the reason; nothing is half delivered.
Rule 3  ``checks`` are computed and thrown away: what an earlier transform would have failed on, its successor that
        took its place fails on too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.normalise import value_of
from conceptpubsub.flow.expressions import Attribute, Binary, Call, Const, Expr, attributes, substitute
from conceptpubsub.flow.functions import Failed, Function

Rate = Callable[[str, str], Any]


@dataclass(frozen=True, slots=True)
class Transform:
    """For each attribute of the outgoing event, its expression."""

    outputs: Mapping[str, Expr]
    checks: tuple[Expr, ...] = ()
    functions: Mapping[str, Function] = field(default_factory=dict, compare=False)

    def apply(self, values: Mapping[str, Any], rate: Rate = arithmetic.no_rate) -> dict[str, Any]:
        """The outgoing attributes, canonical; raises `Failed`."""
        for check in self.checks:
            compute(check, values, self.functions, rate)
        made = {name: compute(expr, values, self.functions, rate) for name, expr in self.outputs.items()}
        return {name: value for name, value in made.items() if value is not None}

    def after(self, first: Transform) -> Transform:
        """One transform for ``first`` and then this one."""
        outputs = {name: substitute(expr, first.outputs) for name, expr in self.outputs.items()}
        checks = [*first.checks, *(substitute(check, first.outputs) for check in self.checks)]
        kept = set(outputs.values())
        checks += [expr for expr in first.outputs.values() if expr not in kept and can_fail(expr)]
        unique = tuple(dict.fromkeys(check for check in checks if can_fail(check)))
        return Transform(outputs, unique, {**first.functions, **self.functions})

    @property
    def is_identity(self) -> bool:
        """Whether every attribute is passed on as it is."""
        return not self.checks and all(expr == Attribute(name) for name, expr in self.outputs.items())

    def __str__(self) -> str:
        return "[" + ", ".join(
            name if expr == Attribute(name) else f"{name} = {expr}" for name, expr in self.outputs.items()
        ) + "]"  # fmt: skip


def can_fail(expr: Expr) -> bool:
    """Whether an expression can fail on inputs that are there."""
    return not isinstance(expr, Attribute | Const)


def compute(expr: Expr, values: Mapping[str, Any], functions: Mapping[str, Function], rate: Rate) -> Any:
    """The canonical value of an expression; None where an input is missing."""
    if isinstance(expr, Attribute):
        return values.get(expr.name)
    if isinstance(expr, Const):
        return value_of(expr.lit)
    if isinstance(expr, Call):
        known = functions[expr.function]
        args = [compute(arg, values, functions, rate) for arg in expr.args]
        there = [arg for arg in args if arg is not None]
        if not there or (len(there) < len(args) and not getattr(known, "skips_missing", False)):
            return None
        return known(*there)
    left, right = compute(expr.left, values, functions, rate), compute(expr.right, values, functions, rate)
    if left is None or right is None:
        return None
    made = _binary(expr, left, right, rate)
    if made is None:
        zero = (
            expr.sign == "/"
            and arithmetic.is_number(getattr(right, "value", right))
            and getattr(right, "value", right) == 0
        )
        reason = "a division by zero" if zero else f"{left} {expr.sign} {right} has no value"
        raise Failed(f"{expr}: {reason}")
    return made


def _binary(expr: Binary, left: Any, right: Any, rate: Rate) -> Any:
    if expr.sign == "+":
        return arithmetic.add([left, right], [1, 1], rate)
    if expr.sign == "-":
        return arithmetic.add([left, right], [1, -1], rate)
    if expr.sign == "*":
        return arithmetic.multiply([left, right], rate)
    below = arithmetic.reciprocal(right)
    return None if below is None else arithmetic.multiply([left, below], rate)


def reads(transform: Transform) -> frozenset[str]:
    """The attributes a transform reads."""
    found: frozenset[str] = frozenset()
    for expr in (*transform.outputs.values(), *transform.checks):
        found |= attributes(expr)
    return found
