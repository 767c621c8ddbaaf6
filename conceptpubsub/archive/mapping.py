"""Mappings: what the columns of a foreign archive mean. Column to attribute, unit, currency, code list, null markers.

Rule 1  Only mapped columns are read; a mapped column that a file lacks is an error that offers near names.
Rule 2  A cell that is not of its type is a dead letter of that cell; the row is kept without it.
Rule 3  The type of a column follows from the mapping or the ontology, never from the cells: all files read alike.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.archive.faults import MALFORMED, OUT_OF_TYPE, Fault
from conceptpubsub.errors import ArchiveError, ConceptPubSubError, hint, near
from conceptpubsub.model.codecs.columns import Column
from conceptpubsub.model.instants import Instant

TYPES = {"real": pa.float64(), "int": pa.int64(), "text": pa.string(), "bool": pa.bool_(), "instant": pa.string()}
_PARTS = ("concept", "time", "id", "source")
_TOP = {"concept", "time", "id", "source", "null", "columns", "separator"}
_COLUMN = {"attribute", "type", "codes", "null"}
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """One column: the attribute it holds, its type, its aspects (a value, or ``{"column": name}``), its codes."""

    column: str
    attribute: str
    type: str | None = None
    aspects: Mapping[str, Any] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    null: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """What the columns of a foreign archive mean.

    >>> m = ColumnMapping.of({"concept": "Weather", "columns": {"temp": {"attribute": "Temperature", "unit": "degF"}}})
    >>> m.columns[0].aspects
    {'unit': 'degF'}
    """

    columns: tuple[MappedColumn, ...]
    concept: Any = None
    time: Any = None
    id: Any = None
    source: Any = None
    null: tuple[str, ...] = ("",)
    separator: str = ","

    @classmethod
    def of(cls, given: Any) -> ColumnMapping:
        """A mapping from a TOML file or a tree of the same shape."""
        if isinstance(given, ColumnMapping):
            return given
        if isinstance(given, str | PathLike):
            try:
                tree: Any = tomllib.loads(Path(given).read_text("utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ArchiveError(f"{given}: not TOML: {error}", path=str(given)) from None
        else:
            tree = given
        if not isinstance(tree, Mapping):
            raise ArchiveError(f"a mapping is a table or the path of a TOML file, not {given!r:.80}")
        _known(tree, _TOP, "the mapping")
        columns = tree.get("columns", {})
        if not isinstance(columns, Mapping):
            raise ArchiveError(f"columns: a table of columns, not {columns!r:.80}")
        listed = tuple(_column(name, told) for name, told in columns.items())
        for part in _PARTS:
            _part(part, tree.get(part))
        separator = tree.get("separator", ",")
        if not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n':
            raise ArchiveError(f"separator: one character, not {separator!r:.80}")
        return cls(
            listed, tree.get("concept"), tree.get("time"), tree.get("id"), tree.get("source"),
            _markers(tree.get("null", [""]), "null"), separator,
        )  # fmt: skip

    @property
    def digest(self) -> str:
        """A name for the content."""
        return hashlib.sha256(repr(self).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that a file must have."""
        found = [one.column for one in self.columns]
        for told in (
            self.concept,
            self.time,
            self.id,
            self.source,
            *(v for c in self.columns for v in c.aspects.values()),
        ):
            if isinstance(told, Mapping):
                found.extend([told["column"]] if "column" in told else told.get("columns", []))
        return tuple(dict.fromkeys(found))

    def check(self, names: Sequence[str], path: str) -> None:
        """An error where a file lacks what is mapped."""
        for column in self.needed:
            if column not in names:
                offered = hint(near(column, names)) or f" It has {', '.join(names)[:300]}."
                raise ArchiveError(f"{path} has no column {column!r}.{offered}", path=path, column=column)

    def apply(self, table: pa.Table, rows: Any, ontology: Any) -> tuple[pa.Table, list[Fault]]:
        """A table of a foreign archive as events, and the cells that could not be read."""
        work = _Applying(self, table, rows, ontology)
        return work.made(), work.faults


