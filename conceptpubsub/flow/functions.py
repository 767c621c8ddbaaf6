"""Named functions of transforms: tables, which can be read backwards, and opaque Python callables, which cannot.

A table (issue code to company name) lets a select on its result become a select on its argument: ``NYS(issue) = 'IBM'``
is ``issue IN (…)``. An opaque function can only be computed ahead and carried along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conceptpubsub.converters import Converters
from conceptpubsub.errors import FlowError
from conceptpubsub.model import EMPTY

MAX_TABLE = 100_000


class Failed(Exception):
    """A transform that cannot be computed for an event; the event goes to the dead letters with the reason."""


@dataclass(frozen=True, slots=True)
class Table:
    """A finite function of one argument."""

    name: str
    entries: Mapping[Any, Any]

    def __call__(self, *args: Any) -> Any:
        if len(args) != 1:
            raise Failed(f"{self.name} takes one argument, not {len(args)}")
        found = None if isinstance(args[0], bool) else self.entries.get(args[0])
        if found is None:
            raise Failed(f"{self.name} has no entry for {args[0]!r}")
        return found


@dataclass(frozen=True, slots=True)
class Opaque:
    """A Python function; what it raises is a failure of that event alone."""

    name: str
    call: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        try:
            made = self.call(*args)
        except Exception as error:  # whatever a user's function raises concerns this event only
            raise Failed(f"{self.name} raised {type(error).__name__}: {str(error)[:200]}") from error
        value = canonical(made)
        if value is None:
            raise Failed(f"{self.name} gave {made!r}, which is no value of an event")
        return value


Function = Table | Opaque


def function(name: str, given: Any) -> Function:
    """A function from what the user gave: a mapping is a table, a callable is opaque.

    >>> function("NYS", {"A": "Agilent"})("A")
    'Agilent'
    """
    if isinstance(given, Table | Opaque):
        return given
    if isinstance(given, Mapping):
        if len(given) > MAX_TABLE:
            raise FlowError(f"the table {name} has {len(given):,} entries; at most {MAX_TABLE:,} are read", function=name)
        if any(isinstance(key, bool) for key in given):
            raise FlowError(f"the table {name} has a Boolean key: tables map texts or numbers", function=name)
        entries = {canonical(key): canonical(value) for key, value in given.items()}
        if None in entries or None in entries.values():
            raise FlowError(f"the table {name} holds something that is no value of an event", function=name)
        return Table(name, entries)
    if callable(given):
        return Opaque(name, given)
    raise FlowError(f"the function {name} is a mapping or a callable, not {given!r}", function=name)


_PLAIN = Converters.default()


def canonical(value: Any) -> Any:
    """A plain value in canonical form; None where it is none."""
    return _PLAIN.canonical(None, value, EMPTY, None)
