"""The vehicle example of the REBECA paper: cars report in their own words and units, a workshop asks in its own.

Run it: ``python samples/vehicles.py``
"""

import conceptpubsub as cps

onto = cps.Ontology.bundled("vehicles")
conv = cps.Converters.default(onto)


def status(plate: str, **attributes: object) -> cps.SemanticEvent:
    """A car's report."""
    return cps.SemanticEvent("VehicleStatus", {"LicensePlate": plate, **attributes}, source=f"/car/{plate}")


def quantity(concept: str, value: float, unit: str, **more: object) -> cps.SemanticObject:
    """A measured value."""
    return cps.SemanticObject(concept, value, cps.Context(unit=unit, **more))


REPORTS = [
    status("DA-X 12", Odometer=quantity("Distance", 3850, "mile", scale=1), PartFailure="Engine"),
    status("DA-Y 34", Odometer=quantity("Distance", 3.85, "mile", scale=1000), PartFailure="RearBrake"),
    status("DA-Z 56", Odometer=quantity("Distance", 5000, "km"), InTemperature=quantity("Temperature", 86, "degF")),
    status("DA-W 78", CoolantTemperature=quantity("Temperature", 383.15, "kelvin"), PartFailure="Cooling"),
]
SUBSCRIPTIONS = {
    "long way, in km": ("Distance > 6000 km", cps.Context(unit="km", scale=1)),
    "brakes of any kind": ("PartFailure ISA Brake", None),
    "anything hot": ("Temperature > 25 degC", cps.Context(unit="degC")),
}


def main() -> None:
    """Publish the reports, then compare the subscriptions as a broker would."""
    with cps.Hub(onto, conv) as hub:
        for name, (text, context) in SUBSCRIPTIONS.items():

            def receive(event: cps.SemanticEvent, name: str = name) -> None:
                values = {key: held.value for key, held in event.attributes.items()}
                print(f"  {name}: {values}")

            hub.subscribe(text, receive, context=context, name=name)
        for report in REPORTS:
            print(f"{report.source} reports {', '.join(report)}")
            hub.publish(report)

    first, second = REPORTS[0]["Odometer"], REPORTS[1]["Odometer"]
    print(f"3850 mile and 3.85 thousand mile are the same: {conv.equivalent(first, second)}")

    def parsed(text: str) -> cps.Filter:
        return cps.Filter.parse(text, ontology=onto, converters=conv)

    wide, narrow = parsed("Temperature > 77 degF"), parsed("CoolantTemperature > 373.15 kelvin")
    print(f"'{wide}' covers '{narrow}': {wide.covers(narrow)}")
    print(f"'{narrow}' does not cover '{wide}'; a witness: {narrow.witness(wide)}")


if __name__ == "__main__":
    main()
