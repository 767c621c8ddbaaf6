"""CSV as events: a row an event, a column an attribute.

A header says what a column is: ``Temperature``, ``Temperature [degF]`` with its unit, ``price [EUR]`` with a currency,
``Temperature@unit`` for the unit row by row, ``@time``, ``@id``, ``@source`` and ``@concept`` for the event itself. A
cell is a number or a truth value where it reads as one and its column is not declared to be text; an empty one, or NA,
is missing. A row that is no event is given as the error in its place.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from conceptpubsub.errors import CodecError, ConceptPubSubError, InvalidValue, hint, near

if TYPE_CHECKING:
    from conceptpubsub.model import Ontology, SemanticEvent

_MISSING = frozenset({"", "NA", "N/A", "NaN", "null"})
_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_HEADER = re.compile(r"(?P<name>.*?)\s*(\[(?P<unit>[^\]]+)\])?\s*")
_PARTS = frozenset({"@concept", "@time", "@id", "@source"})


class _Column:
    """Where a cell goes: the attribute, the aspect of it (None: its value), and the aspects that the header gives."""

    def __init__(self, index: int, title: str, read: Callable[[str], Any]) -> None:
        from conceptpubsub.converters.currencies import is_currency

        found = _HEADER.fullmatch(title)
        assert found is not None
        name, unit = str(found["name"]), found["unit"]
        self.index, self.title, self.read = index, title, read
        self.name, _, aspect = (name, "", "") if name in _PARTS else name.partition("@")
        self.aspect = aspect or None
        self.fixed = {} if unit is None else {"currency" if is_currency(unit) else "unit": unit}


def rows(
    stream: IO[bytes], ontology: Ontology | None, types: Mapping[str, str], renamed: list[str]
) -> Iterator[tuple[int, SemanticEvent | CodecError]]:
    """The number of each line that ends a row, with its event or what is wrong with it.

    >>> table = io.BytesIO(b"Temperature [degF],city,@id\\n86,Rome,1\\n")
    >>> [(line, event["Temperature"].context, event.id) for line, event in rows(table, None, {}, [])]
    [(2, Context(unit='degF'), '1')]
    """
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(text)
    try:
        columns = _columns(next(reader, []), ontology, types, renamed)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield reader.line_num, CodecError(f"not CSV: {error}", place="")
                continue
            if cells:
                yield reader.line_num, _event(cells, columns)
    finally:
        text.detach()


def _columns(
    header: list[str], ontology: Ontology | None, types: Mapping[str, str], renamed: list[str]
) -> list[_Column]:
    if any("\0" in title or not _is_text(title) for title in header):
        raise InvalidValue("this is no table: its first line is not text in UTF-8")
    titles = dict(enumerate(header))
    if renamed:
        titles = {}
        for pair in renamed:
            old, sign, new = pair.partition("=")
            if not (old and sign and new):
                raise InvalidValue(f"--column takes COLUMN=NAME, not {pair!r}", value=pair)
            if old not in header:
                known = hint(near(old, header)) or f" There are {', '.join(header)[:300]}."
                raise InvalidValue(f"the table has no column {old!r}.{known}", name=old)
            titles[header.index(old)] = new
    made = [_Column(index, title, _number_or_text) for index, title in titles.items() if title.strip()]
    for place, column in enumerate(made):
        if any((other.name, other.aspect) == (column.name, column.aspect) for other in made[:place]):
            raise InvalidValue(f"two columns are called {column.title!r}: name one of them anew with --column")
        concept = None if ontology is None else ontology.find(column.name)
        declared = types.get(column.name) if concept is None else concept.value_type
        if column.aspect is not None or column.name in _PARTS or declared in ("text", "concept", "instant"):
            column.read = str
    return made


def _is_text(cell: str) -> bool:
    """Whether it was UTF-8: bytes that were not stand in it as surrogates."""
    return cell.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in cell)


def _number_or_text(cell: str) -> Any:
    if _NUMBER.fullmatch(cell):
        from conceptpubsub.model.codecs.strict_json import parse

        return parse(cell.removeprefix("+"))
    return {"true": True, "false": False}.get(cell.lower(), cell)


def _event(cells: list[str], columns: list[_Column]) -> SemanticEvent | CodecError:
    from conceptpubsub.model import SemanticEvent, SemanticObject

    head: dict[str, Any] = {}
    values: dict[str, Any] = {}
    aspects: dict[str, dict[str, Any]] = {}
    try:
        for column in columns:
            cell = cells[column.index].strip() if column.index < len(cells) else ""
            if cell in _MISSING:
                continue
            if not _is_text(cell):
                return CodecError(f"not UTF-8: the cell of {column.title}", place=column.title)
            if column.name in _PARTS:
                head[column.name[1:]] = cell
            elif column.aspect is not None:
                aspects.setdefault(column.name, {})[column.aspect] = cell
            else:
                values[column.name] = column.read(cell)
                if column.fixed:
                    aspects[column.name] = {**column.fixed, **aspects.get(column.name, {})}
        attributes = {name: SemanticObject(name, value, aspects.get(name, {})) for name, value in values.items()}
        return SemanticEvent(head.pop("concept", "Event"), attributes, **head)
    except ConceptPubSubError as error:
        return error if isinstance(error, CodecError) else CodecError(str(error), place="")
