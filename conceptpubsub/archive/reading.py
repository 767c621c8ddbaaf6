"""Reading a task: its events as tables of bounded size, with the number of each row and what could not be read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.archive.faults import KEPT_RECORDS, MALFORMED, UNREADABLE, VANISHED, Fault, shown
from conceptpubsub.archive.mapping import ColumnMapping
from conceptpubsub.archive.tasks import Task, stamp_of
from conceptpubsub.errors import CodecError, LimitExceeded
from conceptpubsub.model import SemanticEvent
from conceptpubsub.model.codecs import events_to_table, from_cloudevent, from_json, read_lines
from conceptpubsub.model.codecs.arrow_codes import Codes
from conceptpubsub.model.codecs.columns import Column

ROWS = 262_144
_LINES = 65_536


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some events of a task: row i of the table is row ``rows[i]`` of the file."""

    table: pa.Table
    rows: Codes
    faults: list[Fault] = field(default_factory=list)
    refused: int = 0
    """How many rows of the file are not in the table, because nothing could be made of them."""


def read(task: Task, mapping: ColumnMapping | None, ontology: Any) -> Iterator[Chunk]:
    """The chunks of a task; one that fails on the way ends with a chunk that says why."""
    if task.problem is not None:
        yield _failed(*task.problem)
        return
    try:
        if not task.stamp.startswith(stamp_of(task.path)):
            yield _failed(UNREADABLE, "the file changed while it was processed; run again")
            return
        chunks = (
            line_chunks(_bytes(task), task.first, ontology)
            if task.kind == "lines"
            else _tables[task.kind](task, mapping)
        )
        for chunk in chunks:
            if mapping is None or task.kind == "lines" or not chunk.table.num_columns:
                yield chunk
            else:
                table, faults = mapping.apply(chunk.table, chunk.rows, ontology)
                yield Chunk(table, chunk.rows, chunk.faults + faults, chunk.refused)
    except FileNotFoundError:
        yield _failed(VANISHED, "the file vanished while it was processed")
    except (OSError, pa.ArrowException, CodecError) as error:
        yield _failed(UNREADABLE, f"{task.kind} piece {task.piece}: {error!s:.300}")


def _failed(reason: str, detail: str) -> Chunk:
    return Chunk(pa.table({}), np.zeros(0, np.int64), [Fault(None, reason, detail)])


def _parquet(task: Task, mapping: ColumnMapping | None) -> Iterator[Chunk]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(task.path) as file:
        _check_names(file.schema_arrow.names, mapping)
        listed = _low_cardinality(file, task.piece)
    columns = None if mapping is None else list(mapping.needed)
    with pq.ParquetFile(task.path, read_dictionary=listed) as file:
        first = task.first
        for batch in file.iter_batches(ROWS, row_groups=[task.piece], columns=columns, use_threads=False):
            table = _flat(pa.Table.from_batches([batch]))
            _check_names(table.column_names, mapping)
            yield Chunk(table, np.arange(first, first + table.num_rows, dtype=np.int64))
            first += table.num_rows


def _check_names(names: list[str], mapping: ColumnMapping | None) -> None:
    """An error where the columns of a file cannot be those of events."""
    needed = None if mapping is None else mapping.needed
    for name in names:
        if needed is None:
            Column.parse(name)
        if names.count(name) > 1 and (needed is None or name in needed):
            raise CodecError(f"two columns {name!r}", column=name)


def _low_cardinality(file: Any, group: int) -> list[str]:
    """The text columns that a row group holds as a dictionary of few values."""
    schema, told = file.schema_arrow, file.metadata.row_group(group)
    found = []
    for place in range(told.num_columns):
        column = told.column(place)
        name = column.path_in_schema
        text = name in schema.names and pa.types.is_string(schema.field(name).type)
        if text and column.has_dictionary_page and column.total_uncompressed_size < 3 * column.num_values:
            found.append(name)
    return found


def _flat(table: pa.Table) -> pa.Table:
    """Structs as dotted columns, which is how the rest of the pipeline knows complex objects."""
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def _bytes(task: Task) -> bytes:
    with open(task.path, "rb") as file:
        file.seek(task.start)
        return file.read(task.stop - task.start)


def decode(line: bytes) -> SemanticEvent:
    """An event from a line: a CloudEvent where it says so, else plain JSON."""
    if b'"specversion"' in line:
        return from_cloudevent(line)
    return from_json(line)


