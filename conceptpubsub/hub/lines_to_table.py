"""Stored lines of JSON to a table for matching, without making events of them.

The lines were written by ``to_json``, so their numbers are what a plain JSON reader makes of them. An attribute that
is more than a value with aspects (a type that JSON has not, a complex object, an awkward name) is read by the codec
and put into its columns by the codec.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from conceptpubsub.errors import LimitExceeded
from conceptpubsub.model.codecs.arrow_writing import MAX_COLUMNS, Cells, cells_to_table, collect
from conceptpubsub.model.codecs.columns import EVENT_COLUMNS, OWN_CONCEPT, Column
from conceptpubsub.model.codecs.plain_json import from_json
from conceptpubsub.model.instants import Instant

_FOR_THE_CODEC = frozenset({"type", "context", "attributes"})


def lines_to_table(lines: list[str]) -> pa.Table:
    """A row a line.

    >>> lines_to_table(['{"concept":"E","attributes":{"T":{"value":86,"unit":"degF"}}}'])["T"].to_pylist()
    [86]
    """
    heads: dict[str, Cells] = {name: {} for name in EVENT_COLUMNS}
    cells: dict[tuple[str, str | None], Cells] = {}
    odd: dict[Column, Cells] = {}
    for row, line in enumerate(lines):
        tree = json.loads(line)
        for name, column in heads.items():
            if name in tree:
                column[row] = Instant.parse(tree[name]) if name == "time" else tree[name]
        strange = [key for key, held in tree["attributes"].items() if not _put(key, held, row, cells)]
        if strange:
            attributes = from_json(line).attributes
            collect({key: attributes[key] for key in strange}, (), row, odd)
        if len(cells) + len(odd) > MAX_COLUMNS:
            raise LimitExceeded(f"events with more than {MAX_COLUMNS} columns between them", row=row)
    whole = {Column((), name): column for name, column in heads.items()}
    for (key, aspect), column in cells.items():
        whole[Column((key,), aspect)] = column
    for place, column in odd.items():
        whole[place] = whole.get(place, {}) | column
    return cells_to_table(whole, len(lines))


def _put(key: str, held: Any, row: int, cells: dict[tuple[str, str | None], Cells]) -> bool:
    """Put an attribute that is a value, perhaps with aspects, into its cells; False where it is more than that."""
    if type(held) is not dict:
        cells.setdefault((key, None), {})[row] = held
        return True
    if not _FOR_THE_CODEC.isdisjoint(held):
        return False
    for aspect, value in held.items():
        if type(value) is dict or aspect[:1] == "@":
            return False
    for aspect, value in held.items():
        name = None if aspect == "value" else OWN_CONCEPT if aspect == "concept" else aspect
        cells.setdefault((key, name), {})[row] = value
    return True
