"""The BDD engine: Boolean filtering by shared binary decision diagrams (Campailla, Chaki, Clarke, Jha, Veith).

Atoms are Boolean variables, each filter a function of them, and all filters of one semantics share one diagram, whose
nodes are each evaluated once an event. Three semantics are the paper's: SiSL is ``total``, StSL ``strict``, DeSL
``default``; ``sql`` it does not have. Each filter's names are kept beside it and decide whether an event is adequate,
for a diagram forgets names that do not matter.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from conceptpubsub.errors import FilterError, UnsupportedSemantics
from conceptpubsub.matching.bdd_store import EVALUATIONS, ORDERS, Store
from conceptpubsub.matching.counting_bindings import Bound, References
from conceptpubsub.matching.counting_missing import Missing
from conceptpubsub.matching.engine import Engine, Entry, Event, Fault, Slots
from conceptpubsub.matching.scan import answer
from conceptpubsub.matching.stats import MatcherStats, Work

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

MAX_BINDINGS = 16  # ways to bind an event that are each evaluated; beyond, the evaluator looks at who is concerned


class BddEngine(Engine):
    """Evaluates one shared diagram for each semantics.

    ``order`` of new variables: attribute, frequency, arrival, random. ``evaluation``: sweep (every node, as in the
    paper), walk (from the roots of adequate filters), or auto. ``restrict``: by the dependencies between atoms.

    >>> from conceptpubsub.filters import Filter
    >>> engine = BddEngine()
    >>> engine.add(0, Filter.parse("price < 1000 OR price > 500", semantics="strict"), ())
    >>> engine.match({"price": 700}).tolist(), engine.match({"company": "IBM"}).tolist()
    ([0], [])
    """

    name = "bdd"
    semantics = frozenset({"strict", "total", "default"})

    def __init__(self, order: str = "attribute", evaluation: str = "auto", restrict: bool = True) -> None:
        for word, known in ((order, ORDERS), (evaluation, EVALUATIONS)):
            if word not in known:
                raise FilterError(f"{word!r} is none of {', '.join(known)}", option=word)
        self._options = {"order": order, "evaluation": evaluation, "restrict": restrict}
        self._lock = threading.Lock()
        self._references = References()
        self._stores: dict[str, Store] = {}
        self._filters: dict[int, tuple[Filter, tuple[int, ...]]] = {}
        self._missing = Missing()
        self._pending: dict[int, Filter] = {}
        self._work = {"events": 0, "candidates": 0, "passed": 0, "verifications": 0}

    # ------------------------------------------------------------------ filters

    def add(self, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        if filter.semantics not in self.semantics:
            raise UnsupportedSemantics(
                f"the engine 'bdd' has no semantics '{filter.semantics}': its diagrams are those of total, strict and "
                "default (SiSL, StSL, DeSL)",
                engine=self.name,
                semantics=filter.semantics,
            )
        with self._lock:
            numbers = self._references.of(filter)
            self._filters[slot] = filter, interfaces
            if filter.semantics == "total":
                self._missing.add(slot, filter, numbers)
            self._pending[slot] = filter

    def remove(self, slot: int) -> None:
        with self._lock:
            filter, _ = self._filters.pop(slot)
            if filter.semantics == "total":
                self._missing.remove(slot)
            if self._pending.pop(slot, None) is None:
                self._stores[filter.semantics].remove(slot)

    def _current(self) -> dict[str, Store]:
        """The diagrams with every filter in them."""
        if self._pending:
            with self._lock:
                waiting: dict[str, list[tuple[int, Filter]]] = {}
                for slot, filter in self._pending.items():
                    waiting.setdefault(filter.semantics, []).append((slot, filter))
                for semantics, filters in waiting.items():
                    if semantics not in self._stores:
                        made = Store(semantics, self._references, **self._options)  # type: ignore[arg-type]
                        self._stores = {**self._stores, semantics: made}
                    self._stores[semantics].extend(filters)
                self._pending = {}
        return self._stores

    # ------------------------------------------------------------------ events

    def match(self, event: Event, faults: list[Fault] | None = None) -> Slots:
        stores = self._current()
        bound = self._references.bind(event)
        found: set[int] = set()
        again: set[int] = set()
        single: list[Any] = []
        for values, ambiguous in _bindings(bound):
            for store in stores.values():
                slots, more = store.match(values, bound.seen, ambiguous)
                single.append(slots)
                again.update(more.tolist())
        for store in stores.values():
            again.update(store.large)
        if len(single) == 1:
            matched: Slots = np.sort(single[0])
        else:
            matched = np.unique(np.concatenate(single)) if single else np.zeros(0, np.int64)
        self._work["events"] += 1
        self._work["candidates"] += len(matched) + len(again)
        if again:
            found.update(matched.tolist())
            found.update(self._verified(sorted(again - found), event, faults))
            matched = np.array(sorted(found), np.int64)
        self._work["passed"] += len(matched)
        if faults is not None:
            said = {fault.slot for fault in faults}
            faults.extend(fault for fault in self._missing.faults(bound.values) if fault.slot not in said)
            faults.sort(key=lambda fault: -1 if fault.slot is None else fault.slot)
        return matched

    def _verified(self, slots: Iterable[int], event: Event, faults: list[Fault] | None) -> Iterator[int]:
        for slot in slots:
            held = self._filters.get(slot)
            if held is None:  # removed meanwhile
                continue
            self._work["verifications"] += 1
            matched = answer(held[0], event)
            if isinstance(matched, str):
                if faults is not None:
                    faults.append(Fault(0, slot, matched))
            elif matched:
                yield slot

    def interfaces(self, event: Event) -> set[int]:
        found: set[int] = set()
        for slot in self.match(event).tolist():
            held = self._filters.get(slot)
            if held is not None:
                found.update(held[1])
        return found

    # ------------------------------------------------------------------ service

    def warm_up(self) -> None:
        before = dict(self._work)
        self.match({})
        self._work.update(before)

    def stats(self) -> MatcherStats:
        stores = self._current()
        large = sum(len(store.large) for store in stores.values())
        arrays = ("levels", "label", "low", "high", "value")
        memory = {"nodes": sum(getattr(store.nodes, a).nbytes for store in stores.values() for a in arrays)}
        more = {
            "variables": {name: len(store.variables) for name, store in stores.items()},
            "nodes": {name: store.nodes.count - 2 for name, store in stores.items()},
        }
        by_index = {"in the diagrams": len(self._filters) - large, "too large": large}
        return MatcherStats(len(self._filters), by_index, memory, Work(**self._work), more=more)

    def explain(self, slot: int, filter: Filter, event: Event) -> list[str]:
        store = self._current()[filter.semantics]
        if slot in store.large:
            return ["bdd: the filter is too large to share; the evaluator was asked"]
        values = self._references.bind(event).values
        lacking = [ref.shown for ref in filter.references if self._references.number(ref, filter.scope) not in values]
        if lacking and filter.semantics != "default":
            return [f"bdd: the event is not adequate, it lacks {', '.join(lacking)}"]
        root = int(store.roots.roots[np.flatnonzero(store.roots.slots == slot)[0]])
        return [f"bdd: node {root} of {store.nodes.count - 2}, over {len(store.variables)} variables"]

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"options": self._options, "filters": dict(self._filters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["options"])  # type: ignore[misc]
        self.add_many(Entry(slot, filter, ways) for slot, (filter, ways) in state["filters"].items())


def _bindings(bound: Bound) -> Iterator[tuple[dict[int, Any], tuple[int, ...]]]:
    """The values of each binding; where there are too many, one of them and the references it stands for."""
    several = bound.several
    if math.prod(map(len, several.values())) > MAX_BINDINGS:
        yield bound.values, tuple(several)
        return
    for chosen in itertools.product(*several.values()):
        yield {**bound.values, **dict(zip(several, chosen, strict=True))}, ()
