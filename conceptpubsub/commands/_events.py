"""Events for commands: from a file or standard input, one at a time, so that memory does not grow with the input.

JSON lines hold plain JSON with a concept, attributes alone, or CloudEvents. A name that ends in ``.csv``, or ``--csv``,
means a table with a header (``commands._csv``). What is no event is given as the error in its place.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from conceptpubsub.errors import CodecError, InvalidValue, hint, near

if TYPE_CHECKING:
    from conceptpubsub.commands._inputs import Scope
    from conceptpubsub.model import SemanticEvent

Numbered = Iterator[tuple[int, "SemanticEvent | CodecError"]]
_SHOW_EVERY = 0.5


def add_events(command: argparse.ArgumentParser) -> None:
    """The options that say how events are read."""
    command.add_argument("--csv", action="store_true", help="the events are CSV; so is a file named .csv")
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="COLUMN=NAME",
        help="of CSV, read only these columns, under such names: temp_f='Temperature [degF]'; may be repeated",
    )


@contextlib.contextmanager
def events_from(path: str, scope: Scope, args: argparse.Namespace) -> Iterator[Numbered]:
    """The events of a file, or of standard input for ``-``, with the numbers of their lines."""
    is_csv = args.csv or path.lower().endswith(".csv")
    if args.column and not is_csv:
        raise InvalidValue("--column is for CSV: give --csv, or a file named .csv")
    given: Any = contextlib.nullcontext(getattr(sys.stdin, "buffer", sys.stdin)) if path == "-" else _opened(path)
    with given as stream:
        yield _followed(_rows(stream, scope, args) if is_csv else _lines(stream))


def _opened(path: str) -> IO[bytes]:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        beside = Path(path).parent
        offers = near(Path(path).name, [each.name for each in beside.iterdir()]) if beside.is_dir() else ()
        raise InvalidValue(f"there is no file {path}.{hint(offers)}", path=path) from None
    except IsADirectoryError:
        raise InvalidValue(f"{path} is a folder; give a file of events, or - for standard input", path=path) from None


def _lines(stream: Any) -> Numbered:
    from conceptpubsub.model.codecs import read_lines

    return read_lines(stream, decoded)


def _rows(stream: IO[bytes], scope: Scope, args: argparse.Namespace) -> Numbered:
    from conceptpubsub.commands._csv import rows

    return rows(stream, scope.ontology, scope.types or {}, args.column)


def decoded(line: bytes) -> SemanticEvent:
    """An event from a line: a CloudEvent, plain JSON with a concept, or attributes alone.

    >>> decoded(b'{"price": {"value": 3, "currency": "EUR"}}')["price"].value
    3
    """
    from conceptpubsub.model.codecs import from_cloudevent
    from conceptpubsub.model.codecs.plain_json import event_of
    from conceptpubsub.model.codecs.strict_json import parse

    tree = parse(line)
    if isinstance(tree, dict) and "specversion" in tree:
        return from_cloudevent(line)
    if not isinstance(tree, dict) or "attributes" in tree or "concept" in tree:
        return event_of(tree)
    return event_of({"concept": "Event", "attributes": tree})


def _followed(events: Numbered) -> Numbered:
    """The same, with the number of lines on standard error where a person looks on and the results go elsewhere."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield from events
        return
    shown, number = time.monotonic(), 0
    for number, event in events:
        if time.monotonic() - shown > _SHOW_EVERY:
            shown = time.monotonic()
            print(f"\r{number:,} lines", end="", file=sys.stderr, flush=True)
        yield number, event
    print(f"\r{number:,} lines", file=sys.stderr)
