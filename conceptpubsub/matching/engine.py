"""What an engine must do, so that `Matcher(engine=...)` can choose between them.

Rule 1  An engine knows filters by *slot*: a small int that the Matcher gives out in the order filters are added and
        gives out once. Ascending slots are the order added; keys are the Matcher's business.
Rule 2  Interfaces are dense small ints too. A filter has any number of them, also none.
Rule 3  What an engine answers equals the reference evaluator. What it cannot answer exactly it refuses at `add`, with
        `UnsupportedSemantics` or `FilterError`, and stays as it was.
Rule 4  A fault of one filter and one event (under ``total``, a reference that is missing) is reported as a `Fault` of
        that slot; the rest is matched. An event that nothing can be made of raises, and in a table is a `Fault` of its
        row without a slot.
Rule 5  Matching runs while filters are added and removed: each answer is right for the filters of some one moment. The
        Matcher serialises what changes an engine and never what reads it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.errors import FilterError, hint, near
from conceptpubsub.matching.answers import Fault, Matches, concatenated
from conceptpubsub.matching.stats import MatcherStats

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.model import SemanticEvent

Event: TypeAlias = "SemanticEvent | Mapping[str, Any]"
Slots: TypeAlias = NDArray[np.int64]


class Entry(NamedTuple):
    """A filter as an engine is given it."""

    slot: int
    filter: Filter
    interfaces: tuple[int, ...]


class Engine(ABC):
    """Many filters against one event or a table.

    To write one, give it a ``name``, `add`, `remove`, `match` and `interfaces`; the rest follows, slowly. Override
    `match_table` and `interfaces_table` to be fast there too. Register it in `ENGINES`: one conformance suite,
    ``tests/unit/matching/test_engines.py``, runs every registered engine.
    """

    name: ClassVar[str]
    semantics: ClassVar[frozenset[str]] = frozenset({"sql", "strict", "total", "default"})
    """The semantics it has; the Matcher refuses others with `UnsupportedSemantics` before `add` is called."""

    # ------------------------------------------------------------------ filters

    @abstractmethod
    def add(self, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        """Take a filter under a new slot, greater than every slot before."""

    def add_many(self, entries: Iterable[Entry]) -> None:
        """Take many at once; either all or, with an exception, none of those from the failing one on."""
        for slot, filter, interfaces in entries:
            self.add(slot, filter, interfaces)

    @abstractmethod
    def remove(self, slot: int) -> None:
        """Forget the filter of a slot, which is there."""

    def replace(self, old: int, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        """Take a filter under a new slot in place of another's."""
        self.add(slot, filter, interfaces)
        self.remove(old)

    def renumbered(self, slots: Mapping[int, int]) -> Engine | None:
        """An engine with the same filters under other slots, where many have been removed; None: it needs none."""
        return None

    # ------------------------------------------------------------------ events

    @abstractmethod
    def match(self, event: Event, faults: list[Fault] | None = None) -> Sequence[int] | Slots:
        """The slots that match an event, ascending; faults of single filters are appended, with row 0."""

    def bitmap(self, event: Event, positions: Slots, width: int) -> NDArray[np.uint8]:
        """What matches as packed bits; ``positions[slot]`` is the bit of a slot."""
        slots = np.array(self.match(event), np.int64)  # a copy, which stays as it is
        made: NDArray[np.uint8] = Matches(np.array([0, len(slots)]), slots).bits(positions, width)[0]
        return made

    def match_table(self, table: Any) -> Matches:
        """The slots that match each row of an Arrow table or record batch."""
        from conceptpubsub.matching.rows import match_rows

        return match_rows(self, table)

    @abstractmethod
    def interfaces(self, event: Event) -> Collection[int]:
        """The interfaces of which at least one filter matches, each once."""

    def interfaces_table(self, table: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Fault]]:
        """For each row of a table the interfaces with a match: offsets, interfaces (each once in a row), faults."""
        from conceptpubsub.matching.rows import interface_rows

        return interface_rows(self, table)

    # ------------------------------------------------------------------ service

    def warm_up(self) -> None:
        """Compile and build whatever the first event would otherwise wait for."""
        return

    def stats(self) -> MatcherStats:
        """Figures an operator may ask for: filters by index, memory by part, work for each event."""
        return MatcherStats(0)

    def explain(self, slot: int, filter: Filter, event: Event) -> list[str]:
        """How this engine came to its answer for one filter, as lines; the evaluator's reasons are added by others."""
        return []


ENGINES = {
    "default": "conceptpubsub.matching.default_engine:DefaultEngine",
    "scan": "conceptpubsub.matching.scan:ScanEngine",
    "counting": "conceptpubsub.matching.counting:CountingEngine",
    "bdd": "conceptpubsub.matching.bdd:BddEngine",
}
"""Where each engine lives; loaded when first asked for."""


def make_engine(name: str, **options: Any) -> Engine:
    """The engine of that name; options are its own.

    >>> make_engine("scan").name
    'scan'
    """
    home = ENGINES.get(name)
    if home is None:
        offered = hint(near(str(name), ENGINES)) or f" Choose one of {', '.join(ENGINES)}."
        raise FilterError(f"no engine {name!r}.{offered}", engine=name)
    module, _, cls = home.partition(":")
    made: Engine = getattr(import_module(module), cls)(**options)
    return made


__all__ = ["ENGINES", "Engine", "Entry", "Event", "Fault", "Matches", "Slots", "concatenated", "make_engine"]
