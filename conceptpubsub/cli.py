"""The command line: ``conceptpubsub COMMAND …``. One file a command, in ``conceptpubsub.commands``.

Rule 1  ``COMMANDS`` is the whole list; a command is a module with ``register(subparsers)`` and ``run(args) -> int``.
Rule 2  Results go to standard output, everything else to standard error.
Rule 3  The exit status is 0 for yes or done, 1 for no, 2 for a mistake in the input; an error is one message, no trace.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module, metadata

from conceptpubsub.errors import ConceptPubSubError

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


def parser() -> argparse.ArgumentParser:
    """The parser with every command in it; loads no heavy package."""
    top = argparse.ArgumentParser(
        prog="conceptpubsub", description="Events that say what they mean, filters in your own units."
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
    args = parser().parse_args(arguments)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except (ConceptPubSubError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 0
        print(f"conceptpubsub: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
