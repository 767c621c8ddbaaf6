"""Currency rates as of a day.

Rule 1  A table has one pivot currency, so rate(a, c) is exactly rate(a, b) * rate(b, c).
Rule 2  The rate of a day is the last one on or before it, at most ``look_back`` days old. Older or none: no rate.
Rule 3  A dated table without a time has no rate: today's rate is not the event's.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from typing import Any

from conceptpubsub.errors import ConceptPubSubError, InvalidValue
from conceptpubsub.model.instants import Instant, time_zone
from conceptpubsub.model.values import Exact, exact, simplest

LOOK_BACK = 7
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_ALWAYS = 0
_KEPT = 65536


def day_of(at: Instant | None, zone: str) -> int | None:
    """The ordinal of the day that an instant falls on in a zone; None without a time or beyond the calendar."""
    if at is None:
        return None
    try:
        return at.datetime().astimezone(time_zone(zone)).toordinal()
    except (OverflowError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class RateTable:
    """Units of each currency for one unit of the pivot, by day or for ever.

    >>> table = RateTable.of({"2026-11-17": {"USD": 1.25}, "2026-11-18": {"USD": 1.2}}, pivot="EUR")
    >>> table.rate("USD", "EUR", Instant.parse("2026-11-18T05:00Z"))
    Fraction(5, 6)
    """

    pivot: str
    days: Mapping[str, tuple[int, ...]]
    values: Mapping[str, tuple[Exact, ...]]
    look_back: int = LOOK_BACK
    timezone: str = "UTC"
    dated: bool = True

    @classmethod
    def of(
        cls,
        rates: Mapping[Any, Any],
        pivot: str | None = None,
        look_back: int = LOOK_BACK,
        timezone: str = "UTC",
    ) -> RateTable:
        """Read a mapping, in any of these shapes; a number is units of the currency for one of the pivot:

        ``{"USD": 1.08}``, ``{day: {"USD": 1.08}}``, ``{"USD": {day: 1.08}}``, ``{("EUR", "USD"): 1.08}`` or
        ``{("EUR", "USD"): {day: 1.08}}``.
        """
        time_zone(timezone)
        rows = [row for key, value in rates.items() for row in _rows(key, value)]
        if not rows:
            raise InvalidValue("a table of rates without a rate", value="{}")
        chosen = pivot or _pivot(rows)
        found: dict[str, dict[int, Exact]] = {}
        for source, target, day, number in rows:
            currency, value = _against(chosen, source, target, number)
            found.setdefault(currency, {})[day] = value
        ordered = {currency: sorted(by_day.items()) for currency, by_day in found.items()}
        return cls(
            chosen,
            {currency: tuple(day for day, _ in pairs) for currency, pairs in ordered.items()},
            {currency: tuple(value for _, value in pairs) for currency, pairs in ordered.items()},
            look_back,
            timezone,
            any(day != _ALWAYS for _, _, day, _ in rows),
        )

    @classmethod
    def read(cls, path: str | PathLike[str], pivot: str, **options: Any) -> RateTable:
        """Read a CSV file with the columns date, currency, rate."""
        table: dict[str, dict[str, str]] = {}
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            try:
                missing = [name for name in ("date", "currency", "rate") if name not in (reader.fieldnames or ())]
                if missing:
                    raise InvalidValue(f"{path}: no column {missing[0]!r}; rates have date, currency and rate")
                for row in reader:
                    if None in (row["date"], row["currency"], row["rate"]):
                        raise InvalidValue(f"{path}, line {reader.line_num}: too few cells")
                    table.setdefault(row["date"], {})[row["currency"]] = row["rate"]
            except (UnicodeDecodeError, csv.Error) as error:
                raise InvalidValue(f"{path}: not a CSV file in UTF-8: {error}") from None
        try:
            return cls.of(table, pivot, **options)
        except ConceptPubSubError as error:
            raise InvalidValue(f"{path}: {error}") from error

    def rate(self, source: str, target: str, at: Instant | None) -> Exact | None:
        """Units of target for one unit of source on the day of ``at``."""
        if source == target:
            return 1
        day = day_of(at, self.timezone) if self.dated else _ALWAYS
        if self.dated and day is None:
            return None
        above, below = self._on(target, day or _ALWAYS), self._on(source, day or _ALWAYS)
        return None if above is None or below is None else simplest(Fraction(above) / below)

    def _on(self, currency: str, day: int) -> Exact | None:
        if currency == self.pivot:
            return 1
        days = self.days.get(currency, ())
        place = bisect_right(days, day) - 1
        if place < 0 or (days[place] != _ALWAYS and day - days[place] > self.look_back):
            return None
        return self.values[currency][place]

    @property
    def digest(self) -> str:
        """A name for the content: equal tables have equal digests."""
        content = (self.pivot, sorted(self.days.items()), sorted(self.values.items()), self.look_back, self.timezone)
        return hashlib.sha256(repr(content).encode()).hexdigest()

    @property
    def name(self) -> str:
        """How listings call it."""
        codes = sorted(self.days)
        shown = ", ".join(codes[:6]) + (", …" if len(codes) > 6 else "")
        return f"rates against {self.pivot} for {shown}"


@dataclass(frozen=True, slots=True)
class ForeignRates:
    """Rates from an object with ``convert(amount, currency, new_currency, date=…)``, such as ``CurrencyConverter``.

    All rates run through its reference currency, so they are consistent whatever the object rounds.
    """

    source: Any
    look_back: int = LOOK_BACK
    timezone: str = "UTC"
    _known: dict[tuple[str, int], Exact | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def pivot(self) -> str:
        """The object's reference currency."""
        return str(getattr(self.source, "ref_currency", "EUR"))

    @property
    def name(self) -> str:
        """How listings call it."""
        return f"rates of {type(self.source).__name__} against {self.pivot}"

    def rate(self, source: str, target: str, at: Instant | None) -> Exact | None:
        """Units of target for one unit of source on the day of ``at``."""
        if source == target:
            return 1
        day = day_of(at, self.timezone)
        if day is None:
            return None
        above, below = self._on(target, day), self._on(source, day)
        return None if above is None or below is None else simplest(Fraction(above) / below)

    def _on(self, currency: str, day: int) -> Exact | None:
        if currency == self.pivot:
            return 1
        if (currency, day) not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[currency, day] = self._ask(currency, day)
        return self._known[currency, day]

    def _ask(self, currency: str, day: int) -> Exact | None:
        for back in range(self.look_back + 1):
            try:
                date = dt.date.fromordinal(day - back)
                return exact(self.source.convert(1, self.pivot, currency, date=date))
            except Exception as error:
                if not _says_no_rate(error):
                    raise
        return None


