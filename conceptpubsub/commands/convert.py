"""``conceptpubsub convert VALUE UNIT TARGET``: one value from a unit to another, exactly."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from conceptpubsub.commands._inputs import add_json

_EXAMPLES = """examples:
  conceptpubsub convert 72.5 degF degC
  conceptpubsub convert 1 mile nautical_mile --json
  conceptpubsub convert 5 "N*m" J --ontology core --concept Torque    # refused: a torque is no energy

Units are pint's names, QUDT IRIs, unit:MI, ucum:[mi_i] or unece:SMI.
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "convert",
        help="convert a value from one unit to another, exactly",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command._negative_number_matcher = re.compile(r"-(\d|\.\d)")  # -5e3 is a number, too
    command.add_argument("value", help="a number")
    command.add_argument("unit", help="the unit it stands in")
    command.add_argument("target", help="the unit wanted")
    command.add_argument("--concept", default="Value", help="the concept of the value, in --ontology")
    command.add_argument("--ontology", help="a file, or the name of a bundled ontology, that guards by quantity kind")
    add_json(command)
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the value in the target unit; a rational without an end is printed near and exactly."""
    from conceptpubsub.commands.ontology import opened
    from conceptpubsub.converters import Converters
    from conceptpubsub.model import Context, SemanticObject, decimal_text, exact
    from conceptpubsub.model.values import to_float

    ontology = None if args.ontology is None else opened([args.ontology])
    given = SemanticObject(args.concept, exact(args.value), Context(unit=args.unit))
    value = exact(Converters.default(ontology).convert(given, Context(unit=args.target), exact=True).value)
    text = decimal_text(value)
    if args.json:
        print(json.dumps({"value": to_float(value), "exact": text, "unit": args.target}))
        return 0
    print(f"{to_float(value)!r} {args.target} (exactly {text})" if "/" in text else f"{text} {args.target}")
    return 0
