"""Instants: exact UTC points in nanoseconds since 1970, whatever form they arrive in.

Rule 1  What ``isoformat`` writes, ``parse`` reads back as the same instant, also far outside the calendar.
Rule 2  A naive time needs a zone. In the hour that a zone repeats, the first pass is meant.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from conceptpubsub.errors import InvalidValue

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d\d(?::?[0-5]\d)?)?\Z",
    re.ASCII,
)
_COUNTED = re.compile(r"(-?[0-9]{1,30})ns\Z")  # how an instant outside the years 1 to 9999 is written
_NANOSECONDS = {  # of NumPy's units; a year and a month have no fixed length
    "W": 604_800 * 10**9,
    "D": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time, exact to the nanosecond.

    >>> Instant.parse("2026-11-18T05:00Z").isoformat()
    '2026-11-18T05:00:00Z'
    """

    ns: int

    @classmethod
    def parse(cls, text: str, zone: str | None = None) -> Instant:
        """Read ISO 8601. A text without an offset needs ``zone``; a bare date is its midnight.

        >>> Instant.parse("2026-07-01 12:00", zone="Europe/Berlin")
        Instant(ns=1782900000000000000)
        """
        text = text.strip() if len(text) <= 64 else text[:64] + "…"
        if counted := _COUNTED.match(text):
            return cls(int(counted[1]))
        found = _ISO.match(text)
        if not found:
            raise InvalidValue(f"{text!r} is not an ISO 8601 instant such as 2026-11-18T05:00Z", value=text)
        year, month, day, hour, minute, second, fraction, offset = found.groups()
        try:
            naive = dt.datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        except ValueError as error:
            raise InvalidValue(f"{text!r} is not an instant: {error}", value=text) from None
        if offset is None and zone is None:
            raise InvalidValue(
                f"{text!r} has no time zone: end it with Z or an offset, or give the aspect timezone", value=text
            )
        aware = naive.replace(tzinfo=time_zone(zone or "UTC") if offset is None else _offset(offset, text))
        return cls(_nanoseconds(aware) + int((fraction or "0").ljust(9, "0")))

    @classmethod
    def of(cls, value: Any, zone: str | None = None) -> Instant:
        """An instant from a datetime, date, NumPy or pandas timestamp, ISO text or another instant."""
        if isinstance(value, Instant):
            return value
        if isinstance(value, str):
            return cls.parse(value, zone)
        if type(value).__name__ in ("datetime64", "NaTType") and str(value) == "NaT":
            raise InvalidValue("NaT is not an instant; leave the attribute out where a value is missing", value="NaT")
        if isinstance(value, dt.datetime):
            extra = int(getattr(value, "nanosecond", 0))
            if value.utcoffset() is None:
                if zone is None:
                    raise InvalidValue(
                        f"{value} has no time zone: make it aware, or give the aspect timezone", value=str(value)
                    )
                value = value.replace(tzinfo=time_zone(zone))
            return cls(_nanoseconds(value) + extra)
        if isinstance(value, dt.date):
            return cls.of(dt.datetime(value.year, value.month, value.day), zone)
        if type(value).__name__ == "datetime64":  # NumPy's own reading of one without a zone is UTC
            ns = _numpy_nanoseconds(value)
            return cls(ns) if zone in (None, "UTC", "Z") else cls.parse(cls(ns).isoformat().removesuffix("Z"), zone)
        shown = repr(value)[:200]
        raise InvalidValue(f"{shown} is not an instant", value=shown)

    def isoformat(self) -> str:
        """ISO 8601 in UTC, with only the digits it needs; outside the years 1 to 9999 a count such as ``-7ns``."""
        seconds, ns = divmod(self.ns, 1_000_000_000)
        try:
            base = (_EPOCH + dt.timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
        except OverflowError:
            return f"{self.ns}ns"
        return base + (f".{ns:09d}".rstrip("0") if ns else "") + "Z"

    def datetime(self) -> dt.datetime:
        """An aware datetime, cut to microseconds."""
        try:
            return _EPOCH + dt.timedelta(microseconds=self.ns // 1000)
        except OverflowError:
            raise InvalidValue(f"{self.ns}ns lies outside the years 1 to 9999 of a datetime", value=self.ns) from None

    def __str__(self) -> str:
        return self.isoformat()


@lru_cache(maxsize=1024)
def time_zone(name: str) -> dt.tzinfo:
    """The zone of that name, from the system's or the packaged tables; never a path."""
    if name in ("UTC", "Z"):
        return dt.UTC
    shown = str(name)[:100]
    try:
        return ZoneInfo(shown)
    except (KeyError, ValueError, OSError):
        raise InvalidValue(f"no time zone {shown!r}; zones are named like Europe/Berlin", value=shown) from None


def _offset(offset: str, text: str) -> dt.tzinfo:
    if offset in "Zz":
        return dt.UTC
    minutes = int(offset[1:3]) * 60 + (int(offset[-2:]) if len(offset) > 3 else 0)
    if minutes >= 24 * 60:
        raise InvalidValue(f"the offset {offset} is not below 24 hours", value=text)
    return dt.timezone(dt.timedelta(minutes=-minutes if offset[0] == "-" else minutes))


def _numpy_nanoseconds(value: Any) -> int:
    import numpy  # whoever holds a datetime64 has loaded it

    unit, count = numpy.datetime_data(value.dtype)
    if unit in ("Y", "M"):
        value, unit, count = value.astype("datetime64[D]"), "D", 1
    if unit not in _NANOSECONDS:
        raise InvalidValue(f"{value} is counted in {unit}, finer than a nanosecond", value=str(value))
    return int(value.astype("int64")) * count * _NANOSECONDS[unit]


def _nanoseconds(aware: dt.datetime) -> int:
    past = aware - _EPOCH
    return (past.days * 86_400 + past.seconds) * 1_000_000_000 + past.microseconds * 1000
