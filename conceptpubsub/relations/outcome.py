"""What a decision procedure may say: yes, no, or that it gives up; and how often each engine said what.

Giving up is an exception inside the package, so that no half-decided set is ever mistaken for an empty one. At the
edge it becomes the safe answer: not covering, not identical, overlapping.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass


class GaveUp(Exception):
    """A question outside a procedure's fragment or budget; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Budget:
    """What the solver may spend on a decision: wall time, work (z3's own count, equal on every machine), memory."""

    milliseconds: int = 5000
    work: int = 4_000_000
    megabytes: int = 512


class Statistics:
    """Counters of decisions. Each thread counts for itself, so that counting costs next to nothing; readers add up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._local = threading.local()
        self._all: list[Counter[str]] = []

    def count(self, what: str, times: int = 1) -> None:
        """Add to a counter."""
        try:
            counts: Counter[str] = self._local.counts
        except AttributeError:
            counts = self._local.counts = Counter()
            with self._lock:
                self._all.append(counts)
        counts[what] += times

    def snapshot(self) -> dict[str, int]:
        """The counters so far, by name."""
        with self._lock:
            total: Counter[str] = Counter()
            for counts in self._all:
                total.update(dict(counts))
            return dict(sorted(total.items()))

    def reset(self) -> None:
        """Start again from zero."""
        with self._lock:
            for counts in self._all:
                counts.clear()


STATISTICS = Statistics()


def statistics() -> dict[str, int]:
    """How often each engine decided, gave up and why, and what the solver cost; counted since the process began.

    ``domain`` and ``z3`` count decisions, ``safe answer`` those on which both gave up.
    """
    return STATISTICS.snapshot()


def reset_statistics() -> None:
    """Count from zero again."""
    STATISTICS.reset()
