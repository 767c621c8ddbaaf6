"""What matched in the rows of a table: lists of slots where they are few, bits where they are many.

Rule 1  Slots of a row are ascending. ``offsets`` says where each row's begin.
Rule 2  Either form is made from the other only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.lending import lender, read_only


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
        self._offsets = offsets
        self._slots = slots
        self.rows = len(offsets) - 1
        self.faults = faults

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the slots of each row begin; one more than there are rows."""
        return self._offsets

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of all rows, one row after the other."""
        return self._slots

    def joined(self, pairs: NDArray[np.int64]) -> Matches:
        """These and some more pairs of row and slot, which may be among them already."""
        rows = self.rows
        held = np.repeat(np.arange(rows), np.diff(self.offsets)) << 32 | self.slots
        keys = np.unique(np.concatenate([held, pairs[:, 0] << 32 | pairs[:, 1]]))
        counts = np.bincount(keys >> 32, minlength=rows)
        return Matches(np.concatenate([[0], np.cumsum(counts)]), keys & 0xFFFFFFFF, self.faults)

    @property
    def is_list(self) -> bool:
        """Whether all slots are listed, so that a bitmap of them is cleared sooner than made anew."""
        return True

    def bits(self, positions: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
        """A packed bitmap a row: ``positions[slot]`` is the bit of a slot, most significant bit first; to be read."""
        positions = np.ascontiguousarray(positions, np.int64)
        size = (width + 7) // 8
        packed = lender().clear_rows(self.rows, size, self if self.is_list else None, positions)
        self.pack(positions, width, packed)
        clear_rest(packed, width)
        return read_only(packed)

    def pack(self, positions: NDArray[np.int64], width: int, packed: NDArray[np.uint8]) -> None:
        """Write the bitmap to rows that are all 0."""
        self._put(positions, packed, 1)

    def unpack(self, positions: NDArray[np.int64], packed: NDArray[np.uint8]) -> None:
        """Take what `pack` wrote out of the rows again."""
        self._put(positions, packed, 0)

    def _put(self, positions: NDArray[np.int64], packed: NDArray[np.uint8], set: int) -> None:
        from conceptpubsub.matching.answer_kernels import pack_slots

        offsets, slots = np.ascontiguousarray(self.offsets), np.ascontiguousarray(self.slots)
        pack_slots(
            offsets.ctypes.data, slots.ctypes.data, len(packed), positions.ctypes.data, len(positions),
            packed.shape[1], packed.ctypes.data, set,
        )  # fmt: skip


class BitMatches(Matches):
    """Matches as packed rows of bits, a bit a slot; offsets and slots are made when asked for."""

    def __init__(self, lines: NDArray[np.uint8]) -> None:
        self._lines = lines
        self.rows = len(lines)
        self.faults = ()

    def joined(self, pairs: NDArray[np.int64]) -> Matches:
        """These, to which some more pairs of row and slot are added; they may be among them already."""
        from conceptpubsub.matching.answer_kernels import set_bits

        pairs, lines = np.ascontiguousarray(pairs), self._lines
        set_bits(lines.ctypes.data, lines.shape[1], pairs.ctypes.data, len(pairs))
        return self

    @property
    def is_list(self) -> bool:
        """They are not."""
        return False

    @cached_property
    def _counted(self) -> NDArray[np.int64]:
        from conceptpubsub.matching.answer_kernels import count_bits

        made, lines = np.zeros(self.rows + 1, np.int64), self._lines
        count_bits(lines.ctypes.data, self.rows, lines.shape[1], made[1:].ctypes.data)
        return made

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the slots of each row begin; one more than there are rows."""
        return self._counted

    @cached_property
    def _listed(self) -> NDArray[np.int64]:
        from conceptpubsub.matching.answer_kernels import list_slots

        out, lines = np.empty(int(self.offsets[-1]), np.int64), self._lines
        list_slots(lines.ctypes.data, self.rows, lines.shape[1], out.ctypes.data)
        return out

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of all rows, one row after the other."""
        return self._listed

    def bits(self, positions: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
        """A packed bitmap a row, to be read. Where a slot's place is its number, it is what these are kept in."""
        return read_only(self._lines) if self._fits(positions, width) else super().bits(positions, width)

    def _fits(self, positions: NDArray[np.int64], width: int) -> bool:
        return len(positions) == width and (width + 7) // 8 == self._lines.shape[1]

    def pack(self, positions: NDArray[np.int64], width: int, packed: NDArray[np.uint8]) -> None:
        """Write the bitmap to rows that are all 0."""
        if self._fits(positions, width):
            packed[:] = self._lines
        else:
            super().pack(positions, width, packed)


class JoinedMatches(Matches):
    """The matches of parts of a table, one after the other."""

    def __init__(self, parts: Sequence[Matches], faults: Sequence[Fault]) -> None:
        self._parts = parts
        self.rows = sum(part.rows for part in parts)
        self.faults = faults

    @property
    def is_list(self) -> bool:
        """Whether all slots are listed."""
        return all(part.is_list for part in self._parts)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        offsets = [np.zeros(1, np.int64)]
        for part in self._parts:
            offsets.append(part.offsets[1:] - part.offsets[0] + offsets[-1][-1])
        return np.concatenate(offsets)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the slots of each row begin; one more than there are rows."""
        return self._ends

    @cached_property
    def _joined(self) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *(part.slots for part in self._parts)])

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of all rows, one row after the other."""
        return self._joined

    def pack(self, positions: NDArray[np.int64], width: int, packed: NDArray[np.uint8]) -> None:
        """Write the bitmap to rows that are all 0."""
        for part, rows in self._with_rows(packed):
            part.pack(positions, width, rows)

    def unpack(self, positions: NDArray[np.int64], packed: NDArray[np.uint8]) -> None:
        """Take what `pack` wrote out of the rows again."""
        for part, rows in self._with_rows(packed):
            part.unpack(positions, rows)

    def _with_rows(self, packed: NDArray[np.uint8]) -> Iterator[tuple[Matches, NDArray[np.uint8]]]:
        row = 0
        for part in self._parts:
            yield part, packed[row : row + part.rows]
            row += part.rows


def concatenated(parts: Sequence[Matches]) -> Matches:
    """The matches of the batches of a table, as those of the table."""
    if len(parts) == 1:
        return parts[0]
    faults, rows = list[Fault](), 0
    for part in parts:
        faults.extend(fault._replace(row=fault.row + rows) for fault in part.faults)
        rows += part.rows
    return JoinedMatches(parts, faults)
