"""``conceptpubsub ontology``: inspect, check or draw an ontology, bundled or from files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptpubsub.commands._inputs import add_json

if TYPE_CHECKING:
    from conceptpubsub.model import Concept, Ontology


_EXAMPLES = """examples:
  conceptpubsub ontology inspect vehicles Odometer InTemperature
  conceptpubsub ontology check my.ttl && echo sound
  conceptpubsub ontology draw my.ttl Temperature

Bundled are core, vehicles, observations, trading and flights; your own are .ttl, .nt, .rdf, .owl or .jsonld files.
docs/concepts.md shows how to write one.
"""


def register(subparsers: Any) -> None:
    """Add the command and its three actions to the parser."""
    command = subparsers.add_parser(
        "ontology",
        help="inspect, check or draw an ontology",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = command.add_subparsers(metavar="ACTION", required=True)
    inspect = actions.add_parser("inspect", help="list its concepts, or tell all about some")
    inspect.add_argument("ontology", help="a file, or the name of a bundled ontology")
    inspect.add_argument("concept", nargs="*", help="short names, prefixed names or IRIs")
    inspect.add_argument("--language", default="en", help="of labels (default: en)")
    add_json(inspect)
    inspect.set_defaults(run=run, action=_inspect)
    check = actions.add_parser("check", help="load it and say what is wrong; exit status 1 if something is")
    check.add_argument("ontology", nargs="+", help="files, or names of bundled ontologies")
    check.add_argument("--reason", action="store_true", help="classify with HermiT first (needs Java)")
    check.add_argument("--time-limit", type=float, default=60.0, help="seconds for the reasoner (default: 60)")
    check.add_argument("--strict", action="store_true", help="a concept without label or definition is wrong, too")
    add_json(check)
    check.set_defaults(run=run, action=_check)
    draw = actions.add_parser("draw", help="draw the concepts below one, or all of them")
    draw.add_argument("ontology", help="a file, or the name of a bundled ontology")
    draw.add_argument("concept", nargs="?", help="only what lies below this one")
    draw.add_argument("--format", choices=("tree", "mermaid"), default="tree", help="default: tree")
    draw.set_defaults(run=run, action=_draw)


def opened(sources: Sequence[str], **options: Any) -> Ontology:
    """The ontology of files and bundled names; a name that is a file is the file."""
    from conceptpubsub.model import Ontology
    from conceptpubsub.model.catalog import bundled_path

    paths = [source if Path(source).exists() or "." in source else bundled_path(source) for source in sources]
    return Ontology.load(*paths, **options)


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    status: int = args.action(args)
    return status


def _inspect(args: argparse.Namespace) -> int:
    ontology = opened([args.ontology])
    if args.json:
        chosen = args.concept or ontology.names()
        print(json.dumps([_facts(ontology[name], args.language) for name in chosen], ensure_ascii=False))
        return 0
    if args.concept:
        print("\n\n".join(ontology.describe(name, args.language) for name in args.concept))
        return 0
    width = max(map(len, ontology.names()), default=0)
    for name in ontology.names():
        concept = ontology[name]
        unit = f"[{concept.canonical_unit}] " if concept.canonical_unit else ""
        print(f"{name.ljust(width)}  {unit}{concept.label(args.language)}".rstrip())
    return 0


def _facts(concept: Concept, language: str) -> dict[str, Any]:
    """What a machine may want to know of a concept."""
    facts = {
        "name": concept.name,
        "iri": concept.iri,
        "label": concept.label(language),
        "parents": [parent.name for parent in concept.parents],
        "type": concept.value_type,
        "unit": concept.canonical_unit,
        "values": None if concept.values is None else list(concept.values),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _check(args: argparse.Namespace) -> int:
    from conceptpubsub.converters import resolve
    from conceptpubsub.model.ontology_text import faults, silences

    ontology = opened(args.ontology, reason=args.reason, time_limit=args.time_limit)
    unsaid = list(silences(ontology))
    complaints = [*faults(ontology, resolve), *([] if len(ontology) else ["no concept in it: is it an ontology?"])]
    if args.strict:
        complaints += unsaid
    if args.json:
        print(
            json.dumps(
                {"concepts": len(ontology), "digest": ontology.digest, "complaints": complaints, "unsaid": unsaid}
            )
        )
        return 1 if complaints else 0
    for complaint in complaints:
        print(complaint)
    if unsaid and not args.strict:
        print(f"{len(unsaid)} labels or definitions are missing; --strict lists them")
    kinds = len(set(ontology.kinds.values()))
    print(f"{len(ontology)} concepts, {kinds} quantity kinds, {len(complaints)} complaints, {ontology.digest[:12]}")
    return 1 if complaints else 0


def _draw(args: argparse.Namespace) -> int:
    from conceptpubsub.model.ontology_text import draw

    ontology = opened([args.ontology])
    root = None if args.concept is None else ontology[args.concept]
    if args.format == "mermaid":
        print(draw(ontology, root))
        return 0
    all_tops = (ontology.by_index(i) for i in range(ontology.index_count) if not ontology.parents_of(i))
    for top in [root] if root is not None else sorted(all_tops, key=lambda concept: concept.name):
        print("\n".join(_tree(top)))
    return 0


def _tree(top: Concept) -> Iterator[str]:
    """Lines of a tree; what has several parents is drawn in full below the first of them only."""
    seen: set[int] = set()
    work = [(top, "", "")]
    while work:
        concept, before, below = work.pop()
        children = concept.children
        again = concept.index in seen and bool(children)
        yield before + " = ".join(same.name for same in concept.equivalents) + (" …" if again else "")
        seen.add(concept.index)
        if not again:
            for child in reversed(children):
                last = child is children[-1]
                work.append((child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")))
