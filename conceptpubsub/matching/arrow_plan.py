"""How tables of one schema are read: which columns matter, and which of them the kernel reads by itself.

Numbers, texts, Booleans and instants that only have to find their place among constants are *fast*: what the kernel
needs to know of them is worked out once. The rest is *slow*: see ``arrow_cells``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from conceptpubsub.errors import CodecError
from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.matching.arrow_sources import Grid, Path, Sources
from conceptpubsub.matching.encoder import Encoder
from conceptpubsub.matching.entries import Entry
from conceptpubsub.matching.event_kernels import CODE
from conceptpubsub.matching.lookups import Reading
from conceptpubsub.matching.readers import MAX_LOOKUPS, word
from conceptpubsub.matching.text_columns import TextColumn
from conceptpubsub.matching.thresholds import Affine
from conceptpubsub.model import Context
from conceptpubsub.model.codecs.arrow_reading import metadata_aspects
from conceptpubsub.model.codecs.columns import EMPTY_COMPLEX, ENCODING, OWN_CONCEPT, Column

_KINDS: Final[dict[Any, tuple[int, type]]] = {
    pa.float64(): (ak.FLOAT, float), pa.float32(): (ak.FLOAT32, float), pa.bool_(): (ak.BOOL, bool),
    pa.string(): (ak.TEXT, str), pa.large_string(): (ak.LARGE_TEXT, str),
    pa.int8(): (ak.INT8, int), pa.int16(): (ak.INT16, int), pa.int32(): (ak.INT32, int), pa.int64(): (ak.INT64, int),
    pa.uint8(): (ak.UINT8, int), pa.uint16(): (ak.UINT16, int), pa.uint32(): (ak.UINT32, int),
}  # fmt: skip
_MOST_MEMBERS: Final = 1024
_MOST_KNOWN: Final = 1 << 16
_TICKS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Unplanned(Exception):
    """There is something in the table that is only read row by row."""


class Plan:
    """How tables of one schema are read, for one encoder."""

    def __init__(self, schema: pa.Schema, encoder: Encoder) -> None:
        self.schema = schema
        self.encoder = encoder
        self.epoch = encoder.epoch
        self.paths: dict[tuple[str, ...], Path] = {}
        self.headers: dict[str, int] = {}
        for number, described in enumerate(schema):
            self._take(number, described)
        self._entries: dict[tuple[tuple[str, ...], Context], Entry] = {}
        self._check()
        self.fast = Sources()
        self.slow: list[Path] = []
        self.texts: dict[int, TextColumn] = {}
        """Of slow columns, those of texts whose words the kernel may know."""
        self._members: dict[tuple[tuple[str, ...], Context], Sources | None] = {}
        self._constants = -1
        self._known: dict[int, dict[Any, Any]] = {}
        self._known_at = (-1, -1)
        self.indexed: Any = None
        """A snapshot and its index for tables of this schema, if there is one."""
        self.seen = 0
        """Rows that have come since that snapshot; negative where there is never to be an index."""
        self.refresh()

    def _take(self, number: int, described: pa.Field) -> None:
        place = Column.parse(described.name)
        if not place.path:
            if place.aspect in self.headers:
                raise CodecError(f"two columns {described.name!r}", column=described.name)
            self.headers[place.aspect or ""] = number
            return
        held = self.paths.setdefault(place.path, Path(place.path))
        if place.aspect is None:
            if held.value >= 0:
                raise CodecError(f"two columns {described.name!r}", column=described.name)
            held.value, held.fixed = number, Context(metadata_aspects(described))
        elif place.aspect == EMPTY_COMPLEX:
            raise Unplanned
        elif place.aspect != OWN_CONCEPT:  # what an object calls itself counts only where it is complex
            held.aspects[place.aspect.removeprefix("@")] = number

    def _check(self) -> None:
        """Leave to the row reader what concerns whole objects: complex ones that may be bound themselves."""
        for path in self.paths:
            for length in range(1, len(path)):
                above = path[:length]
                if above in self.paths or next(self.encoder.readers.columns(above), None) is not None:
                    raise Unplanned

    def entry(self, path: tuple[str, ...], context: Context) -> Entry:
        """The readers of an attribute in a context."""
        found = self._entries.get((path, context))
        if found is None:
            found = self._entries[path, context] = Entry(path, context, self.encoder.readers)
        return found

    def moment(self) -> tuple[int, int]:
        """Changes whenever the words of a value may be others."""
        return self.encoder.book.revision, self.encoder.converted()

    def known(self, entry: Entry) -> dict[Any, Any]:
        """The words of values of an attribute that have come lately; forgotten where they may be others by now."""
        now = self.moment()
        if now != self._known_at:
            self._known, self._known_at = {}, now
        found = self._known.setdefault(id(entry), {})
        if len(found) > _MOST_KNOWN:
            found.clear()
        return found

    def _text_column(self, path: Path) -> TextColumn | None:
        """A slow column of texts, where these alone decide; else None."""
        described, entry = self.schema.field(path.value), self.entry(path.path, path.fixed)
        machine, python = _KINDS.get(described.type, (-1, object))
        if python is not str or ENCODING.encode() in (described.metadata or {}) or path.aspects or entry.dated:
            return None
        return TextColumn(machine, path.value, entry)

    def refresh(self) -> None:
        """Work out the sources anew where constants have come."""
        if self._constants == self.encoder.book.revision:
            return
        self.fast, self.slow, self._members = Sources(), [], {}
        for path in self.paths.values():
            if path.value < 0:
                continue
            if path.aspects or not self.add_fast(self.fast, path, path.fixed):
                self.slow.append(path)
        self.texts = {path.value: made for path in self.slow if (made := self._text_column(path)) is not None}
        self._constants = self.encoder.book.revision

    def member(self, path: Path, context: Context) -> Sources | None:
        """The source of an attribute in one of the contexts its rows may have, or none; None if it is slow."""
        key = (path.path, context)
        if key not in self._members:
            if len(self._members) >= _MOST_MEMBERS:
                self._members.clear()
            made = Sources()
            self._members[key] = made if self.add_fast(made, path, context) else None
        return self._members[key]

    def add_fast(self, sources: Sources, path: Path, context: Context) -> bool:
        """Add a source for a column that the kernel reads, or none where nobody speaks of it; False if it is slow."""
        described = self.schema.field(path.value)
        kind = described.type
        if ENCODING.encode() in (described.metadata or {}):
            return False
        entry = self.entry(path.path, context)
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            return self._instants(sources, path, entry, kind)
        machine, python = _KINDS.get(kind, (-1, object))
        if machine < 0:
            return False
        readers = self.encoder.readers
        common = readers.common(entry.bindings, python)
        if common is None or len(readers.lookups.lookups) >= MAX_LOOKUPS:
            return False
        numbers = [0] * ak.SOURCE_SIZE
        numbers[ak.KIND], numbers[ak.COLUMN] = machine, path.value
        if not common:
            if python is float:  # only to see that it is finite
                sources.add(path.name, numbers, None)
            return True
        reading, axes = common
        numbers[ak.WORD] = word(CODE, readers.targets.number(axes))
        if python is str:
            table = self.encoder.text_table()
            numbers[ak.LOOKUP] = table.row.ctypes.data
            sources.add(path.name, numbers, table)
        elif python is bool:
            space = self.encoder.book.spaces[reading.space]
            codes = np.array([space.code(False), space.code(True)], np.int64)
            numbers[ak.LOOKUP] = codes.ctypes.data
            sources.add(path.name, numbers, codes)
        else:
            as_machine = {ak.FLOAT: "float", ak.FLOAT32: "float32"}.get(machine, "int")
            wanted = Reading(reading.space, reading.affine, reading.minimum, reading.maximum, reading.whole, as_machine)
            self._look_up(sources, path, numbers, wanted)
        return True

    def _look_up(self, sources: Sources, path: Path, numbers: list[int], reading: Reading) -> None:
        row, kept = self.encoder.readers.lookups.frozen(reading)
        numbers[ak.LOOKUP] = row.ctypes.data
        grid = None if reading.machine == "int" else Grid.over(kept[0])
        if grid is not None:
            numbers[ak.GRID] = grid.row.ctypes.data
        sources.add(path.name, numbers, (row, kept, grid))

    def _instants(self, sources: Sources, path: Path, entry: Entry, kind: Any) -> bool:
        """Timestamps with a time zone are integers, in ticks, among the instants."""
        space = self.encoder.vocabulary.space(("instant", None))
        axes: list[int] = []
        for column, concept, plan in entry.bindings:
            if plan.moves or column.predicates or column.default is not None:
                return False
            typed = None if concept is not None or column.ref is None else column.ref.type
            if plan.problem is None and plan.value_type in (None, "instant") and typed in (None, "instant"):
                axes.append(column.axes.get(space, column.number))
        if axes:
            numbers = [0] * ak.SOURCE_SIZE
            numbers[ak.KIND], numbers[ak.COLUMN] = ak.INT64, path.value
            numbers[ak.WORD] = word(CODE, self.encoder.readers.targets.number(tuple(axes)))
            self._look_up(sources, path, numbers, Reading(space, Affine(_TICKS[kind.unit], 0, 1), machine="int"))
        return True
