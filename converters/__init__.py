"""Converters between contexts: units, scale, currency, instants, code lists, labels, and aspects of your own."""

from conceptpubsub.converters.canonical import Canonical, Money, Quantity
from conceptpubsub.converters.codelists import CodeList
from conceptpubsub.converters.currencies import is_currency
from conceptpubsub.converters.rates import RateTable
from conceptpubsub.converters.registry import Converters
from conceptpubsub.converters.units import Dimension, LogScale, Unit, resolve

__all__ = [
    "Canonical",
    "CodeList",
    "Converters",
    "Dimension",
    "LogScale",
    "Money",
    "Quantity",
    "RateTable",
    "Unit",
    "is_currency",
    "resolve",
]
