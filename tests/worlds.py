"""Worlds that random filters and events live in: few names, few values, so that constants meet and filters match.

A field is something a filter may speak of, with constants that fit it; a source is an attribute an event may hold, with
values that mostly fit. Constants and values come from the same small sets, equal in meaning across units on purpose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from conceptpubsub.converters import Converters
from conceptpubsub.model import Context, Instant, Ontology, SemanticObject

NUMBERS = ("-1", "0", "1", "2", "2.5", "3", "0.5")
TEXTS = ("''", "'a'", "'b'", "'ab'", "'aab'", "'ba'", "'A'")
INSTANTS = ("TIMESTAMP '2026-01-01T00:00Z'", "TIMESTAMP '2026-01-01T02:00+01:00'", "TIMESTAMP '2026-01-02T00:00:00Z'")
LENGTHS = ("0 m", "1 km", "1000 m", "2 km", "1 mile", "2500 m", "0.5 [km]")
DURATIONS = ("30 min", "1 h", "3600 s", "2 h", "0 s")
WARM = ("30 degC", "86 degF", "303.15 K", "0 degC", "32 degF", "20 degC", "68 degF", "-40 degF")
APART = ("0 delta_degC", "10 delta_degC", "18 delta_degF", "20 delta_degC", "-10 delta_degC")
SPEEDS = ("1 [km/h]", "2 [km/h]", "0 [m/s]", "1 [mile/hour]")
AMOUNTS = ("1 EUR", "2 EUR", "2.5 EUR", "1 USD", "0 EUR")

_NUMBERS = (-1, 0, 1, 2, 2.5, 3, 0.5)
_TEXTS = ("", "a", "b", "ab", "aab", "ba", "A")
_INSTANTS = tuple(
    Instant.parse(text) for text in ("2026-01-01T00:00Z", "2026-01-01T01:00Z", "2026-01-02T00:00Z", "2025-12-31T23:30Z")
)


@dataclass(frozen=True)
class Field:
    """What a filter speaks of: its text, its kind, and constants beside which it makes sense.

    kind: number, quantity, money, instant, text, bool, concept, complex, or any (undeclared: every operator fits).
    """

    text: str
    kind: str
    constants: tuple[str, ...] = ()
    event: bool = False
    compound: bool = False

    @property
    def path(self) -> bool:
        """Whether this is a dotted path into a complex object."""
        return "." in self.text and not self.event and not self.compound


@dataclass(frozen=True)
class Source:
    """What an event holds: the key, values that fit, and (rarely drawn) values that do not."""

    key: str
    values: tuple[Any, ...]
    odd: tuple[Any, ...] = ()
    inner: tuple[Source, ...] = ()


@dataclass(frozen=True)
class World:
    """A vocabulary: fields for filters, sources for events, and the scope that filters are read in."""

    name: str
    fields: tuple[Field, ...]
    sources: tuple[Source, ...]
    ontology: Ontology | None = None
    converters: Converters | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    concepts: tuple[str, ...] = ("status",)
    below: tuple[str, ...] = ("status", "alarm")

    def scope(self, semantics: str = "sql", defaults: bool = True) -> dict[str, Any]:
        """The keyword arguments of ``Filter.parse`` for this world."""
        made: dict[str, Any] = {"semantics": semantics}
        if self.ontology is not None:
            made["ontology"] = self.ontology
        if self.converters is not None:
            made["converters"] = self.converters
        if self.types:
            made["types"] = dict(self.types)
        if semantics == "default" and defaults and self.defaults:
            made["defaults"] = dict(self.defaults)
        return made


def _measured(key: str, *pairs: tuple[float, str]) -> tuple[SemanticObject, ...]:
    return tuple(SemanticObject(key, value, Context(unit=unit)) for value, unit in pairs)


def _paid(key: str, *pairs: tuple[float, str]) -> tuple[SemanticObject, ...]:
    return tuple(SemanticObject(key, value, Context(currency=code)) for value, code in pairs)


_EVENT = (
    Field("EVENT.time", "instant", INSTANTS, event=True),
    Field("EVENT.id", "text", TEXTS, event=True),
    Field("EVENT.source", "text", TEXTS, event=True),
)
_LENGTH_PAIRS = ((0, "m"), (1, "km"), (1000, "m"), (2, "km"), (1, "mile"), (2.5, "km"))
_LAP_PAIRS = ((30, "min"), (1, "h"), (3600, "s"), (2, "h"), (0, "s"))
_WARM_PAIRS = ((30, "degC"), (86, "degF"), (303.15, "K"), (0, "degC"), (68, "degF"), (10, "degC"), (-40, "degF"))


def _plain(name: str, types: Mapping[str, str], defaults: Mapping[str, Any]) -> World:
    kinds = {"real": "number", "int": "number"}
    any_constants = (*NUMBERS, *TEXTS[:4], "TRUE", INSTANTS[0], LENGTHS[1])

    def known(attribute: str, kind: str, constants: tuple[str, ...]) -> Field:
        declared = kinds.get(types.get(attribute, ""), types.get(attribute))
        return Field(attribute, declared or kind, constants)

    return World(
        name,
        fields=(
            known("a", "number", NUMBERS),
            known("b", "number", NUMBERS),
            known("c", "number", NUMBERS),
            known("s", "text", TEXTS),
            known("t", "text", TEXTS),
            known("f", "bool", ("TRUE", "FALSE")),
            known("g", "bool", ("TRUE", "FALSE")),
            known("w", "instant", INSTANTS),
            Field("u", "any", any_constants),
            Field("d", "quantity", LENGTHS),
            Field("l", "quantity", DURATIONS),
            Field("k", "quantity", WARM),
            Field("m", "money", AMOUNTS),
            Field("o.a", "number", NUMBERS),
            Field("o.s", "text", TEXTS),
            Field("o.i.a", "number", NUMBERS),
            Field('"odd name"', "number", NUMBERS),
            Field("d / l", "quantity", SPEEDS, compound=True),
            Field("EVENT.time - w", "quantity", DURATIONS, compound=True),
            Field("w + l", "instant", INSTANTS, compound=True),
            Field("m * 2", "money", AMOUNTS, compound=True),
            Field("m / 2 EUR", "number", NUMBERS, compound=True),
            *_EVENT,
        ),
        sources=(
            Source("a", _NUMBERS, ("a", True)),
            Source("b", _NUMBERS, ("", False)),
            Source("c", _NUMBERS, (_INSTANTS[0],)),
            Source("s", _TEXTS, (1, True)),
            Source("t", _TEXTS, (0,)),
            Source("f", (True, False), (1, "TRUE")),
            Source("g", (True, False), (0,)),
            Source("w", _INSTANTS, (3, "2026-01-01T00:00Z")),
            Source("u", (0, 1, 2.5, "a", "", True, _INSTANTS[0], *_measured("u", (1, "km")))),
            Source("d", _measured("d", *_LENGTH_PAIRS), (1000, *_measured("d", (1, "kg"), (3, "no such unit")))),
            Source("l", _measured("l", *_LAP_PAIRS), (3600,)),
            Source("k", _measured("k", *_WARM_PAIRS), (30,)),
            Source("m", _paid("m", (1, "EUR"), (2, "EUR"), (2.5, "EUR"), (1, "USD"), (0, "EUR")), (2,)),
            Source("odd name", _NUMBERS),
            Source(
                "o",
                (),
                (5, "a"),
                (Source("a", _NUMBERS), Source("s", _TEXTS), Source("i", (), (1,), (Source("a", _NUMBERS),))),
            ),
        ),
        types=types,
        defaults=defaults,
        concepts=("status", "alarm"),
    )


def _vehicles() -> World:
    onto = Ontology.bundled("vehicles")
    parts = ("'Engine'", "'Brake'", "'FrontBrake'", "'Ignition'")
    held = ("Engine", "Brake", "FrontBrake", "Ignition", "https://w3id.org/conceptpubsub/vehicles#Engine", "Clutch")
    way = ("0 km", "1 km", "1000 m", "1 mile", "2", "2.5", "2 {scale: 1000}", "1 [km]")
    meter = (0, 1, 2, 2.5, *_measured("Distance", *_LENGTH_PAIRS))
    warm = (30, 0, 20, *_measured("Temperature", *_WARM_PAIRS))
    return World(
        "vehicles",
        fields=(
            Field("Temperature", "quantity", (*WARM, "30", "0")),
            Field("InTemperature", "quantity", (*WARM, "30")),
            Field("OutTemperature", "quantity", WARM),
            Field("Odometer", "quantity", way),
            Field("TripDistance", "quantity", way),
            Field("Distance", "quantity", way),
            Field("TripDuration", "quantity", DURATIONS),
            Field("FuelLevel", "quantity", ("50", "100 percent", "0", "200")),
            Field("Occupants", "number", ("0", "1", "2", "2.5", "-1")),
            Field("PartFailure", "concept", parts),
            Field("DoorOpen", "bool", ("TRUE", "FALSE")),
            Field("LicensePlate", "text", TEXTS),
            Field("Name", "text", TEXTS),
            Field("LastService", "instant", (*INSTANTS, "'2026-01-01T00:00Z'")),
            Field("Vehicle", "complex"),
            Field("Vehicle.Odometer", "quantity", way),
            Field("Vehicle.Name", "text", TEXTS),
            Field("Distance / TripDuration", "quantity", SPEEDS, compound=True),
            Field("InTemperature - OutTemperature", "quantity", APART, compound=True),
            Field("Temperature - OutTemperature", "quantity", APART, compound=True),
            Field("Odometer - TripDistance", "quantity", LENGTHS, compound=True),
            Field("EVENT.time - LastService", "quantity", DURATIONS, compound=True),
            Field("Occupants * 2 - 1", "number", NUMBERS, compound=True),
            *_EVENT,
        ),
        sources=(
            Source("InTemperature", warm, ("hot", -300, *_measured("Temperature", (30, "kg")))),
            Source("OutTemperature", warm, (True,)),
            Source("Temperature", warm),
            Source("Odometer", meter, ("far",)),
            Source("TripDistance", meter),
            Source("Range", meter),
            Source("TripDuration", _measured("Duration", *_LAP_PAIRS), ("long",)),
            Source("FuelLevel", (0, 50, 100), (101, -1, "full")),
            Source("Occupants", (0, 1, 2), (2.5, -1, "two")),
            Source("PartFailure", held, ("NoSuchPart", 5)),
            Source("DoorOpen", (True, False), (1, "TRUE")),
            Source("LicensePlate", _TEXTS, (7,)),
            Source("Driver", _TEXTS),
            Source("LastService", _INSTANTS, (5, "yesterday")),
            Source("Car", (), (3,), (Source("Odometer", meter), Source("LicensePlate", _TEXTS))),
            Source("Truck", (), (), (Source("Odometer", meter), Source("Driver", _TEXTS))),
        ),
        ontology=onto,
        defaults={
            "Odometer": 1,
            "InTemperature": SemanticObject("Temperature", 86, Context(unit="degF")),
            "DoorOpen": False,
            "Occupants": 1,
            "PartFailure": "Engine",
        },
        concepts=("VehicleStatus", "VehicleAlarm", "Breakdown", "https://w3id.org/conceptpubsub/vehicles#Breakdown"),
        below=(
            "VehicleStatus",
            "VehicleAlarm",
            "VehicleEvent",
            "Engine",
            "Drivetrain",
            "Brake",
            "VehiclePart",
            "Car",
            "Vehicle",
        ),
    )


def _plant() -> World:
    path = Path(__file__).with_name("plant.ttl")
    onto = Ontology.load(path)
    ways = ("1", "2", "1 km", "1000 km", "1 {scale: 1}", "1 [m] {scale: 1000}", "2.5")
    meter = (
        0,
        1,
        2,
        *(
            SemanticObject("Distance", v, Context(unit=u, scale=s))
            for v, u, s in ((1, "km", 1000), (1, "km", 1), (1000, "m", 1), (2, "m", 1000))
        ),
        *_measured("Distance", (1, "km")),
    )
    warm = (30, 0, 20, *_measured("Temperature", *_WARM_PAIRS))
    amounts = (*AMOUNTS, "1", "2", "2.5")
    paid = (0, 1, 2, 2.5, *_paid("Money", (1, "USD"), (2, "EUR"), (1, "EUR")))
    return World(
        "plant",
        fields=(
            Field("Temperature", "quantity", (*WARM, "30")),
            Field("Inlet", "quantity", WARM),
            Field("Warmth", "quantity", WARM),
            Field("Outlet", "quantity", WARM),
            Field("Way", "quantity", ways),
            Field("Leg", "quantity", ways),
            Field("Lap", "quantity", DURATIONS),
            Field("Price", "money", amounts),
            Field("Fee", "money", amounts),
            Field("Crew", "number", NUMBERS),
            Field("Load", "number", (*NUMBERS, "4")),
            Field("Label", "text", TEXTS),
            Field("Nickname", "text", TEXTS),
            Field("Mode", "text", ("'a'", "'b'", "'ab'")),
            Field("Open", "bool", ("TRUE", "FALSE")),
            Field("Shut", "bool", ("TRUE", "FALSE")),
            Field("Checked", "instant", INSTANTS),
            Field("Anything", "any", (*NUMBERS, *TEXTS[:4], "TRUE", LENGTHS[1])),
            Field("Fault", "concept", ("'Pump'", "'Valve'", "'Tap'", "'Gate'")),
            Field("Unit", "complex"),
            Field("Unit.Inlet", "quantity", WARM),
            Field("Unit.Crew", "number", NUMBERS),
            Field("Outlet - Inlet", "quantity", APART, compound=True),
            Field("Way / Lap", "quantity", SPEEDS, compound=True),
            Field("Price - Fee", "money", AMOUNTS, compound=True),
            Field("Crew - Watch", "number", NUMBERS, compound=True),
            *_EVENT,
        ),
        sources=(
            Source("Inlet", warm, ("hot",)),
            Source("Outlet", warm),
            Source("Exhaust", warm),
            Source("Warmth", warm),
            Source("Way", meter, ("far",)),
            Source("Leg", meter),
            Source("Lap", _measured("Duration", *_LAP_PAIRS)),
            Source("Price", paid, ("dear",)),
            Source("Fee", paid),
            Source("Crew", (0, 1, 2, 3), (5, 2.5, "few")),
            Source("Watch", (0, 1, 2, 3), (-1,)),
            Source("Load", (0, 0.5, 1, 2.5, 3), (4, "much")),
            Source("Label", _TEXTS, (1,)),
            Source("Nickname", _TEXTS),
            Source("Mode", ("a", "b", "ab"), ("c", 1)),
            Source("Open", (True, False), (1,)),
            Source("Shut", (True, False)),
            Source("Checked", _INSTANTS, (3, "never")),
            Source("Anything", (0, 1, 2.5, "a", "", True)),
            Source("Fault", ("Pump", "Valve", "Tap", "Gate"), ("Cat", 1)),
            Source("Stranger", (1, "a")),
            Source("Boiler", (), (1,), (Source("Inlet", warm), Source("Watch", (0, 1, 2, 3)))),
            Source("Unit", (), (), (Source("Warmth", warm), Source("Crew", (0, 1, 2, 3)))),
        ),
        ontology=onto,
        converters=Converters.default(onto).register("currency", {"USD": 2}, pivot="EUR"),
        defaults={"Inlet": 30, "Fee": 1, "Crew": 2, "Open": True, "Label": "a"},
        concepts=("Report", "Alarm", "Routine", "Unheard"),
        below=("Report", "Alarm", "Routine", "Part", "Pump", "Valve", "Tap", "Unit", "Boiler"),
    )


NAMES = ("plain", "typed", "vehicles", "plant")


@lru_cache(maxsize=8)
def world(name: str) -> World:
    """The world of that name: plain, typed (declared types), vehicles (bundled ontology) or plant (ours)."""
    if name == "plain":
        return _plain(name, {}, {"a": 1, "s": "a", "f": True, "d": SemanticObject("d", 1, Context(unit="km"))})
    if name == "typed":
        types = {"a": "int", "b": "int", "c": "real", "s": "text", "f": "bool", "w": "instant"}
        return _plain(name, types, {"a": 1, "c": 2.5, "s": "a", "f": False})
    return {"vehicles": _vehicles, "plant": _plant}[name]()


def shared() -> Path:
    """Where shared data lies."""
    return Path(os.environ.get("CPS_SHARED") or Path(__file__).parents[2] / "shared")
