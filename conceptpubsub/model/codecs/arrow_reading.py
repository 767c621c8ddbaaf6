"""An Arrow table to events: a bad cell costs its row, never the table.

Columns are named by the law of ``columns``; a null is missing. Beyond what our writer makes, any Arrow number, text,
Boolean, date, timestamp, dictionary and struct is read; a struct is a complex object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from conceptpubsub.errors import CodecError, ConceptPubSubError
from conceptpubsub.model.codecs.arrow_cells import Cells, Unreadable, cells
from conceptpubsub.model.codecs.columns import EMPTY_COMPLEX, OWN_CONCEPT, Column
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.values import exact_decimal


class TableEvents(NamedTuple):
    """The events of the good rows, in order, and (row, reason) for each of the others."""

    events: list[SemanticEvent]
    errors: list[tuple[int, str]]


def table_to_events(table: pa.Table | pa.RecordBatch, *, concept: str = "Event") -> TableEvents:
    """The events of a table; ``concept`` is for rows that name none.

    >>> table = pa.table({"Load": [0.5, float("nan")], "@id": ["1", "2"]})
    >>> events, errors = table_to_events(table)
    >>> events[0]["Load"].value, errors[0][0]
    (0.5, 1)
    """
    own: dict[str, Cells] = {}
    top = _Slot("")
    zone = None
    for name, fields, column in zip(table.schema.names, table.schema, table.columns, strict=True):
        place = Column.parse(name)
        if not place.path:
            if place.aspect in own:
                raise CodecError(f"two columns {name!r}", column=name)
            own[place.aspect or ""] = cells(column, fields)
            zone = metadata_aspects(fields).get("timezone") if place.aspect == "time" else zone
        else:
            top.add(place, column, fields)
    events: list[SemanticEvent] = []
    errors: list[tuple[int, str]] = []
    for row in range(table.num_rows):
        try:
            head = {name: _whole(values[row]) for name, values in own.items()}
            time = head.get("time")
            events.append(
                SemanticEvent(
                    head.get("concept") or concept,
                    top.attributes(row),
                    time=None if time is None else Instant.of(time, zone),
                    id=head.get("id"),
                    source=head.get("source"),
                )
            )
        except ConceptPubSubError as error:
            errors.append((row, str(error)))
    return TableEvents(events, errors)


@dataclass(slots=True)
class _Slot:
    """What the columns say about one path: its values, the aspects beside them, and the paths below."""

    key: str
    values: Cells | None = None
    fixed: Context = field(default_factory=Context)
    aspects: dict[str, Cells] = field(default_factory=dict)
    below: dict[str, _Slot] = field(default_factory=dict)

    def add(self, place: Column, column: Any, described: pa.Field) -> None:
        slot = self
        for step in place.path:
            slot = slot.below.setdefault(step, _Slot(step))
        if pa.types.is_struct(column.type):
            for inner, values in zip(column.type, _children(column), strict=True):
                slot.add(Column((inner.name,)), values, inner)
            return
        if (slot.values is not None) if place.aspect is None else (place.aspect in slot.aspects):
            raise CodecError(f"two columns {place.name!r}", column=place.name)
        if place.aspect is None:
            slot.values, slot.fixed = cells(column, described), Context(metadata_aspects(described))
        else:
            slot.aspects[place.aspect] = cells(column, described)

    def attributes(self, row: int) -> dict[str, SemanticObject]:
        found = ((key, slot.object(row)) for key, slot in self.below.items())
        return {key: under for key, under in found if under is not None}

    def object(self, row: int) -> SemanticObject | None:
        value = None if self.values is None else _whole(self.values[row])
        inner = self.attributes(row) if self.below else {}
        if value is not None and inner:
            raise CodecError(f"{self.key} has both a value and attributes", attribute=self.key)
        if value is None and not inner and not self._at(EMPTY_COMPLEX, row):
            return None
        concept = self._at(OWN_CONCEPT, row) or self.key
        return SemanticObject(concept, inner if value is None else value, self._context(row))

    def _at(self, aspect: str, row: int) -> Any:
        column = self.aspects.get(aspect)
        return None if column is None else _whole(column[row])

    def _context(self, row: int) -> Context:
        if not self.aspects:
            return self.fixed
        beside: dict[str, Any] = {}
        for name in self.aspects:
            value = None if name in (OWN_CONCEPT, EMPTY_COMPLEX) else self._at(name, row)
            if value is not None:
                beside[name[1:] if name.startswith("@") else name] = value
        return self.fixed.merged(beside)


def _children(column: Any) -> list[Any]:
    """The fields of a struct column, null where the struct is."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return list(chunked.flatten())


def metadata_aspects(described: pa.Field) -> Mapping[str, Any]:
    """The aspects in a field's metadata: the keys without a colon, which others use for namespaces."""
    aspects: dict[str, Any] = {}
    for key, value in (described.metadata or {}).items():
        name, text = str(key, "utf-8", "replace"), str(value, "utf-8", "replace")
        if name and ":" not in name:
            aspects[name] = exact_decimal(text) if name == "scale" else text
    return aspects


def _whole(cell: Any) -> Any:
    if isinstance(cell, Unreadable):
        raise CodecError(cell.reason)
    return cell
