"""Compiled ontologies on disk, so that a file is parsed once and then opened in a moment.

Rule 1  An entry is found by the hash of everything that went into it; what it imported is checked by hash as well.
Rule 2  An entry is data: a line of JSON, then the compiled JSON whose SHA-256 that line names. No pickle.
Rule 3  The cache never fails a load: an entry that is damaged, foreign or unreadable is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MAX_ENTRIES = 64
MAX_BYTES = 500_000_000
_COMPILER = ("ontology_*.py", "owl_*.py", "rdf_*.py")


@dataclass(frozen=True, slots=True)
class Entry:
    """A compiled ontology and what it was made from besides its own files."""

    body: bytes
    parts: tuple[tuple[str, str], ...]
    """(IRI, SHA-256) of every import and context that was read; an empty hash for one that was left out."""
    warnings: tuple[str, ...]


def folder() -> Path | None:
    """The cache folder: ``CPS_CACHE``, else the XDG cache folder; None when switched off with ``CPS_CACHE=off``."""
    given = os.environ.get("CPS_CACHE")
    if given is not None:
        return None if given in ("", "off", "0") else Path(given) / "ontologies"
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "conceptpubsub" / "ontologies"
    except RuntimeError:
        return None


def key_of(options: Iterable[object], files: Iterable[tuple[str, bytes]]) -> str:
    """The name of an entry: a hash over the compiler itself, the options and the files.

    >>> key_of([True], [("a.ttl", b"")]) == key_of([False], [("a.ttl", b"")])
    False
    """
    made = hashlib.sha256(_compiler().encode())
    made.update(json.dumps([str(option) for option in options]).encode())
    for name, data in files:
        made.update(json.dumps([name, hashlib.sha256(data).hexdigest()]).encode())
    return made.hexdigest()


def get(key: str) -> Entry | None:
    """The entry of that key, when it is there, ours and whole."""
    home = folder()
    if home is None:
        return None
    try:
        with (home / f"{key}.json").open("rb") as stream:
            about = os.fstat(stream.fileno())
            if not _ours(about) or about.st_size > MAX_BYTES:
                return None
            head = json.loads(stream.readline(1_000_000))
            body = stream.read()
        if hashlib.sha256(body).hexdigest() != head["sha256"]:
            return None
        parts = tuple((str(iri), str(digest)) for iri, digest in head["parts"])
        return Entry(body, parts, tuple(str(warning) for warning in head["warnings"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def put(key: str, entry: Entry) -> None:
    """Store an entry, whole or not at all; the oldest go when there are many."""
    home = folder()
    if home is None:
        return
    head = {"sha256": hashlib.sha256(entry.body).hexdigest(), "parts": entry.parts, "warnings": entry.warnings}
    with contextlib.suppress(OSError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=home, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(json.dumps(head).encode() + b"\n" + entry.body)
            Path(name).replace(home / f"{key}.json")
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        entries = sorted(home.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in entries[:-MAX_ENTRIES]:
            path.unlink(missing_ok=True)


def _ours(about: os.stat_result) -> bool:
    """Written by this user or by root, and by nobody else since."""
    if not hasattr(os, "geteuid"):
        return True
    return about.st_uid in (os.geteuid(), 0) and not about.st_mode & stat.S_IWOTH


@lru_cache(maxsize=1)
def _compiler() -> str:
    """A hash of the compiler's own source, so that no entry outlives the code that made it."""
    made = hashlib.sha256()
    here = Path(__file__).parent
    wheel = getattr(globals()["__loader__"], "archive", None)
    if wheel is not None:  # not unpacked
        made.update(Path(wheel).read_bytes())
    for path in sorted(path for pattern in _COMPILER for path in here.glob(pattern)):
        made.update(path.read_bytes())
    return made.hexdigest()
