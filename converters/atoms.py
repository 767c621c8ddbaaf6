"""Single unit names to exact measures: our own definitions first, then pint, read once with rational numbers.

pint is loaded on the first name that our definitions do not hold. Its definition tree is walked unit by unit, so that
marks travel: ``rpm`` is ``revolution/minute``, a revolution is 2π radians, and a radian carries the mark *angular*.
"""

from __future__ import annotations

import threading
from fractions import Fraction
from functools import lru_cache
from typing import Any

from conceptpubsub.converters.definitions import defined, prefixable, table
from conceptpubsub.converters.grammar import refuse
from conceptpubsub.converters.measures import Measure
from conceptpubsub.model.values import exact_decimal

_LOCK = threading.RLock()
_BASE = {"meter": "m", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd"}
_SYMBOLS = {"℃": "degC", "℉": "degF", "°C": "degC", "°F": "degF", "ºC": "degC", "ºF": "degF", "°K": "K", "°": "degree"}
PREFIXES = {
    "quetta": 30, "ronna": 27, "yotta": 24, "zetta": 21, "exa": 18, "peta": 15, "tera": 12, "giga": 9, "mega": 6,
    "kilo": 3, "hecto": 2, "deca": 1, "deci": -1, "centi": -2, "milli": -3, "micro": -6, "nano": -9, "pico": -12,
    "femto": -15, "atto": -18, "zepto": -21, "yocto": -24, "ronto": -27, "quecto": -30,
    "Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1, "d": -1,
    "c": -2, "m": -3, "µ": -6, "μ": -6, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21, "y": -24,
}  # fmt: skip


@lru_cache(maxsize=8192)
def atom(name: str) -> Measure | None:
    """The measure of one unit name, or None.

    >>> atom("ppt").factor, atom("kvar").factor
    (Fraction(1, 1000000000000), Fraction(1000, 1))
    """
    name = _SYMBOLS.get(name, name)
    own = _own(name)
    if own is not None:
        return own
    for prefix, power in PREFIXES.items():
        if name.startswith(prefix) and name[len(prefix) :] in _prefixable():
            base = _own(name[len(prefix) :])
            return None if base is None else base.scaled(Fraction(10) ** power)
    return _from_pint(name)


def names() -> tuple[str, ...]:
    """Every unit name known, for offering near ones."""
    with _LOCK:
        return (*table("units"), *_registry()._units)


@lru_cache(maxsize=1)
def _prefixable() -> frozenset[str]:
    return frozenset(name for name, text in table("units").items() if prefixable(text))


@lru_cache(maxsize=1024)
def _own(name: str) -> Measure | None:
    text = table("units").get(name)
    return None if text is None else defined(text, atom)


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(non_int_type=Fraction, cache_folder=None)


def _from_pint(name: str) -> Measure | None:
    with _LOCK:
        registry = _registry()
        try:
            readings = registry.parse_unit_name(name)
        except Exception:  # pint's own parser is not built for hostile names
            return None
        if not readings:
            return None
        prefix, unit, _ = readings[0]
        made = _own(unit) or _walk(unit)
        if made is None or not prefix:
            return made
        return made.scaled(Fraction(registry._prefixes[prefix].value))


@lru_cache(maxsize=4096)
def _walk(unit: str) -> Measure | None:
    """A pint definition, followed down to the base units."""
    definition = _registry()._units[unit]
    if definition.is_base:
        if unit == "gram":
            return Measure(Fraction(1, 1000), {"kg": Fraction(1)})
        return Measure(powers={_BASE[unit]: Fraction(1)}) if unit in _BASE else None
    converter = definition.converter
    if hasattr(converter, "logbase"):
        return None
    made = Measure(_rational(converter.scale))
    for part, power in definition.reference.items():
        inner = _part(part)
        if inner is None:
            return None
        made = made * inner.raised(_rational(power))
    offset = _rational(getattr(converter, "offset", 0))
    return Measure(made.factor, made.powers, made.marks, offset, difference=unit.startswith("delta_"))


def _part(name: str) -> Measure | None:
    found = _registry().parse_unit_name(name)
    if not found:
        raise refuse(name, "is not in pint")
    prefix, unit, _ = found[0]
    inner = _own(unit) or _walk(unit)
    return inner if inner is None or not prefix else inner.scaled(Fraction(_registry()._prefixes[prefix].value))


def _rational(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(exact_decimal(str(value)))
