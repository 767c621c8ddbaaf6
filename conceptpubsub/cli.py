"""The command line: ``conceptpubsub COMMAND …``. One file a command, in ``conceptpubsub.commands``.

Rule 1  ``COMMANDS`` is the whole list; a command is a module with ``register(subparsers)`` and ``run(args) -> int``.
Rule 2  Results go to standard output, everything else to standard error.
Rule 3  The exit status is 0 for yes or done, 1 for no, 2 for a mistake in the input; an error is one message, no trace.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module, metadata
from typing import NoReturn

from conceptpubsub.errors import ConceptPubSubError, hint, near

COMMANDS = (
    "bench",
    "completion",
    "convert",
    "demo",
    "filter",
    "flow",
    "match",
    "ontology",
    "relate",
    "reprocess",
    "simulate",
)


class _Parser(argparse.ArgumentParser):
    """A parser that offers near names for commands, choices and options that it does not know."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong; the exit status is 2."""
        offers: tuple[str, ...] = ()
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            offers = near(wrong[1], re.findall(r"[\w-]+", wrong[2]))
        elif strange := re.search(r"unrecognized arguments:.*?(--[\w-]+)", message):
            offers = near(strange[1], set(_options(self)))
        super().error(f"{message}.{hint(offers)}" if offers else message)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every option of a parser and of the commands in it."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _options(inner)


def parser() -> argparse.ArgumentParser:
    """The parser with every command in it; loads no heavy package."""
    top = _Parser(
        prog="conceptpubsub",
        description="Events that say what they mean, filters in your own units.",
        epilog="conceptpubsub COMMAND --help has examples. Exit status: 0 yes or done, 1 no, 2 a mistake.",
    )
    top.add_argument("--version", action="version", version=f"conceptpubsub {metadata.version('conceptpubsub')}")
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(f"conceptpubsub.commands.{name}").register(subparsers)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    >>> main(["convert", "86", "degF", "degC"])
    30 degC
    0
    """
    try:
        args = parser().parse_args(arguments)
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except (ConceptPubSubError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 0
        print(f"conceptpubsub: {_told(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _told(error: Exception) -> str:
    """An error in words: of the system, without its number."""
    if isinstance(error, OSError) and not isinstance(error, ConceptPubSubError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
