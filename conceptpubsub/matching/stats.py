"""What an engine tells of itself: filters by index, memory by part, and the work that events have made.

Rule 1  Figures are those of one moment and do not change afterwards.
Rule 2  Work is counted in every thread and never reset; a rate between two moments is the difference of two figures.
Rule 3  Memory is that of the arrays and tables of an engine: neither the keys nor the Filter objects.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Work:
    """What events have made an engine do."""

    events: int = 0
    candidates: int = 0
    """What the index led to: in the default engine conjunctions, in the others filters."""
    passed: int = 0
    """Of these, how many did match."""
    verifications: int = 0
    """How often the reference evaluator had to be asked about one filter."""

    def __add__(self, other: Work) -> Work:
        return Work(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class MatcherStats:
    """Figures of a matcher; `str` makes a table of them.

    Every figure has a name, too: ``stats["bytes"]``, ``stats["candidates"]``, and what an engine counts besides.

    >>> stats = MatcherStats(2, {"key": 2}, {"segments": 400}, Work(events=10, candidates=25, passed=5), "default")
    >>> stats["bytes"], stats["bytes a filter"], stats["candidates an event"]
    (400, 200.0, 2.5)
    >>> print(stats)
    engine               default
    filters                    2
    by index
      key                      2
    memory, bytes            400
      a filter               200
      segments               400
    events                    10
      candidates each        2.5
      passed each            0.5
      verifications each       0
    """

    filters: int
    by_index: Mapping[str, int] = field(default_factory=dict)
    """How many filters (or the conjunctions they are made of) are found in which way."""
    memory: Mapping[str, int] = field(default_factory=dict)
    """Bytes by part."""
    work: Work = Work()
    engine: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What this engine counts besides."""

    @property
    def bytes(self) -> int:
        """All memory."""
        return sum(self.memory.values())

    def each(self, name: str) -> float:
        """A count of the work, for each event.

        >>> MatcherStats(1, work=Work(events=4, candidates=6)).each("candidates")
        1.5
        """
        count: int = getattr(self.work, name)
        return count / self.work.events if self.work.events else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Every figure by its name, for a log or a metrics endpoint.

        >>> MatcherStats(3, engine="scan").as_dict()["filters"]
        3
        """
        work = {f.name: getattr(self.work, f.name) for f in fields(self.work)}
        return {
            "engine": self.engine, "filters": self.filters, **self.by_index, "bytes": self.bytes,
            "bytes a filter": self.bytes / self.filters if self.filters else 0.0,
            **{f"bytes of {part}": count for part, count in self.memory.items()},
            **work, **{f"{name} an event": self.each(name) for name in work if name != "events"}, **self.more,
        }  # fmt: skip

    def __getitem__(self, name: str) -> Any:
        return self.as_dict()[name]

    def of(self, engine: str) -> MatcherStats:
        """The same figures, of an engine of that name."""
        return replace(self, engine=engine)

    def __str__(self) -> str:
        rows: list[tuple[str, Any]] = [("engine", self.engine), ("filters", self.filters)]
        if self.by_index:
            rows.append(("by index", ""))
            rows += [(f"  {kind}", count) for kind, count in self.by_index.items()]
        rows.append(("memory, bytes", self.bytes))
        if self.filters:
            rows.append(("  a filter", self.bytes / self.filters))
        rows += [(f"  {part}", count) for part, count in self.memory.items()]
        rows.append(("events", self.work.events))
        rows += [(f"  {name} each", self.each(name)) for name in ("candidates", "passed", "verifications")]
        for name, held in self.more.items():
            listed = held.items() if isinstance(held, Mapping) else [(None, held)]
            rows += [(name if part is None else f"{name}, {part}", count) for part, count in listed]
        shown = [(name, _shown(figure)) for name, figure in rows]
        left, right = (max(len(row[side]) for row in shown) for side in (0, 1))
        return "\n".join(f"{name.ljust(left)}  {figure.rjust(right)}".rstrip() for name, figure in shown)


def _shown(figure: Any) -> str:
    if isinstance(figure, float):
        return f"{figure:,.0f}" if figure == int(figure) or figure >= 100 else f"{figure:.3g}"
    return f"{figure:,}" if isinstance(figure, int) else str(figure)


class Counters:
    """The counters of all threads, those that have ended included. A thread counts without asking the others."""

    def __init__(self) -> None:
        self._living: list[tuple[weakref.ref[Any], NDArray[np.int64]]] = []
        self._ended: NDArray[np.int64] = np.zeros(4, np.int64)

    def add(self, owner: Any, counters: NDArray[np.int64]) -> None:
        """Count those of another thread, too; ``owner`` lives as long as the thread."""
        still = []
        for holder, held in self._living:
            if holder() is None:
                self._ended = self._ended + held
            else:
                still.append((holder, held))
        self._living = [*still, (weakref.ref(owner), counters)]

    def total(self) -> NDArray[np.int64]:
        """All of them together."""
        total = self._ended.copy()
        for _, held in self._living:
            total += held
        return total
