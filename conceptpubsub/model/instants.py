"""Instants: exact UTC points in nanoseconds since 1970, whatever form they arrive in."""

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
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d\d:?\d\d)?\Z"
)
_LIMIT = 1 << 80


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time, exact to the nanosecond.

    >>> Instant.parse("2026-11-18T05:00Z").isoformat()
    '2026-11-18T05:00:00Z'
    """

    ns: int

    @classmethod
    def parse(cls, text: str, zone: str | None = None) -> Instant:
        """Read ISO 8601. A text without an offset needs ``zone``; a bare date is its midnight."""
        found = _ISO.match(text.strip()) if len(text) <= 64 else None
        if not found:
            raise InvalidValue(
                f"{text[:64]!r} is not an ISO 8601 instant such as 2026-11-18T05:00Z", value=text[:64]
            )
        year, month, day, hour, minute, second, fraction, offset = found.groups()
        try:
            naive = dt.datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        except ValueError as error:
            raise InvalidValue(f"{text[:64]!r} is not an instant: {error}", value=text[:64]) from None
        if offset is None:
            if zone is None:
                raise InvalidValue(
                    f"{text[:64]!r} has no time zone: end it with Z or an offset, or give the aspect timezone",
                    value=text[:64],
                )
            aware = naive.replace(tzinfo=time_zone(zone))
        elif offset in "Zz":
            aware = naive.replace(tzinfo=dt.UTC)
        else:
            minutes = int(offset[1:3]) * 60 + int(offset[-2:])
            shift = dt.timedelta(minutes=-minutes if offset[0] == "-" else minutes)
            if abs(shift) >= dt.timedelta(days=1):
                raise InvalidValue(f"the offset {offset} is not below 24 hours", value=text[:64])
            aware = naive.replace(tzinfo=dt.timezone(shift))
        return cls(_nanoseconds(aware) + int((fraction or "0").ljust(9, "0")))

    @classmethod
    def of(cls, value: Any, zone: str | None = None) -> Instant:
        """An instant from a datetime, date, NumPy or pandas timestamp, ISO text or another instant."""
        if isinstance(value, Instant):
            return value
        if isinstance(value, str):
            return cls.parse(value, zone)
        if isinstance(value, dt.datetime):
            extra = int(getattr(value, "nanosecond", 0))
            if value.tzinfo is None:
                if zone is None:
                    raise InvalidValue(f"{value} has no time zone: make it aware, or give the aspect timezone", value=str(value))
                value = value.replace(tzinfo=time_zone(zone))
            return cls(_nanoseconds(value) + extra)
        if isinstance(value, dt.date):
            return cls.of(dt.datetime(value.year, value.month, value.day), zone)
        if type(value).__name__ == "datetime64":
            text = str(value.astype("datetime64[ns]"))
            if text == "NaT":
                raise InvalidValue("NaT is not an instant; leave the attribute out where a value is missing", value="NaT")
            return cls.parse(text, zone or "UTC")
        raise InvalidValue(f"{value!r} is not an instant", value=repr(value)[:200])

    def isoformat(self) -> str:
        """ISO 8601 in UTC, with only the digits it needs."""
        seconds, ns = divmod(self.ns, 1_000_000_000)
        try:
            base = (_EPOCH + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
        except OverflowError:
            return f"{self.ns}ns"
        return base + (f".{ns:09d}".rstrip("0") if ns else "") + "Z"

    def datetime(self) -> dt.datetime:
        """An aware datetime, cut to microseconds."""
        return _EPOCH + dt.timedelta(microseconds=self.ns // 1000)

    def __str__(self) -> str:
        return self.isoformat()


@lru_cache(maxsize=1024)
def time_zone(name: str) -> dt.tzinfo:
    """The zone of that name, from the system's or the packaged tables; never a path."""
    if name in ("UTC", "Z"):
        return dt.UTC
    try:
        return ZoneInfo(name[:100])
    except (KeyError, ValueError, OSError):
        raise InvalidValue(f"no time zone {name[:100]!r}; zones are named like Europe/Berlin", value=name[:100]) from None


def _nanoseconds(aware: dt.datetime) -> int:
    past = aware - _EPOCH
    return (past.days * 86_400 + past.seconds) * 1_000_000_000 + past.microseconds * 1000
