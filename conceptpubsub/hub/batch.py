"""Batch: several events handed over at once, as SemanticEvents or as an Arrow table, whichever the reader asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conceptpubsub.model.objects import SemanticEvent


class Batch:
    """Events for one subscription, in the order published, in its own context.

    >>> batch = Batch(events=[SemanticEvent("Ping", {"Load": 0.5})])
    >>> len(batch), batch.table.column("Load").to_pylist(), batch.offsets
    (1, [0.5], None)
    """

    __slots__ = ("_events", "_length", "_offsets", "_start", "_table")

    def __init__(
        self,
        events: list[SemanticEvent] | None = None,
        table: Any = None,
        offsets: Any = None,
        start: int = 0,
        length: int | None = None,
    ) -> None:
        self._events, self._table, self._offsets, self._start = events, table, offsets, start
        self._length = length if length is not None else len(events) if events is not None else table.num_rows

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[SemanticEvent]:
        return iter(self.events)

    @property
    def table(self) -> Any:
        """The events as an Arrow table; a view where they were published as one."""
        if self._table is None:
            from conceptpubsub.model.codecs import events_to_table

            return events_to_table(self._events or [])
        return self._table.slice(self._start, self._length)

    @property
    def events(self) -> list[SemanticEvent]:
        """The events as SemanticEvents."""
        if self._events is None:
            from conceptpubsub.model.codecs import table_to_events

            self._events = table_to_events(self.table).events
        return self._events

    @property
    def offsets(self) -> Sequence[int] | None:
        """The offset of each event in the hub's store; None without one."""
        if self._offsets is None or not len(self._offsets) or self._offsets[0] < 0:
            return None
        found: list[int] = list(map(int, self._offsets[self._start : self._start + self._length]))
        return found