def _known(tree: Mapping[str, Any], words: set[str], place: str) -> None:
    for key in tree:
        if key not in words:
            raise ArchiveError(f"{place}: unknown key {key!r}.{hint(near(str(key), words))}", key=key)


def _column(name: str, told: Any) -> MappedColumn:
    told = {"attribute": told} if isinstance(told, str) else told
    if not isinstance(told, Mapping) or not isinstance(told.get("attribute"), str):
        raise ArchiveError(f"column {name!r}: give the attribute it holds", column=name)
    kind = told.get("type")
    if kind is not None and kind not in TYPES:
        raise ArchiveError(f"column {name!r}: no type {kind!r}.{hint(near(str(kind), TYPES))}", column=name)
    aspects = {key: value for key, value in told.items() if key not in _COLUMN}
    null = None if told.get("null") is None else _markers(told["null"], f"column {name!r}: null")
    listed = told.get("codes", {})
    if not isinstance(listed, Mapping):
        raise ArchiveError(f"column {name!r}: codes are a table, not {listed!r:.80}", column=name)
    codes = {str(key): str(value) for key, value in listed.items()}
    return MappedColumn(name, told["attribute"], kind, aspects, codes, null)


def _markers(given: Any, place: str) -> tuple[str, ...]:
    if not isinstance(given, str | list | tuple):
        raise ArchiveError(f"{place}: a text or a list of texts, not {given!r:.80}")
    return tuple(map(str, [given] if isinstance(given, str) else given))


def _part(part: str, told: Any) -> None:
    if isinstance(told, Mapping):
        _known(told, {"column", "columns", "timezone", "codes"}, part)
        if ("column" in told) == ("columns" in told):
            raise ArchiveError(f"{part}: give either column or columns", part=part)
        if not isinstance(told.get("codes", {}), Mapping):
            raise ArchiveError(f"{part}: codes are a table, not {told['codes']!r:.80}", part=part)
    elif not isinstance(told, str | None):
        raise ArchiveError(f"{part}: text, or a table that names a column, not {told!r:.80}", part=part)


