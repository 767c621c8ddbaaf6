"""``conceptpubsub simulate SCENARIO``: a broker network, one strategy after the other, as a table and as a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conceptpubsub.routing.experiment import Outcome
    from conceptpubsub.routing.scenario import Scenario

COLUMNS = {
    "subscriptions": "subs",
    "label": "strategy",
    "tables": "table entries",
    "table_most": "largest",
    "setup_control": "control",
    "churn_control": "while running",
    "forwarded": "forwarded",
    "wasted": "wasted",
    "delivered": "delivered",
    "dead_letters": "dead letters",
    "checks": "checks",
    "seconds": "CPU s",
}


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "simulate",
        help="simulate a broker network from a scenario file",
        epilog="The scenario format is described in docs/routing.md; samples/scenarios holds examples.",
    )
    command.add_argument("scenario", nargs="+", type=Path, help="a scenario file (TOML), or several")
    command.add_argument(
        "--strategy",
        action="append",
        help="flooding, simple, identity, covering, merging, or all; may be given several times "
        "(default: what the scenario says)",
    )
    command.add_argument("--subscriptions", type=int, action="append", help="this many instead of the scenario's")
    command.add_argument("--events", type=int, help="this many instead of the scenario's")
    command.add_argument(
        "--report",
        type=Path,
        help="write an HTML page that opens offline; of several scenarios one each, named after it",
    )
    command.add_argument("--json", action="store_true", help="print the figures as JSON lines instead of a table")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the scenarios and print their figures; progress goes to standard error."""
    from conceptpubsub.routing.report import page
    from conceptpubsub.routing.scenario import Scenario
    from conceptpubsub.routing.strategies import STRATEGIES, strategy

    scenarios = [Scenario.load(file).resized(args.subscriptions, args.events) for file in args.scenario]
    named: list[str] | None = args.strategy
    if named is not None and "all" in named:
        named = list(STRATEGIES)
    for name in named or ():
        strategy(name)
    if args.report is not None and not args.report.parent.is_dir():
        raise FileNotFoundError(f"--report: there is no folder {args.report.parent}")
    for file, scenario in zip(args.scenario, scenarios, strict=True):
        outcomes = _outcomes(scenario, named)
        if args.json:
            _print_json(outcomes)
        else:
            _print_table(outcomes, scenario.title if len(scenarios) > 1 else None)
        if args.report is not None:
            target = args.report if len(scenarios) == 1 else args.report.with_stem(f"{args.report.stem}-{file.stem}")
            target.write_text(page(scenario, outcomes), "utf-8")
            print(f"wrote {target}", file=sys.stderr)
    return 0


def _outcomes(scenario: Scenario, named: Sequence[str] | None) -> list[Outcome]:
    from conceptpubsub.routing.experiment import cases, run_case
    from conceptpubsub.routing.workload import Workload

    workload, planned = Workload(scenario), list(cases(scenario, named))
    workload.check()
    outcomes: list[Outcome] = []
    with _progress() as bar:
        whole = bar.add_task(scenario.title, total=len(planned))
        for case in planned:
            part = bar.add_task("", total=1.0)

            def report(stage: str, done: float, part: Any = part, label: str = case.label) -> None:
                bar.update(part, description=f"{label}: {stage}", completed=done)

            report(f"{case.subscriptions} subscriptions", 0.0)
            outcomes.append(run_case(scenario, workload, case, report))
            bar.remove_task(part)
            bar.advance(whole)
    return outcomes


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _print_json(outcomes: Sequence[Outcome]) -> None:
    import json

    for outcome in outcomes:
        print(json.dumps(outcome.row()))


def _print_table(outcomes: Sequence[Outcome], title: str | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for key, title in COLUMNS.items():
        table.add_column(title, justify="left" if key == "label" else "right", no_wrap=True)
    last = None
    for outcome in outcomes:
        row = outcome.row()
        if last not in (None, row["subscriptions"]):
            table.add_section()
        last = row["subscriptions"]
        table.add_row(*(f"{row[key]:.1f}" if key == "seconds" else str(row[key]) for key in COLUMNS))
    console = Console(soft_wrap=True) if sys.stdout.isatty() else Console(width=200, color_system=None)
    console.print(table)
