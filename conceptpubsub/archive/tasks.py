"""Tasks: the pieces of an archive that are processed, recorded and resumed one by one.

Rule 1  A Parquet file is one task a row group; text is cut at ends of lines, so every piece can be read alone.
Rule 2  A task is named by its file and place, so its results always land under the same names.
Rule 3  Planning never fails on a bad file: that file becomes a task which says what is wrong.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from conceptpubsub.archive.faults import UNREADABLE, VANISHED
from conceptpubsub.archive.mapping import ColumnMapping
from conceptpubsub.errors import ArchiveError, hint, near

KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "lines",
    ".csv": "csv",
}
PACKED = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
PIECE = 16 << 20
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of a file: a row group, or the bytes from ``start`` to ``stop`` of which ``first`` is the first row."""

    path: str
    kind: str
    piece: int
    start: int = 0
    stop: int = 0
    first: int = 0
    stamp: str = ""
    """Size and time of change of the file when it was planned, and how it was cut: another stamp is another file."""
    problem: tuple[str, str] | None = None
    """(reason, detail) where planning already knows that nothing can be read."""

    @property
    def name(self) -> str:
        """What its results are called."""
        label = "".join(c if c.isalnum() else "_" for c in Path(self.path).stem)[:40]
        mark = hashlib.blake2b(self.path.encode("utf-8", "surrogateescape"), digest_size=5).hexdigest()
        return f"{label}-{mark}-{self.piece:06d}"


def plan(events: Any, mapping: ColumnMapping | None = None, piece: int = PIECE) -> list[Task]:
    """The tasks of files, folders and patterns, in the order of their names."""
    found = files_of(events)
    tasks: list[Task] = []
    for path in found:
        try:
            tasks.extend(_planned(path, mapping, piece))
        except FileNotFoundError:
            tasks.append(
                Task(path, KINDS[_suffix(path)], 0, problem=(VANISHED, "the file vanished before it was read"))
            )
    return tasks


def files_of(events: Any) -> list[str]:
    """The files meant; an error where there are none, or one that was named is not there."""
    given: Sequence[Any] = [events] if isinstance(events, str | PathLike) else list(events)
    found: list[str] = []
    for one in given:
        text = os.fspath(one)
        if os.path.isdir(text):
            inside = list(_below(text))
            if not inside:
                kinds = ", ".join(sorted(KINDS))
                raise ArchiveError(f"{text}: no events in this folder: there is no file with {kinds}", path=text)
            found.extend(inside)
        elif os.path.isfile(text):
            if _suffix(text) in PACKED:
                raise ArchiveError(f"{text}: compressed files are not read as they are; unpack it first", path=text)
            if _suffix(text) not in KINDS:
                raise ArchiveError(
                    f"{text}: what it holds is told by its ending: {', '.join(sorted(KINDS))}", path=text
                )
            found.append(text)
        else:
            matched = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) else []
            if not matched:
                beside = os.path.dirname(text) or "."
                names = os.listdir(beside) if os.path.isdir(beside) and not glob.has_magic(text) else []
                offered = hint(near(os.path.basename(text), names))
                raise ArchiveError(f"{text}: no such file, folder or pattern.{offered}".rstrip("."), path=text)
            found.extend(files_of(matched))
    if not found:
        raise ArchiveError("no events: name a file or a folder")
    return list(dict.fromkeys(os.path.abspath(path) for path in found))


def _below(folder: str) -> Iterable[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(names):
            if not name.startswith((".", "_")) and _suffix(name) in KINDS:
                yield os.path.join(here, name)


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def stamp_of(path: str) -> str:
    """Size and time of change of a file."""
    found = os.stat(path)
    return f"{found.st_size}-{found.st_mtime_ns}"


def _planned(path: str, mapping: ColumnMapping | None, piece: int) -> list[Task]:
    kind, stamp = KINDS[_suffix(path)], stamp_of(path)
    if kind == "parquet":
        return _row_groups(path, stamp, mapping)
    if kind == "csv":
        if mapping is None:
            raise ArchiveError(f"{path}: a CSV file says nothing about concepts and units: give a mapping", path=path)
        return _csv_pieces(path, stamp, mapping, piece)
    if _suffix(path) == ".json" and _begins(path) == b"[":
        said = "a JSON array, where there should be an event a line; jq -c '.[]' makes lines of it"
        return [Task(path, kind, 0, stamp=stamp, problem=(UNREADABLE, said))]
    return _pieces(path, kind, stamp, 0, piece, split=True)


def _begins(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_BLOCK).lstrip()[:1]


def _row_groups(path: str, stamp: str, mapping: ColumnMapping | None) -> list[Task]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        return [
            Task(path, "parquet", 0, stamp=stamp, problem=(UNREADABLE, f"not a whole Parquet file: {error!s:.300}"))
        ]
    with file:
        if mapping is not None:
            mapping.check(file.schema_arrow.names, path)
        tasks, first = [], 0
        for group in range(file.metadata.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            tasks.append(Task(path, "parquet", group, 0, count, first, stamp))
            first += count
        return tasks


def _csv_pieces(path: str, stamp: str, mapping: ColumnMapping, piece: int) -> list[Task]:
    import csv

    with open(path, "rb") as file:
        head = file.readline()
        start = file.tell()
        quoted = any(b'"' in block for block in iter(lambda: file.read(_BLOCK), b""))
    try:
        names = next(csv.reader([head.decode("utf-8-sig")], delimiter=mapping.separator), [])
    except UnicodeDecodeError:
        return [Task(path, "csv", 0, stamp=stamp, problem=(UNREADABLE, "its first line is not UTF-8"))]
    if not head:
        return []
    mapping.check(names, path)
    return _pieces(path, "csv", stamp, start, piece, split=not quoted)  # a quoted cell may hold the end of a line


def _pieces(path: str, kind: str, stamp: str, start: int, piece: int, split: bool) -> list[Task]:
    size = os.path.getsize(path)
    stamp = f"{stamp}-{piece}"
    if not split or size - start <= piece:
        return [Task(path, kind, 0, start, size, 0, stamp)] if size > start else []
    tasks: list[Task] = []
    with open(path, "rb") as file:
        first = 0
        while start < size:
            file.seek(min(start + piece, size))
            file.readline()
            stop = file.tell()
            tasks.append(Task(path, kind, len(tasks), start, stop, first, stamp))
            first += _lines(file, start, stop)
            start = stop
    return tasks


def _lines(file: Any, start: int, stop: int) -> int:
    file.seek(start)
    counted = 0
    while start < stop:
        block = file.read(min(_BLOCK, stop - start))
        if not block:
            break
        counted += block.count(b"\n")
        start += len(block)
    return counted
