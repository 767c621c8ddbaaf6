"""What one thread needs to match: room for an event's words and codes, marks for slots, and the header of addresses."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import class_kernels as cl
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching.encoder import Encoder
from conceptpubsub.matching.entries import Words
from conceptpubsub.matching.lending import aligned

_ROOM = 4096
_MOST_PACKED = 3


class Scratch:
    """The working memory of one thread."""

    def __init__(self) -> None:
        self.words = Words()
        self.header = array("q", bytes(8 * ev.HEADER_SIZE))
        self.address = self.header.buffer_info()[0]
        self.snapshot: Any = None
        self._arrays: dict[int, NDArray[Any]] = {}
        self._encoder: Encoder | None = None
        self.now = -1
        """The clock when the header was last bound."""
        self.addresses = (0, 0, 0)
        self.converted = -1
        self._table: Any = None
        self._sheet: Any = None
        self._packed: list[tuple[NDArray[np.uint8], int]] = [(np.empty(0, np.uint8), 0)]
        self._rooms: dict[str, NDArray[Any]] = {}
        self.interfaces: Any = None
        """What is known of interfaces, see `conceptpubsub.matching.interfacing`."""
        self.out: NDArray[np.int64] = np.empty(0, np.int64)
        self.asked: NDArray[np.int64] = np.empty(0, np.int64)
        self.counters: NDArray[np.int64] = np.zeros(4, np.int64)
        self._put(ev.COUNTERS, self.counters)
        self._put(ev.PENDING, np.zeros(ev.PENDING_ROOM, np.uint64))
        self._put(ev.CLASS_ROOM, np.zeros(cl.ROOM_WORDS, np.uint64))
        self.reserve_touched(_ROOM)

    def _put(self, place: int, held: NDArray[Any]) -> None:
        """Point a place of the header to an array, and keep the array."""
        self._arrays[place] = held
        self.header[place] = held.ctypes.data

    def reserve_touched(self, count: int) -> None:
        """Make room for so many codes of one event."""
        for place in (ev.TOUCHED, ev.TOUCHED_CODES, ev.STARTS, ev.ENDS, ev.NEXTS):
            self._put(place, np.zeros(count, np.uint32))
        self.header[ev.ROOM] = count

    def bind(self, snapshot: Any) -> None:
        """Point the header to what a snapshot holds, and to what its encoder holds by now."""
        if snapshot is not self.snapshot:
            self._bind_snapshot(snapshot)
        self._bind_encoder(snapshot.encoder)
        header = self.header
        self.addresses = header[ev.WORDS], header[ev.VALUES], header[ev.NUMBERS] = self.words.addresses

    def table_header(self, words: Any, alive: NDArray[np.uint64]) -> int:
        """The address of a header like this one, for the words of a batch and slots as they were at its start."""
        held = np.frombuffer(self.header, np.int64).copy()
        held[ev.WORDS] = held[ev.VALUES] = held[ev.NUMBERS] = words.words.ctypes.data
        held[ev.ALIVE] = alive.ctypes.data
        self._table = (held, words, alive, dict(self._arrays))
        return int(held.ctypes.data)

    def packed(self, size: int) -> tuple[NDArray[np.uint8], int]:
        """An array of so many bytes for an answer, all of which is written over, and its address.

        It is one that nobody has any more, if there is one: to ask a new one for its address takes a microsecond.
        """
        free = 0
        for number, held in enumerate(self._packed):
            references = getrefcount(held[0])
            if number == 0:  # nobody else ever has the first
                free = references
            elif references == free and len(held[0]) == size:
                return held
        made = np.empty(size, np.uint8)
        found = (made, made.ctypes.data)
        self._packed = [self._packed[0], found, *self._packed[1:_MOST_PACKED]]
        return found

    def sheet(self, words: int, make: Callable[[int], Any]) -> Any:
        """The room for many events at once, kept from call to call."""
        if self._sheet is None or self._sheet.words != words:
            self._sheet = make(words)
        return self._sheet

    def room(self, name: str, size: int, kind: Any) -> NDArray[Any]:
        """An array of at least that size, kept from call to call: new memory has its price."""
        found = self._rooms.get(name)
        if found is None or len(found) < size:
            found = self._rooms[name] = np.empty(size, kind)
        return found

    def _bind_snapshot(self, snapshot: Any) -> None:
        self._put(ev.SEGMENTS, snapshot.rows)
        self.header[ev.SEGMENT_COUNT] = len(snapshot.rows)
        self._put(ev.ALIVE, snapshot.alive)
        words = len(snapshot.alive)
        if words != self.header[ev.SLOT_WORDS] or not words:
            self.header[ev.SLOT_WORDS] = words
            tops = (words + cl.TILE - 1) // cl.TILE
            for place in (ev.FOUND, ev.ASKED, ev.REST):  # whole tiles, and a word after the last
                self._put(place, aligned(cl.TILE * (tops + 1)))
            for place in (ev.FOUND_SUMMARY, ev.ASKED_SUMMARY):
                self._put(place, np.zeros(tops + 1, np.uint64))
            # Virtual memory: only what is written to is ever real.
            self.out, self.asked = np.empty(64 * words, np.int64), np.empty(64 * words, np.int64)
            self._put(ev.OUT, self.out)
            self._put(ev.ASKED_OUT, self.asked)
        self.snapshot = snapshot

    def _bind_encoder(self, encoder: Encoder) -> None:
        vocabulary, readers = encoder.vocabulary, encoder.readers
        now = vocabulary.clock.now
        axes = vocabulary.axis_count
        if encoder is not self._encoder or axes != self.header[ev.AXES]:
            base = vocabulary.base_codes(encoder.book)[:axes].copy()
            self._put(ev.BASE, base)
            self._put(ev.CODES, base.copy())
            self._put(ev.HEADS, np.zeros(axes, np.uint32))
            self._put(ev.COLUMN_OF, vocabulary.column_of[:axes].copy())
            self.header[ev.AXES] = axes
        self._put(ev.LABELS, encoder.book.labels)
        self._put(ev.TARGET_ENDS, readers.targets.ends.array)
        self._put(ev.TARGET_AXES, readers.targets.axes.array)
        self._put(ev.LOOKUPS, readers.lookups.rows)
        self._encoder, self.now = encoder, now
