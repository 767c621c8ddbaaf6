"""Filters as plain tests of columns, for engines that push such tests down; only where the answer is exactly the same.

What compiles: a conjunction under ``sql`` of comparisons with constants, each over exactly one column, whose unit is
fixed; and ``EVENT ISA``. Anything else is None, and the caller matches with the Matcher.

A double means its shortest decimal, so the constant, taken to the column's unit as a rational, is rounded to the double
beside which the float comparison gives the exact answer.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from conceptpubsub.archive.columns import Attribute, attributes
from conceptpubsub.filters.normal import FLIPPED, And, Compare, IsA, Lit, Normal, OneOf, Ref, Truth
from conceptpubsub.model.codecs.columns import Column
from conceptpubsub.model.values import Exact, exact, to_float

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

_MOST_NAMES = 1000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Test:
    """``column op value``; for ``in`` the value is a tuple. Null fails it."""

    column: str
    op: str
    value: Any


@dataclass(frozen=True, slots=True)
class Tests:
    """A conjunction of tests; ``never`` where no row can pass."""

    tests: tuple[Test, ...] = ()
    never: bool = False


class _NotSimple(Exception):
    """The filter needs the Matcher."""


def compiled(filter: Filter, schema: pa.Schema) -> Tests | None:
    """The filter as tests of a table's columns, or None.

    >>> from conceptpubsub.filters import Filter
    >>> schema = pa.schema([pa.field("t", pa.float64(), metadata={"unit": "degF"}), ("s", pa.string())])
    >>> compiled(Filter.parse("t > 30 degC AND s = 'a'"), schema).tests
    (Test(column='s', op='=', value='a'), Test(column='t', op='>', value=86.0))
    >>> compiled(Filter.parse("t > 30 degC OR s = 'a'"), schema) is None
    True
    """
    if filter.semantics != "sql":
        return None
    normal = filter.normal
    made: list[Test] = []
    try:
        for part in normal.args if isinstance(normal, And) else (normal,):
            test = _test(part, filter, schema)
            if test is None:
                return Tests(never=True)
            made.extend(test)
    except _NotSimple:
        return None
    return Tests(tuple(made))


def _test(part: Normal, filter: Filter, schema: pa.Schema) -> tuple[Test, ...] | None:
    """The tests of one part; None where no row can pass it."""
    if isinstance(part, Truth):
        return () if part.value is True else None
    if isinstance(part, IsA):
        return _isa(part, filter, schema)
    if isinstance(part, OneOf) and isinstance(part.term, Ref):
        found = [_compared("=", part.term, value, filter, schema) for value in part.values]
        kept = [one for one in found if one is not None]
        if any(one.op != "=" for one in kept):
            raise _NotSimple
        return (Test(kept[0].column, "in", tuple(one.value for one in kept)),) if kept else None
    if isinstance(part, Compare) and isinstance(part.left, Ref) and isinstance(part.right, Lit):
        test = _compared(part.op, part.left, part.right, filter, schema)
        return None if test is None else (test,)
    raise _NotSimple


def _isa(part: IsA, filter: Filter, schema: pa.Schema) -> tuple[Test, ...] | None:
    ontology = filter.ontology
    if not part.ref.event or ontology is None or isinstance(part.concept, str):
        raise _NotSimple
    if "@concept" not in schema.names:
        return None
    names = tuple(sorted(name for name, index in ontology.spellings().items() if part.concept.mask >> index & 1))
    if len(names) > _MOST_NAMES:
        raise _NotSimple
    return (Test("@concept", "in", names),)


def _compared(op: str, ref: Ref, lit: Lit, filter: Filter, schema: pa.Schema) -> Test | None:
    if ref.event:
        return _of_event(op, ref, lit, schema)
    attribute = _only(ref, filter, schema)
    if attribute is None:
        return None
    described = schema.field(attribute.column)
    concept = filter.converters.concept(attribute.key) if ref.steps else None
    plan = filter.converters.plan(concept, attribute.fixed)
    if plan.problem is not None or plan.checked or plan.moves or any(b":" in key for key in described.metadata or {}):
        raise _NotSimple
    if lit.kind == "text":
        plain = plan.value_type in (None, "text") and getattr(concept, "values", None) is None
        if not (plain and ref.type in (None, "text") and pa.types.is_string(described.type)):
            raise _NotSimple
        return Test(attribute.column, op, lit.value)
    if ref.type not in (None, "number") or plan.value_type not in (None, "real"):
        raise _NotSimple
    return _number(op, attribute.column, described.type, _threshold(plan, lit))


def _only(ref: Ref, filter: Filter, schema: pa.Schema) -> Attribute | None:
    """The one attribute that a reference can be bound to; None where there is none."""
    if len(ref.path) != 1:
        raise _NotSimple
    found = []
    for attribute in attributes(schema):
        path = Column.parse(attribute.column).path
        if ref.concept is None:
            meant = path[0] == ref.path[0]
        else:
            known = filter.converters.concept(path[0])
            meant = known is not None and known.is_a(ref.concept)
        if meant:
            if len(path) > 1 or attribute.aspects:
                raise _NotSimple
            found.append(attribute)
    if len(found) > 1:
        raise _NotSimple
    return found[0] if found else None


def _threshold(plan: Any, lit: Lit) -> Fraction:
    """The constant as the column would write it."""
    same = {
        "quantity": plan.dimension is not None and plan.currency is None and plan.dimension.comparable(lit.of),
        "number": plan.dimension is None and plan.currency is None,
        "money": plan.currency is not None and plan.currency == lit.of,
    }.get(lit.kind, False)
    if not same or (plan.unit is not None and plan.whole is None):
        raise _NotSimple
    factor, offset, divisor = plan.whole or (1, 0, 1)
    if factor <= 0 or divisor <= 0:
        raise _NotSimple
    return (Fraction(lit.value) * divisor - offset) / factor


def _number(op: str, column: str, kind: pa.DataType, limit: Fraction) -> Test | None:
    if op == "<>":
        equal = _number("=", column, kind, limit)
        return Test(column, FLIPPED["="], equal.value) if equal is not None else Test(column, "is not null", None)
    if pa.types.is_signed_integer(kind):
        if op == "=":
            return Test(column, op, int(limit)) if limit.denominator == 1 else None
        whole = floor(limit) if op in ("<=", ">") else ceil(limit)
        if abs(whole) >= 1 << 63:
            raise _NotSimple
        return Test(column, op, whole)
    if not pa.types.is_float64(kind):
        raise _NotSimple
    near = to_float(limit)
    if abs(near) == float("inf"):
        raise _NotSimple
    meant: Exact = exact(near)
    if meant == limit:
        return Test(column, op, near)
    if op == "=":
        return None
    below = meant < limit  # then the limit lies between this double and the next one
    if op in ("<", "<="):
        return Test(column, "<=" if below else "<", near)
    return Test(column, ">" if below else ">=", near)


def _of_event(op: str, ref: Ref, lit: Lit, schema: pa.Schema) -> Test | None:
    column = f"@{ref.path[-1]}"
    if column not in schema.names:
        return None
    kind = schema.field(column).type
    if lit.kind == "text" and column in ("@id", "@source") and pa.types.is_string(kind):
        return Test(column, op, lit.value)
    if lit.kind == "instant" and column == "@time" and pa.types.is_timestamp(kind) and kind.tz is not None:
        micros, rest = divmod(lit.value.ns, 1000)
        if not rest and kind.unit in ("s", "ms", "us") and abs(micros) < 1 << 53:
            return Test(column, op, _EPOCH + dt.timedelta(microseconds=micros))
    raise _NotSimple
