"""Currency codes: the ISO 4217 list, as data."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def currency_names() -> dict[str, str]:
    """Code to name, in use and withdrawn."""
    lines = (files("conceptpubsub.converters") / "data" / "currencies.txt").read_text("utf-8").splitlines()
    rows = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {row[0]: row[1] for row in rows}


def is_currency(code: str) -> bool:
    """Whether a code is in ISO 4217.

    >>> is_currency("EUR"), is_currency("km")
    (True, False)
    """
    return isinstance(code, str) and code in currency_names()
