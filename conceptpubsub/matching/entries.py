"""What is known of an attribute's name in a context, and the room that its words are written to."""

from __future__ import annotations

from array import array
from typing import Any, Final

from conceptpubsub.matching.readers import NOTHING, Binding, Reader, Readers
from conceptpubsub.model import Context

SPARE: Final = 64
"""Words that there is always room for."""
_ROOM: Final = 1024


class Entry:
    """The readers of one attribute name in one context, by Python type."""

    __slots__ = ("bindings", "context", "dated", "enters", "path", "readers", "remembers_text", "words")

    def __init__(self, path: tuple[str, ...], context: Context, readers: Readers) -> None:
        self.path = path
        self.context = context
        self.bindings: list[Binding] = readers.bindings(path, context)
        self.enters = readers.leads_inside(path)
        self.dated = any(
            plan.moves or plan.currency is not None or "money" in readers.kinds(column)
            for column, _, plan in self.bindings
        )
        """Whether a value may mean something else at another time."""
        self.readers: dict[type, Reader] = {**readers.simple(self.bindings), type(None): NOTHING}
        """A plain dictionary of plain tuples: the hot loop asks it about every attribute."""
        self.remembers_text = not self.dated and str not in self.readers
        self.words: dict[type, dict[Any, array[int]]] = {}
        self.forget()

    def forget(self) -> None:
        """Begin to remember words anew: new constants have come, and codes may be others."""
        self.words = {}
        if self.remembers_text:
            self.words[str] = {}
            self.readers[str] = (self.words[str].get, -1)

    @property
    def is_idle(self) -> bool:
        """Whether no filter speaks of it."""
        return not self.bindings and not self.enters


class Words:
    """Room for the words of an event, and the floats and numbers beside them; one for each thread.

    Both are there because an array of floats takes twice as long to store an int.
    """

    __slots__ = ("addresses", "numbers", "values", "words")

    def __init__(self) -> None:
        self.words, self.values, self.numbers = array("Q"), array("d"), array("Q")
        self.addresses = (0, 0, 0)
        self.reserve(_ROOM)

    def reserve(self, count: int) -> None:
        """Make room for so many."""
        if count > len(self.words):
            more = max(len(self.words), count - len(self.words))
            for held in (self.words, self.values, self.numbers):
                held.frombytes(bytes(8 * more))
            self.addresses = (
                self.words.buffer_info()[0], self.values.buffer_info()[0], self.numbers.buffer_info()[0],
            )  # fmt: skip

    def append(self, words: Any, n: int, value: float = 0.0) -> int:
        """Write some at a place; returns the place after them."""
        end = n + len(words)
        self.reserve(end + SPARE)
        self.words[n:end] = words if type(words) is array else array("Q", words)
        self.values[n] = value
        return end
