"""What a decision procedure may say: yes, no, or that it gives up; and how often each engine said what.

Giving up is an exception inside the package, so that no half-decided set is ever mistaken for an empty one. At the
edge it becomes the safe answer: not covering, not identical, overlapping.
"""

from __future__ import annotations

import threading
from collections import Counter


class GaveUp(Exception):
    """A question outside a procedure's fragment or budget; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Statistics:
    """Counters of decisions, shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def count(self, what: str, times: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counts[what] += times

    def snapshot(self) -> dict[str, int]:
        """The counters so far, by name."""
        with self._lock:
            return dict(sorted(self._counts.items()))

    def reset(self) -> None:
        """Start again from zero."""
        with self._lock:
            self._counts.clear()


STATISTICS = Statistics()
