"""What matched in the rows of a table: lists of slots where they are few, bits where they are many.

Rule 1  Slots of a row are ascending. ``offsets`` says where each row's begin.
Rule 2  Either form is made from the other only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Fault(NamedTuple):
    """Why an event could not be matched: with one filter (slot), or at all (slot is None)."""

    row: int
    slot: int | None
    reason: str


def clear_rest(packed: NDArray[np.uint8], width: int) -> None:
    """Clear the bits behind the last filter: one may have been added while the answer was on its way."""
    if width % 8:
        packed[..., -1] &= 0xFF << 8 - width % 8 & 0xFF


class Matches:
    """What matched in each row of a table: the slots of row i are ``slots[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, offsets: NDArray[np.int64], slots: NDArray[np.int64], faults: Sequence[Fault] = ()) -> None:
        self.offsets = offsets
        self._slots = slots
        self.faults = faults

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of all rows, one row after the other."""
        return self._slots

    def joined(self, pairs: NDArray[np.int64]) -> Matches:
        """These and some more pairs of row and slot, which may be among them already."""
        rows = len(self.offsets) - 1
        held = np.repeat(np.arange(rows), np.diff(self.offsets)) << 32 | self.slots
        keys = np.unique(np.concatenate([held, pairs[:, 0] << 32 | pairs[:, 1]]))
        counts = np.bincount(keys >> 32, minlength=rows)
        return Matches(np.concatenate([[0], np.cumsum(counts)]), keys & 0xFFFFFFFF, self.faults)

    def bits(self, positions: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
        """A packed bitmap a row: ``positions[slot]`` is the bit of a slot, most significant bit first."""
        packed = np.zeros((len(self.offsets) - 1, (width + 7) // 8), np.uint8)
        self.pack(np.ascontiguousarray(positions, np.int64), width, packed)
        clear_rest(packed, width)
        return packed

    def pack(self, positions: NDArray[np.int64], width: int, packed: NDArray[np.uint8]) -> None:
        """Write the bitmap to rows that are all 0."""
        from conceptpubsub.matching.answer_kernels import pack_slots

        offsets, slots = np.ascontiguousarray(self.offsets), np.ascontiguousarray(self.slots)
        pack_slots(
            offsets.ctypes.data, slots.ctypes.data, len(packed), positions.ctypes.data, len(positions),
            packed.shape[1], packed.ctypes.data,
        )  # fmt: skip


class BitMatches(Matches):
    """Matches as rows of words, a bit a slot; the words may go on behind those that are used."""

    def __init__(self, words: NDArray[np.uint64], used: int, counts: NDArray[np.int64]) -> None:
        self._words = words
        self._used = used
        self._counts = counts
        self.faults = ()
        self._settle()

    def _settle(self) -> None:
        self.offsets = np.zeros(len(self._counts) + 1, np.int64)
        np.cumsum(self._counts, out=self.offsets[1:])

    def joined(self, pairs: NDArray[np.int64]) -> Matches:
        """These, to which some more pairs of row and slot are added; they may be among them already."""
        from conceptpubsub.matching.answer_kernels import set_bits

        pairs = np.ascontiguousarray(pairs)
        words, counts = self._words, self._counts
        set_bits(words.ctypes.data, words.shape[1], pairs.ctypes.data, len(pairs), counts.ctypes.data)
        self._settle()
        return self

    @cached_property
    def _listed(self) -> NDArray[np.int64]:
        from conceptpubsub.matching.answer_kernels import list_slots

        out = np.empty(int(self.offsets[-1]), np.int64)
        words = self._words
        list_slots(words.ctypes.data, words.shape[1], len(words), self._used, out.ctypes.data)
        return out

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of all rows, one row after the other."""
        return self._listed

    def pack(self, positions: NDArray[np.int64], width: int, packed: NDArray[np.uint8]) -> None:
        """Write the bitmap to rows that are all 0."""
        from conceptpubsub.matching.answer_kernels import pack_words

        if len(positions) != width:  # filters were removed: slots and places differ
            super().pack(positions, width, packed)
            return
        words = self._words
        pack_words(words.ctypes.data, words.shape[1], len(words), packed.shape[1], packed.ctypes.data)


class JoinedMatches(Matches):
    """The matches of parts of a table, one after the other."""

    def __init__(self, parts: Sequence[Matches], faults: Sequence[Fault]) -> None:
        self._parts = parts
        self.faults = faults
        offsets = [np.zeros(1, np.int64)]
        for part in parts:
            offsets.append(part.offsets[1:] - part.offsets[0] + offsets[-1][-1])
        self.offsets = np.concatenate(offsets)

    @cached_property
    def _joined(self) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *(part.slots for part in self._parts)])

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of all rows, one row after the other."""
        return self._joined

    def pack(self, positions: NDArray[np.int64], width: int, packed: NDArray[np.uint8]) -> None:
        """Write the bitmap to rows that are all 0."""
        row = 0
        for part in self._parts:
            rows = len(part.offsets) - 1
            part.pack(positions, width, packed[row : row + rows])
            row += rows


def concatenated(parts: Sequence[Matches]) -> Matches:
    """The matches of the batches of a table, as those of the table."""
    if len(parts) == 1:
        return parts[0]
    faults, rows = list[Fault](), 0
    for part in parts:
        faults.extend(fault._replace(row=fault.row + rows) for fault in part.faults)
        rows += len(part.offsets) - 1
    return JoinedMatches(parts, faults)
