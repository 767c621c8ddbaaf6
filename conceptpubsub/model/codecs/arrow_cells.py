"""The cells of an Arrow column as values of the model, exact whatever the type; unreadable ones say why."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model.codecs.columns import ENCODING
from conceptpubsub.model.codecs.plain_json import read_scalar
from conceptpubsub.model.codecs.strict_json import parse
from conceptpubsub.model.instants import Instant

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH = dt.datetime(1970, 1, 1)
_DAY = 86_400 * 10**9
Cells: TypeAlias = list[Any]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A cell that is no value, and why."""

    reason: str


def cells(column: Any, described: pa.Field) -> Cells:
    """The values of a column; None for null, ``Unreadable`` for what no event may hold."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    types = pa.types
    if (described.metadata or {}).get(ENCODING.encode()) == b"json":
        return _each(column.to_pylist(), lambda text: read_scalar(parse(text), "/" + described.name))
    if types.is_timestamp(kind):
        factor = _NANOSECONDS[kind.unit]
        make = Instant if kind.tz is not None else _naive
        return _each(column.cast(pa.int64()).to_pylist(), lambda count: make(count * factor))
    if types.is_date(kind):
        size = pa.int32() if types.is_date32(kind) else pa.int64()
        factor = _DAY if types.is_date32(kind) else 10**6
        return _each(column.cast(size).to_pylist(), lambda count: _naive(count * factor).date())
    if types.is_float16(kind) or types.is_float32(kind):
        import numpy

        narrow = numpy.float16 if types.is_float16(kind) else numpy.float32
        return [None if value is None else narrow(value) for value in column.to_pylist()]
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if text or types.is_boolean(kind) or types.is_integer(kind) or types.is_float64(kind) or types.is_decimal(kind):
        return list(column.to_pylist())
    reason = f"column {described.name!r} is of type {kind}, which no attribute has: one value a cell"
    return [None if not valid else Unreadable(reason) for valid in column.is_valid().to_pylist()]


def _each(given: Cells, make: Callable[[Any], Any]) -> Cells:
    return [None if value is None else _made(value, make) for value in given]


def _made(value: Any, make: Callable[[Any], Any]) -> Any:
    try:
        return make(value)
    except (ConceptPubSubError, OverflowError) as error:
        return Unreadable(str(error))


def _naive(ns: int) -> dt.datetime:
    if ns % 1000:
        raise OverflowError("a time to the nanosecond needs a time zone in its column's type")
    return _EPOCH + dt.timedelta(microseconds=ns // 1000)
