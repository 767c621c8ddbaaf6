"""Matcher: many filters under keys, matched by one engine.

Keys are of any hashable kind, and each filter brings its own semantics, ontology and converters. What matched comes in
the order added; a replaced filter counts as added anew.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import DuplicateKey, FilterError, UnsupportedSemantics
from conceptpubsub.matching.batch import MatchBatch, MatchError
from conceptpubsub.matching.engine import Engine, Entry, Event, Fault, make_engine
from conceptpubsub.matching.keys import KeyTable

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter


class Matcher:
    """Many filters, one engine; semantics come with each filter.

    >>> from conceptpubsub.filters import Filter
    >>> m = Matcher()
    >>> m.add("warm", Filter.parse("t > 20"), interface={"B1", "B2"})
    >>> m.add("hot", Filter.parse("t > 30"))
    >>> m.match({"t": 25}), sorted(m.interfaces({"t": 25})), len(m)
    (['warm'], ['B1', 'B2'], 2)
    >>> m.remove("warm")
    >>> m.match({"t": 35})
    ['hot']
    """

    def __init__(self, engine: str = "default", **options: Any) -> None:
        self._engine: Engine = make_engine(engine, **options)
        self._keys = KeyTable()
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ filters

    def add(self, key: Hashable, filter: Filter, interface: Any = None, *, replace: bool = False) -> None:
        """Add a filter under a key, for an interface or a set of them.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add(1, Filter.parse("x = 1"))
        >>> m.add(1, Filter.parse("x = 2"))
        Traceback (most recent call last):
        conceptpubsub.errors.DuplicateKey: the matcher already has a filter under 1; give replace=True to replace it
        """
        self._check(filter)
        with self._lock:
            old = self._keys.slot(key)
            if old is not None and not replace:
                raise _duplicate(key)
            slot = self._keys.next_slot
            self._engine.add(slot, filter, self._keys.interface_ids(interface))
            if old is not None:
                self._engine.remove(old)
            self._keys.put(key, filter, interface)

    def add_many(self, filters: Iterable[tuple[Any, ...]], *, replace: bool = False) -> None:
        """Add (key, filter) or (key, filter, interface) tuples; quicker than one by one.

        If one is refused, those before it are in.
        """
        with self._lock:
            self._engine.add_many(self._entries(filters, replace))

    def _entries(self, filters: Iterable[tuple[Any, ...]], replace: bool) -> Iterator[Entry]:
        """What the engine is to take. A key is entered when the engine comes back for the next one."""
        for item in filters:
            key, filter = item[0], item[1]
            interface = item[2] if len(item) > 2 else None
            self._check(filter)
            old = self._keys.slot(key)
            if old is not None and not replace:
                raise _duplicate(key)
            yield Entry(self._keys.next_slot, filter, self._keys.interface_ids(interface))
            if old is not None:
                self._engine.remove(old)
            self._keys.put(key, filter, interface)

    def remove(self, key: Hashable) -> None:
        """Take away the filter of a key; UnknownKey where there is none."""
        with self._lock:
            self._engine.remove(self._keys.known(key))
            self._keys.drop(key)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return self._keys.slot(key) is not None

    def __iter__(self) -> Iterator[Hashable]:
        """The keys, in the order added."""
        return iter(self._keys.all())

    def __getitem__(self, key: Hashable) -> Filter:
        """The filter of a key."""
        return self._keys.filter(self._keys.known(key))

    # ------------------------------------------------------------------ events

    def match(self, event: Event, errors: list[MatchError] | None = None) -> list[Hashable]:
        """The keys whose filters match, in the order added.

        Under ``total`` an event may lack what a filter names: that filter is left out, and said so in ``errors``.

        >>> from conceptpubsub.filters import Filter
        >>> m, errors = Matcher(), []
        >>> m.add("a", Filter.parse("x > 1", semantics="total"))
        >>> m.match({"y": 1}, errors), errors[0].key
        ([], 'a')
        """
        by_slot = self._keys.by_slot
        faults: list[Fault] | None = None if errors is None else []
        found = [by_slot[slot] for slot in self._engine.match(event, faults)]
        if errors is not None and faults:
            errors.extend(self._error(fault) for fault in faults)
        return found

    def interfaces(self, event: Event) -> set[Hashable]:
        """The interfaces with at least one match; stops looking when all are found."""
        names = self._keys.interface_names
        return {names[number] for number in self._engine.interfaces(event)}

    def match_batch(self, table: Any) -> MatchBatch:
        """Match every row of an Arrow table, record batch, or mapping of columns."""
        found = self._engine.match_table(_as_table(table))
        keys, positions = self._keys.arrays()
        return MatchBatch(found, keys, positions, len(self._keys), [self._error(fault) for fault in found.faults])

    def interfaces_batch(self, table: Any) -> list[set[Hashable]]:
        """For each row of a table, the interfaces with at least one match."""
        offsets, numbers, _ = self._engine.interfaces_table(_as_table(table))
        names = self._keys.interface_names
        cuts, listed = offsets.tolist(), numbers.tolist()
        return [{names[n] for n in listed[cuts[i] : cuts[i + 1]]} for i in range(len(cuts) - 1)]

    def _error(self, fault: Fault) -> MatchError:
        return MatchError(fault.row, None if fault.slot is None else self._keys.by_slot[fault.slot], fault.reason)

    # ------------------------------------------------------------------ service

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self._engine.name

    def warm_up(self) -> None:
        """Compile and build now what the first event would otherwise wait for."""
        with self._lock:
            self._engine.warm_up()

    def stats(self) -> dict[str, Any]:
        """Figures of the engine: filters by index, memory, work for each event."""
        return {"engine": self._engine.name, **self._engine.stats()}

    def explain(self, key: Hashable, event: Event) -> str:
        """Why the filter of a key matched an event or not, and how the engine came to it."""
        slot = self._keys.known(key)
        filter = self._keys.filter(slot)
        return "\n".join([str(filter.explain(event)), *self._engine.explain(slot, filter, event)])

    def _check(self, filter: Filter) -> None:
        semantics = getattr(filter, "semantics", None)
        if semantics is None:
            raise FilterError(f"a matcher takes Filter objects, not {type(filter).__name__}; use Filter.parse")
        if semantics not in self._engine.semantics:
            raise UnsupportedSemantics(
                f"the engine '{self._engine.name}' has no semantics '{semantics}', "
                f"only {', '.join(sorted(self._engine.semantics))}; the default engine has all",
                engine=self._engine.name,
                semantics=semantics,
            )

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"engine": self._engine, "keys": self._keys}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._engine, self._keys = state["engine"], state["keys"]
        self._lock = threading.RLock()


def _duplicate(key: Hashable) -> DuplicateKey:
    return DuplicateKey(f"the matcher already has a filter under {key!r}; give replace=True to replace it", key=key)


def _as_table(table: Any) -> Any:
    if isinstance(table, dict):
        import pyarrow

        return pyarrow.table(table)
    return table
