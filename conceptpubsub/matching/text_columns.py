"""Columns of texts whose words only the evaluator's way tells: those of texts that have come before are kept.

A kernel finds them, so that a table whose texts are few costs Python nothing a text. What is kept is right for one
moment of constants and converters; a text that no event may hold, or a long one, is never kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from conceptpubsub.matching import arrow_kernels as ak
from conceptpubsub.matching.entries import Entry
from conceptpubsub.matching.texts import Texts

_MOST_TEXTS: Final = 4096
"""With more of them in a column, each table has lists of its own."""
LONGEST_KNOWN: Final = 256
Reading: TypeAlias = Callable[[Entry, str], "array[int] | str | None"]
"""The words of a text; None where it is missing; the reason, as text, where no event may hold it."""


class KnownTexts(Texts):
    """Texts, and the list of words of each: text i has those from ``ends[i]`` to ``ends[i + 1]``."""

    def __init__(self, known: dict[str, array[int] | None]) -> None:
        super().__init__(list(known))
        self.known = known
        joined = array("Q")
        self.ends: NDArray[np.int64] = np.zeros(len(known) + 1, np.int64)
        for number, words in enumerate(known.values()):
            joined.extend(words or ())
            self.ends[number + 1] = len(joined)
        self.words: NDArray[np.uint64] = np.frombuffer(joined or array("Q", [0]), np.uint64)


_NONE: Final = KnownTexts({})


class TextColumn:
    """One column of a schema, and the texts that have come in it."""

    def __init__(self, kind: int, number: int, entry: Entry) -> None:
        self.entry = entry
        self._number = number
        self._source: NDArray[np.int64] = np.zeros(ak.SOURCE_SIZE, np.int64)
        self._source[ak.KIND], self._source[ak.COLUMN] = kind, number
        self._address = int(self._source.ctypes.data)
        self._kept: tuple[Any, KnownTexts] = (None, _NONE)

    def lists(
        self, batch: pa.RecordBatch, address: int, moment: Any, read: Reading
    ) -> tuple[NDArray[np.uint32], KnownTexts] | None:
        """For each row the number of its text, -1 for none, and the texts; None where some are not to be kept."""
        made_at, texts = self._kept
        if made_at != moment:
            texts = _NONE
        chosen, unknown = np.empty((2, max(1, batch.num_rows)), np.uint32)
        given = (address, self._address, batch.num_rows)
        missing = ak.choose_lists(*given, texts.address, chosen.ctypes.data, unknown.ctypes.data)
        if missing:
            fresh = set(batch.column(self._number).take(pa.array(unknown[:missing])).to_pylist())
            if len(texts.known) + len(fresh) > _MOST_TEXTS:
                self._kept = (None, _NONE)  # others may come from now on
                return None
            made = self._with(texts, fresh, read)
            if made is None:
                return None
            texts, self._kept = made, (moment, made)
            ak.choose_lists(*given, texts.address, chosen.ctypes.data, unknown.ctypes.data)
        return chosen, texts

    def _with(self, texts: KnownTexts, fresh: set[str], read: Reading) -> KnownTexts | None:
        """The same texts and more; None where one of them is not to be kept."""
        if any(len(text) > LONGEST_KNOWN for text in fresh):
            return None
        known = dict(texts.known)
        for text in fresh:
            words = read(self.entry, text)
            if isinstance(words, str):
                return None
            known[text] = words
        return KnownTexts(known)
