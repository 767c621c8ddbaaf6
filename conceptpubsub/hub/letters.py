"""Dead letters: what could not be delivered, to whom, and why; and how often a failing callback is tried again.

Rule 1  Nothing is dropped in silence: an event that does not validate, a callback that keeps raising and a queue that
        overflows each leave a letter, or are counted where the letters themselves are bounded.
Rule 2  A handler of letters that raises is left out from then on; it never harms a publisher.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conceptpubsub.errors import InvalidValue

KEPT = 1000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event (or a batch, or a row of one) that reached nobody, or not this subscription, and why."""

    event: Any
    reason: str
    subscription: str | None = None
    """The name of the subscription that failed; None where the event itself was refused at the edge."""
    attempts: int = 0
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a callback that raises is called, and how long is waited in between.

    >>> [Retry(attempts=4, delay=0.1, factor=2, most=0.3).pause(n) for n in (1, 2, 3)]
    [0.1, 0.2, 0.3]
    """

    attempts: int = 3
    delay: float = 0.05
    factor: float = 2.0
    most: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.delay < 0 or self.factor < 1 or self.most < 0:
            raise InvalidValue(
                "a retry policy has at least one attempt, a delay of zero or more, and a factor of one or more",
                value=f"attempts={self.attempts}, delay={self.delay}, factor={self.factor}, most={self.most}",
            )

    def pause(self, failed: int) -> float:
        """Seconds to wait after that many failures."""
        return float(min(self.most, self.delay * self.factor ** (failed - 1)))


class DeadLetters:
    """The newest letters, how many there were in all, and whoever wants to be told.

    >>> letters = DeadLetters(kept=1)
    >>> letters.add(DeadLetter({"x": 1}, "no such concept")); letters.add(DeadLetter({"y": 1}, "too hot"))
    >>> letters.count, [letter.reason for letter in letters]
    (2, ['too hot'])
    """

    def __init__(self, kept: int = KEPT, handler: Callable[[DeadLetter], Any] | None = None) -> None:
        self.count = 0
        self.handler_error: str | None = None
        self._kept: deque[DeadLetter] = deque(maxlen=max(kept, 0))
        self._handler = handler
        self._lock = threading.Lock()

    def add(self, letter: DeadLetter) -> None:
        """Keep a letter and tell the handler."""
        with self._lock:
            self.count += 1
            self._kept.append(letter)
            handler = self._handler
        if handler is not None:
            try:
                handler(letter)
            except Exception as error:
                self._handler, self.handler_error = None, f"{type(error).__name__}: {error}"

    def take(self) -> list[DeadLetter]:
        """The letters kept, oldest first, which are then forgotten; the count stays."""
        with self._lock:
            taken = list(self._kept)
            self._kept.clear()
        return taken

    def __iter__(self) -> Iterator[DeadLetter]:
        with self._lock:
            return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)
