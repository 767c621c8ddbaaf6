"""``conceptpubsub match EVENTS``: events from a file or standard input against subscriptions; JSON lines out.

The exit status is 0 where something matched, 1 where nothing did, 2 where a line was no valid event.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from conceptpubsub.commands._events import add_events, events_from
from conceptpubsub.commands._inputs import Scope, add_scope, context_of

if TYPE_CHECKING:
    from conceptpubsub.hub import Hub
    from conceptpubsub.model import SemanticEvent

_EXAMPLES = """examples:
  conceptpubsub match events.jsonl --filter "Temperature > 25 degC" --context unit=kelvin --ontology vehicles
  conceptpubsub match weather.csv --filter "temp > 30 degC" --column temp_f="temp [degF]" --context unit=kelvin
  tail -f events.jsonl | conceptpubsub match - --subscriptions subs.toml --ontology vehicles

Events are JSON lines: {"concept": ..., "attributes": {...}}, CloudEvents, or attributes alone; or CSV with a header
such as "temp [degF],city,@id".
Each match is a line {"line": ..., "subscription": ..., "event": ...} with the event in the subscriber's context.
A file of subscriptions has [[subscription]] tables: id, filter, context, semantics.
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "match",
        help="match events from a file or standard input; JSON lines out",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("events", help="a file of JSON lines or CSV, or - for standard input")
    add_events(command)
    command.add_argument("--filter", action="append", default=[], help="a filter; may be repeated")
    command.add_argument("--subscriptions", metavar="FILE", help="TOML or JSON lines: id, filter, context, semantics")
    command.add_argument(
        "--context", action="append", default=[], metavar="ASPECT=VALUE", help="deliver in it: unit=km, Speed.unit=km/h"
    )
    command.add_argument("--count", action="store_true", help="print only how many events each subscription matched")
    add_scope(command)
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Match and print."""
    from conceptpubsub.errors import InvalidValue
    from conceptpubsub.hub import Hub

    if not args.filter and args.subscriptions is None:
        raise InvalidValue("nothing to match with: give --filter or --subscriptions")
    scope = Scope(args)
    found: list[tuple[str, SemanticEvent]] = []
    counts: dict[str, int] = {}
    read = matched = bad = 0
    with Hub(scope.ontology, scope.converters, semantics=scope.semantics, types=scope.types) as hub:
        _subscribe(hub, args, found, counts)
        with events_from(args.events, scope, args) as lines:
            for number, event in lines:
                read += 1
                problems = (str(event),) if isinstance(event, Exception) else hub.publish(event).problems
                for problem in problems:
                    print(f"line {number}: {problem}", file=sys.stderr)
                bad += bool(problems)
                matched += len(found)
                _print(number, found, counts, args.count)
                found.clear()
    if args.count:
        print(json.dumps(counts))
    if bad:
        print(f"{bad} of {read} events were not valid", file=sys.stderr)
        return 2
    if not matched:
        why = f"none of {read} events matched; conceptpubsub filter … --events {args.events} --explain says why"
        print(why if read else f"there are no events in {args.events}", file=sys.stderr)
    return 0 if matched else 1


def _subscribe(hub: Hub, args: argparse.Namespace, found: list[Any], counts: dict[str, int]) -> None:
    def add(name: str, filter: Any, context: Any) -> None:
        counts[name] = 0
        hub.subscribe(filter, lambda event: found.append((name, event)), context=context, name=name)

    shared = context_of(args.context)
    for number, text in enumerate(args.filter, 1):
        add(text if len(args.filter) == len(set(args.filter)) else f"{number}: {text}", text, shared)
    if args.subscriptions is not None:
        from conceptpubsub.archive.subscriptions import read_subscriptions

        for each in read_subscriptions(args.subscriptions):
            add(each.id, each.parsed(hub.ontology, hub.converters), each.context or shared)


def _print(number: int, found: list[tuple[str, SemanticEvent]], counts: dict[str, int], only_count: bool) -> None:
    from conceptpubsub.model.codecs import to_json

    for name, event in found:
        counts[name] += 1
        if not only_count:
            print(f'{{"line": {number}, "subscription": {json.dumps(name)}, "event": {to_json(event)}}}')
    if found and not only_count:
        sys.stdout.flush()  # a pipe that follows a stream wants each event when it comes
