"""Cells of a record batch that the kernel does not read by itself: read as the evaluator would, into lists of words.

A different value is read once where that suffices, else each row: where the time of the event counts, or its context
changes from row to row. A cell that no event may hold makes its row bad, and no other.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from conceptpubsub.errors import CodecError, ConceptPubSubError
from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.matching.arrow_plan import Plan
from conceptpubsub.matching.arrow_sources import Path, Sources
from conceptpubsub.matching.entries import Entry, Words
from conceptpubsub.matching.text_columns import LONGEST_KNOWN
from conceptpubsub.model import Context, Instant
from conceptpubsub.model.codecs.arrow_cells import Unreadable, cells
from conceptpubsub.model.codecs.arrow_codes import Codes, combined, encoded
from conceptpubsub.model.codecs.arrow_reading import metadata_aspects
from conceptpubsub.model.codecs.columns import ENCODING
from conceptpubsub.model.objects import as_object

_PARTS: Final = {"concept": "EVENT", "time": "time", "id": "id", "source": "source"}
_CODED: Final = pa.dictionary(pa.int32(), pa.string())
_MOST_GROUPS: Final = 4096
"""Values of a dictionary that are looked at whether rows have them or not."""


class SlowCells:
    """The slow columns of one record batch, as sources."""

    def __init__(self, plan: Plan, batch: pa.RecordBatch, array: int) -> None:
        self.plan = plan
        self.batch = batch
        self._array = array
        """The address of the batch, as kernels read it."""
        self._moment = plan.moment()
        self.encoder = plan.encoder
        self.sources = Sources()
        self.bad: dict[int, str] = {}
        """Why a row is none."""
        self._times: list[Instant | None] | None = None
        self._room = Words()
        for name, number in plan.headers.items():
            self._header(name, number)
        for path in plan.slow:
            if path.aspects:
                self._in_contexts(path)
            elif not self._known_column(path):
                self._column(path, plan.entry(path.path, path.fixed), None)

    # ------------------------------------------------------------------ attributes

    def _in_contexts(self, path: Path) -> None:
        """An attribute whose unit, currency or other aspect stands beside it, row by row."""
        schema = self.plan.schema
        columns = [(self.batch.column(number), schema.field(number)) for number in path.aspects.values()]
        numbers = [0] * ak.SOURCE_SIZE
        numbers[ak.KIND], numbers[ak.COLUMN] = ak.GROUPED, path.value
        found, listed = self._groups(columns, numbers)
        members, kept = np.zeros(len(found), np.int64), []
        for group, places in enumerate(found):
            context = self._context(path, [values[place] for values, place in zip(listed, places, strict=True)])
            if context is None:
                for row in self._rows(path, numbers, group):
                    self.bad.setdefault(row, f"the context of {path.name} cannot be read")
                continue
            made = self.plan.member(path, context)
            if made is None:
                self._column(path, self.plan.entry(path.path, context), self._rows(path, numbers, group))
            elif made.numbers:
                held = made.array
                kept.append((made, held))
                members[group] = held.ctypes.data
        if kept:
            numbers[ak.MEMBERS], numbers[ak.MEMBER_COUNT] = members.ctypes.data, len(members)
            self.sources.add(path.name, numbers, (members, kept))

    def _groups(self, columns: list[tuple[Any, pa.Field]], numbers: list[int]) -> tuple[list[Any], list[list[Any]]]:
        """Write the group of each row down; tells the combinations of values that groups have, -1 for none, and the
        values of each column, None last."""
        column, described = columns[0]
        if len(columns) == 1 and column.type == _CODED and len(column.dictionary) <= _MOST_GROUPS:
            validity, indices = column.indices.buffers()
            numbers[ak.GROUPS] = indices.address + 4 * column.offset
            numbers[ak.GROUP_VALIDITY] = validity.address if validity is not None and column.indices.null_count else 0
            numbers[ak.GROUP_OFFSET] = column.offset
            numbers[ak.NO_GROUP] = len(column.dictionary)
            listed = [[*cells(column.dictionary, described), None]]
            return [(place,) for place in [*range(len(column.dictionary)), -1]], listed
        codes, found, listed = self._combined(columns)
        groups = codes.astype(np.uint32)
        numbers[ak.GROUPS] = groups.ctypes.data
        self.sources.kept.append(groups)
        return found, listed

    def _rows(self, path: Path, numbers: list[int], group: int) -> list[int]:
        """The rows of a group that hold a value."""
        valid = self.batch.column(path.value).is_valid().to_numpy(zero_copy_only=False)
        source = np.array(numbers, np.int64)
        mine = np.zeros(len(valid), np.bool_)
        ak.in_group(source.ctypes.data, group, mine)
        found: list[int] = np.flatnonzero(valid & mine).tolist()
        return found

    def _combined(self, columns: list[tuple[Any, pa.Field]]) -> tuple[Codes, list[tuple[int, ...]], list[list[Any]]]:
        """Codes of the combinations of some columns, the combinations, and the values of each column, None last."""
        coded: list[tuple[Codes, int]] = []
        listed: list[list[Any]] = []
        for column, described in columns:
            try:
                codes, values = encoded(column)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # of a type that no aspect has
                codes, values = np.arange(len(column)), column
            coded.append((codes, len(values)))
            listed.append([*cells(values, described), None])
        return *combined(coded, self.batch.num_rows), listed

    def _context(self, path: Path, values: Iterable[Any]) -> Context | None:
        beside = {name: value for name, value in zip(path.aspects, values, strict=True) if value is not None}
        try:
            unreadable = any(isinstance(value, Unreadable) for value in beside.values())
            return None if unreadable else path.fixed.merged(beside)
        except ConceptPubSubError:
            return None

    def _known_column(self, path: Path) -> bool:
        """A column whose texts are known by now; False where it is to be read otherwise."""
        column = self.plan.texts.get(path.value)
        made = None if column is None else column.lists(self.batch, self._array, self._moment, self._text_words)
        if made is None:
            return False
        self._add_lists(path.name, made[0], made[1].words, made[1].ends, made)
        return True

    def _text_words(self, entry: Entry, text: str) -> Any:
        return self._words(entry, text, None)

    def _column(self, path: Path, entry: Entry, rows: Sequence[int] | None) -> None:
        column, described = self.batch.column(path.value), self.plan.schema.field(path.value)
        if rows is None and not entry.dated and ENCODING.encode() not in (described.metadata or {}):
            if column.type in (pa.string(), pa.large_string()):
                column = column.dictionary_encode()
            if pa.types.is_dictionary(column.type) and not column.dictionary.null_count:
                lists = self._known_words(entry, cells(column.dictionary, described))
                chosen = np.asarray(column.indices.cast(pa.int32()).fill_null(-1)).view(np.uint32)
                self._add(path.name, lists, chosen)
                return
        values = cells(column, described)
        times = self.times() if entry.dated else None
        lists = [None] * len(values)
        for row in range(len(values)) if rows is None else rows:
            lists[row] = self._words(entry, values[row], None if times is None else times[row])
        self._add(path.name, lists, np.arange(len(values), dtype=np.uint32))

    def _known_words(self, entry: Entry, values: Iterable[Any]) -> list[Any]:
        """The words of some values; those of short texts are kept from table to table."""
        known, made = self.plan.known(entry), []
        for value in values:
            if type(value) is not str or len(value) > LONGEST_KNOWN:
                made.append(self._words(entry, value, None))
                continue
            if value not in known:
                known[value] = self._words(entry, value, None)
            made.append(known[value])
        return made

    def _words(self, entry: Entry, value: Any, at: Instant | None) -> Any:
        """The words of a cell; None where it is missing; the reason, as text, where no event may hold it."""
        if value is None:
            return None
        if isinstance(value, Unreadable):
            return value.reason
        try:
            held = as_object(entry.path[-1], value).value
            return None if held is None else array("Q", self.encoder.canonical_words(entry, held, at)) or None
        except ConceptPubSubError as error:
            return str(error)

    def _add(self, name: str, lists: list[Any], chosen: NDArray[np.uint32]) -> None:
        """A source of lists of words. Rows that chose a text are bad; those that chose None have none."""
        for number, made in enumerate(lists):
            if isinstance(made, str):
                for row in np.flatnonzero(chosen == number).tolist():
                    self.bad.setdefault(row, made)
        joined, ends = array("Q"), np.zeros(len(lists) + 1, np.int64)
        for number, made in enumerate(lists):
            if made is not None and not isinstance(made, str):
                joined.extend(made)
            ends[number + 1] = len(joined)
        if not joined:
            return
        self._add_lists(name, chosen, np.frombuffer(joined, np.uint64), ends, joined)

    def _add_lists(
        self, name: str, chosen: NDArray[np.uint32], words: NDArray[np.uint64], ends: NDArray[np.int64], kept: Any
    ) -> None:
        numbers = [0] * ak.SOURCE_SIZE
        numbers[ak.KIND], numbers[ak.LOOKUP] = ak.INDEXED, chosen.ctypes.data
        numbers[ak.LISTS], numbers[ak.LIST_ENDS] = words.ctypes.data, ends.ctypes.data
        numbers[ak.LIST_COUNT] = len(ends) - 1
        self.sources.add(name, numbers, (chosen, words, ends, kept))

    # ------------------------------------------------------------------ the event itself

    def times(self) -> list[Instant | None]:
        """The time of each row."""
        if self._times is None:
            self._times = [None] * self.batch.num_rows
            number = self.plan.headers.get("time")
            if number is not None:
                described = self.plan.schema.field(number)
                zone = metadata_aspects(described).get("timezone")
                for row, value in enumerate(cells(self.batch.column(number), described)):
                    self._times[row] = self._time(row, value, zone)
        return self._times

    def _time(self, row: int, value: Any, zone: Any) -> Instant | None:
        try:
            if isinstance(value, Unreadable):
                raise CodecError(value.reason)
            return None if value is None else Instant.of(value, zone)
        except ConceptPubSubError as error:
            self.bad.setdefault(row, str(error))
            return None

    def _header(self, name: str, number: int) -> None:
        """A column that speaks of the event itself."""
        described = self.plan.schema.field(number)
        column, kind = self.batch.column(number), described.type
        plain = ENCODING.encode() not in (described.metadata or {})
        text = plain and name != "time" and _is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)
        asked = any(one.ref is not None and one.ref.path[-1] == _PARTS[name] for one in self.encoder.of_event)
        if not asked and (text or (pa.types.is_timestamp(kind) and kind.tz is not None)):
            return  # any will do, and nobody reads it
        if text:
            codes, distinct = encoded(column)
            self._add("@" + name, [self._part(name, value) for value in distinct.to_pylist()], codes.astype(np.uint32))
            return
        values: list[Any] = self.times() if name == "time" else cells(column, described)
        known: dict[Any, Any] = {}
        for value in values:
            if value not in known:
                known[value] = self._part(name, value)
        places = {value: place for place, value in enumerate(known)}
        chosen = np.fromiter((places[value] for value in values), np.uint32, len(values))
        self._add("@" + name, list(known.values()), chosen)

    def _part(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Unreadable):
            return value.reason
        out = self._room
        count = self.encoder.part_words(_PARTS[name], value if name == "time" else str(value), 0, out)
        return out.words[:count] if count else None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
