"""Codecs: events as plain JSON, as CloudEvents with JSON-LD, as Arrow tables; each reads back what it wrote.

>>> from conceptpubsub.model import SemanticEvent
>>> event = SemanticEvent("Ping", {"Load": 0.5}, id="1", source="/pump/7")
>>> from_json(to_json(event)) == from_cloudevent(to_cloudevent(event)) == event
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from conceptpubsub.model.codecs.cloudevents import from_cloudevent, to_cloudevent
from conceptpubsub.model.codecs.lines import read_lines
from conceptpubsub.model.codecs.plain_json import from_json, to_json

if TYPE_CHECKING:
    from conceptpubsub.model.codecs.arrow_reading import table_to_events
    from conceptpubsub.model.codecs.arrow_writing import events_to_table

__all__ = [
    "events_to_table",
    "from_cloudevent",
    "from_json",
    "read_lines",
    "table_to_events",
    "to_cloudevent",
    "to_json",
]


_HOMES = {"events_to_table": "arrow_writing", "table_to_events": "arrow_reading"}


def __getattr__(name: str) -> Any:  # pyarrow is loaded by those who ask for tables
    if name not in _HOMES:
        raise AttributeError(f"conceptpubsub.model.codecs has no '{name}'")
    return getattr(import_module(f"conceptpubsub.model.codecs.{_HOMES[name]}"), name)
