"""Delivery of whole columns: each match in its subscriber's context, as ``Converters.deliver`` would make it.

For each attribute, rows fall into few cells: (context it stands in, context wanted, day of the rate). What happens in a
cell is asked of ``Converters.deliver`` itself, with the numbers 0, 1 and 2: if the answers lie on a line, the line is
the conversion, and all rows are converted by one multiply-add. What is no line goes value by value.

Aspects are columns in what is delivered, never metadata: files of many tasks are read as one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from conceptpubsub.archive.columns import NO_TIME, Attribute, attributes, contexts_of, is_numeric, numbers, valid_mask
from conceptpubsub.archive.moments import Moments
from conceptpubsub.converters import Converters
from conceptpubsub.converters.delivery import wanted_for
from conceptpubsub.model.codecs import events_to_table
from conceptpubsub.model.codecs.arrow_cells import Unreadable, cells
from conceptpubsub.model.codecs.arrow_codes import Codes, compact, encoded
from conceptpubsub.model.codecs.columns import Column
from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.values import decimal_text, exact, to_float

NUMERIC = frozenset({"unit", "scale", "currency"})


@dataclass(frozen=True, slots=True)
class Line:
    """target = (source + before) * factor + after, one of before and after zero; and the context it then stands in."""

    before: float
    factor: float
    after: float
    context: Context


class Deliveries:
    """What subscribers want, compiled: wanted contexts by subscription, and for each attribute the distinct ones."""

    def __init__(self, contexts: Sequence[Mapping[Any, Any]], converters: Converters) -> None:
        self.converters = converters
        numbered: dict[Any, int] = {}
        self.wanted: list[Mapping[Any, Any]] = []
        self.of_subscription = np.zeros(len(contexts), np.int64)
        for place, context in enumerate(contexts):
            key = (
                context
                if isinstance(context, Context)
                else tuple(sorted((str(k), repr(v)) for k, v in context.items()))
            )
            if key not in numbered:
                numbered[key] = len(self.wanted)
                self.wanted.append(context)
            self.of_subscription[place] = numbered[key]
        self._targets: dict[str, tuple[Codes, list[Context]]] = {}
        self._lines: dict[tuple[str, Context, Context, Instant | None], Line | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_targets": {}, "_lines": {}}

    def targets(self, key: str) -> tuple[Codes, list[Context]]:
        """For each subscription the code of what it wants of an attribute; code 0 is nothing."""
        found = self._targets.get(key)
        if found is None:
            numbered = {EMPTY: 0}
            by_wanted = []
            for wanted in self.wanted:
                context = Context(wanted_for(self.converters, key, wanted))
                by_wanted.append(numbered.setdefault(context, len(numbered)))
            found = self._targets[key] = np.array(by_wanted, np.int64)[self.of_subscription], list(numbered)
        return found

    def deliver(self, table: pa.Table, rows: Codes, subscriptions: Codes, at: Codes) -> pa.Table:
        """The rows of a table, each as the subscription beside it wants it."""
        places = pa.array(rows)
        fields: dict[str, pa.Field] = {}
        arrays: dict[str, Any] = {}
        held = {attribute.column: attribute for attribute in attributes(table.schema)}
        aspect_columns = {column for attribute in held.values() for _, column in attribute.aspects}
        for described, column in zip(table.schema, table.columns, strict=True):
            if described.name in aspect_columns:  # made anew
                continue
            taken = (column.chunk(0) if column.num_chunks == 1 else column).take(places)
            if described.name in held:
                part = _Part(self, table, rows, subscriptions, at, held[described.name])
                for name, (made, kind) in part.columns(described, taken).items():
                    arrays[name], fields[name] = made, kind
            else:
                arrays[described.name], fields[described.name] = taken, described
        return pa.Table.from_arrays(list(arrays.values()), schema=pa.schema(list(fields.values())))

    def line(self, key: str, source: Context, target: Context, at: Instant | None) -> Line | None:
        """How numbers go from context to context; None where it is no line."""
        place = (key, source, target, at)
        if place not in self._lines:
            if len(self._lines) >= 1 << 16:
                self._lines.clear()
            self._lines[place] = self._line(key, source, target, at)
        return self._lines[place]

    def _line(self, key: str, source: Context, target: Context, at: Instant | None) -> Line | None:
        zero, one, two = (self.object(key, number, source, target, at) for number in (0, 1, 2))
        if not zero.context == one.context == two.context:
            return None
        offset = Fraction(exact(zero.value))
        factor = Fraction(exact(one.value)) - offset
        if exact(two.value) - offset != 2 * factor or factor == 0:
            return None
        before = offset / factor
        if Fraction(to_float(before)) == before:  # 32 before the factor is exact where -160/9 after it is not
            return Line(to_float(before), to_float(factor), 0.0, zero.context)
        return Line(0.0, to_float(factor), to_float(offset), zero.context)

    def object(self, key: str, value: Any, source: Context, target: Context, at: Instant | None) -> SemanticObject:
        """One value in its context, as it is delivered."""
        event = SemanticEvent("Event", {key: SemanticObject(key, value, source)}, time=at)
        exactly = type(value) is int
        return self.converters.deliver(event, target, exact=exactly)[key]


class _Part:
    """One attribute of one batch of deliveries."""

    def __init__(
        self,
        deliveries: Deliveries,
        table: pa.Table,
        rows: Codes,
        subscriptions: Codes,
        at: Codes,
        attribute: Attribute,
    ) -> None:
        self.deliveries, self.attribute = deliveries, attribute
        by_row, self.contexts = contexts_of(table, attribute)
        self.codes = by_row[rows]
        by_subscription, self.targets = deliveries.targets(attribute.key)
        self.wanted = by_subscription[subscriptions]
        self.at, self.rows = at, rows

    def columns(self, described: pa.Field, column: Any) -> dict[str, tuple[Any, pa.Field]]:
        """The column of values and those of its aspects."""
        name = self.attribute.column
        kept = {key: value for key, value in (described.metadata or {}).items() if b":" in key}
        plain = pa.field(name, described.type, metadata=kept or None)
        possible = [target for target in self.targets if target and self._may_apply(target)]
        if not possible:
            return {name: (column, plain)} | self._aspects(self.codes, self.contexts, set())
        valid = valid_mask(column)
        wanted = np.where(valid, self.wanted, 0)
        codes, cells_ = self._cells(wanted, possible)
        extra = {aspect for target in possible for aspect in target}
        if is_numeric(described.type) and not kept:
            return self._numbers(described, column, valid, codes, cells_, extra)
        return self._values(plain, column, valid, codes, cells_, extra)

    def _may_apply(self, target: Context) -> bool:
        """Whether a wanted context can touch this attribute, whatever its rows hold: they do not decide the schema."""
        if not NUMERIC.issuperset(target):
            return True
        concept = self.deliveries.converters.concept(self.attribute.key)
        known = {aspect for aspect, _ in self.attribute.aspects}
        known.update(self.deliveries.converters.plan(concept, self.attribute.fixed).context)
        if "currency" in known and "currency" in target:
            return True
        if "unit" not in known or "unit" not in target:
            return "scale" in known and "scale" in target
        if any(aspect == "unit" for aspect, _ in self.attribute.aspects) and concept is None:
            return True
        context = self.deliveries.converters.plan(concept, self.attribute.fixed).context
        moved = self.deliveries.object(self.attribute.key, 1, context, target, None)
        return bool(moved.context.get("unit") == target["unit"])

    def _cells(
        self, wanted: Codes, possible: list[Context]
    ) -> tuple[Codes, list[tuple[Context, Context, Instant | None]]]:
        count = len(self.targets)
        combined = self.codes * count + wanted
        dated = np.array([bool(target.keys() - {"unit", "scale"}) for target in self.targets])
        if not dated[wanted].any():
            codes, kept = compact(combined, len(self.contexts) * count)
            return codes, [(self.contexts[k // count], self.targets[k % count], None) for k in kept.tolist()]
        money_only = all(target.keys() <= NUMERIC for target in possible)
        at = self.at[self.rows]
        moments = Moments.of(at, self.deliveries.converters) if money_only else _instants(at)
        when = np.where(dated[wanted], moments.codes + 1, 0)
        size = len(moments.instants) + 1
        codes, kept = compact(combined * size + when, len(self.contexts) * count * size)
        found = []
        for k in kept.tolist():
            pair, moment = divmod(k, size)
            found.append(
                (
                    self.contexts[pair // count],
                    self.targets[pair % count],
                    moments.instants[moment - 1] if moment else None,
                )
            )
        return codes, found

    def _numbers(
        self,
        described: pa.Field,
        column: Any,
        valid: NDArray[np.bool_],
        codes: Codes,
        cells_: list[Any],
        extra: set[str],
    ) -> dict[str, tuple[Any, pa.Field]]:
        key = self.attribute.key
        lines = [
            self.deliveries.line(key, source, target, at) if target else Line(0.0, 1.0, 0.0, source)
            for source, target, at in cells_
        ]
        kind = described.type if pa.types.is_floating(described.type) else pa.float64()
        given = numbers(column)
        flat = [line or Line(0.0, 1.0, 0.0, cells_[place][0]) for place, line in enumerate(lines)]
        with np.errstate(over="ignore"):
            made = _along(flat, codes, given.astype(np.float64))
        contexts = [line.context for line in flat]
        lost = valid & ~np.isfinite(made)
        if lost.any():  # no float is so large: as it came
            made[lost] = given[lost]
            codes = np.where(lost, codes + len(contexts), codes)
            contexts = [*contexts, *(source for source, _, _ in cells_)]
        for place, line in enumerate(lines):
            if line is None:
                codes, contexts = self._bent(place, cells_[place], given, made, valid, codes, contexts)
        array = pa.array(made.astype(kind.to_pandas_dtype()), kind, mask=None if valid.all() else ~valid)
        field = pa.field(self.attribute.column, kind)
        return {field.name: (array, field)} | self._aspects(codes, contexts, extra)

    def _bent(
        self, cell: int, told: Any, given: NDArray[Any], made: NDArray[Any], valid: NDArray[np.bool_], codes: Codes,
        contexts: list[Context],
    ) -> tuple[Codes, list[Context]]:  # fmt: skip
        """A cell whose conversion is no line (a logarithm), value by value."""
        source, target, at = told
        codes = codes.copy()
        places = np.flatnonzero((codes == cell) & valid)
        values, inverse = np.unique(given[places], return_inverse=True)
        for index, value in enumerate(values.tolist()):
            found = self.deliveries.object(self.attribute.key, float(value), source, target, at)
            here = places[inverse == index]
            made[here] = to_float(exact(found.value))
            contexts = [*contexts, found.context]
            codes[here] = len(contexts) - 1
        return codes, contexts

    def _values(
        self,
        described: pa.Field,
        column: Any,
        valid: NDArray[np.bool_],
        codes: Codes,
        cells_: list[Any],
        extra: set[str],
    ) -> dict[str, tuple[Any, pa.Field]]:
        """Text, times and whatever else, once for each distinct value and cell."""
        if pa.types.is_nested(column.type):  # which no event may hold, so it holds nothing where there was a match
            return {described.name: (column, described)} | self._aspects(self.codes, self.contexts, extra)
        inner, values = encoded(column)
        listed = cells(values, described)
        whole, kept = compact(codes * (len(listed) + 1) + inner + 1, len(cells_) * (len(listed) + 1))
        objects: list[SemanticObject | None] = []
        contexts: list[Context] = []
        for code in kept.tolist():
            (source, target, at), place = cells_[code // (len(listed) + 1)], code % (len(listed) + 1)
            value = listed[place - 1] if place else None
            if value is None or isinstance(value, Unreadable):
                objects.append(None)
                contexts.append(source)
                continue
            held = SemanticObject(self.attribute.key, value, source)
            event = SemanticEvent("Event", {self.attribute.key: held}, time=at)
            made = self.deliveries.converters.deliver(event, target)[self.attribute.key] if target else held
            objects.append(made)
            contexts.append(made.context)
        array, field = _rebuilt(described, [None if one is None else one.value for one in objects])
        return {field.name: (array.take(pa.array(whole)), field)} | self._aspects(whole, contexts, extra)

    def _aspects(self, codes: Codes, contexts: list[Context], extra: set[str]) -> dict[str, tuple[Any, pa.Field]]:
        """The columns of the aspects: those the source has, and those that subscribers may bring."""
        listed = [*self.attribute.fixed, *(aspect for aspect, _ in self.attribute.aspects), *sorted(extra)]
        made: dict[str, tuple[Any, pa.Field]] = {}
        for aspect in dict.fromkeys(listed):
            values = [context.get(aspect) for context in contexts]
            name = self.attribute.beside(aspect)
            if aspect == "scale":  # a number, and read back as one
                scales = pa.array([None if value is None else to_float(exact(value)) for value in values], pa.float64())
                made[name] = (scales.take(pa.array(codes)), pa.field(name, pa.float64()))
                continue
            texts = [
                None if value is None else value if isinstance(value, str) else _written(value) for value in values
            ]
            known = sorted({text for text in texts if text is not None})
            numbered = {text: place for place, text in enumerate(known)}
            lookup = np.array([-1 if text is None else numbered[text] for text in texts] or [-1], np.int32)[codes]
            indices = pa.array(lookup, pa.int32(), mask=lookup < 0)
            array = pa.DictionaryArray.from_arrays(indices, pa.array(known, pa.string()))
            made[name] = (array, pa.field(name, array.type))
        return made


def _along(lines: Sequence[Line], codes: Codes, made: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers, each along the line of its cell."""
    if any(line.before for line in lines):
        made += np.array([line.before for line in lines])[codes]
    if any(line.factor != 1.0 for line in lines):
        made *= np.array([line.factor for line in lines])[codes]
    if any(line.after for line in lines):
        made += np.array([line.after for line in lines])[codes]
    return made


def _instants(at: Codes) -> Moments:
    kept, codes = np.unique(at, return_inverse=True)
    return Moments(codes.astype(np.int64), [None if ns == NO_TIME else Instant(ns) for ns in kept.tolist()])


def _rebuilt(described: pa.Field, values: list[Any]) -> tuple[Any, pa.Field]:
    """Values as a column: of the type they had where it still fits, else as the event codec writes them."""
    kind = described.type.value_type if pa.types.is_dictionary(described.type) else described.type
    if pa.types.is_string(kind) and not described.metadata and all(isinstance(value, str | None) for value in values):
        return pa.array(values, kind), pa.field(described.name, kind)
    key = Column.parse(described.name).path[-1]
    events = [SemanticEvent("Event", {} if value is None else {key: value}) for value in values]
    table = events_to_table(events)
    name = Column((key,)).name
    if name not in table.column_names:
        return pa.nulls(len(values), kind), described
    found = table.column(name)
    field = pa.field(described.name, found.type, metadata=table.schema.field(name).metadata)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found, field


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else decimal_text(exact(value))
