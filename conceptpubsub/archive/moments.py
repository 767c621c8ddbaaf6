"""Moments: times as codes that share their rates. Daily tables need a code a day, anything else one an instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.archive.columns import DAY, NO_TIME
from conceptpubsub.converters import Converters
from conceptpubsub.converters.rates import ForeignRates, RateTable
from conceptpubsub.model.codecs.arrow_codes import Codes
from conceptpubsub.model.instants import Instant


@dataclass(frozen=True, slots=True)
class Moments:
    """For each row a code, and an instant for each code that has the same rates."""

    codes: Codes
    instants: list[Instant | None]

    @classmethod
    def of(cls, at: Codes, converters: Converters) -> Moments:
        """The moments of times in nanoseconds.

        >>> daily = Converters().register("currency", {"2026-01-01": {"USD": 1}}, pivot="EUR")
        >>> found = Moments.of(np.array([0, 3600 * 10**9, DAY]), daily)
        >>> found.codes.tolist(), len(found.instants)
        ([0, 0, 1], 2)
        """
        zones = daily_zones(converters)
        if zones is None:
            keys = at
        elif len(zones) == 1:
            keys = _days(at, next(iter(zones)))
        else:
            keys = np.zeros(len(at), np.int64)
        if not len(at):
            return cls(np.zeros(0, np.int64), [])
        _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
        instants = [None if at[place] == NO_TIME else Instant(int(at[place])) for place in first.tolist()]
        return cls(codes.astype(np.int64), instants)


def daily_zones(converters: Converters) -> set[str] | None:
    """The zones in whose days rates are dated; None where a rate may depend on more than the day."""
    zones: set[str] = set()
    for entry in converters.registered("currency"):
        rates = entry.converter
        if isinstance(rates, RateTable):
            zones |= {rates.timezone} if rates.dated else set()
        elif isinstance(rates, ForeignRates):
            zones.add(rates.timezone)
        else:
            return None
    return None if len(zones) > 1 else zones


def _days(at: Codes, zone: str) -> Codes:
    none = at == NO_TIME
    if zone == "UTC":
        return np.where(none, NO_TIME, at // DAY)
    stamps = pa.array(np.where(none, 0, at)).cast(pa.timestamp("ns", "UTC")).cast(pa.timestamp("ns", zone))
    local = pc.local_timestamp(stamps).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.where(none, NO_TIME, local // DAY)
