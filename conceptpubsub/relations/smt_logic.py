"""AND, OR, NOT and comparisons of z3 expressions of known sorts, without z3py's coercions: building terms costs more
than checking them, and most of that is looking up sorts that are known here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3


def conj(*parts: Any) -> Any:
    """AND of one or more formulas."""
    return parts[0] if len(parts) == 1 else _joined(z3.Z3_mk_and, parts)


def disj(*parts: Any) -> Any:
    """OR of one or more formulas."""
    return parts[0] if len(parts) == 1 else _joined(z3.Z3_mk_or, parts)


def _joined(make: Any, parts: Sequence[Any]) -> Any:
    context = parts[0].ctx
    asts = (z3.Ast * len(parts))()
    for i, part in enumerate(parts):
        asts[i] = part.ast
    return z3.BoolRef(make(context.ref(), len(parts), asts), context)


def neg(part: Any) -> Any:
    """NOT of a formula."""
    return z3.BoolRef(z3.Z3_mk_not(part.ctx.ref(), part.ast), part.ctx)


def implies(one: Any, other: Any) -> Any:
    """If the one, then the other."""
    return disj(neg(one), other)


def same(left: Any, right: Any) -> Any:
    """Equality of two expressions of one sort."""
    return z3.BoolRef(z3.Z3_mk_eq(left.ctx.ref(), left.ast, right.ast), left.ctx)


def as_real(value: Any) -> Any:
    """A number as a real one. Integers stay integers as long as they can: z3 decides those far better."""
    if not value.is_int():
        return value
    return z3.RealVal(value.as_long(), value.ctx) if z3.is_int_value(value) else z3.ToReal(value)


def aligned(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers, both integers or both reals."""
    return (left, right) if left.is_int() == right.is_int() else (as_real(left), as_real(right))


_ORDERS = {"<": z3.Z3_mk_lt, "<=": z3.Z3_mk_le, ">": z3.Z3_mk_gt, ">=": z3.Z3_mk_ge}


def ordered(op: str, left: Any, right: Any) -> Any:
    """A comparison of two expressions of one sort: numbers, strings, or (= and <> only) Booleans."""
    if z3.is_arith(left):
        left, right = aligned(left, right)
    if op == "=":
        return same(left, right)
    if op == "<>":
        return neg(same(left, right))
    if z3.is_seq(left):
        one, other = (left, right) if op in ("<", "<=") else (right, left)
        return one < other if op in ("<", ">") else one <= other
    return z3.BoolRef(_ORDERS[op](left.ctx.ref(), left.ast, right.ast), left.ctx)
