"""``conceptpubsub flow check|rewrite|draw FILE``: an information flow graph in a TOML file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from conceptpubsub.commands._inputs import add_json, coloured
from conceptpubsub.errors import InvalidValue

_EXAMPLES = """examples:
  conceptpubsub flow check trades.toml
  conceptpubsub flow rewrite trades.toml
  conceptpubsub flow draw trades.toml --format svg --out trades.svg

The format is shown in docs/flows.md.
"""


def register(subparsers: Any) -> None:
    """Add the command and its three actions to the parser."""
    raw = argparse.RawDescriptionHelpFormatter
    command = subparsers.add_parser(
        "flow", help="check, rewrite or draw an information flow graph", epilog=_EXAMPLES, formatter_class=raw
    )
    actions = command.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="load it and say what is in it")
    rewrite = actions.add_parser(
        "rewrite", help="bring it into normal form, and prove each path; status 1 if one is not"
    )
    rewrite.add_argument("--share", action="store_true", help="compute common expressions once")
    rewrite.add_argument("--budget", type=int, default=2000, help="milliseconds for one proof (default: 2000)")
    draw = actions.add_parser("draw", help="draw it")
    draw.add_argument("--format", choices=("mermaid", "svg"), default="mermaid", help="default: mermaid")
    draw.add_argument("--out", type=Path, help="write it there instead of to standard output")
    draw.add_argument("--rewritten", action="store_true", help="draw the normal form")
    for action, run_action in ((check, _check), (rewrite, _rewrite), (draw, _draw)):
        action.add_argument("graph", help="a TOML file")
        action.set_defaults(run=run, action=run_action)
    add_json(check)
    add_json(rewrite)


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    from conceptpubsub.flow import FlowGraph

    graph = FlowGraph.load(args.graph)
    if not graph.spaces:
        raise InvalidValue(f"{args.graph} has no [[source]]; docs/flows.md shows the format", path=args.graph)
    status: int = args.action(graph, args)
    return status


def _check(graph: Any, args: argparse.Namespace) -> int:
    if args.json:
        spaces = {name: {k: str(v) for k, v in space.schema.items()} for name, space in graph.spaces.items()}
        print(json.dumps({"spaces": spaces, "arcs": [str(arc) for arc in graph.arcs]}))
        return 0
    print(graph)
    print(coloured(f"{len(graph.spaces)} spaces, {len(graph.arcs)} arcs: fits", "good"))
    return 0


def _rewrite(graph: Any, args: argparse.Namespace) -> int:
    made = graph.rewrite(share=args.share, budget_ms=args.budget)
    proven = all(proof.proven for proof in made.proofs)
    if args.json:
        print(json.dumps({"arcs": [str(arc) for arc in made.arcs], "proofs": [str(proof) for proof in made.proofs]}))
        return 0 if proven else 1
    print(made)
    for proof in made.proofs:
        print(coloured(str(proof), "good" if proof.proven else "bad"))
    return 0 if proven else 1


def _draw(graph: Any, args: argparse.Namespace) -> int:
    shown = graph.rewrite() if args.rewritten else graph
    text = shown.svg() if args.format == "svg" else shown.mermaid()
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text, encoding="utf-8")
    return 0
