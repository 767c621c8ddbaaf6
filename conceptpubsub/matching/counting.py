"""The counting engine: the forwarding algorithm (SFF) of Carzaniga, Deng and Wolf, for any filter.

Constraints are indexed by type, name, operator and value; an event's attributes raise the counters of the conjunctions
whose constraints they satisfy, and one whose counter reaches its size has matched. For interfaces, what cannot bring a
new one is passed over, and all ends when each interface is matched. A Boolean filter counts as its disjuncts. What
cannot be counted (arithmetic, money, ISA, IS NULL, negations under ``default``) is left to the reference evaluator once
the rest has been counted, so that every answer is exact.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conceptpubsub.matching.counting_bindings import Bound, References
from conceptpubsub.matching.counting_conjunctions import Tests, conjunctions
from conceptpubsub.matching.counting_index import Ints, Segment
from conceptpubsub.matching.counting_missing import Missing
from conceptpubsub.matching.counting_table import Pending, Table
from conceptpubsub.matching.engine import Engine, Entry, Event, Fault, Slots
from conceptpubsub.matching.scan import answer
from conceptpubsub.matching.stats import MatcherStats, Work

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter


class CountingEngine(Engine):
    """Counts the constraints that an event satisfies.

    >>> from conceptpubsub.filters import Filter
    >>> engine = CountingEngine()
    >>> engine.add(0, Filter.parse("price < 500 AND dest = 'MXP'"), (0, 1))
    >>> engine.match({"price": 300, "dest": "MXP"}).tolist(), engine.interfaces({"price": 600, "dest": "MXP"})
    ([0], set())
    """

    name = "counting"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._filters: dict[int, tuple[Filter, tuple[int, ...]]] = {}
        self._names: dict[int, frozenset[int]] = {}
        self._shared_names: dict[frozenset[int], frozenset[int]] = {}
        self._uses: dict[int, int] = {}
        self._references = References()
        self._tests: Tests = {}
        self._missing = Missing()
        self._pending: dict[int, Pending] = {}
        self._table = Table()
        self._work = {"events": 0, "candidates": 0, "passed": 0, "verifications": 0}

    # ------------------------------------------------------------------ filters

    def add(self, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        with self._lock:
            numbers = self._references.of(filter)
            names = frozenset(numbers)
            scope = filter.scope
            parts = conjunctions(
                filter.normal, numbers, scope.semantics, lambda ref: self._references.number(ref, scope), self._tests
            )
            self._filters[slot] = filter, interfaces
            self._names[slot] = self._shared_names.setdefault(names, names)
            if scope.semantics == "total":
                self._missing.add(slot, filter, numbers)
            for interface in interfaces:
                self._uses[interface] = self._uses.get(interface, 0) + 1
            self._pending[slot] = Pending(slot, parts, interfaces)

    def remove(self, slot: int) -> None:
        with self._lock:
            filter, interfaces = self._filters.pop(slot)
            del self._names[slot]
            if filter.semantics == "total":
                self._missing.remove(slot)
            if self._pending.pop(slot, None) is None:
                for segment in self._table.segments:
                    if segment.kill(slot):
                        break
            for interface in interfaces:
                self._uses[interface] -= 1
                if not self._uses[interface]:
                    del self._uses[interface]
            if not self._pending:  # only now, with the filter dead, may the search for interfaces end sooner
                self._table = replace(self._table, wanted=len(self._uses))

    def _current(self) -> Table:
        """The table with every filter in it."""
        if self._pending:
            with self._lock:
                if self._pending:
                    self._table = self._table.extended(list(self._pending.values()), len(self._uses))
                    self._pending = {}
        return self._table

    # ------------------------------------------------------------------ events

    def match(self, event: Event, faults: list[Fault] | None = None) -> Slots:
        table = self._current()
        bound = self._references.bind(event)
        entries = table.entries(bound)
        sure: list[Ints] = []
        unsure: set[int] = set()
        for segment in table.segments:
            found = segment.count(entries)
            if segment.sure and not bound.several:
                sure.append(segment.slots[found])
                continue
            second_look = self._second_look(segment, found, bound)
            sure.append(segment.slots[found[~second_look]])
            unsure.update(segment.slots[found[second_look]].tolist())
        slots: Slots = _distinct(sure)
        self._work["events"] += 1
        self._work["candidates"] += len(slots) + len(unsure)
        if unsure:
            mine: list[Fault] = []
            known = set(slots.tolist())
            more = [slot for slot in sorted(unsure - known) if self._verified(slot, event, mine)]
            slots = np.array(sorted(known.union(more)), np.int64) if more else slots
            if faults is not None:
                faults.extend(mine)
        self._work["passed"] += len(slots)
        if faults is not None:
            said = {fault.slot for fault in faults}
            faults.extend(fault for fault in self._missing.faults(bound.values) if fault.slot not in said)
            faults.sort(key=lambda fault: -1 if fault.slot is None else fault.slot)
        return slots

    def _second_look(self, segment: Segment, found: Ints, bound: Bound) -> Any:
        """Which of the conjunctions found the evaluator must see: also those of references bound in several ways."""
        flags = segment.checked[found]
        if bound.several:
            for i, slot in enumerate(segment.slots[found].tolist()):
                names = self._names.get(slot)
                if names is None or not names.isdisjoint(bound.several):
                    flags[i] = True
        return flags

    def _verified(self, slot: int, event: Event, faults: list[Fault]) -> bool:
        held = self._filters.get(slot)
        if held is None:  # removed meanwhile
            return False
        self._work["verifications"] += 1
        matched = answer(held[0], event)
        if isinstance(matched, str):
            faults.append(Fault(0, slot, matched))
            return False
        return matched

    def interfaces(self, event: Event) -> set[int]:
        table = self._current()
        bound = self._references.bind(event)
        entries = table.entries(bound)
        mask = np.zeros((table.interfaces >> 6) + 1, np.uint64)
        ways = np.empty(table.interfaces + 1, np.int32)
        matched = 0
        found: set[int] = set()
        unsure: list[int] = []
        for segment in table.segments:
            matched, listed = segment.forward(entries, mask, ways, matched, table.wanted, bool(bound.several))
            if len(listed):
                second_look = self._second_look(segment, listed, bound)
                unsure.extend(segment.slots[listed[second_look]].tolist())
                for slot in segment.slots[listed[~second_look]].tolist():
                    found.update(self._ways(slot))
            if matched >= table.wanted:
                break
        found.update(ways[:matched].tolist())
        for slot in unsure:
            mine = self._ways(slot)
            if not found.issuperset(mine) and self._verified(slot, event, []):
                found.update(mine)
        return found

    def _ways(self, slot: int) -> tuple[int, ...]:
        held = self._filters.get(slot)
        return () if held is None else held[1]

    # ------------------------------------------------------------------ service

    def warm_up(self) -> None:
        before = dict(self._work)
        self.match({})
        self.interfaces({})
        self._work.update(before)

    def stats(self) -> MatcherStats:
        table = self._current()
        by_index = {
            "conjunctions": sum(s.size - s.dead for s in table.segments),
            "constraints": sum(len(s.members) for s in table.segments),
            "checked": sum(int(np.count_nonzero(s.checked)) for s in table.segments),
            "uncounted": sum(len(s.free) for s in table.segments),
        }
        memory = {"segments": sum(s.bytes for s in table.segments)}
        more = {"columns": len(table.columns), "segments": len(table.segments)}
        return MatcherStats(len(self._filters), by_index, memory, Work(**self._work), more=more)

    def explain(self, slot: int, filter: Filter, event: Event) -> list[str]:
        table = self._current()
        entries = table.entries(self._references.bind(event))
        segment = next((s for s in table.segments if slot in s.slots), None)
        if segment is None:
            return ["counting: no event can match"]
        low, high = np.searchsorted(segment.slots, [slot, slot + 1])
        reached = np.isin(np.arange(low, high), segment.count(entries))
        return [
            f"counting: {segment.sizes[at]} constraints"
            + (", and the evaluator for the rest" if segment.checked[at] else "")
            + (": all counted" if hit else ": not all counted")
            for at, hit in zip(range(int(low), int(high)), reached.tolist(), strict=True)
        ]

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"filters": dict(self._filters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.add_many(Entry(slot, filter, ways) for slot, (filter, ways) in state["filters"].items())


def _distinct(parts: list[Ints]) -> Slots:
    """The slots in all parts, ascending, each once."""
    if not parts:
        return np.zeros(0, np.int64)
    slots: Slots = np.concatenate(parts) if len(parts) > 1 else parts[0]
    slots.sort()
    repeated = slots[1:] == slots[:-1]
    return np.append(slots[:1], slots[1:][~repeated]) if repeated.any() else slots