class _Applying:
    """One table under a mapping."""

    def __init__(self, mapping: ColumnMapping, table: pa.Table, rows: Any, ontology: Any) -> None:
        self.mapping, self.table, self.rows, self.ontology = mapping, table, rows, ontology
        self.faults: list[Fault] = []

    def made(self) -> pa.Table:
        fields: list[pa.Field] = []
        arrays: list[Any] = []

        def add(name: str, array: Any, metadata: Mapping[str, str] | None = None) -> None:
            arrays.append(array)
            fields.append(pa.field(name, array.type, metadata=dict(metadata) if metadata else None))

        for part in _PARTS:
            told = getattr(self.mapping, part)
            if isinstance(told, Mapping):
                add(f"@{part}", self.time(told) if part == "time" else self.text(told))
            elif told is not None:
                indices = pa.array(np.zeros(self.table.num_rows, np.int32))
                add(f"@{part}", pa.DictionaryArray.from_arrays(indices, pa.array([told])))
        for one in self.mapping.columns:
            name = one.attribute if _is_path(one.attribute) else Column((one.attribute,)).name
            fixed = {key: str(value) for key, value in one.aspects.items() if not isinstance(value, Mapping)}
            add(name, self.values(one), fixed)
            for aspect, told in one.aspects.items():
                if isinstance(told, Mapping):
                    add(f"{name}@{aspect}", self.text(told))
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def cells(self, name: str, markers: tuple[str, ...]) -> Any:
        """A column with null markers taken out."""
        column = self.table.column(name)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            plain = column.cast(pa.string())
            return pc.if_else(pc.is_in(plain, pa.array(markers, pa.string())), pa.scalar(None, pa.string()), plain)
        if pa.types.is_floating(kind) and {"nan", "NaN", "NAN"} & set(markers):
            return pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        return column

    def text(self, told: Mapping[str, Any]) -> Any:
        names = [told["column"]] if "column" in told else list(told["columns"])
        columns = [self.cells(name, self.mapping.null).cast(pa.string()) for name in names]
        made = columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "-")
        return _coded(made, told.get("codes", {}))

    def time(self, told: Mapping[str, Any]) -> Any:
        if "columns" in told:
            given: Any = pc.binary_join_element_wise(
                *[self.cells(name, self.mapping.null).cast(pa.string()) for name in told["columns"]], " "
            )
        else:
            given = self.cells(told["column"], self.mapping.null)
        zone = told.get("timezone")
        if pa.types.is_timestamp(given.type) and given.type.tz is not None:
            return given
        encoded = (
            given.combine_chunks().dictionary_encode()
            if isinstance(given, pa.ChunkedArray)
            else given.dictionary_encode()
        )
        encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
        stood: list[int | None] = []
        wrong: dict[int, str] = {}
        for code, value in enumerate(encoded.dictionary.to_pylist()):
            try:
                stood.append(Instant.of(value, zone).ns)
            except ConceptPubSubError as error:
                stood.append(None)
                wrong[code] = str(error)
        if wrong:
            codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            for place in np.flatnonzero(np.isin(codes, list(wrong))).tolist():
                self.fault(place, "@time", wrong[int(codes[place])], encoded[place].as_py(), MALFORMED)
        return pa.array(stood, pa.int64()).take(encoded.indices).cast(pa.timestamp("ns", "UTC"))

    def values(self, one: MappedColumn) -> Any:
        given = self.cells(one.column, self.mapping.null if one.null is None else one.null)
        given = _coded(given, one.codes)
        wanted = TYPES[self.kind(one)]
        if not pa.types.is_string(given.type):
            return given.cast(pa.string()) if wanted == pa.string() and self.kind(one) == "text" else given
        if wanted == pa.string():
            return given
        try:
            return given.cast(wanted)
        except pa.ArrowInvalid:
            return self.each(one, given, wanted)

    def each(self, one: MappedColumn, given: Any, wanted: pa.DataType) -> Any:
        """A column some of whose cells are not of its type."""
        values = given.to_pylist()
        known: dict[str | None, Any] = {None: None}
        for place, text in enumerate(values):
            if text not in known:
                try:
                    known[text] = pa.array([text]).cast(wanted)[0].as_py()
                except pa.ArrowInvalid:
                    known[text] = None
            if text is not None and known[text] is None:
                detail = f"{text[:80]!r} is not of the type {self.kind(one)}"
                self.fault(place, one.attribute, detail, text, OUT_OF_TYPE)
        return pa.array([known[text] for text in values], wanted)

    def kind(self, one: MappedColumn) -> str:
        if one.type is not None:
            return one.type
        found = None if self.ontology is None else self.ontology.find(Column.parse(one.attribute).path[-1])
        declared = None if found is None else found.value_type
        if declared in TYPES:
            return str(declared)
        numeric = {"unit", "currency", "scale"} & set(one.aspects) or (found is not None and found.canonical_unit)
        return "real" if numeric else "text"

    def fault(self, place: int, attribute: str, detail: str, record: Any, reason: str) -> None:
        kept = None if len(self.faults) > 1000 else str(record)[:_SHOWN]
        self.faults.append(Fault(int(self.rows[place]), reason, detail, attribute, kept))


def _is_path(name: str) -> bool:
    try:
        return Column.parse(name).aspect is None
    except ConceptPubSubError:
        return False


def _coded(given: Any, codes: Mapping[str, str]) -> Any:
    """Values replaced by a code list; what it does not hold stays."""
    if not codes:
        return given
    plain = given.cast(pa.string())
    place = pc.index_in(plain, pa.array(list(codes), pa.string()))
    return pc.coalesce(pa.array(list(codes.values()), pa.string()).take(place), plain)
