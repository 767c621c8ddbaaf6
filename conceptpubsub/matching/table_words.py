"""A table as words: record batch by record batch, with the rows that are no events set apart."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.matching.arrow_cells import SlowCells
from conceptpubsub.matching.arrow_plan import Plan
from conceptpubsub.matching.encoder import Encoder
from conceptpubsub.model.objects import as_object

_MOST_PLANS = 8
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class BatchColumns:
    """The columns of one record batch as kernels read them."""

    def __init__(self, plan: Plan, batch: pa.RecordBatch) -> None:
        self.plan = plan
        self.rows = batch.num_rows
        capsules = batch.__arrow_c_array__()
        self.array: int = _capsule_pointer(capsules[1], b"arrow_array")
        slow = SlowCells(plan, batch, self.array) if plan.slow or plan.headers else None
        fast = plan.fast
        parts, self.names, kept = [fast.array], fast.names, [fast.kept]
        if slow is not None and slow.sources.numbers:
            parts.append(slow.sources.array)
            self.names = self.names + slow.sources.names
            kept.append(slow.sources.kept)
        self.numbers: NDArray[np.int64] = np.concatenate(parts)
        """The sources, a row each. Not those of the plan: who reads a batch may write to them."""
        self.wrong: dict[int, str] = {} if slow is None else slow.bad
        """Rows that are no events, and why."""
        self.batch = batch
        self._kept = (capsules, kept)

    def refuse(self, row: int, source: int) -> None:
        """Say why a kernel found a row bad."""
        value = self.batch.column(int(self.numbers[source, ak.COLUMN]))[row].as_py()
        try:
            as_object(self.names[source], value)
        except ConceptPubSubError as error:
            self.wrong.setdefault(row, str(error))


class BatchWords:
    """The words of the rows of one record batch: row i has those from ``starts[i]`` to ``ends[i]``."""

    def __init__(self, columns: BatchColumns) -> None:
        self.rows = columns.rows
        self.starts: NDArray[np.int64] = np.zeros(self.rows + 1, np.int64)
        self.bad: NDArray[np.uint8] = np.zeros(max(1, self.rows), np.uint8)
        sources = columns.numbers
        given = (columns.array, sources.ctypes.data, len(sources), self.rows, self.starts.ctypes.data)
        ak.encode(*given, 0, 0, self.bad.ctypes.data, 1)
        ak.cumulate(self.starts)
        self.words: NDArray[np.uint64] = np.empty(int(self.starts[-1]) + 1, np.uint64)
        self.ends: NDArray[np.int64] = self.starts[:-1].copy()
        ak.encode(*given, self.words.ctypes.data, self.ends.ctypes.data, self.bad.ctypes.data, 0)
        for row in np.flatnonzero(self.bad).tolist():
            columns.refuse(row, -1 - int(self.ends[row]))
        for row in columns.wrong:
            self.bad[row] = 1


class Planner:
    """Plans for the schemas that have come lately."""

    def __init__(self) -> None:
        self._plans: list[Plan] = []

    def plan(self, schema: pa.Schema, encoder: Encoder) -> Plan:
        """The plan for a schema; raises `Unplanned` where rows must be read one by one."""
        for plan in self._plans:
            if (
                plan.encoder is encoder
                and plan.epoch == encoder.epoch
                and schema.equals(plan.schema, check_metadata=True)
            ):
                plan.refresh()
                return plan
        made = Plan(schema, encoder)
        self._plans = [made, *self._plans[: _MOST_PLANS - 1]]
        return made


def record_batches(table: Any) -> list[pa.RecordBatch]:
    """The record batches of a table, structs laid out as dotted columns."""
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table]) if _has_structs(table.schema) else table
    while _has_structs(table.schema):
        table = table.flatten()
    if isinstance(table, pa.RecordBatch):
        return [table]
    batches: list[pa.RecordBatch] = table.to_batches()
    return batches


def _has_structs(schema: pa.Schema) -> bool:
    return any(pa.types.is_struct(kind) for kind in schema.types)
