"""The names of the columns of an event table: one law for writers, readers, matchers and archives.

``Name`` and dotted paths ``A.B`` hold values; ``Name@unit`` holds an aspect row by row; ``@concept``, ``@time``,
``@id`` and ``@source`` are the event's own. ``Name@@concept`` is the concept of the object under ``Name`` where it is
not ``Name``, and ``Name@@complex`` is true for a complex object without attributes. A step that holds a dot, an @ or
a quote stands in double quotes or, if it is an IRI, in angle brackets; an IRI alone may stand bare.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conceptpubsub.errors import CodecError

EVENT_COLUMNS = ("concept", "time", "id", "source")
OWN_CONCEPT, EMPTY_COMPLEX = "@concept", "@complex"
ENCODING = "conceptpubsub:encoding"  # field metadata; a colon keeps it apart from aspects
_STEP = re.compile(r'"((?:[^"]|"")+)"|<([^<>]+)>|([^."@<>][^."@]*)')
_BARE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^@]*")
_PLAIN = re.compile(r'[^."@<>]+\Z')


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds: a value under a path, or an aspect of it; the empty path is the event itself."""

    path: tuple[str, ...]
    aspect: str | None = None

    @classmethod
    def parse(cls, name: str) -> Column:
        """The column of a name.

        >>> Column.parse("Vehicle.Odometer@unit"), Column.parse("@time")
        (Column(path=('Vehicle', 'Odometer'), aspect='unit'), Column(path=(), aspect='time'))
        >>> Column.parse("http://example.org/T.1").path == Column.parse("<http://example.org/T.1>").path
        True
        """
        if bare := _BARE_IRI.match(name):
            return cls((bare[0],), _aspect(name, bare.end()))
        path: list[str] = []
        at = 0
        while at < len(name) and name[at] != "@":
            if path and name[at] == ".":
                at += 1
            elif path:
                raise _malformed(name, at)
            step = _STEP.match(name, at)
            if step is None:
                raise _malformed(name, at)
            quoted, iri, plain = step.groups()
            path.append(quoted.replace('""', '"') if quoted else iri or plain)
            at = step.end()
        if not path and name[1:] not in EVENT_COLUMNS:
            raise CodecError(
                f"no column {name[:80]!r}; those of the event are @{', @'.join(EVENT_COLUMNS)}", column=name
            )
        return cls(tuple(path), _aspect(name, at))

    @property
    def name(self) -> str:
        """The name that reads back as this column.

        >>> Column(("Engine", "r.p.m")).name
        'Engine."r.p.m"'
        """
        return ".".join(map(_quoted, self.path)) + ("" if self.aspect is None else "@" + self.aspect)


def _quoted(step: str) -> str:
    if _PLAIN.match(step):
        return step
    if ":" in step and not re.search(r"[<>]", step):
        return f"<{step}>"
    return '"' + step.replace('"', '""') + '"'


def _aspect(name: str, at: int) -> str | None:
    if at == len(name):
        return None
    if len(name) == at + 1:
        raise _malformed(name, at)
    return name[at + 1 :]


def _malformed(name: str, at: int) -> CodecError:
    return CodecError(
        f"the column name {name[:80]!r} cannot be read from character {at + 1} on; a name with a dot, an @ or a quote "
        "in it stands in double quotes",
        column=name,
    )
