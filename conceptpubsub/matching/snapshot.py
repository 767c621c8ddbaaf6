"""A snapshot: all that one answer is computed from. Filters that come later stand in the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching import record_kernels as rk
from conceptpubsub.matching.encoder import Encoder
from conceptpubsub.matching.match_kernels import DENSE, SEGMENT_SIZE

_KINDS: Final = {
    rk.KEY: "under a value or range",
    rk.PAIR: "under two attributes",
    rk.UP: "under an upper bound",
    rk.DOWN: "under a lower bound",
    rk.ALWAYS: "at every event",
    rk.DENSE: "among shared literals",
    rk.NEVER: "never",
}
_NEWEST: Final = "newest, one by one"


class Snapshot:
    """Segments, which slots are alive, and the encoder whose codes they compare."""

    __slots__ = ("alive", "encoder", "rows", "segments", "width")

    def __init__(self, encoder: Encoder, segments: Sequence[Any], alive: NDArray[np.uint64], width: int) -> None:
        self.encoder = encoder
        self.segments: tuple[Any, ...] = tuple(segments)
        self.alive = alive
        """One bit a slot. A filter that is removed is masked out here at once, in older snapshots too."""
        self.width = width
        """How many slots there are, those of removed filters among them."""
        self.rows: NDArray[np.int64] = np.empty((len(self.segments), SEGMENT_SIZE), np.int64)
        for i, segment in enumerate(self.segments):
            self.rows[i] = segment.row

    @property
    def dense_rows(self) -> list[int]:
        """The rows of those segments that have a dense part."""
        return np.flatnonzero(self.rows[:, DENSE]).tolist() if len(self.rows) else []

    def by_kind(self) -> dict[str, int]:
        """How many cubes are looked for in which way."""
        made = dict.fromkeys((*_KINDS.values(), _NEWEST), 0)
        for segment in self.segments:
            counts = getattr(segment, "by_kind", None)
            if counts is None:
                made[_NEWEST] += segment.cubes
                continue
            for kind, name in _KINDS.items():
                made[name] += int(counts[kind])
        return {name: count for name, count in made.items() if count}
