"""The store: an append-only log of events and the places of durable subscriptions, in one SQLite file in WAL mode.

Rule 1  When ``append`` returns, the events are in the file: a process killed at any later moment loses none of them.
        With ``sync="full"`` (the default) that holds for a power cut, too; ``"normal"`` saves the wait for the disk.
Rule 2  Offsets count events, from 0, without gaps, in the order published. A table is one entry of many offsets.
Rule 3  A place only moves forward, except by ``move``, when a subscriber asks to start elsewhere.
Rule 4  One process at a time: a second one is refused, not corrupted.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conceptpubsub.errors import HubError
from conceptpubsub.model.codecs import from_json, to_json
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent

_VERSION = 1
_CHUNK = 256
_SCHEMA = """
CREATE TABLE entries(first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX entries_at ON entries(at);
CREATE TABLE places(name TEXT PRIMARY KEY, next INTEGER NOT NULL, filter TEXT NOT NULL, digest TEXT NOT NULL);
"""


class Entry(NamedTuple):
    """One event as JSON text, or a table of them as an Arrow stream."""

    first: int
    size: int
    body: str | bytes

    @property
    def stop(self) -> int:
        """The offset after its last event."""
        return self.first + self.size

    def table(self) -> Any:
        """The table that was published."""
        import pyarrow as pa

        return pa.ipc.open_stream(self.body).read_all()

    def events(self) -> Iterator[tuple[int, SemanticEvent]]:
        """Offset and event."""
        if isinstance(self.body, str):
            yield self.first, from_json(self.body)
            return
        from conceptpubsub.model.codecs import table_to_events

        read = table_to_events(self.table())
        bad = {row for row, _ in read.errors}
        good = (row for row in range(self.size) if row not in bad)
        yield from ((self.first + row, event) for row, event in zip(good, read.events, strict=True))


class Place(NamedTuple):
    """Where a durable subscription stands: the next offset it has not acknowledged, and its filter."""

    next: int
    filter: str
    digest: str


class Store:
    """The log and the places.

    >>> store = Store(":memory:")
    >>> store.append([SemanticEvent("Ping", {"n": 1}), SemanticEvent("Ping", {"n": 2})]), store.end
    (0, 2)
    >>> [(offset, event["n"].value) for offset, event in store.all(1)]
    [(1, 2)]
    """

    def __init__(self, path: str | Path, sync: str = "full", clock: Callable[[], int] = time.time_ns) -> None:
        if sync not in ("full", "normal"):
            raise HubError(f"a store is synchronised 'full' or 'normal', not {sync!r}", value=sync)
        self.path, self._clock, self._lock = str(path), clock, threading.RLock()
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=1.0)
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={sync}")
            self._open()
            self._db.text_factory = _text
        except sqlite3.Error as error:
            raise HubError(
                f"the store {self.path} cannot be opened: {_reason(self.path, error)}", path=self.path
            ) from None
        self.end = self._next_offset()

    def _open(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")
        elif version != _VERSION:
            raise sqlite3.DatabaseError(f"its version is {version}, and this package writes {_VERSION}")
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("COMMIT")

    def _next_offset(self) -> int:
        last = self._ask("SELECT first + count FROM entries ORDER BY first DESC LIMIT 1")
        placed = self._ask("SELECT max(next) FROM places")[0][0]
        return max(last[0][0] if last else 0, placed or 0)

    # ------------------------------------------------------------------ the log

    def append(self, events: Iterable[SemanticEvent]) -> int:
        """Write events in one transaction; gives the offset of the first."""
        return self.append_lines([to_json(event) for event in events])

    def append_lines(self, lines: list[str]) -> int:
        """As ``append``, of events in JSON."""
        return self._write([(1, line) for line in lines])

    def append_table(self, table: Any) -> int:
        """Write a table in one transaction; gives the offset of its first row."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return self._write([(table.num_rows, sink.getvalue().to_pybytes())] if table.num_rows else [])

    def _write(self, bodies: list[tuple[int, str | bytes]]) -> int:
        with self._lock:
            first = offset = self.end
            now = self._clock()
            rows = []
            for count, body in bodies:
                rows.append((offset, count, now, body))
                offset += count
            self._transaction("INSERT INTO entries VALUES(?,?,?,?)", rows)
            self.end = offset
            return first

    def between(self, start: int, end: int) -> list[Entry]:
        """The entries that hold an offset from one up to, not including, another."""
        with self._lock:
            holds = self._ask("SELECT max(first) FROM entries WHERE first <= ?", (start,))[0][0]
            query = "SELECT first, count, body FROM entries WHERE first >= ? AND first < ? ORDER BY first"
            found = [Entry(*row) for row in self._ask(query, (holds or 0, end))]
        return [entry for entry in found if entry.stop > start]

    def all(self, start: int, end: int | None = None) -> Iterator[tuple[int, SemanticEvent]]:
        """Offset and event, from one offset up to, not including, another."""
        until = self.end if end is None else min(end, self.end)
        for first in range(start, until, _CHUNK):
            stop = min(first + _CHUNK, until)
            for entry in self.between(first, stop):
                yield from ((offset, event) for offset, event in entry.events() if first <= offset < stop)

    def offset_at(self, when: Any) -> int:
        """The first offset that was published at a time or later."""
        with self._lock:
            query = "SELECT min(first) FROM entries WHERE at >= ?"
            found = self._ask(query, (Instant.of(when).ns,))[0][0]
        return self.end if found is None else int(found)

    def trim(self) -> int:
        """Forget entries that every durable subscription has acknowledged; gives how many events went."""
        with self._lock:
            least = self._ask("SELECT min(next) FROM places")[0][0]
            until = self.end if least is None else least
            query = "SELECT coalesce(sum(count), 0) FROM entries WHERE first + count <= ? AND first < ?"
            last = self._ask("SELECT max(first) FROM entries")[0][0] or 0  # it keeps the count of offsets
            gone = int(self._ask(query, (until, last))[0][0])
            self._transaction("DELETE FROM entries WHERE first + count <= ? AND first < ?", [(until, last)])
        return gone

    # ------------------------------------------------------------------ places

    def place(self, name: str) -> Place | None:
        """Where a durable subscription stands."""
        with self._lock:
            query = "SELECT next, filter, digest FROM places WHERE name = ?"
            found = self._ask(query, (name,))
        return Place(*found[0]) if found else None

    def move(self, name: str, place: Place) -> None:
        """Enter a durable subscription, or let it stand elsewhere."""
        with self._lock:
            self._transaction("INSERT OR REPLACE INTO places VALUES(?,?,?,?)", [(name, *place)])

    def acknowledge(self, places: Iterable[tuple[str, int]]) -> None:
        """Durable subscriptions have done with everything before these offsets."""
        with self._lock:
            rows = [(upto, name, upto) for name, next in places for upto in [min(next, self.end)]]
            self._transaction("UPDATE places SET next = ? WHERE name = ? AND next < ?", rows)

    def forget(self, name: str) -> None:
        """Strike out a durable subscription."""
        with self._lock:
            self._transaction("DELETE FROM places WHERE name = ?", [(name,)])

    def names(self) -> tuple[str, ...]:
        """The durable subscriptions that the store knows."""
        with self._lock:
            return tuple(row[0] for row in self._ask("SELECT name FROM places ORDER BY name"))

    def _ask(self, query: str, given: tuple[Any, ...] = ()) -> list[Any]:
        try:
            return self._db.execute(query, given).fetchall()
        except sqlite3.Error as error:
            raise HubError(f"the store {self.path} failed: {error}", path=self.path) from error

    def _transaction(self, statement: str, rows: list[Any]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(statement, rows)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # where the disk is full, SQLite has gone back already
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise HubError(f"the store {self.path} failed: {error}", path=self.path) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()


def _reason(path: str, error: sqlite3.Error) -> str:
    """Why a store cannot be opened, and the way out."""
    text, file = str(error), Path(path)
    if "locked" in text:
        return "another hub has it open"
    if "unable to open" in text and not file.parent.is_dir():
        return f"there is no folder {file.parent}; make it first"
    if file.is_dir():
        return "it is a folder; give the name of a file in it"
    if "readonly" in text or "unable to open" in text:
        return f"this user may not write there ({text})"
    return f"it is no store of a hub: {text}"


def _text(raw: bytes) -> str:
    """Stored text; bytes that are none stay what they are, and are refused by whoever reads the event."""
    return raw.decode("utf-8", "surrogateescape")
