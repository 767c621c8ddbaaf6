"""Judging a table: which of its values cannot be used, and why.

What depends on the unit alone is asked once a context, what depends on text once a distinct value; ranges of numbers
are tested as arrays, and only what lies outside or on the edge is put to the exact judge, ``Converters.problem``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from conceptpubsub.archive import faults as reasons
from conceptpubsub.archive.columns import NO_TIME, Attribute, attributes, contexts_of, is_numeric, numbers, valid_mask
from conceptpubsub.archive.faults import Fault, shown_row
from conceptpubsub.archive.moments import Moments
from conceptpubsub.converters import Converters, is_currency, resolve
from conceptpubsub.errors import ConceptPubSubError, hint
from conceptpubsub.model.codecs.arrow_cells import Unreadable, cells
from conceptpubsub.model.codecs.arrow_codes import Codes, compact, encoded
from conceptpubsub.model.codecs.columns import ENCODING
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.values import to_float

Mask = NDArray[np.bool_]
_EDGE = 1e-9
_MOST_OFFERS = 100


def judge(
    table: pa.Table, rows: Codes, at: Codes, converters: Converters, currencies: Sequence[str], per_row: bool
) -> list[Fault]:
    """The faults of a table's values. ``per_row``: attributes stand in events, not in a file's columns."""
    judge = _Judge(table, rows, at, converters, currencies)
    found = [*judge.event_concepts()]
    for attribute in attributes(table.schema):
        found.extend(judge.attribute(attribute, per_row))
    return found


class _Judge:
    def __init__(
        self, table: pa.Table, rows: Codes, at: Codes, converters: Converters, currencies: Sequence[str]
    ) -> None:
        self.table, self.rows, self.at = table, rows, at
        self.converters, self.currencies = converters, currencies
        self.ontology = converters.ontology
        self.kept = 0
        self.records: dict[int, str] = {}
        self.offered = 0

    def fault(self, place: int, reason: str, detail: str, attribute: str | None) -> Fault:
        self.kept += 1
        record = None
        if self.kept <= reasons.KEPT_RECORDS:
            record = self.records.get(place)
            if record is None:
                record = self.records[place] = shown_row(self.table, place)
        return Fault(int(self.rows[place]), reason, detail, attribute, record)

    def unknown(self, name: str) -> str:
        """What is said of a name that the ontology does not know; near ones are not looked for without end."""
        self.offered += 1
        offers = self.ontology.near(name) if self.ontology is not None and self.offered <= _MOST_OFFERS else ()
        return f"{name}: no such concept.{hint(offers)}"

    def event_concepts(self) -> Iterator[Fault]:
        if self.ontology is None or "@concept" not in self.table.schema.names:
            return
        codes, values = encoded(self.table.column("@concept"))
        for code, name in enumerate(values.to_pylist()):
            if name is not None and self.ontology.find(name := str(name)) is None:
                detail = self.unknown(name)
                for place in np.flatnonzero(codes == code).tolist():
                    yield self.fault(place, reasons.UNKNOWN_CONCEPT, detail, None)

    def attribute(self, attribute: Attribute, per_row: bool) -> Iterator[Fault]:
        column = self.table.column(attribute.column)
        valid = valid_mask(column)
        if not valid.any():
            return
        concept = None
        if self.ontology is not None:
            concept = self.ontology.find(attribute.key)
            if concept is None:
                detail = self.unknown(attribute.key) if per_row else ""
                for place in np.flatnonzero(valid).tolist() if per_row else ():
                    yield self.fault(place, reasons.UNKNOWN_CONCEPT, detail, attribute.column)
                return
        codes, contexts = contexts_of(self.table, attribute)
        suspect = np.zeros(len(valid), bool)
        lacking = np.zeros(len(valid), bool)
        for code, context in enumerate(contexts):
            here = valid if len(contexts) == 1 else valid & (codes == code)
            plan = self.converters.plan(concept, context)
            if plan.problem is not None:
                suspect |= here
                continue
            suspect |= here & self.doubtful(attribute, column, here, concept, context, plan)
            if plan.currency is not None and self.currencies:
                lacking |= here & self.without_rate(here, plan.currency.partition("*")[0])
        yield from self.judged(attribute, column, np.flatnonzero(suspect), codes, contexts, concept, lacking)
        currencies = ", ".join(self.currencies)
        for place in np.flatnonzero(lacking).tolist():
            own = self.converters.plan(concept, contexts[codes[place]]).currency
            when = "without a time" if self.at[place] == NO_TIME else f"as of {Instant(int(self.at[place]))}"
            detail = f"no rate from {own} to each of {currencies} {when}"
            yield self.fault(place, reasons.MISSING_RATE, detail, attribute.column)

    def doubtful(
        self, attribute: Attribute, column: Any, here: Mask, concept: Any, context: Context, plan: Any
    ) -> Mask:
        """Where the exact judge must be asked; everywhere else a value is surely right."""
        if not here.any():
            return here
        described = self.table.schema.field(attribute.column)
        kind = described.type.value_type if pa.types.is_dictionary(described.type) else described.type
        odd = (described.metadata or {}).get(ENCODING.encode()) is not None
        if odd or plan.moves or not (is_numeric(kind) or _by_type(kind)):
            return self.distinct(column, described, here, concept, context, bool(plan.moves))
        if is_numeric(kind) and plan.value_type in (None, "real", "int"):
            return _outside(numbers(column), plan) if plan.checked else np.zeros(len(here), bool)
        sample = int(np.flatnonzero(here)[0])  # of such a type every value is right or none is
        return here if self.problem(column, described, sample, concept, context) else np.zeros(len(here), bool)

    def distinct(
        self, column: Any, described: pa.Field, here: Mask, concept: Any, context: Context, timed: bool
    ) -> Mask:
        try:
            codes, values = encoded(column)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return here
        if timed:
            return here
        listed = cells(values, described)
        asked = np.zeros(len(listed) + 1, bool)
        asked[codes[here]] = True
        bad = np.zeros(len(listed) + 1, bool)
        for code in np.flatnonzero(asked[:-1]).tolist():
            value = listed[code]
            bad[code] = not isinstance(value, Unreadable) and bool(self.converters.problem(concept, value, context))
        return bad[codes]

    def problem(self, column: Any, described: pa.Field, place: int, concept: Any, context: Context) -> str | None:
        value = cells(column.slice(place, 1), described)[0]
        if isinstance(value, Unreadable):
            return None  # the whole row is refused when it is matched
        at = None if self.at[place] == NO_TIME else Instant(int(self.at[place]))
        return self.converters.problem(concept, value, context, at)

    def judged(
        self, attribute: Attribute, column: Any, places: Codes, codes: Codes, contexts: list[Context], concept: Any,
        lacking: Mask,
    ) -> Iterator[Fault]:  # fmt: skip
        described = self.table.schema.field(attribute.column)
        for place in places.tolist():
            context = contexts[codes[place]]
            said = self.problem(column, described, place, concept, context)
            if said:
                lacking[place] = False
                yield self.fault(place, self.reason(concept, context), said, attribute.column)

    def reason(self, concept: Any, context: Context) -> str:
        whole = self.converters.plan(concept, context).context
        unit, currency = whole.get("unit"), whole.get("currency")
        if currency is not None and not is_currency(str(currency)):
            return reasons.UNKNOWN_CURRENCY
        if unit is not None:
            if not isinstance(unit, str):
                return reasons.UNKNOWN_UNIT
            try:
                resolve(unit)
            except ConceptPubSubError:
                return reasons.UNKNOWN_UNIT
        if concept is not None and concept.value_type == "concept":
            return reasons.UNKNOWN_CONCEPT
        return reasons.OUT_OF_TYPE

    def without_rate(self, here: Mask, currency: str) -> Mask:
        places = np.flatnonzero(here)
        moments = Moments.of(self.at[places], self.converters)
        codes, kept = compact(moments.codes, len(moments.instants))
        lacks = [
            any(self.converters.rate(currency, target, moments.instants[code]) is None for target in self.currencies)
            for code in kept.tolist()
        ]
        made = np.zeros(len(here), bool)
        made[places] = np.array(lacks, bool)[codes]
        return made


def _by_type(kind: pa.DataType) -> bool:
    return bool(pa.types.is_boolean(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _outside(values: NDArray[Any], plan: Any) -> Mask:
    """Where a number is not surely inside its concept's range, or not surely whole."""
    shown = values.astype(np.float64)
    with np.errstate(all="ignore"):
        if plan.unit is not None and plan.canonical_unit is not None and plan.unit.log is None:
            home = plan.canonical_unit
            base = shown * to_float(plan.scale) * to_float(plan.unit.factor) + to_float(plan.unit.offset)
            shown = (base - to_float(home.offset)) / to_float(home.factor)
        elif plan.scale != 1 or plan.unit is not None:
            return np.ones(len(values), bool)
        least, most = plan.concept.minimum, plan.concept.maximum
        edge = _EDGE * (1 + np.abs(shown))
        outside = np.zeros(len(values), bool)
        if least is not None:
            outside |= shown < to_float(least) + edge
        if most is not None:
            outside |= shown > to_float(most) - edge
        if plan.value_type == "int" and (values.dtype.kind == "f" or plan.unit is not None):
            outside |= np.floor(shown) != shown
    return outside
