"""Matcher: many filters under keys, matched by one engine.

Keys are of any hashable kind, and each filter brings its own semantics, ontology and converters. What matched comes in
the order added; a replaced filter counts as added anew. Any number of threads may match while others add and remove.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from conceptpubsub.errors import DuplicateKey, FilterError, UnsupportedSemantics
from conceptpubsub.matching.batch import MatchBatch, MatchErrors
from conceptpubsub.matching.engine import Engine, Entry, Event, Fault, make_engine
from conceptpubsub.matching.keys import KeyTable
from conceptpubsub.matching.stats import MatcherStats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from conceptpubsub.filters import Filter
    from conceptpubsub.matching.batch import MatchError
    from conceptpubsub.matching.interfacing import InterfaceBatch

_FEW_SLOTS: Final = 4096


class Matcher:
    """Many filters, one engine; semantics come with each filter.

    ``engine`` is ``default``, or one of the papers': ``counting`` (Carzaniga, Deng and Wolf) or ``bdd`` (Campailla and
    others), or ``scan``, which asks every filter. With ``keep_filters=False`` the Filter objects may go once they are
    compiled; `explain` and ``matcher[key]`` then have nothing to show.

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

    def __init__(self, engine: str = "default", *, keep_filters: bool = True, **options: Any) -> None:
        self._start(make_engine(engine, **options), KeyTable(keep_filters))

    def _start(self, engine: Engine, keys: KeyTable) -> None:
        self._both: tuple[Engine, KeyTable] = (engine, keys)
        """Engine and keys speak of the same slots, so a reader takes both in one step."""
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
        with self._lock:
            engine, keys = self._both
            self._check(engine, filter)
            old = keys.slot(key)
            if old is not None and not replace:
                raise _duplicate(key)
            slot = keys.prepare(key)
            if old is None:
                engine.add(slot, filter, keys.interface_ids(interface))
            else:
                engine.replace(old, slot, filter, keys.interface_ids(interface))
            keys.enter(key, filter)
            self._compact()

    def add_many(self, filters: Iterable[tuple[Any, ...]], *, replace: bool = False) -> None:
        """Add (key, filter) or (key, filter, interface) tuples; quicker than one by one.

        If one is refused, those before it are in. The tuples may come from a generator: what is compiled need not stay.
        """
        with self._lock:
            engine, keys = self._both
            engine.add_many(self._entries(engine, keys, filters, replace))
            self._compact()

    def _entries(
        self, engine: Engine, keys: KeyTable, filters: Iterable[tuple[Any, ...]], replace: bool
    ) -> Iterator[Entry]:
        """What the engine is to take. A key is entered when the engine comes back for the next one."""
        for item in filters:
            key, filter = item[0], item[1]
            self._check(engine, filter)
            old = keys.slot(key)
            if old is not None and not replace:
                raise _duplicate(key)
            yield Entry(keys.prepare(key), filter, keys.interface_ids(item[2]) if len(item) > 2 else ())
            if old is not None:
                engine.remove(old)
            keys.enter(key, filter)

    def remove(self, key: Hashable) -> None:
        """Take away the filter of a key; UnknownKey where there is none."""
        with self._lock:
            engine, keys = self._both
            engine.remove(keys.known(key))
            keys.drop(key)
            self._compact()

    def _compact(self) -> None:
        """Give slots anew when most of them belong to filters that are gone."""
        engine, keys = self._both
        if keys.next_slot > 2 * len(keys) + _FEW_SLOTS:
            fresh, slots = keys.renumbered()
            made = engine.renumbered(slots)
            if made is not None:
                self._both = (made, fresh)

    def __len__(self) -> int:
        return len(self._both[1])

    def __contains__(self, key: object) -> bool:
        return self._both[1].slot(key) is not None

    def __iter__(self) -> Iterator[Hashable]:
        """The keys, in the order added."""
        with self._lock:
            return iter(self._both[1].all())

    def __getitem__(self, key: Hashable) -> Filter:
        """The filter of a key."""
        keys = self._both[1]
        return keys.shelf.get(keys.known(key))

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
        engine, keys = self._both
        if errors is None:
            return keys.of(engine.match(event))
        faults: list[Fault] = []
        found = keys.of(engine.match(event, faults))
        errors.extend(MatchErrors(faults, keys))
        return found

    def bitmap(self, event: Event) -> NDArray[np.uint8]:
        """What matches as bits, packed as `numpy.packbits` does; filters in the order added.

        Where an event matches thousands of filters, their keys as a list take many times as long as finding them.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add_many((n, Filter.parse(f"x > {n}")) for n in range(10))
        >>> m.bitmap({"x": 3})
        array([224,   0], dtype=uint8)
        """
        engine, keys = self._both
        _, positions, width = keys.arrays()
        return engine.bitmap(event, positions, width)

    def interfaces(self, event: Event) -> set[Hashable]:
        """The interfaces with at least one match; stops looking when all are found."""
        engine, keys = self._both
        return keys.interfaces(engine.interfaces(event))

    def match_batch(self, table: Any) -> MatchBatch:
        """Match every row of an Arrow table, record batch, or mapping of columns.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add("warm", Filter.parse("t > 20"))
        >>> m.match_batch({"t": [10, 25, 30]}).offsets.tolist()
        [0, 0, 1, 2]
        """
        engine, keys = self._both
        found = engine.match_table(_as_table(table))
        return MatchBatch(found, *keys.arrays(), MatchErrors(found.faults, keys))

    def interfaces_batch(self, table: Any) -> InterfaceBatch:
        """For each row of a table, the interfaces with at least one match.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add("warm", Filter.parse("t > 20"), interface="B1")
        >>> list(m.interfaces_batch({"t": [10, 25]}))
        [set(), {'B1'}]
        """
        from conceptpubsub.matching.interfacing import InterfaceBatch

        engine, keys = self._both
        offsets, numbers, _ = engine.interfaces_table(_as_table(table))
        return InterfaceBatch(offsets, numbers, keys.interface_names)

    # ------------------------------------------------------------------ service

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self._both[0].name

    def warm_up(self) -> None:
        """Compile and build now what the first event or table would otherwise wait for.

        A service calls it before it says that it is ready: in a new process compiled code is read from its cache, which
        takes about a second; without a cache it is compiled, which takes a minute. Call it again after many filters
        have come, if their index, too, shall be there before the next event.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add("warm", Filter.parse("t > 20"))
        >>> m.warm_up()
        >>> m.stats()["events"]
        0
        """
        with self._lock:
            self._both[0].warm_up()

    def stats(self) -> MatcherStats:
        """Figures of the engine: filters by index, memory, work for each event; printed, they are a table.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add_many((n, Filter.parse(f"x = {n} AND y > 0")) for n in range(1000))
        >>> m.match({"x": 7, "y": 1}), m.match({"x": 7, "y": 0})
        ([7], [])
        >>> stats = m.stats()
        >>> stats.filters, stats.by_index["under a value or range"], stats.each("candidates"), stats.each("passed")
        (1000, 1000, 1.0, 0.5)
        >>> print(stats)
        engine                      default
        filters                       1,000
        ...
        """
        engine, _ = self._both
        return engine.stats().of(engine.name)

    def explain(self, key: Hashable, event: Event) -> str:
        """Why the filter of a key matched an event or not, and how the engine came to it.

        >>> from conceptpubsub.filters import Filter
        >>> m = Matcher()
        >>> m.add("warm", Filter.parse("t > 20"))
        >>> print(m.explain("warm", {"t": 5}).splitlines()[0])
        not matched (false, semantics sql): t > 20
        >>> m.explain("wram", {"t": 5})
        Traceback (most recent call last):
        conceptpubsub.errors.UnknownKey: the matcher has no filter under 'wram'. Did you mean 'warm'?
        """
        engine, keys = self._both
        slot = keys.known(key)
        filter = keys.shelf.get(slot)
        return "\n".join([str(filter.explain(event)), *engine.explain(slot, filter, event)])

    def _check(self, engine: Engine, filter: Filter) -> None:
        semantics = getattr(filter, "semantics", None)
        if semantics is None:
            raise FilterError(f"a matcher takes Filter objects, not {type(filter).__name__}; use Filter.parse")
        if semantics not in engine.semantics:
            raise UnsupportedSemantics(
                f"the engine '{engine.name}' has no semantics '{semantics}', "
                f"only {', '.join(sorted(engine.semantics))}; the default engine has all",
                engine=engine.name,
                semantics=semantics,
            )

    def __getstate__(self) -> tuple[Engine, KeyTable]:
        with self._lock:
            return self._both

    def __setstate__(self, state: tuple[Engine, KeyTable]) -> None:
        self._start(*state)


def _duplicate(key: Hashable) -> DuplicateKey:
    return DuplicateKey(f"the matcher already has a filter under {key!r}; give replace=True to replace it", key=key)


def _as_table(table: Any) -> Any:
    if isinstance(table, dict):
        import pyarrow

        return pyarrow.table(table)
    return table
