"""Flow graphs as TOML files: sources, arcs in order, tables; Python functions are given by the caller.

.. code-block:: toml

    sinks = ["LargeTrades"]
    [tables.NYS]
    IBM = "International Business Machines"
    [[source]]
    name = "NYSE"
    schema = { issue = "text", price = "real USD", volume = "int" }
    [[arc]]
    kind = "transform"
    from = "NYSE"
    to = "Combined"
    outputs = { name = "NYS(issue)", price = "price", volume = "volume" }
    [[arc]]
    kind = "select"
    from = "Combined"
    to = "LargeTrades"
    where = "price * volume >= 1000000 USD"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conceptpubsub.converters import Converters
from conceptpubsub.errors import FlowError, hint, near
from conceptpubsub.flow.graph import FlowGraph

MAX_BYTES = 4 << 20
_KEYS = {
    "select": {"where"},
    "transform": {"outputs"},
    "collapse": {"key", "rules", "initial"},
    "expand": {"outputs"},
}
_NEEDED = {"select": {"where"}, "transform": {"outputs"}, "collapse": {"key", "rules"}, "expand": set()}


def load(path: str | Path, functions: Mapping[str, Any], converters: Converters | None = None) -> FlowGraph:
    """Read a graph; errors name the file and the arc."""
    file = Path(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise FlowError(f"{file}: larger than {MAX_BYTES >> 20} MiB", path=str(file))
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FlowError(f"{file}: cannot be read: {error.strerror or error}", path=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FlowError(f"{file}: not a TOML file: {error}", path=str(file)) from None
    return build(document, functions, converters, str(file))


def build(
    document: Mapping[str, Any], functions: Mapping[str, Any], converters: Converters | None, place: str
) -> FlowGraph:
    """A graph from a parsed document."""
    _known(document, {"sinks", "tables", "source", "arc"}, place)
    graph = FlowGraph(converters)
    named = {**_tables(document.get("tables", {}), place), **functions}
    for number, source in enumerate(_list(document, "source", place), 1):
        _known(source, {"name", "schema"}, f"{place}, source {number}")
        graph.source(_text(source, "name", f"{place}, source {number}"), source.get("schema", {}))
    for number, arc in enumerate(_list(document, "arc", place), 1):
        _arc(graph, arc, named, f"{place}, arc {number}")
    for name in document.get("sinks", []):
        graph.sink(str(name))
    return graph


def _arc(graph: FlowGraph, arc: Mapping[str, Any], named: Mapping[str, Any], place: str) -> None:
    kind = _text(arc, "kind", place)
    if kind not in _KEYS:
        raise FlowError(
            f"{place}: no arc is a '{kind}'.{hint(near(kind, _KEYS))} Arcs are {', '.join(_KEYS)}.", arc=place
        )
    _known(arc, {"kind", "from", "to", *_KEYS[kind]}, place)
    missing = sorted(_NEEDED[kind] - set(arc))
    if missing:
        raise FlowError(f"{place}: a {kind} needs {', '.join(missing)}", arc=place)
    ends = _text(arc, "from", place), _text(arc, "to", place)
    if kind == "select":
        graph.select(*ends, _text(arc, "where", place))
    elif kind == "transform":
        graph.transform(*ends, arc["outputs"], named)
    elif kind == "collapse":
        graph.collapse(
            *ends, key=_text(arc, "key", place), rules=arc["rules"], initial=arc.get("initial"), functions=named
        )
    else:
        graph.expand(*ends, arc.get("outputs"), named)


def _tables(given: Any, place: str) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(table, Mapping) for table in given.values()):
        raise FlowError(f"{place}: [tables.NAME] holds code = value pairs", arc=place)
    return dict(given)


def _list(document: Mapping[str, Any], key: str, place: str) -> list[Mapping[str, Any]]:
    found = document.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        raise FlowError(f"{place}: write each {key} as [[{key}]]", arc=place)
    return found


def _text(table: Mapping[str, Any], key: str, place: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise FlowError(f"{place}: '{key}' is missing or no text", arc=place)
    return value


def _known(table: Mapping[str, Any], keys: set[str], place: str) -> None:
    for key in table:
        if key not in keys:
            raise FlowError(f"{place}: unknown key '{key}'.{hint(near(str(key), keys))}", arc=place, key=str(key))
