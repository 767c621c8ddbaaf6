"""Instants are exact, whatever form they arrive in, and write themselves so that they read back."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import InvalidValue
from conceptpubsub.model.instants import Instant, time_zone

SECOND = 1_000_000_000
CET = dt.timezone(dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-11-18T05:00Z", "2026-11-18T05:00:00Z"),
        ("2026-11-18 05:00:00z", "2026-11-18T05:00:00Z"),
        ("2026-11-18t05:00:00.1Z", "2026-11-18T05:00:00.1Z"),
        ("2026-11-18T05:00:00,000000001+00:00", "2026-11-18T05:00:00.000000001Z"),
        ("2026-11-18T05:00:00-0530", "2026-11-18T10:30:00Z"),
        ("2026-11-18T05:00:00+01", "2026-11-18T04:00:00Z"),
        ("2026-11-18Z", "2026-11-18T00:00:00Z"),
        ("0001-01-01T00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_iso_8601_in_its_usual_spellings(text: str, same: str) -> None:
    assert Instant.parse(text).isoformat() == same


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-18T05:00",
        "2026-11-18",
        "2026-02-30T00:00Z",
        "2026-11-18T24:00Z",
        "2026-11-18T23:59:60Z",
        "2026-11-18T05:00+25:00",
        "2026-11-18T05:00+01:99",
        "2026-11-18T05:00:00.1234567890Z",
        "٢٠٢٦-11-18T05:00Z",
        "yesterday",
        "",
        "9" * 100_000,
        "9" * 40 + "ns",
    ],
)
def test_what_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        Instant.parse(text)
    assert len(str(caught.value)) < 300


@given(st.integers(min_value=-(10**29), max_value=10**29))
def test_every_instant_reads_back(ns: int) -> None:
    assert Instant.parse(str(Instant(ns))) == Instant(ns)


@given(st.datetimes(timezones=st.just(dt.UTC)))
def test_a_datetime_goes_there_and_back(when: dt.datetime) -> None:
    assert Instant.of(when).datetime() == when
    assert Instant.parse(when.isoformat()) == Instant.of(when)


def test_a_naive_time_needs_a_zone() -> None:
    naive = dt.datetime(2026, 7, 1, 12)
    with pytest.raises(InvalidValue, match="timezone"):
        Instant.of(naive)
    assert Instant.of(naive, "Europe/Berlin") == Instant.parse("2026-07-01T10:00Z")
    assert Instant.of(dt.date(2026, 7, 1), "UTC") == Instant.parse("2026-07-01T00:00Z")
    assert Instant.parse("2026-07-01 12:00", "Europe/Berlin") == Instant.of(naive, "Europe/Berlin")


def test_the_hour_a_zone_repeats_is_its_first_pass() -> None:
    assert Instant.parse("2026-10-25T02:30", "Europe/Berlin") == Instant.parse("2026-10-25T00:30Z")


def test_pandas_and_numpy_keep_their_nanoseconds() -> None:
    text = "2026-01-01T00:00:00.123456789"
    exactly = Instant.parse(text + "Z")
    assert Instant.of(pd.Timestamp(text + "Z")) == exactly
    assert Instant.of(pd.Timestamp(text), "UTC") == exactly
    assert Instant.of(np.datetime64(text)) == exactly
    assert Instant.of(np.datetime64(text), "Europe/Berlin") == Instant(exactly.ns - 3600 * SECOND)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us"])
def test_a_datetime64_far_away_does_not_wrap(unit: str) -> None:
    value = np.datetime64("9999-12-30T00:00:00").astype(f"datetime64[{unit}]")
    assert Instant.of(value).isoformat()[:19] == str(value.astype("datetime64[s]"))
    assert Instant.of(np.datetime64(5, f"25{unit}" if unit not in "YMW" else unit)).ns > 0


@pytest.mark.parametrize("missing", [pd.NaT, np.datetime64("NaT"), np.datetime64("NaT", "ns")])
def test_nat_is_refused(missing: object) -> None:
    with pytest.raises(InvalidValue, match="NaT"):
        Instant.of(missing)


@pytest.mark.parametrize("value", [5, 1.5, None, dt.time(5), dt.timedelta(1), np.datetime64(1, "ps")])
def test_other_things_are_no_instants(value: object) -> None:
    with pytest.raises(InvalidValue):
        Instant.of(value)


@pytest.mark.parametrize("name", ["Europe/Nowhere", "../../etc/passwd", "/etc/localtime", "", "a\0b", "Europe", 5])
def test_a_zone_is_a_name_never_a_path(name: str) -> None:
    with pytest.raises(InvalidValue, match="time zone"):
        time_zone(name)


def test_instants_are_ordered_values() -> None:
    early, late = Instant(1), Instant(2)
    assert early < late
    assert {early, Instant(1)} == {early}
    assert pickle.loads(pickle.dumps(late)) == late
    assert Instant.of(early) is early


def test_outside_the_calendar_there_is_no_datetime() -> None:
    with pytest.raises(InvalidValue, match="years 1 to 9999"):
        Instant(10**27).datetime()
    assert Instant.of(dt.datetime.min.replace(tzinfo=CET)).isoformat().endswith("ns")
