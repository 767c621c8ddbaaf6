"""Named functions of transforms: tables, which can be read backwards, and opaque Python callables, which cannot.

A table (issue code to company name) lets a select on its result become a select on its argument: ``NYS(issue) = 'IBM'``
is ``issue IN (…)``. An opaque function can only be computed ahead and carried along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
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
    """A Python function; what it raises is a failure of that event alone. Some skip missing arguments."""

    name: str
    call: Callable[..., Any]
    skips_missing: bool = False
    gives: str | None = None

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
            raise FlowError(
                f"the table {name} has {len(given):,} entries; at most {MAX_TABLE:,} are read", function=name
            )
        if any(isinstance(key, bool) for key in given):
            raise FlowError(f"the table {name} has a Boolean key: tables map texts or numbers", function=name)
        entries = {canonical(key): canonical(value) for key, value in given.items()}
        if None in entries or None in entries.values():
            raise FlowError(f"the table {name} holds something that is no value of an event", function=name)
        return Table(name, entries)
    if callable(given):
        return Opaque(name, given)
    raise FlowError(f"the function {name} is a mapping or a callable, not {given!r}", function=name)


def _mean(*values: Any) -> Any:
    return Fraction(sum(values)) / len(values)


def _drop(*values: Any) -> Any:
    """The largest fall from one value to a later one; values come newest first."""
    highest, most = None, 0
    for value in reversed(values):
        highest = value if highest is None else max(highest, value)
        most = max(most, highest - value)
    return most


BUILT_IN: Mapping[str, Function] = {
    "MEAN": Opaque("MEAN", _mean, True, "real"),
    "MAX": Opaque("MAX", max, True, "real"),
    "MIN": Opaque("MIN", min, True, "real"),
    "DROP": Opaque("DROP", _drop, True, "real"),
}
"""Functions every graph knows: of the arguments that are there. DROP takes the newest value first."""


def named_functions(given: Mapping[str, Any] | None) -> dict[str, Function]:
    """The functions an arc may call: the built-in ones and those the user gave."""
    return {**BUILT_IN, **{name: function(name, each) for name, each in (given or {}).items()}}


_PLAIN = Converters.default()


def canonical(value: Any) -> Any:
    """A plain value in canonical form; None where it is none."""
    return _PLAIN.canonical(None, value, EMPTY, None)
