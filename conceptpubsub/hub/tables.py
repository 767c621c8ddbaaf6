"""Publishing tables: rows judged, matched and converted column by column, handed over as views of one table a context.

Rule 1  A row that does not validate costs only itself; it becomes a dead letter with the sentence of the edge.
Rule 2  Batch callbacks get their rows in order, converted in floating point; others get events, converted exactly as
        ``publish`` does.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from conceptpubsub.errors import InvalidEvent
from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.columns import in_context
from conceptpubsub.hub.letters import DeadLetter
from conceptpubsub.hub.plans import AS_IT_CAME
from conceptpubsub.hub.table_edge import faulty_rows
from conceptpubsub.model.codecs.arrow_reading import table_to_events
from conceptpubsub.model.instants import Instant

if TYPE_CHECKING:
    from conceptpubsub.hub.hub import Hub
    from conceptpubsub.hub.rounds import Round


def as_table(given: Any) -> pa.Table:
    """A table; a record batch becomes one."""
    made = pa.Table.from_batches([given]) if isinstance(given, pa.RecordBatch) else given
    if not isinstance(made, pa.Table):
        raise InvalidEvent(f"publish_batch takes an Arrow table or record batch, not a {type(given).__name__}")
    twice = [name for name, count in Counter(made.schema.names).items() if count > 1]
    if twice:
        raise InvalidEvent(f"the table has two columns {twice[0]!r}; an attribute stands once", name=twice[0])
    return made


def accepted(hub: Hub, table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """The valid rows of a table; the others become dead letters, and what is wrong with them is told."""
    faults = faulty_rows(hub.edge, table)
    if not faults:
        return table, ()
    refuse_rows(hub, table, list(faults.items()))
    keep = np.ones(table.num_rows, bool)
    keep[list(faults)] = False
    return table.filter(pa.array(keep)), tuple(faults.values())


def refuse_rows(hub: Hub, table: pa.Table, faults: list[tuple[int, str]]) -> None:
    """Dead letters for rows."""
    for row, reason in faults:
        hub.dead_letters.add(DeadLetter(table.slice(row, 1).to_pylist()[0], reason))


def serve_table(round: Round, table: pa.Table, first: int = 0) -> None:
    """Hand the rows of a valid table to everyone they match; ``first`` is the offset of its first row."""
    hub = round.hub
    found = hub.matcher.match_batch(table)
    refuse_rows(hub, table, [(error.row, error.reason) for error in found.errors if error.key is None])
    numbers = found.keys.astype(np.int64)
    if not len(numbers):
        return
    round.matched += len(numbers)
    rows = np.repeat(np.arange(table.num_rows), np.diff(found.offsets))
    distinct, place = np.unique(numbers, return_inverse=True)
    subs = [hub.subscription(number) for number in distinct.tolist()]
    contexts = np.array([-1 if sub is None or not sub.batch else sub.context_number for sub in subs], np.int64)
    by_batch = contexts[place]
    single = np.flatnonzero(by_batch < 0)
    if len(single):
        _one_by_one(round, table, rows[single], numbers[single], first)
    for context in np.unique(by_batch[by_batch >= 0]).tolist():
        chosen = np.flatnonzero(by_batch == context)
        order = chosen[np.argsort(numbers[chosen], kind="stable")]
        _in_batches(round, table, rows[order], numbers[order], context, first)


def taken(hub: Hub, table: pa.Table, rows: Any, context: int) -> pa.Table:
    """Some rows of a table, in a subscriber's context."""
    made = table.take(pa.array(rows)).combine_chunks()
    if context == AS_IT_CAME:
        return made
    return in_context(hub.converters, made, hub.plans.contexts[context], partial(_times, made))


def _in_batches(round: Round, table: pa.Table, rows: Any, numbers: Any, context: int, first: int) -> None:
    """Rows sorted by subscription, all of one context: one table, and a view of it for each subscription."""
    hub = round.hub
    mine = taken(hub, table, rows, context)
    cuts = np.flatnonzero(np.diff(numbers)) + 1
    starts = [0, *cuts.tolist()]
    ends = [*cuts.tolist(), len(numbers)]
    offsets = rows + first if hub.log is not None else None
    for start, end, number in zip(starts, ends, numbers[starts].tolist(), strict=True):
        sub = hub.subscription(number)
        if sub is not None:
            batch = Batch(table=mine, offsets=offsets, start=start, length=end - start)
            round.hand(sub, batch, int(rows[start]) + first, int(rows[end - 1]) + first)


def _one_by_one(round: Round, table: pa.Table, rows: Any, numbers: Any, first: int) -> None:
    """Rows for callbacks that take an event at a time, row by row."""
    hub = round.hub
    distinct, place = np.unique(rows, return_inverse=True)
    read = table_to_events(table.take(pa.array(distinct)))
    bad = {row for row, _ in read.errors}
    refuse_rows(hub, table, [(int(distinct[row]), reason) for row, reason in read.errors])
    events: dict[int, Any] = dict(
        zip((row for row in range(len(distinct)) if row not in bad), read.events, strict=True)
    )
    shapes = {row: hub.shapes.of(event) for row, event in events.items()}
    for row, number in zip(place.tolist(), numbers.tolist(), strict=True):
        sub = hub.subscription(number)
        if sub is not None and row in events:
            offset = int(distinct[row]) + first
            round.hand(sub, hub.plans.deliver(events[row], shapes[row], sub.context_number), offset, offset)


def _times(table: pa.Table) -> list[Instant | None] | None:
    """The time of each row; the unit of a timestamp column is brought to nanoseconds."""
    if "@time" not in table.schema.names:
        return None
    column = table.column("@time")
    if pa.types.is_timestamp(column.type):
        counted = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64()).to_pylist()
        return [None if ns is None else Instant(ns) for ns in counted]
    return [None if text is None else Instant.of(text) for text in column.to_pylist()]
