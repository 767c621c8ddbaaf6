"""Memory of results that is used again once nobody has them any more.

Fresh memory costs several times what it takes to write to it, on virtual machines microseconds a page; bitmaps of
100,000 filters are three pages a row. Who gets such a result may keep it as long as he likes, and can only read it.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

_MOST: Final = 3
_MOST_BYTES: Final = 1 << 28
"""What a thread keeps at the most."""
_LINE: Final = 64


class Written(Protocol):
    """What was written to rows that were clear, and can be taken out of them again."""

    def unpack(self, positions: NDArray[np.int64], packed: NDArray[np.uint8]) -> None:
        """Clear what was written."""


@dataclass(eq=False, slots=True)
class _Buffer:
    """Some memory, and what is known of what is in it."""

    array: NDArray[np.uint8]
    clear: int = 0
    """Bytes that are clear, but for what was written."""
    written: tuple[Written, NDArray[np.int64], tuple[int, int]] | None = None


class Lender:
    """The buffers of one thread."""

    def __init__(self) -> None:
        self._never = _Buffer(np.empty(0, np.uint8))
        self._buffers: list[_Buffer] = []

    def rows(self, count: int, size: int) -> NDArray[np.uint8]:
        """Rows of any contents, so many bytes each."""
        buffer = self._free(count * size, False)
        buffer.clear, buffer.written = 0, None
        return buffer.array[: count * size].reshape(count, size)

    def clear_rows(
        self, count: int, size: int, written: Written | None, positions: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """Rows that are clear. With ``written``, the caller promises to write nothing else to them."""
        need = count * size
        buffer = self._free(need, True)
        if buffer.written is not None:
            before, places, (held, width) = buffer.written
            before.unpack(places, buffer.array[: held * width].reshape(held, width))
        buffer.array[buffer.clear : need] = 0
        buffer.clear, buffer.written = max(buffer.clear, need), None
        if written is None:
            buffer.clear = 0
        else:
            buffer.written = (written, positions, (count, size))
        return buffer.array[:need].reshape(count, size)

    def _free(self, need: int, clear: bool) -> _Buffer:
        """A buffer that nobody has; it is looked at as the one that nobody ever has. What is clear is kept so for those
        who want that."""
        references = sys.getrefcount(self._never.array)
        fitting = [buffer for buffer in self._buffers if len(buffer.array) >= need]
        free = [buffer for buffer in fitting if sys.getrefcount(buffer.array) == references]
        wanted = [buffer for buffer in free if (buffer.clear > 0) == clear]
        if wanted or (free and len(self._buffers) >= _MOST):
            return (wanted or free)[0]
        made = _Buffer(np.empty(need, np.uint8))
        if need <= _MOST_BYTES:
            self._buffers = [made, *self._buffers[: _MOST - 1]]
            while sum(len(buffer.array) for buffer in self._buffers) > _MOST_BYTES:
                self._buffers.pop()
        return made


def aligned(words: int) -> NDArray[np.uint64]:
    """So many words, all 0, that begin with a line of the cache: a vector that lies in two lines is read twice."""
    made = np.zeros(words + _LINE // 8 - 1, np.uint64)
    first = -made.ctypes.data % _LINE // 8
    return made[first : first + words]


def lender() -> Lender:
    """That of this thread."""
    found: Lender | None = getattr(_local, "lender", None)
    if found is None:
        found = _local.lender = Lender()
    return found


def read_only(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same rows for others, who cannot write to them."""
    if not rows.size:
        return rows
    made: NDArray[np.uint8] = np.asarray(rows.data.toreadonly())
    return made


_local = threading.local()
