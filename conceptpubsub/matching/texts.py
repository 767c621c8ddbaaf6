"""The text constants of a codebook as kernels look them up: by hash, and in order of their bytes.

The order of UTF-8 bytes is the order of code points, so a text that is no constant finds its place without decoding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.codes import Space

# A text table, by place in its row.
BLOB, STARTS, LABELS, COUNT, BUCKETS, MASK, LONGEST, TABLE_SIZE = range(8)
_OFFSET, _PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


class TextTable:
    """The constants of a text space, as they are now."""

    def __init__(self, space: Space) -> None:
        self.seen = len(space.added)
        constants = space.since(0)
        encoded = [text.encode("utf-8", "surrogatepass") for text, _ in constants]
        self._blob: NDArray[np.uint8] = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
        self._starts: NDArray[np.int64] = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(each) for each in encoded], out=self._starts[1:])
        self._labels: NDArray[np.uint32] = np.array([label for _, label in constants] or [0], np.uint32)
        size = 16
        while size < 2 * len(encoded):
            size *= 2
        self._buckets: NDArray[np.uint32] = np.zeros(size, np.uint32)
        for number, each in enumerate(encoded):
            place = _hash(each) & (size - 1)
            while self._buckets[place]:
                place = (place + 1) & (size - 1)
            self._buckets[place] = number + 1
        self.row: NDArray[np.int64] = np.zeros(TABLE_SIZE, np.int64)
        self.row[BLOB], self.row[STARTS] = self._blob.ctypes.data, self._starts.ctypes.data
        self.row[LABELS], self.row[BUCKETS] = self._labels.ctypes.data, self._buckets.ctypes.data
        self.row[COUNT], self.row[MASK] = len(encoded), size - 1
        self.row[LONGEST] = max(map(len, encoded), default=0)


def _hash(text: bytes) -> int:
    value = _OFFSET
    for byte in text:
        value = (value ^ byte) * _PRIME & _WORD
    return value ^ value >> 32
