"""Converters: registry, units, scale, currency, instants, code lists."""

from conceptpubsub.converters.canonical import Canonical, Money, Quantity
from conceptpubsub.converters.currencies import is_currency
from conceptpubsub.converters.registry import Converters
from conceptpubsub.converters.units import Dimension, LogScale, Unit, resolve

__all__ = [
    "Canonical",
    "Converters",
    "Dimension",
    "LogScale",
    "Money",
    "Quantity",
    "Unit",
    "is_currency",
    "resolve",
]
