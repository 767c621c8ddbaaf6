"""``conceptpubsub relate F G``: how two filters stand to each other, with a witness.

The exit status answers --is: 0 for yes, 1 for no; without it, it is 0.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from conceptpubsub.commands._inputs import Scope, add_json, add_scope, coloured
from conceptpubsub.errors import Undecided

_EXAMPLES = """examples:
  conceptpubsub relate "Temperature > 77 degF" "InTemperature > 300 kelvin" --ontology vehicles
  conceptpubsub relate "x > 1" "x > 2" --is covers && echo yes

F covers G where every event that matches G matches F. Where it does not, a witness is an event that matches G and not
F; there is one for each direction that fails.
"""
_ASKED = ("identical", "covers", "covered", "overlaps")


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "relate",
        help="say how two filters stand to each other",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("first", metavar="F", help="a filter")
    command.add_argument("second", metavar="G", help="another")
    add_scope(command)
    command.add_argument("--is", dest="asked", choices=_ASKED, help="only this, as exit status and word")
    add_json(command)
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the relations of two filters."""
    scope = Scope(args)
    f, g = scope.filter(args.first), scope.filter(args.second)
    answers = {
        "identical": f.identical,
        "covers": f.covers,
        "covered": lambda other: other.covers(f),
        "overlaps": f.overlaps,
    }
    if args.asked is not None:
        yes = bool(answers[args.asked](g))
        print(json.dumps({args.asked: yes}) if args.json else "yes" if yes else "no")
        return 0 if yes else 1
    found: dict[str, Any] = {name: bool(answers[name](g)) for name in _ASKED}
    found["empty"] = [name for name, each in (("F", f), ("G", g)) if not each.satisfiable()]
    found["relation"] = next((name for name in _ASKED if found[name]), "disjoint")
    found["merged"] = str(f.merge(g))
    found["witness"] = None if found["covers"] else _witness(f, g)
    found["back_witness"] = None if found["covered"] else _witness(g, f)
    if args.json:
        print(json.dumps({"F": str(f), "G": str(g), **found}))
        return 0
    print(f"F  {f}\nG  {g}")
    sentences = {
        "identical": "F and G match the same events",
        "covers": "F covers G",
        "covered": "G covers F",
        "overlaps": "some event matches both",
    }
    for name, sentence in sentences.items():
        print(f"  {coloured('yes', 'good') if found[name] else coloured('no ', 'faint')}  {sentence}")
    for name in found["empty"]:
        print(f"  no event can match {name}")
    print(f"F or G:  {found['merged']}")
    for name, covered, sentence in (("witness", "covers", "G, not F"), ("back_witness", "covered", "F, not G")):
        if not found[covered]:
            print(f"{sentence}:  {found[name] or 'none found in time'}")
    return 0


def _witness(f: Any, g: Any) -> str | None:
    """An event that the second filter matches and the first does not, as JSON."""
    from conceptpubsub.filters.events import PARTS, view
    from conceptpubsub.model import SemanticEvent
    from conceptpubsub.model.codecs import to_json

    try:
        event = f.witness(g)
    except Undecided:
        return None
    if event is None or isinstance(event, SemanticEvent):
        return None if event is None else to_json(event)
    seen = view(event)  # one that must have no concept of its own
    attributes = {name: value for name, value in event.items() if name not in PARTS}
    named = json.loads(to_json(SemanticEvent("Event", attributes, time=seen.time, id=seen.id, source=seen.source)))
    return json.dumps({key: value for key, value in named.items() if key != "concept"}, separators=(",", ":"))
