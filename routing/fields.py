"""Fields of scenario files: each is what it should be, or a NetworkError names it and says what is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from conceptpubsub.errors import NetworkError, hint, near

Made = TypeVar("Made")


def made(cls: type[Made], given: Mapping[str, Any], part: str) -> Made:
    """A value from the fields that a table gives it; a field that there is not is named."""
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    for key in given:
        if key not in names:
            raise NetworkError(f"{part}: no field '{key}'.{hint(near(key, names))}", field=key)
    try:
        return cls(**{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()})
    except TypeError as error:
        raise NetworkError(f"{part}: {str(error).removeprefix(cls.__name__ + '.__init__() ')}") from None


def shown(value: Any) -> str:
    """A value as TOML has it."""
    return str(value).lower() if isinstance(value, bool) else f"{value!r:.80}"


def table(given: Any, part: str) -> Mapping[str, Any]:
    """A table, or an error that names the part."""
    if not isinstance(given, Mapping):
        raise NetworkError(f"{part}: a table is needed", part=part)
    return given


def rows(tree: Mapping[str, Any], part: str) -> list[Mapping[str, Any]]:
    """The tables of a list, such as [[events]]."""
    rows = tree.get(part, [])
    if not isinstance(rows, list):
        raise NetworkError(f"{part}: tables in double brackets are needed: [[{part}]]", part=part)
    return [table(row, part) for row in rows]


def number(value: Any, part: str) -> int:
    """A whole number."""
    if type(value) is not int:
        raise NetworkError(f"{part}: a whole number is needed, not {value!r:.80}", part=part)
    return value


def within(value: Any, low: float, high: float, part: str) -> None:
    """Refuse what is not a number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise NetworkError(f"{part}: a number from {low:g} to {high:g} is needed, not {value!r:.80}", part=part)
