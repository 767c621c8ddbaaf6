"""Record batches through the default engine: which way each of them goes.

Where filters share their literals, many rows are taken at a time; where enough rows of one schema have come, through an
index of its own; else row by row. All ways give the same answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conceptpubsub.matching import table_matching as tm
from conceptpubsub.matching.answers import Fault, Matches
from conceptpubsub.matching.chunks import MOST_WORDS, ChunkTask, is_light
from conceptpubsub.matching.default_engine import ASKED, DefaultEngine
from conceptpubsub.matching.interfacing import rows_interfaces
from conceptpubsub.matching.table_words import BatchColumns, BatchWords, Planner

if TYPE_CHECKING:
    from conceptpubsub.matching.arrow_plan import Plan
    from conceptpubsub.matching.scratch import Scratch
    from conceptpubsub.matching.snapshot import Snapshot


class Batches:
    """What an engine finds in record batches, and the plans for their schemas."""

    def __init__(self, engine: DefaultEngine) -> None:
        self._engine = engine
        self._planner = Planner()

    def _columns(self, snapshot: Snapshot, batch: Any) -> tuple[Plan, BatchColumns, Scratch]:
        """A record batch as its plan reads it, and this thread's memory, bound to the snapshot."""
        scratch = self._engine.scratch()
        plan = self._planner.plan(batch.schema, snapshot.encoder)
        columns = BatchColumns(plan, batch)
        now = snapshot.encoder.vocabulary.clock.now
        if snapshot is not scratch.snapshot or now != scratch.now or scratch.words.addresses is not scratch.addresses:
            scratch.bind(snapshot)
        return plan, columns, scratch

    def match(self, snapshot: Snapshot, batch: Any) -> Matches:
        """The slots that match each row."""
        engine, index = self._engine, self._engine.index
        plan, columns, scratch = self._columns(snapshot, batch)
        groups = index.total_groups()
        task: tm.TableTask | tm.BlockTask | ChunkTask
        if columns.rows >= index.least_rows and len(snapshot.alive) <= MOST_WORDS and snapshot.dense_rows:
            words = BatchWords(columns)
            if is_light(snapshot, scratch, words):
                task = tm.TableTask(snapshot, scratch, words, groups)
            else:
                task = ChunkTask(snapshot, scratch, words, groups)
        else:
            made = None
            if not groups:
                made = tm.table_index(plan, snapshot, scratch, columns, lambda: engine.records(snapshot))
            if made is None:
                task = tm.TableTask(snapshot, scratch, BatchWords(columns), groups)
            else:
                task = tm.BlockTask(made, snapshot, scratch, columns)
        faults = [Fault(row, None, reason) for row, reason in sorted(columns.wrong.items())]
        asked = np.concatenate(task.asked, axis=1)
        found: list[tuple[int, int]] = []
        if asked.shape[1]:
            scratch.counters[ASKED] += asked.shape[1]
            found, more = tm.ask(index, batch, asked[0], asked[1])
            faults += more
        whole = task.matches(found)
        whole.faults = tm.Lacks(faults, np.concatenate(task.lacks), groups, engine.lacks)
        return whole

    def interfaces(self, snapshot: Snapshot, batch: Any) -> Matches:
        """The interfaces of each row, in the place of slots."""
        engine = self._engine
        _, columns, scratch = self._columns(snapshot, batch)
        words = BatchWords(columns)
        known = engine.known_interfaces(scratch, snapshot)
        if known.is_time(columns.rows):
            engine.unite(known)
        offsets, numbers, asked = rows_interfaces(snapshot, scratch, words, known)
        faults = [Fault(row, None, reason) for row, reason in sorted(columns.wrong.items())]
        made = Matches(offsets, numbers, faults)
        if asked.shape[1]:
            scratch.counters[ASKED] += asked.shape[1]
            found, _ = tm.ask(engine.index, batch, asked[0], asked[1])
            pairs = [(row, interface) for row, slot in found for interface in engine.of_slots((slot,))]
            if pairs:
                made = made.joined(np.array(pairs, np.int64))
        return made