def _says_no_rate(error: Exception) -> bool:
    """Whether an error only says that there is no such rate; what is really wrong is for the caller to report."""
    return isinstance(error, ValueError | LookupError) or "NotFound" in type(error).__name__


@dataclass(frozen=True, slots=True)
class RateFunction:
    """A function ``f(source, target, at)`` that gives the rate, or None."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """How listings call it."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def rate(self, source: str, target: str, at: Instant | None) -> Exact | None:
        """Units of target for one unit of source."""
        found = self.function(source, target, at)
        if found is None:
            return None
        number = exact(found)
        if number <= 0:
            raise InvalidValue(
                f"the rate from {source} to {target} is {number}; a rate is above zero", value=str(found)
            )
        return number


def rates_of(given: Any, pivot: str | None, look_back: int, timezone: str) -> Any:
    """The source of rates behind what was registered: a mapping, a table, a converter object, a function."""
    if isinstance(given, Mapping):
        return RateTable.of(given, pivot, look_back, timezone)
    if callable(getattr(given, "rate", None)):
        return given
    if callable(getattr(given, "convert", None)):
        return ForeignRates(given, look_back, timezone)
    if callable(given):
        return RateFunction(given)
    raise InvalidValue(
        "rates are a mapping, a function (source, target, at), or an object with rate() or convert()",
        value=repr(given)[:200],
    )


def _rows(key: Any, value: Any) -> list[tuple[str | None, str, int, Any]]:
    """(source or None for the pivot, target, day, rate) of one entry."""
    if isinstance(key, tuple) and len(key) == 2:
        source, target = key
    elif (day := _day(key)) is not None:
        return [(None, str(currency), day, number) for currency, number in value.items()]
    else:
        source, target = None, str(key)
    if isinstance(value, Mapping):
        return [(source, target, _day(when) or _wrong(when), number) for when, number in value.items()]
    return [(source, target, _ALWAYS, value)]


def _day(key: Any) -> int | None:
    if isinstance(key, Instant):
        return day_of(key, "UTC")
    if isinstance(key, dt.date):
        return key.toordinal()
    if isinstance(key, str) and _DATE.match(key):
        return dt.date.fromisoformat(key).toordinal()
    return None


def _wrong(key: Any) -> int:
    raise InvalidValue(f"{key!r} is not a day such as 2026-11-18", value=repr(key)[:80])


def _pivot(rows: list[tuple[str | None, str, int, Any]]) -> str:
    counted = Counter(code for source, target, _, _ in rows if source is not None for code in (source, target))
    if not counted:
        raise InvalidValue("rates per currency need the currency they count against: pivot='EUR'", value="")
    return counted.most_common(1)[0][0]


def _against(pivot: str, source: str | None, target: str, number: Any) -> tuple[str, Exact]:
    value = exact(number)
    if value <= 0:
        raise InvalidValue(f"the rate of {target} is {number}; a rate is above zero", value=str(number))
    if source is None or source == pivot:
        return target, value
    if target == pivot:
        return source, simplest(1 / Fraction(value))
    raise InvalidValue(
        f"the pair {source}/{target} does not hold the pivot {pivot}: one pivot keeps rates consistent",
        value=f"{source}/{target}",
    )
