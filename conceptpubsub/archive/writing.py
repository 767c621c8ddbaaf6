"""Writing: files that appear whole or not at all, in folders that a reader can prune.

Rule 1  A file is written under a hidden name and renamed: nobody sees half of one, and writing it again replaces it.
Rule 2  Few subscriptions have a folder each (``subscription=…``); many share buckets (``bucket=07``) by a hash of their
        id that is the same everywhere. In a file rows are sorted by subscription, then by row of the archive.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

FEW = 16
BUCKETS = 16
LONGEST = 200
"""Characters of an id in the name of a folder; a longer one is cut, and a mark of the whole stands in its place."""


class Partitions:
    """Where each subscription's deliveries go."""

    def __init__(self, ids: Sequence[str], buckets: int | None = None) -> None:
        self.buckets = buckets if buckets is not None else (0 if len(ids) <= FEW else BUCKETS)
        """0: a folder a subscription."""
        home = [self._bucket(one) for one in ids]
        ordered = sorted(range(len(ids)), key=lambda place: (home[place], ids[place]))
        self.ids = [ids[place] for place in ordered]
        small = np.uint16 if len(ids) < 1 << 16 else np.int64
        self.rank = np.zeros(len(ids), small)
        """The place of each subscription in the order of files and rows."""
        self.rank[ordered] = np.arange(len(ids))
        names: list[str] = []
        starts: list[int] = []
        for place, original in enumerate(ordered):
            name = self._folder(ids[original], home[original])
            if not names or names[-1] != name:
                names.append(name)
                starts.append(place)
        self.folders = tuple(names)
        self.starts = np.array([*starts, len(ids)], np.int64)

    def _bucket(self, one: str) -> int:
        return zlib.crc32(one.encode("utf-8", "surrogatepass")) % self.buckets if self.buckets else 0

    def _folder(self, one: str, bucket: int) -> str:
        if self.buckets:
            return f"bucket={bucket:04d}"
        name = quote(one, safe="", errors="surrogatepass")
        if len(name) > LONGEST:  # no file system has longer names
            name = f"{name[: LONGEST // 2]}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"
        return f"subscription={name}"

    def order(self, subscriptions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """How to sort deliveries, and the rank of each in that order."""
        ranks = self.rank[subscriptions]
        order = np.argsort(ranks, kind="stable")
        return order, ranks[order]

    def write(self, deliveries: pa.Table, ranks: NDArray[Any], folder: Path, name: str) -> list[str]:
        """Sorted deliveries, each into the folder of its subscription; the files written."""
        cuts = np.searchsorted(ranks, self.starts)
        written = []
        for place, home in enumerate(self.folders):
            low, high = int(cuts[place]), int(cuts[place + 1])
            if low == high:
                continue
            first = int(self.starts[place])
            inside = pa.array(ranks[low:high].astype(np.int32) - first, pa.int32())
            ids = pa.DictionaryArray.from_arrays(inside, pa.array(self.ids[first : int(self.starts[place + 1])]))
            table = deliveries.slice(low, high - low).add_column(0, "@subscription", ids)
            path = folder / home / f"{name}.parquet"
            write_table(table, path)
            written.append(f"{home}/{name}.parquet")
        return written


def write_table(table: pa.Table, path: Path) -> None:
    """A table as one Parquet file that appears whole."""
    coded = [described.name for described in table.schema if pa.types.is_dictionary(described.type)]
    options = {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": coded,  # the writer would hash every id and number to find that they do not repeat
        "column_encoding": {field.name: "DELTA_BINARY_PACKED" for field in table.schema if _counted(field.type)},
        "write_statistics": ["@subscription"] if "@subscription" in table.schema.names else True,
    }
    whole(path, lambda hidden: pq.write_table(table, hidden, **options))


def _counted(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int64(kind) or pa.types.is_int32(kind) or pa.types.is_timestamp(kind))


def write_text(text: str, path: Path) -> None:
    """A text file that appears whole and survives a crash of the machine."""

    def write(hidden: Path) -> None:
        with open(hidden, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    whole(path, write)


def whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Write under a hidden name of this process, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(hidden)
        os.replace(hidden, path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
