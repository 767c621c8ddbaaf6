"""The past: the store's log read in segments, each matched as a table and shared by all who catch up.

Rule 1  A segment's events are those of the log, in order; the fast way of matching (a table of them) and the slow one
        (event by event) agree.
Rule 2  Only what matched is made an event again, from what was stored, so it is the event that was published.
Rule 3  An event that cannot be read any more (a file that was damaged) is passed over and reported, once.
Rule 4  Full blocks of single events are kept as tables, those used last; they never change until ``trim``. Published
        tables are not kept: reading one again costs next to nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import CodecError, ConceptPubSubError, LimitExceeded, MissingAttribute
from conceptpubsub.hub.store import Entry, Store
from conceptpubsub.matching import Matcher
from conceptpubsub.model.codecs import from_json

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.model import SemanticEvent

BLOCK = 4096
KEPT = 32
_FEW = 32
"""Below this many events a table does not pay."""


Report = Callable[[int, str], None]
"""Told the offset of an event that cannot be read, and why."""


class Wish:
    """A filter that is asked of many past events; compiled when there are enough of them."""

    def __init__(self, filter: Filter) -> None:
        self.filter = filter

    @cached_property
    def matcher(self) -> Matcher:
        """The filter alone in a matcher."""
        made = Matcher()
        made.add(0, self.filter)
        return made

    def matches(self, event: SemanticEvent) -> bool:
        """Whether the filter matches; under ``total`` an event that lacks something does not."""
        try:
            return self.filter.matches(event)
        except MissingAttribute:
            return False


class Segment:
    """A stretch of the log without gaps: single events, or the rows of one published table."""

    def __init__(self, entries: list[Entry], report: Report) -> None:
        self.first, self.stop = entries[0].first, entries[-1].stop
        self._entries, self._report = entries, report

    @property
    def is_table(self) -> bool:
        """Whether it was published as a table."""
        return not isinstance(self._entries[0].body, str)

    @cached_property
    def table(self) -> Any:
        """The events as an Arrow table; None where they fit in none, or cannot be read."""
        import pyarrow as pa

        from conceptpubsub.hub.lines_to_table import lines_to_table

        if self.is_table:
            try:
                found = self._entries[0].table()
            except (pa.ArrowException, OSError) as error:
                self._report(self.first, str(error))
                return None
            return found if found.num_rows == self.stop - self.first else None
        try:
            return lines_to_table([str(entry.body) for entry in self._entries])
        except (CodecError, LimitExceeded, ValueError, KeyError, TypeError, AttributeError):
            return None  # the last four: lines that were damaged, which are told from the others one by one

    def offsets(self, wish: Wish, start: int, end: int | None = None) -> list[int]:
        """The offsets of the events that match, from one offset up to another."""
        start, stop = max(start, self.first), self.stop if end is None else min(end, self.stop)
        if not self.is_table and (stop - start < _FEW or self.table is None):
            read = self.events(list(range(start, stop)))
            return [offset for offset, event in read if wish.matches(event)]
        if self.table is None:
            return []
        import numpy as np

        found = wish.matcher.match_batch(self.table)
        rows: list[int] = np.flatnonzero(np.diff(found.offsets)).tolist()
        return [self.first + row for row in rows if start <= self.first + row < stop]

    def events(self, offsets: list[int]) -> list[tuple[int, SemanticEvent]]:
        """Offset and event, where it can be read."""
        if not self.is_table or not offsets:
            found = ((offset, self._event(offset)) for offset in offsets)
            return [(offset, event) for offset, event in found if event is not None]
        from conceptpubsub.model.codecs import table_to_events

        read = table_to_events(self.table.take([offset - self.first for offset in offsets]))
        bad = {row for row, _ in read.errors}
        good = (offset for row, offset in enumerate(offsets) if row not in bad)
        return list(zip(good, read.events, strict=True))

    def _event(self, offset: int) -> SemanticEvent | None:
        try:
            return from_json(self._entries[offset - self.first].body)
        except ConceptPubSubError as error:
            self._report(offset, str(error))
            return None


class Past:
    """The log in segments."""

    def __init__(self, store: Store, report: Report) -> None:
        self._store, self._tell = store, report
        self._told: set[int] = set()
        self._kept: OrderedDict[int, list[Segment]] = OrderedDict()
        self._lock = threading.Lock()

    def segment(self, start: int) -> Segment | None:
        """The first segment that holds an offset or a later one; None at the end of the log."""
        while start < (end := self._store.end):
            stop = (start // BLOCK + 1) * BLOCK
            found = self._block(stop - BLOCK) if stop <= end else self._segments(start, end)
            for segment in found:
                if segment.stop > start:
                    return segment
            start = stop
        return None

    def matching(self, wish: Wish, start: int, end: int | None = None) -> Iterator[tuple[int, SemanticEvent]]:
        """Offset and event, of those that match, up to an offset or the end of the log."""
        until = self._store.end if end is None else end
        while start < until and (segment := self.segment(start)) is not None:
            yield from segment.events(segment.offsets(wish, start, until))
            start = segment.stop

    def forget(self) -> None:
        """Keep no tables; the log has changed at its beginning."""
        with self._lock:
            self._kept.clear()

    def _block(self, first: int) -> list[Segment]:
        with self._lock:
            found = self._kept.get(first)
            if found is None:
                found = self._segments(first, first + BLOCK)
                if any(segment.is_table for segment in found):
                    return found
                self._kept[first] = found
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(first)
        return found

    def _segments(self, start: int, end: int) -> list[Segment]:
        """Entries without gaps between them together; a table alone."""
        groups: list[list[Entry]] = []
        for entry in self._store.between(start, end):
            last = groups[-1][-1] if groups else None
            single = isinstance(entry.body, str)
            if last is not None and single and isinstance(last.body, str) and last.stop == entry.first:
                groups[-1].append(entry)
            else:
                groups.append([entry])
        return [Segment(group, self._report) for group in groups]

    def _report(self, offset: int, reason: str) -> None:
        if offset not in self._told:
            self._told.add(offset)
            self._tell(offset, reason)
