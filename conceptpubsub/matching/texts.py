"""Texts as kernels look them up: by hash, and constants in their order, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import text_kernels as tk
from conceptpubsub.matching.codes import Space


class Texts:
    """Texts that differ, by hash. Immutable: kernels read it while other threads make the next one."""

    def __init__(self, texts: Sequence[str], labels: Sequence[int] = ()) -> None:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        self._blob: NDArray[np.uint8] = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
        self._starts: NDArray[np.int64] = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(each) for each in encoded], out=self._starts[1:])
        self._labels: NDArray[np.uint32] = np.array(labels or [0], np.uint32)
        size = 16
        while size < 2 * len(encoded):
            size *= 2
        self._buckets: NDArray[np.uint32] = np.zeros(size, np.uint32)
        self.row: NDArray[np.int64] = np.zeros(tk.TABLE_SIZE, np.int64)
        self.row[tk.BLOB], self.row[tk.STARTS] = self._blob.ctypes.data, self._starts.ctypes.data
        self.row[tk.LABELS], self.row[tk.BUCKETS] = self._labels.ctypes.data, self._buckets.ctypes.data
        self.row[tk.COUNT], self.row[tk.MASK] = len(encoded), size - 1
        self.row[tk.LONGEST] = max(map(len, encoded), default=-1)
        self.address = int(self.row.ctypes.data)
        tk.fill_buckets(self.address)


class TextTable(Texts):
    """The constants of a text space, as they are now."""

    def __init__(self, space: Space) -> None:
        self.seen = len(space.added)
        constants = space.since(0)
        super().__init__([text for text, _ in constants], [label for _, label in constants])
