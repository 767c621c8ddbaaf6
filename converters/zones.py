"""Time zones: an instant is the same everywhere; what changes is how it is written.

An ``Instant`` stays what it is, and its context says in which zone to show it. Text and naive datetimes are written
anew in the target's zone.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from conceptpubsub.errors import NoConversion
from conceptpubsub.model.instants import Instant, time_zone


def local(instant: Instant, zone: str) -> str:
    """An instant as ISO 8601 text in a zone, with its offset and all its digits.

    >>> local(Instant.parse("2026-11-18T05:00Z"), "Europe/Berlin")
    '2026-11-18T06:00:00+01:00'
    """
    moment = instant.datetime().astimezone(time_zone(zone))
    text = moment.replace(microsecond=0).isoformat()
    ns = instant.ns % 1_000_000_000
    if not ns:
        return text
    return f"{text[:19]}.{ns:09d}".rstrip("0") + text[19:]


def rewritten(value: Any, source: str | None, target: str) -> Any:
    """A value that speaks of time, written for another zone."""
    time_zone(target)
    if isinstance(value, Instant):
        return value
    if isinstance(value, str):
        return local(Instant.of(value, source), target)
    if isinstance(value, dt.datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=time_zone(_needed(source, value)))
        return aware.astimezone(time_zone(target)).replace(tzinfo=None)
    if type(value).__name__ == "datetime64":
        return Instant.of(value, source)
    raise NoConversion(f"{value!r:.80} is not an instant, so it has no time zone", value=repr(value)[:200])


def _needed(source: str | None, value: Any) -> str:
    if source is None:
        raise NoConversion(f"{value} has no time zone: give it the aspect timezone", value=str(value))
    return source
