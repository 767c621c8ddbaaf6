"""The default engine: one encoder before an index of codes, and the evaluator behind it for what codes cannot tell."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.answers import clear_rest
from conceptpubsub.matching.engine import Engine, Entry, Event, Fault, Matches, Slots, concatenated
from conceptpubsub.matching.index import Index
from conceptpubsub.matching.scan import answer
from conceptpubsub.matching.stats import Counters, MatcherStats, Work
from conceptpubsub.matching.vocabulary import Column
from conceptpubsub.model.objects import as_object

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.matching.interfacing import Interfaces
    from conceptpubsub.matching.records import Records
    from conceptpubsub.matching.scratch import Scratch
    from conceptpubsub.matching.snapshot import Snapshot

ASKED: Final = 3
"""The counter of questions to the evaluator, after those that kernels keep."""


class DefaultEngine(Engine):
    """Filters in an index; see `conceptpubsub.matching.index`, whose options it takes."""

    name = "default"

    def __init__(self, **options: int) -> None:
        self._start(Index(**options))

    def _start(self, index: Index) -> None:
        self.index = index
        self._lock = threading.RLock()
        self._local = threading.local()
        self._counters = Counters()
        self._now: Snapshot | None = None
        self._kernels: Any = None
        self._batches: Any = None
        self._finders: Any = None

    def __getstate__(self) -> Index:
        with self._lock:
            return self.index

    def __setstate__(self, state: Index) -> None:
        self._start(state)

    # ------------------------------------------------------------------ filters

    def add(self, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        with self._lock:
            self.index.add(slot, filter, interfaces)
            self._now = None

    def add_many(self, entries: Iterable[Entry]) -> None:
        with self._lock:
            try:
                self.index.add_many(entries)
            finally:
                self._now = None

    def remove(self, slot: int) -> None:
        with self._lock:
            self.index.remove(slot)

    def replace(self, old: int, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        with self._lock:
            self.index.add(slot, filter, interfaces)
            self.index.remove(old)
            self._now = None

    def renumbered(self, slots: Mapping[int, int]) -> DefaultEngine:
        with self._lock:
            made = DefaultEngine()
            made.index = self.index.renumbered(slots)
            return made

    def _snapshot(self) -> Snapshot:
        found = self._now
        if found is None:
            with self._lock:
                found = self._now
                if found is None:
                    found = self._now = self.index.snapshot()
        return found

    # ------------------------------------------------------------------ events

    def scratch(self) -> Scratch:
        """The working memory of this thread."""
        found: Scratch | None = getattr(self._local, "scratch", None)
        return found or self._scratch()

    def _scratch(self) -> Scratch:
        from conceptpubsub.matching import single_kernels
        from conceptpubsub.matching.scratch import Scratch

        self._kernels = single_kernels
        made = self._local.scratch = Scratch()
        with self._lock:
            self._counters.add(made, made.counters)
        return made

    def _encoded(self, event: Event, doubtful: list[Column]) -> tuple[Snapshot, Scratch, int]:
        """The event's words, written to this thread's memory, which is bound to a snapshot; how many they are."""
        snapshot = self._now or self._snapshot()
        try:
            scratch: Scratch = self._local.scratch
        except AttributeError:
            scratch = self._scratch()
        encoder, vocabulary, converted = snapshot.encoder, self.index.vocabulary, 0
        clock = vocabulary.clock
        for conv in vocabulary.converters:
            converted += conv.revision
        if clock.now != scratch.now or snapshot is not scratch.snapshot or converted != scratch.converted:
            encoder.refresh()
            scratch.converted, scratch.now = converted, -1
        count = encoder.encode(event, scratch.words, doubtful)
        if clock.now != scratch.now or scratch.words.addresses is not scratch.addresses:
            scratch.bind(snapshot)
        return snapshot, scratch, count

    def match(self, event: Event, faults: list[Fault] | None = None) -> Slots:
        """The slots that match. The array is written over by the next call from the same thread."""
        doubtful: list[Column] = []
        snapshot, scratch, count = self._encoded(event, doubtful)
        made: int = self._kernels.match_event(scratch.address, count)
        while made < 0:
            self._repair(made, event, scratch, count)
            made = self._kernels.match_event(scratch.address, count)
        if made >> 32 or doubtful or faults is not None:
            return self._asked(event, snapshot, scratch, made, count, doubtful, faults)
        found: Slots = scratch.out[:made]
        return found

    def bitmap(self, event: Event, positions: Slots, width: int) -> NDArray[np.uint8]:
        if len(positions) != width:  # filters were removed: slots and places differ
            return super().bitmap(event, positions, width)
        doubtful: list[Column] = []
        snapshot, scratch, count = self._encoded(event, doubtful)
        size = (width + 7) // 8
        if size > 8 * len(snapshot.alive):  # filters came meanwhile
            return super().bitmap(event, positions, width)
        out, address = scratch.packed(size)
        made: int = self._kernels.pack_event(scratch.address, count, size, address)
        while made < 0:
            self._repair(made, event, scratch, count)
            made = self._kernels.pack_event(scratch.address, count, size, address)
        if made or doubtful:
            return super().bitmap(event, positions, width)
        clear_rest(out, width)
        return out

    def _repair(self, wrong: int, event: Any, scratch: Scratch, count: int) -> None:
        """Make room for an event, learn its classes, or say what is wrong with it."""
        if wrong == self._kernels.cl.UNKNOWN:
            self._learn(scratch.snapshot, scratch.address, count)
            return
        if wrong == self._kernels.ev.NO_ROOM:
            scratch.reserve_touched(2 * scratch.header[self._kernels.ev.ROOM])
            return
        for name, value in getattr(event, "attributes", event).items():
            as_object(name, value)
        raise AssertionError("an event that only the index refuses")

    def _learn(self, snapshot: Snapshot, header: int, count: int) -> None:
        """Learn the classes of the event whose words have been written."""
        with self._lock:
            for segment in snapshot.segments:
                dense = getattr(segment, "dense", None)
                if dense is not None and dense.bitmaps is not None:
                    dense.bitmaps.learn(dense.row.ctypes.data, header, count)

    def _asked(
        self, event: Event, snapshot: Snapshot, scratch: Scratch, made: int, count: int, doubtful: list[Column],
        faults: list[Fault] | None,
    ) -> Slots:  # fmt: skip
        """What the index found, and what the evaluator says where it must be asked."""
        found = set(scratch.out[: made & 0xFFFFFFFF].tolist())
        asked = set(scratch.asked[: made >> 32].tolist()) - found
        for column in doubtful:
            asked.update(self.index.computing.get(column.number, ()))
        found -= asked
        mine: list[Fault] = []
        if faults is not None:
            mine = self._missing(scratch, count)
            asked.difference_update(fault.slot for fault in mine)
        scratch.counters[ASKED] += len(asked)
        for slot in asked:
            filter = self.index.asking.get(slot)
            if filter is None:  # removed meanwhile
                continue
            said = answer(filter, event)
            if said is True:
                found.add(slot)
            elif said:
                mine.append(Fault(0, slot, said))
        if faults is not None:
            faults.extend(sorted(mine))
        return np.array(sorted(found), np.int64)

    def _missing(self, scratch: Scratch, count: int) -> list[Fault]:
        """Under ``total``: the filters that name what the event lacks."""
        groups = self.index.total_groups()
        columns = np.array(sorted({column for named, _ in groups for column in named}), np.uint32)
        missing = np.zeros(len(columns), np.uint8)
        self._kernels.missing_columns(scratch.address, count, columns.ctypes.data, len(columns), missing.ctypes.data)
        lacking = set(columns[missing == 1].tolist())
        made: list[Fault] = []
        for named, slots in groups:
            if not lacking.isdisjoint(named):
                reason = self.lacks([column for column in named if column in lacking])
                made += [Fault(0, slot, reason) for slot in slots]
        return made

    def lacks(self, columns: list[int]) -> str:
        """What is said of an event that lacks some columns."""
        names = [self.index.vocabulary.by_number[column].shown for column in columns]
        return f"the event lacks {', '.join(names)}, and under 'total' every reference must be present"

    def match_table(self, table: Any) -> Matches:
        made = self._by_batch(table, "match")
        return super().match_table(table) if made is None else concatenated(made)

    def interfaces_table(self, table: Any) -> tuple[Slots, Slots, list[Fault]]:
        made = self._by_batch(table, "interfaces")
        if made is None:
            return super().interfaces_table(table)
        found = concatenated(made)
        return found.offsets, found.slots, list(found.faults)

    def _by_batch(self, table: Any, question: str) -> list[Matches] | None:
        """What is found in each record batch of a table; None where rows must be read one by one."""
        from conceptpubsub.matching.arrow_plan import Unplanned
        from conceptpubsub.matching.batches import Batches
        from conceptpubsub.matching.table_words import record_batches

        snapshot = self._now or self._snapshot()
        snapshot.encoder.refresh()
        if snapshot.encoder.computed:
            return None
        if self._batches is None:
            self._batches = Batches(self)
        try:
            return [getattr(self._batches, question)(snapshot, batch) for batch in record_batches(table)]
        except Unplanned:
            return None

    def records(self, snapshot: Snapshot) -> Records | None:
        """The records of all cubes of a snapshot; None where it is no longer the newest."""
        from conceptpubsub.matching.records import Records

        with self._lock:
            if self._now is not snapshot:
                return None
            index = self.index
            return Records(index.store, index.vocabulary, index.slots, 0, index.store.count)

    def interfaces(self, event: Event) -> Collection[int]:
        doubtful: list[Column] = []
        snapshot, scratch, count = self._encoded(event, doubtful)
        known: Interfaces | None = scratch.interfaces
        if known is None or known.snapshot is not snapshot:
            known = self.known_interfaces(scratch, snapshot)
        made: int = self._finders.find_interfaces(scratch.address, known.address, count)
        while made < 0:
            self._repair(made, event, scratch, count)
            made = self._finders.find_interfaces(scratch.address, known.address, count)
        if made >> 32 or doubtful:
            if made & self._finders.UNITE:
                self.unite(known)
                made ^= self._finders.UNITE
            if made >> 32 or doubtful:
                return self.of_slots(self.match(event))
        return known.everything if made == known.all_found else known.listed(made)

    def of_slots(self, slots: Iterable[int]) -> set[int]:
        """The interfaces of some slots."""
        names = list(self.index.slots.interfaces)
        return {i for slot in slots for i in names[self.index.slots.interface_sets.array[slot]]}

    def known_interfaces(self, scratch: Scratch, snapshot: Snapshot) -> Interfaces:
        """What this thread knows of interfaces, for a snapshot."""
        known: Interfaces | None = scratch.interfaces
        if known is None:
            from conceptpubsub.matching import interface_kernels
            from conceptpubsub.matching.interfacing import Interfaces

            self._finders = interface_kernels
            known = scratch.interfaces = Interfaces(self.index.least_united)
        if known.snapshot is not snapshot:
            known.bind(snapshot, self.index.slots)
        return known

    def unite(self, known: Interfaces) -> None:
        """Make unions of interfaces: enough events have come since the last filter was removed."""
        with self._lock:
            known.unite(self.index.slots)

    # ------------------------------------------------------------------ service

    def warm_up(self) -> None:
        _warm_kernels()
        scratch = self.scratch()
        before = scratch.counters.copy()
        self.match({})
        self.interfaces({})
        scratch.counters[:] = before

    def stats(self) -> MatcherStats:
        with self._lock:
            snapshot, live, asking = self._snapshot(), self.index.live, len(self.index.asking)
            memory = self.index.nbytes()
        memory["lookups"] = snapshot.encoder.readers.lookups.nbytes()
        candidates, passed, events, asked = self._counters.total().tolist()
        work = Work(events, candidates, passed, asked)
        more = {"segments": len(snapshot.segments), "evaluator needed": asking}
        return MatcherStats(live, snapshot.by_kind(), memory, work, more=more)


@cache
def _warm_kernels() -> None:
    """Have every kernel compiled, or read from its cache, by an engine of two filters."""
    import pyarrow

    from conceptpubsub.filters import Filter

    engine = DefaultEngine()
    texts = ("x > 1 AND s = 'a'", "x < 1 OR NOT (s = 'a' AND y = 2.5)")
    engine.add_many(Entry(slot, Filter.parse(text), (0,)) for slot, text in enumerate(texts))
    engine.match({"x": 2, "s": "a"})
    engine.interfaces({"x": 2, "s": "a"})
    table = pyarrow.table({"x": [1, None], "y": [2.5, 1.0], "s": ["a", "b"]})
    engine.match_table(table).bits(np.arange(2), 2)
    engine.interfaces_table(table)
    dense = DefaultEngine(tail=0, dense=1, rows=1)
    many = (*texts, *["s = 'a' OR s = 'b'"] * 2)
    dense.add_many(Entry(slot, Filter.parse(text), (0,)) for slot, text in enumerate(many))
    assert len(dense.match_table(table).slots) == 5  # so many that they are lines
    dense.interfaces({"x": 2, "s": "a"})
    dense.unite(dense.scratch().interfaces)
