"""Converters that installed packages bring: entry points of the group ``conceptpubsub.converters``.

The name of an entry point is the aspect it converts (``currency``; ``currency.ecb`` where there are several), and what
it loads is what ``register`` takes. One that fails to load is a warning, not a crash.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GROUP = "conceptpubsub.converters"


def installed() -> Iterator[tuple[str, Any]]:
    """(aspect, converter) of each entry point that loads, in the order of their names."""
    for point in _points(tuple(sys.path)):
        try:
            yield point.name.partition(".")[0], point.load()
        except Exception as error:
            warn(point.name, error)


@lru_cache(maxsize=8)
def _points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points to be found on a path: looked up once, for it reads the metadata of every package."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda each: each.name))


def warn(name: str, error: Exception) -> None:
    """Say that a plugin is left out, and why."""
    warnings.warn(
        f"the converter plugin {name!r} is left out: {type(error).__name__}: {error!s:.200}",
        RuntimeWarning,
        stacklevel=2,
    )
