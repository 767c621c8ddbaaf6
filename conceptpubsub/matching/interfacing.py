"""The interfaces of events and tables, for the default engine."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import interface_kernels as ik
from conceptpubsub.matching import reach_kernels as rc
from conceptpubsub.matching.segment import Segment
from conceptpubsub.matching.slots import Slots
from conceptpubsub.matching.unions import MOST_INTERFACES, Sets, Unions

if TYPE_CHECKING:
    from conceptpubsub.matching.scratch import Scratch
    from conceptpubsub.matching.snapshot import Snapshot
    from conceptpubsub.matching.table_words import BatchWords

_ROOM: Final = 1 << 21
_MOST_WORDS: Final = 64
"""Words that are cheaper to look through than to list what is in them."""
_CUBES_AN_EVENT: Final = 1024
"""How many cubes are looked at in the time that unions save an event, about."""
_LESS_AT_FIRST: Final = 16
"""A segment that never had unions has cost much more to build, and so they are made sooner."""
_NEVER: Final = 1 << 62


class AllBut(Collection[int]):
    """The numbers from 0 to before ``of``, without some."""

    __slots__ = ("missing", "of")

    def __init__(self, of: int, missing: list[int]) -> None:
        self.of = of
        self.missing = missing

    def __len__(self) -> int:
        return self.of - len(self.missing)

    def __iter__(self) -> Iterator[int]:
        without = set(self.missing)
        return (number for number in range(self.of) if number not in without)

    def __contains__(self, number: object) -> bool:
        return number in range(self.of) and number not in self.missing


class Interfaces:
    """What one thread needs to find interfaces: which sets there are, and room for those that are found."""

    def __init__(self, least: int) -> None:
        self._least = least
        """How many filters make it worth to unite their interfaces, and how many events."""
        self.state: NDArray[np.int64] = np.zeros(rc.STATE_SIZE, np.int64)
        self.address = int(self.state.ctypes.data)
        self.found: NDArray[np.int64] = np.zeros(1, np.int64)
        self.snapshot: Snapshot | None = None
        """The one whose sets and unions are known."""
        self.sets, self.everything = Sets([]), range(0)
        self.all_found = rc.ALL_BUT
        """What the kernel says where none is missing."""
        self._arrays: list[NDArray[Any]] = []
        self._united: tuple[Any, ...] = ()
        self._slot_sets: Any = None
        self._left: Any = None

    def bind(self, snapshot: Snapshot, slots: Slots) -> None:
        """Take in what a snapshot has. Sets come with filters: a snapshot speaks of none that come later."""
        if len(slots.interfaces) != self.sets.count:
            self._rebuild(Sets(list(slots.interfaces)))
        self._slot_sets, self._left = slots.interface_sets.array, slots.left
        self.state[rc.SLOT_SETS], self.state[rc.LEFT] = self._slot_sets.ctypes.data, self._left.ctypes.data
        self._bind_unions(snapshot)
        self.snapshot = snapshot

    def _bind_unions(self, snapshot: Snapshot) -> None:
        """Take those unions that are right by now; where some are missing, say after how many events to make them."""
        left = int(self._left[0])
        segments = [each if isinstance(each, Segment) else None for each in snapshot.segments]
        unions = [None if each is None else each.unions for each in segments]
        fresh = sum(each.cubes for each in segments if each and each.unions is None)
        unions = [each if each is not None and each.fits(left, self.sets) else None for each in unions]
        lacking = sum(each.cubes for each, held in zip(segments, unions, strict=True) if each and held is None)
        rows = np.array([0 if each is None else each.row.ctypes.data for each in unions] or [0], np.int64)
        state, usable = self.state, not self.state[rc.LISTS]
        state[rc.UNIONS], state[rc.MADE_AT] = rows.ctypes.data if usable else 0, left
        state[rc.IS_WHOLE] = not lacking
        state[rc.ENOUGH] = self._enough(lacking - fresh + fresh // _LESS_AT_FIRST)
        state[rc.RENEW] = self._enough(sum(each.cubes for each in segments if each))
        self._united = (rows, unions)

    def _enough(self, cubes: int) -> int:
        """How many events make it worth to unite the interfaces of so many cubes."""
        return _NEVER if self.state[rc.LISTS] else self._least + cubes // _CUBES_AN_EVENT

    def _rebuild(self, sets: Sets) -> None:
        several = np.flatnonzero(np.diff(sets.ends) != 1)
        special = 64 * sets.words
        bits = sets.members[np.minimum(sets.ends[:-1], len(sets.members) - 1)].copy()
        bits[several] = special + np.arange(len(several))  # the empty set is the first of all
        words = sets.words + ((len(several) + 63) >> 6)
        reached, marked = np.zeros(words, np.uint64), np.zeros(len(several) + 1, np.uint32)
        reached[sets.words] = 1
        self.found = np.zeros(max(1, sets.interfaces), np.int64)
        made: list[NDArray[Any]] = [reached, bits, sets.ends, sets.members, self.found, marked]
        self._arrays = made
        places = (rc.REACHED, rc.SET_BITS, rc.SET_ENDS, rc.SET_MEMBERS, rc.FOUND, rc.MARKED)
        for place, held in zip(places, made, strict=True):
            self.state[place] = held.ctypes.data
        for place, number in (
            (rc.WORDS, words), (rc.SPECIAL, special), (rc.INTERFACES, sets.interfaces), (rc.TOTAL, sets.total),
            (rc.COUNT, 0), (rc.MARKED_COUNT, 0), (rc.LISTS, sets.interfaces > MOST_INTERFACES or words > _MOST_WORDS),
        ):  # fmt: skip
            self.state[place] = number
        self.sets, self.everything = sets, range(sets.interfaces)

    def listed(self, made: int) -> Collection[int]:
        """What the kernel has found for a single event."""
        if made < rc.ALL_BUT:
            found: list[int] = self.found[:made].tolist()
            return found
        return AllBut(self.sets.interfaces, self.found[: made - rc.ALL_BUT].tolist())

    def alive_now(self, snapshot: Snapshot) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Which slots are alive, and beside it how many have left; -1 where that is not of the same moment."""
        left: NDArray[np.int64] = self._left.copy()
        alive = snapshot.alive.copy()
        if left[0] != self._left[0]:
            left[0] = -1
        return alive, left

    def release(self) -> None:
        """Have single events write to their own place again."""
        self.state[rc.FOUND], self.state[rc.LEFT] = self.found.ctypes.data, self._left.ctypes.data

    def is_time(self, events: int) -> bool:
        """Whether to make unions before so many events come."""
        return bool(rc.note_events(self.address, events))

    def unite(self, slots: Slots) -> None:
        """Make the unions that are missing. Nobody removes a filter meanwhile."""
        assert self.snapshot is not None
        for segment in self.snapshot.segments:
            if not isinstance(segment, Segment):
                continue
            if segment.unions is None or not segment.unions.fits(int(slots.left[0]), self.sets):
                segment.unions = Unions(segment, slots, self.sets, self._least)
        self.state[rc.SEEN] = 0
        self._bind_unions(self.snapshot)


