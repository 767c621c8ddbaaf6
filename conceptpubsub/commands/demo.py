"""``conceptpubsub demo``: what the package does, in a few seconds, on one screen."""

from __future__ import annotations

import argparse
from typing import Any


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser("demo", help="show what conceptpubsub does, in a few seconds")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """A vehicle reports in its own words and units; a subscriber asks in others."""
    import conceptpubsub as cps
    from conceptpubsub.model.codecs import to_json

    onto = cps.Ontology.bundled("vehicles")
    conv = cps.Converters.default(onto)
    event = cps.SemanticEvent(
        "VehicleStatus",
        {
            "InTemperature": cps.SemanticObject("Temperature", 86, cps.Context(unit="degF")),
            "Odometer": cps.SemanticObject("Distance", 3.85, cps.Context(unit="mile", scale=1000)),
        },
        id="1",
        time="2026-11-18T05:00Z",
        source="/car/7",
    )
    print("A car reports:\n ", to_json(event))
    inside, above = onto["InTemperature"], onto["Temperature"]
    print(f"\nThe ontology knows that {inside.name} is a {above.name}: {inside.is_a(above)}")
    print("\nThe same values elsewhere, exactly:")
    for key, unit in (("InTemperature", "kelvin"), ("Odometer", "km")):
        target = cps.Context(unit=unit, scale=1)
        print(f"  {key}: {_shown(event[key])} = {_shown(conv.convert(event[key], target, at=event.time, exact=True))}")
    print("\nSubscribers ask in their own words and units:")
    for text in ("Temperature > 25 degC", "Temperature > 30 degC", "Distance > 6000 km AND NOT PartFailure IS NULL"):
        matched = cps.Filter.parse(text, ontology=onto, converters=conv).matches(event)
        print(f"  {'yes' if matched else 'no ':<3}  {text}")
    return 0


def _shown(obj: Any) -> str:
    from conceptpubsub.model import decimal_text, exact

    scale = obj.context.get("scale", 1)
    return f"{decimal_text(exact(obj.value))} {'' if scale == 1 else f'x {scale} '}{obj.context['unit']}"
