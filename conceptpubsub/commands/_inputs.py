"""What several commands share: the scope of filters, contexts, words in colour."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import InvalidValue

if TYPE_CHECKING:
    from conceptpubsub.converters import Converters
    from conceptpubsub.filters import Filter
    from conceptpubsub.model import Ontology

SEMANTICS = ("sql", "strict", "total", "default")
_COLOURS = {"good": "32", "bad": "31", "faint": "2", "title": "1"}


def add_scope(command: argparse.ArgumentParser) -> None:
    """The options that say what the names and constants of a filter mean."""
    command.add_argument(
        "--ontology", action="append", help="a file, or the name of a bundled ontology; may be repeated"
    )
    command.add_argument("--semantics", choices=SEMANTICS, default="sql", help="of missing attributes (default: sql)")
    command.add_argument(
        "--type", action="append", default=[], metavar="NAME=TYPE", help="int, real, text, bool or instant"
    )


def add_json(command: argparse.ArgumentParser) -> None:
    """The option for machines."""
    command.add_argument("--json", action="store_true", help="print JSON instead of text")


class Scope:
    """The ontology, converters and declarations that the options name."""

    def __init__(self, args: argparse.Namespace) -> None:
        from conceptpubsub.commands.ontology import opened
        from conceptpubsub.converters import Converters

        self.ontology: Ontology | None = None if args.ontology is None else opened(args.ontology)
        self.converters: Converters = Converters.default(self.ontology)
        self.semantics: str = args.semantics
        self.types = dict(_pair(text, "--type") for text in args.type) or None

    def filter(self, text: str) -> Filter:
        """A filter of that text."""
        from conceptpubsub.filters import Filter

        return Filter.parse(
            text, ontology=self.ontology, converters=self.converters, semantics=self.semantics, types=self.types
        )


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise InvalidValue(f"{option} takes NAME=VALUE, not {text!r}", value=text)
    return name, value


def context_of(pairs: list[str]) -> Any:
    """A delivery context: ``unit=kelvin`` for everything it fits, ``Temperature.unit=kelvin`` for one concept.

    >>> context_of(["unit=km", "scale=1000"])
    Context(scale=1000, unit='km')
    """
    from conceptpubsub.model import Context

    plain: dict[str, Any] = {}
    by_concept: dict[str, dict[str, Any]] = {}
    for text in pairs:
        name, value = _pair(text, "--context")
        concept, dot, aspect = name.rpartition(".")
        held: Any = _number(value) if aspect == "scale" else value
        if dot:
            by_concept.setdefault(concept, {})[aspect] = held
        else:
            plain[name] = held
    if plain and by_concept:
        raise InvalidValue("--context is for all attributes (unit=km) or by concept (Distance.unit=km), not both")
    return {name: Context(aspects) for name, aspects in by_concept.items()} or Context(plain) or None


def _number(text: str) -> Any:
    from conceptpubsub.model.values import exact_decimal

    return exact_decimal(text)


def coloured(text: str, kind: str) -> str:
    """Text in a colour, where standard output is a terminal that wants one."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m"