def rows_interfaces(
    snapshot: Snapshot, scratch: Scratch, words: BatchWords, known: Interfaces
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Offsets and interfaces of the rows of a record batch, and the pairs (row, slot) that the evaluator must be asked
    about."""
    alive, left = known.alive_now(snapshot)
    offsets = np.zeros(words.rows + 1, np.int64)
    most = int(known.state[rc.TOTAL])
    room = max(2 * most, min(words.rows * most, _ROOM))
    asked_room = max(1 << 18, 128 * len(alive))
    asked = np.empty((2, asked_room), np.int64)
    task = np.zeros(bk.TASK_SIZE, np.int64)
    for place, held in (
        (bk.STARTS, words.starts), (bk.ENDS, words.ends), (bk.BAD, words.bad), (bk.OFFSETS, offsets),
        (bk.ASKED_ROWS, asked[0]), (bk.ASKED_SLOTS, asked[1]),
    ):  # fmt: skip
        task[place] = held.ctypes.data
    task[bk.ROWS], task[bk.SLOTS_ROOM], task[bk.ASKED_ROOM] = words.rows, room, asked_room
    parts, pairs, before = [], [np.zeros((2, 0), np.int64)], 0
    code = bk.FULL
    known.state[rc.LEFT] = left.ctypes.data
    try:
        while code != bk.DONE:
            first = int(task[bk.NEXT])
            listed = np.empty(room, np.int64)  # virtual memory: only what is written to is ever real
            task[bk.SLOTS] = listed.ctypes.data
            code = ik.find_rows_interfaces(scratch.table_header(words, alive), task.ctypes.data, known.address)
            last, made = int(task[bk.NEXT]), int(task[bk.SLOT_COUNT])
            if code == ev.NO_ROOM:
                scratch.reserve_touched(2 * scratch.header[ev.ROOM])
            offsets[first + 1 : last + 1] += before
            before += made
            parts.append(listed[:made] if 2 * made > room else listed[:made].copy())
            pairs.append(asked[:, : task[bk.ASKED_COUNT]].copy())
            task[bk.SLOT_COUNT] = task[bk.ASKED_COUNT] = 0
    finally:
        known.release()
    return offsets, parts[0] if len(parts) == 1 else np.concatenate(parts), np.concatenate(pairs, axis=1)


class InterfaceBatch(Sequence[set[Hashable]]):
    """For each row of a table the interfaces with at least one match, as sets that are made when they are read.

    ``names[numbers[offsets[i]:offsets[i + 1]]]`` are those of row i, each once.

    >>> from conceptpubsub.filters import Filter
    >>> from conceptpubsub.matching import Matcher
    >>> m = Matcher()
    >>> m.add_many([(1, Filter.parse("x > 1"), "B1"), (2, Filter.parse("x > 2"), "B2")])
    >>> found = m.interfaces_batch({"x": [1, 2, 3]})
    >>> found[1], found.offsets.tolist()
    ({'B1'}, [0, 0, 1, 3])
    """

    def __init__(self, offsets: NDArray[np.int64], numbers: NDArray[np.int64], names: list[Hashable]) -> None:
        self.offsets = offsets
        self.numbers = numbers
        self.names = names

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> set[Hashable]: ...
    @overload
    def __getitem__(self, index: slice) -> list[set[Hashable]]: ...
    def __getitem__(self, index: int | slice) -> set[Hashable] | list[set[Hashable]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        return {self.names[number] for number in self.numbers[self.offsets[row] : self.offsets[row + 1]].tolist()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"<interfaces of {len(self):,} rows>"
