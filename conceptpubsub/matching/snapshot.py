"""A snapshot: all that one answer is computed from. Filters that come later stand in the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.encoder import Encoder
from conceptpubsub.matching.match_kernels import SEGMENT_SIZE


class Snapshot:
    """Segments, which slots are alive, and the encoder whose codes they compare."""

    __slots__ = ("alive", "encoder", "rows", "segments")

    def __init__(self, encoder: Encoder, segments: Sequence[Any], alive: NDArray[np.uint64]) -> None:
        self.encoder = encoder
        self.segments: tuple[Any, ...] = tuple(segments)
        self.alive = alive
        """One bit a slot. A filter that is removed is masked out here at once, in older snapshots too."""
        self.rows: NDArray[np.int64] = np.empty((len(self.segments), SEGMENT_SIZE), np.int64)
        for i, segment in enumerate(self.segments):
            self.rows[i] = segment.row
