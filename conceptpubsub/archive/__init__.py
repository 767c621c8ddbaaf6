"""The archive: past events against new subscriptions, on one machine or on Spark, with the same answers as live.

>>> from conceptpubsub.archive import Subscription
>>> Subscription("ada", "Temperature > 25 degC").id
'ada'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conceptpubsub.archive.mapping import ColumnMapping
    from conceptpubsub.archive.reprocessing import reprocess
    from conceptpubsub.archive.subscriptions import Subscription
    from conceptpubsub.archive.summary import Counts, Summary

__all__ = ["ColumnMapping", "Counts", "Subscription", "Summary", "reprocess"]

_HOMES = {
    "ColumnMapping": "mapping",
    "Counts": "summary",
    "Subscription": "subscriptions",
    "Summary": "summary",
    "reprocess": "reprocessing",
}


def __getattr__(name: str) -> Any:  # pyarrow is loaded by those who reprocess
    if name not in _HOMES:
        raise AttributeError(f"conceptpubsub.archive has no '{name}'")
    return getattr(import_module(f"conceptpubsub.archive.{_HOMES[name]}"), name)
