"""What a Matcher found in a table of events."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.engine import Fault, Matches

if TYPE_CHECKING:
    from conceptpubsub.matching.keys import KeyTable


class MatchError(NamedTuple):
    """An event (row) that could not be matched with the filter of a key, or with any (key is None), and why."""

    row: int
    key: Hashable | None
    reason: str


class MatchErrors(Sequence[MatchError]):
    """The errors of a table, made when they are read: under ``total`` there may be very many."""

    def __init__(self, faults: Sequence[Fault], keys: KeyTable) -> None:
        self._faults = faults
        self._keys = keys

    def __len__(self) -> int:
        return len(self._faults)

    @overload
    def __getitem__(self, index: int) -> MatchError: ...
    @overload
    def __getitem__(self, index: slice) -> list[MatchError]: ...
    def __getitem__(self, index: int | slice) -> MatchError | list[MatchError]:
        if isinstance(index, slice):
            return [self._made(fault) for fault in self._faults[index]]
        return self._made(self._faults[index])

    def __iter__(self) -> Iterator[MatchError]:
        return map(self._made, self._faults)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"{self[:3]!r}" if len(self) <= 3 else f"<{len(self):,} errors, first {self[0]!r}>"

    def _made(self, fault: Fault) -> MatchError:
        return MatchError(fault.row, None if fault.slot is None else self._keys.at(fault.slot), fault.reason)


@dataclass(frozen=True, slots=True, eq=False)
class MatchBatch:
    """The matches of a table: row i has ``keys[offsets[i]:offsets[i + 1]]``, in the order added.

    >>> import pyarrow as pa
    >>> from conceptpubsub.filters import Filter
    >>> from conceptpubsub.matching import Matcher
    >>> m = Matcher()
    >>> m.add_many([(7, Filter.parse("x > 1")), (8, Filter.parse("x > 2"))])
    >>> found = m.match_batch(pa.table({"x": [1, 2, 3]}))
    >>> found.offsets.tolist(), found.keys.tolist()
    ([0, 0, 1, 3], [7, 7, 8])
    >>> np.unpackbits(found.bitmap(), axis=1)[:, :2].tolist()
    [[0, 0], [1, 0], [1, 1]]
    """

    matches: Matches
    by_slot: NDArray[Any]
    """The key of each slot; int64 if all keys are ints, else objects."""
    positions: NDArray[np.int64]
    """The column of each slot in the bitmap: its place in the order added."""
    filters: int
    errors: Sequence[MatchError]
    """What could not be matched, by row; the rest was."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each row's keys begin; one more than there are rows."""
        return self.matches.offsets

    @property
    def keys(self) -> NDArray[Any]:
        """The keys that matched, row after row; int64 if all keys of the matcher are ints, else objects."""
        made: NDArray[Any] = self.by_slot[self.matches.slots]
        return made

    def __len__(self) -> int:
        return self.matches.rows

    def row(self, index: int) -> list[Hashable]:
        """The keys that one row matched.

        >>> from conceptpubsub.matching.matcher import Matcher
        >>> len(Matcher().match_batch({}))
        0
        """
        low, high = int(self.offsets[index]), int(self.offsets[index + 1])
        found: list[Hashable] = self.by_slot[self.matches.slots[low:high]].tolist()
        return found

    def bitmap(self) -> NDArray[np.uint8]:
        """A bit for each row and filter, packed as `numpy.packbits` does along each row; filters in the order added.

        To be read only: it may be what the answer is kept in.
        """
        return self.matches.bits(self.positions, self.filters)
