"""Converters that installed packages bring: entry points of the group ``conceptpubsub.converters``.

The name of an entry point is the aspect it converts (``currency``; ``currency.ecb`` where there are several), and what
it loads is what ``register`` takes. One that fails to load is a warning, not a crash.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

GROUP = "conceptpubsub.converters"


def installed() -> Iterator[tuple[str, Any]]:
    """(aspect, converter) of each entry point that loads, in the order of their names."""
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        try:
            yield point.name.partition(".")[0], point.load()
        except Exception as error:
            warn(point.name, error)


def warn(name: str, error: Exception) -> None:
    """Say that a plugin is left out, and why."""
    warnings.warn(
        f"the converter plugin {name!r} is left out: {type(error).__name__}: {error!s:.200}",
        RuntimeWarning,
        stacklevel=2,
    )