def line_chunks(raw: bytes, first: int, ontology: Any) -> Iterator[Chunk]:
    """The events of lines, of which ``first`` is the number of the first."""
    texts = raw.split(b"\n")
    events: list[SemanticEvent] = []
    rows: list[int] = []
    faults: list[Fault] = []

    def chunks() -> Iterator[Chunk]:
        tables = _tabled(events, rows, faults, ontology)
        said = list(faults)
        for held in (events, rows, faults):
            held.clear()
        for table, numbers in tables or [(pa.table({}), [])]:
            yield Chunk(table, np.array(numbers, np.int64), said, len(said))
            said = []

    for number, found in read_lines(io.BytesIO(raw), decode):
        row = first + number - 1
        if isinstance(found, CodecError):
            record = shown(texts[number - 1]) if len(faults) < KEPT_RECORDS else None
            faults.append(Fault(row, MALFORMED, str(found), None, record))
            continue
        events.append(found)
        rows.append(row)
        if len(events) >= _LINES:
            yield from chunks()
    if events or faults:
        yield from chunks()


def _tabled(
    events: list[SemanticEvent], rows: list[int], faults: list[Fault], ontology: Any
) -> list[tuple[pa.Table, list[int]]]:
    """Events as a table; as several where they have more columns between them than a table may have."""
    if not events:
        return []
    try:
        return [(_settled(events_to_table(events), ontology), list(rows))]
    except LimitExceeded as error:
        if len(events) == 1:
            faults.append(Fault(rows[0], MALFORMED, str(error)))
            return []
    half = len(events) // 2
    parts = [(events[:half], rows[:half]), (events[half:], rows[half:])]
    return [made for part, numbers in parts for made in _tabled(part, numbers, faults, ontology)]


def _settled(table: pa.Table, ontology: Any) -> pa.Table:
    """Whole numbers under what is real become floats, where floats hold them: pieces of a file are then of one type."""
    for place, described in enumerate(table.schema):
        column = Column.parse(described.name)
        if not pa.types.is_int64(described.type) or column.aspect is not None:
            continue
        concept = None if ontology is None else ontology.find(column.path[-1])
        if concept is None or concept.value_type in (None, "real"):
            span = pc.min_max(table.column(place)).as_py()
            if max(abs(span["min"] or 0), abs(span["max"] or 0)) <= 1 << 53:
                real = table.column(place).cast(pa.float64())
                table = table.set_column(place, described.with_type(pa.float64()), real)
    return table


def _csv(task: Task, mapping: ColumnMapping | None) -> Iterator[Chunk]:
    import csv as plain

    from pyarrow import csv

    assert mapping is not None
    with open(task.path, "rb") as file:
        head = file.readline().decode("utf-8-sig")
    names = next(plain.reader([head], delimiter=mapping.separator))
    wrong: list[Fault] = []

    def invalid(row: Any) -> str:
        detail = f"{row.actual_columns} cells; the file has {row.expected_columns} columns"
        wrong.append(Fault((row.number or 1) - 1, MALFORMED, detail, None, shown(row.text)))
        return "skip"

    reader = csv.open_csv(
        pa.BufferReader(_bytes(task)),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=1 << 24),
        parse_options=csv.ParseOptions(
            delimiter=mapping.separator, newlines_in_values=True, invalid_row_handler=invalid
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
            include_columns=list(mapping.needed),
        ),
    )
    first, seen = 0, 0
    for batch in reader:
        skipped = {fault.row for fault in wrong}  # the reader looks ahead: some lie beyond this batch
        rows: list[int] = []
        while len(rows) < batch.num_rows:
            if first not in skipped:
                rows.append(first)
            first += 1
        found = _moved(wrong[seen:], task.first)
        seen = len(wrong)
        yield Chunk(pa.Table.from_batches([batch]), np.array(rows, np.int64) + task.first, found, len(found))
    if wrong[seen:]:
        found = _moved(wrong[seen:], task.first)
        yield Chunk(pa.table({}), np.zeros(0, np.int64), found, len(found))


def _moved(faults: list[Fault], first: int) -> list[Fault]:
    return [replace(fault, row=first + (fault.row or 0)) for fault in faults]


_tables = {"parquet": _parquet, "csv": _csv}
