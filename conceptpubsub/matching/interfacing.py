"""The interfaces of events and tables, for the default engine."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import batch_kernels as bk
from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import interface_kernels as ik
from conceptpubsub.matching.slots import Slots

if TYPE_CHECKING:
    from conceptpubsub.matching.scratch import Scratch
    from conceptpubsub.matching.snapshot import Snapshot
    from conceptpubsub.matching.table_words import BatchWords

_ROOM = 1 << 18


class Interfaces:
    """What one thread needs to find interfaces: which sets there are, and room for those that are found."""

    def __init__(self) -> None:
        self.state: NDArray[np.int64] = np.zeros(ik.STATE_SIZE, np.int64)
        self.address = int(self.state.ctypes.data)
        self.found: NDArray[np.int64] = np.zeros(1, np.int64)
        self._sets = -1
        self._arrays: list[NDArray[Any]] = []
        self._slot_sets: Any = None

    def bind(self, slots: Slots) -> None:
        """Take in the sets of interfaces that have come."""
        if len(slots.interfaces) != self._sets:
            self._rebuild(list(slots.interfaces))
        if self._slot_sets is not slots.interface_sets.array:
            self._slot_sets = slots.interface_sets.array
            self.state[ik.SLOT_SETS] = self._slot_sets.ctypes.data

    def _rebuild(self, sets: list[tuple[int, ...]]) -> None:
        members = np.array([number for each in sets for number in each] or [0], np.uint32)
        ends = np.zeros(len(sets) + 1, np.uint32)
        np.cumsum([len(each) for each in sets], out=ends[1:])
        total = len({number for each in sets for number in each})
        seen = np.zeros((len(sets) >> 6) + 1, np.uint64)
        seen[0] = 1  # the empty set, which brings nothing new
        reached = np.zeros((int(members.max()) >> 6) + 1, np.uint64)
        listed = np.zeros(len(sets), np.uint32)
        self.found = np.zeros(max(1, total), np.int64)
        self._arrays = [seen, ends, members, reached, listed, self.found]
        for place, held in (
            (ik.SEEN, seen), (ik.SET_ENDS, ends), (ik.SET_MEMBERS, members), (ik.REACHED, reached),
            (ik.FOUND_SETS, listed), (ik.FOUND, self.found),
        ):  # fmt: skip
            self.state[place] = held.ctypes.data
        self.state[ik.TOTAL] = total
        self.state[ik.SINGLE] = max(map(len, sets), default=0) == 1
        self.state[ik.SET_COUNT] = self.state[ik.COUNT] = 0
        self._sets = len(sets)


def rows_interfaces(
    snapshot: Snapshot, scratch: Scratch, words: BatchWords, known: Interfaces
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Offsets and interfaces of the rows of a record batch, and the pairs (row, slot) that the evaluator must be asked
    about."""
    alive = snapshot.alive.copy()
    offsets = np.zeros(words.rows + 1, np.int64)
    room = max(_ROOM, 2 * int(known.state[ik.TOTAL]))
    asked_room = max(_ROOM, 128 * len(alive))
    listed, asked = np.empty(room, np.int64), np.empty((2, asked_room), np.int64)
    task = np.zeros(bk.TASK_SIZE, np.int64)
    for place, held in (
        (bk.STARTS, words.starts), (bk.ENDS, words.ends), (bk.BAD, words.bad), (bk.OFFSETS, offsets),
        (bk.SLOTS, listed), (bk.ASKED_ROWS, asked[0]), (bk.ASKED_SLOTS, asked[1]),
    ):  # fmt: skip
        task[place] = held.ctypes.data
    task[bk.ROWS], task[bk.SLOTS_ROOM], task[bk.ASKED_ROOM] = words.rows, room, asked_room
    parts, pairs, before = [np.zeros(0, np.int64)], [np.zeros((2, 0), np.int64)], 0
    code = bk.FULL
    while code != bk.DONE:
        first = int(task[bk.NEXT])
        address = scratch.table_header(words, alive)
        code = ik.find_rows_interfaces(address, task.ctypes.data, known.address)
        last, made = int(task[bk.NEXT]), int(task[bk.SLOT_COUNT])
        if code == ev.NO_ROOM:
            scratch.reserve_touched(2 * scratch.header[ev.ROOM])
        offsets[first + 1 : last + 1] += before
        before += made
        parts.append(listed[:made].copy())
        pairs.append(asked[:, : task[bk.ASKED_COUNT]].copy())
        task[bk.SLOT_COUNT] = task[bk.ASKED_COUNT] = 0
    known.state[ik.FOUND] = known.found.ctypes.data
    return offsets, np.concatenate(parts), np.concatenate(pairs, axis=1)


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
