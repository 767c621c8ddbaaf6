"""The clockwork of the simulator: a heap of (time, priority, number, action).

Rule 1  Time never runs backwards; actions at the same time run by priority, then in the order they were asked for.
Rule 2  Nothing here is random and nothing reads a clock: the same calls give the same run.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from conceptpubsub.errors import InvalidValue

URGENT, NORMAL = 0, 1
Action = Callable[[], None]


class Kernel:
    """Runs actions in the order of simulated time.

    >>> kernel, seen = Kernel(), []
    >>> kernel.at(2.0, lambda: seen.append("late")); kernel.after(1.0, lambda: seen.append("early"))
    >>> kernel.run(), seen, kernel.now
    (2, ['early', 'late'], 2.0)
    """

    __slots__ = ("_heap", "_number", "now")

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, int, Action]] = []
        self._number = 0

    def at(self, time: float, action: Action, priority: int = NORMAL) -> None:
        """Run an action at a time, which may not have passed."""
        if not self.now <= time < math.inf:
            raise InvalidValue(f"it is {self.now}; nothing can be done at {time}", now=self.now, time=time)
        self._number += 1
        heapq.heappush(self._heap, (time, priority, self._number, action))

    def after(self, delay: float, action: Action, priority: int = NORMAL) -> None:
        """Run an action when that much time has passed."""
        self.at(self.now + delay, action, priority)

    def run(self, until: float = math.inf) -> int:
        """Run what is due up to and including a time, or everything; returns how many actions ran."""
        heap, count = self._heap, 0
        while heap and heap[0][0] <= until:
            self.now, _, _, action = heapq.heappop(heap)
            action()
            count += 1
        if until < math.inf:
            self.now = max(self.now, until)
        return count

    @property
    def next_time(self) -> float | None:
        """When the next action is due, or None when there is none."""
        return self._heap[0][0] if self._heap else None

    def __len__(self) -> int:
        return len(self._heap)
