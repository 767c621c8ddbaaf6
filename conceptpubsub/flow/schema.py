"""Schemas of information spaces: attribute to type, optionally with the unit or currency its bare numbers are in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from conceptpubsub.converters import Dimension, is_currency, resolve
from conceptpubsub.errors import ConceptPubSubError, FlowError, hint, near
from conceptpubsub.model import Context

TYPES = ("int", "real", "text", "bool", "instant", "any")
_TYPE = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\]|\s([A-Z]{3}))?\s*\Z")


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of an attribute and the context of its bare values.

    >>> kind("real [km/h]", "here").context["unit"], kind("real USD", "here").currency
    ('km/h', 'USD')
    """

    type: str
    unit: str | None = None
    currency: str | None = None

    @property
    def context(self) -> Context:
        """The context that bare values of this attribute stand in."""
        return Context(unit=self.unit, currency=self.currency)

    @property
    def dimension(self) -> Dimension | None:
        """The dimension, where there is a unit."""
        return None if self.unit is None else resolve(self.unit).dimension

    def __str__(self) -> str:
        if self.unit is not None:
            return f"{self.type} [{self.unit}]"
        return f"{self.type} {self.currency}" if self.currency else self.type


Schema = Mapping[str, Kind]


def kind(text: Any, place: str) -> Kind:
    """Read ``real``, ``text``, ``real [km/h]``, ``real USD``."""
    if isinstance(text, Kind):
        return text
    found = _TYPE.match(text) if isinstance(text, str) else None
    if found is None or found[1] not in TYPES:
        offered = hint(near(str(text), TYPES)) or f" Types are {', '.join(TYPES)}, as in 'real [km/h]' or 'real USD'."
        raise FlowError(f"{place}: {text!r} is no type.{offered}", arc=place)
    unit, currency = found[2], found[3]
    if unit is not None:
        try:
            resolve(unit)
        except ConceptPubSubError as error:
            raise FlowError(f"{place}: {error}", arc=place) from None
    if currency is not None and not is_currency(currency):
        raise FlowError(f"{place}: {currency} is no currency", arc=place)
    if (unit or currency) and found[1] not in ("real", "int"):
        raise FlowError(f"{place}: only numbers have a unit or a currency, not {found[1]}", arc=place)
    return Kind(found[1], unit, currency)


def schema(given: Mapping[str, Any], place: str) -> Schema:
    """Read a schema; errors name the space."""
    if not isinstance(given, Mapping) or not given:
        raise FlowError(f"{place}: a schema maps attribute names to types, as in {{'price': 'real USD'}}", arc=place)
    return MappingProxyType({str(name): kind(text, f"{place}, attribute {name}") for name, text in given.items()})


def show(of: Schema) -> str:
    """A schema on one line."""
    return "[" + ", ".join(f"{name}: {each}" for name, each in of.items()) + "]"
