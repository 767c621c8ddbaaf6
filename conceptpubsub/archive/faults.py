"""Dead letters: what is wrong with an archive, each fault once, under a reason that can be counted.

Rule 1  A file, row group or line that cannot be read is set aside; the rest is processed.
Rule 2  A value that cannot be used (unknown unit, out of its type) is a dead letter of its attribute, and the event is
        matched without it: exactly what the live system and the reference evaluator do.
Rule 3  A missing rate is a fault of (event, attribute), once, however many subscribers would have needed it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

MALFORMED = "malformed"
UNKNOWN_CONCEPT = "unknown concept"
UNKNOWN_UNIT = "unknown unit"
UNKNOWN_CURRENCY = "unknown currency"
MISSING_RATE = "missing rate"
OUT_OF_TYPE = "out of type"
UNREADABLE = "unreadable"
VANISHED = "vanished"
REASONS = (
    MALFORMED, UNKNOWN_CONCEPT, UNKNOWN_UNIT, UNKNOWN_CURRENCY, MISSING_RATE, OUT_OF_TYPE, UNREADABLE, VANISHED,
)  # fmt: skip
KEPT_RECORDS = 1000
_LONGEST = 2000

SCHEMA = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("reason", pa.string()),
        pa.field("attribute", pa.string()),
        pa.field("detail", pa.string()),
        pa.field("record", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: ``row`` counts from 0 in the file, None for the file itself; ``record`` is what stood there."""

    row: int | None
    reason: str
    detail: str
    attribute: str | None = None
    record: str | None = None


@dataclass(slots=True)
class DeadLetters:
    """The faults of one task."""

    file: str
    faults: list[Fault] = field(default_factory=list)

    def add(self, faults: Iterable[Fault]) -> None:
        """Take more of them."""
        self.faults.extend(faults)

    def by_reason(self) -> dict[str, int]:
        """How many there are of each reason."""
        return dict(sorted(Counter(fault.reason for fault in self.faults).items()))

    def table(self) -> pa.Table:
        """As they are written: in the order of rows, then attributes."""
        ordered = sorted(
            self.faults, key=lambda f: (-1 if f.row is None else f.row, f.attribute or "", f.reason, f.detail)
        )
        columns: list[Sequence[Any]] = [
            [self.file] * len(ordered),
            [fault.row for fault in ordered],
            [fault.reason for fault in ordered],
            [fault.attribute for fault in ordered],
            [fault.detail[:_LONGEST] for fault in ordered],
            [fault.record for fault in ordered],
        ]
        arrays = [pa.array(values, described.type) for values, described in zip(columns, SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=SCHEMA)


def shown(text: str | bytes) -> str:
    """A record as a dead letter keeps it: readable and bounded."""
    decoded = text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")
    return decoded.encode("utf-8", "backslashreplace").decode()[:_LONGEST]


def shown_row(table: pa.Table, place: int) -> str:
    """A row of a table as a dead letter keeps it."""
    row = table.slice(place, 1).to_pylist()[0]
    return shown(json.dumps({name: value for name, value in row.items() if value is not None}, default=str))
