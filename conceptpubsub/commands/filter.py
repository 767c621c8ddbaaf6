"""``conceptpubsub filter TEXT``: what a filter means, and what it says about events.

The exit status is 0 where the filter can match (or, with --events, where an event matched), else 1.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from conceptpubsub.commands._events import add_events, events_from
from conceptpubsub.commands._inputs import Scope, add_json, add_scope, coloured

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

_EXAMPLES = """examples:
  conceptpubsub filter "Temperature > 86 degF AND NOT PartFailure = 'Engine'" --ontology vehicles
  conceptpubsub filter "price < 500 AND dest = 'MXP'" --events trips.jsonl --explain
  cat trips.jsonl | conceptpubsub filter "price < 500" --events - --json

Events are JSON lines: {"concept": ..., "attributes": {...}}, CloudEvents, or attributes alone; or CSV with a header.
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "filter",
        help="parse a filter, try it on events, explain why they match",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("text", help="the filter")
    add_scope(command)
    command.add_argument("--events", metavar="FILE", help="a file of JSON lines or CSV, or - for standard input")
    add_events(command)
    command.add_argument("--explain", action="store_true", help="say why, atom by atom")
    add_json(command)
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what the filter means, or what it says about events."""
    scope = Scope(args)
    made = scope.filter(args.text)
    if args.events is not None:
        return _on_events(made, scope, args)
    can = made.satisfiable()
    if args.json:
        print(json.dumps({"filter": str(made), "digest": made.digest, "satisfiable": can, "tree": made.to_json()}))
        return 0 if can else 1
    print(made)
    for ref in made.references:
        unit = f" [{ref.dimension.base_unit}]" if ref.dimension is not None else ""
        print(f"  {ref.shown}: {ref.type or 'any value'}{unit}")
    print(coloured("can match" if can else "can never match", "good" if can else "bad"))
    return 0 if can else 1


def _on_events(made: Filter, scope: Scope, args: argparse.Namespace) -> int:
    matched = bad = 0
    with events_from(args.events, scope, args) as lines:
        for number, event in lines:
            if isinstance(event, Exception):
                bad += 1
                _show(args, number, "error", str(event))
                continue
            value = made.evaluate(event)
            matched += value is True
            _show(args, number, value, str(made.explain(event)) if args.explain else "")
    if bad:
        return 2
    return 0 if matched else 1


_WORDS = {
    True: ("yes    ", "good"),
    False: ("no     ", "faint"),
    None: ("unknown", "faint"),
    "error": ("error  ", "bad"),
}


def _show(args: argparse.Namespace, number: int, value: Any, account: str) -> None:
    if args.json:
        told = {"error": account} if value == "error" else {"value": value} | ({"account": account} if account else {})
        print(json.dumps({"line": number, **told}))
        return
    word, colour = _WORDS[value]
    first, *rest = account.splitlines() or [""]
    print(f"{number:>6}  {coloured(word, colour)}  {first}".rstrip())
    for line in rest:
        print(f"        {line}")
