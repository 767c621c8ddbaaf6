"""A building with sensors of three makers: degF and degC, ppm and percent, BTU and kWh; one control room.

Run it: ``python samples/building.py``
"""

import conceptpubsub as cps
from conceptpubsub.hub import DeadLetter

onto = cps.Ontology.bundled("observations")


def reading(room: str, **values: tuple[float, str]) -> cps.SemanticEvent:
    """A sensor's reading: concept = (value, unit)."""
    measured = {key: cps.SemanticObject(key, value, cps.Context(unit=unit)) for key, (value, unit) in values.items()}
    return cps.SemanticEvent("BuildingObservation", {"Room": room, **measured}, time="2026-11-18T05:00Z")


READINGS = [
    reading("101", IndoorTemperature=(78.8, "degF"), CO2=(0.12, "percent")),
    reading("102", IndoorTemperature=(19.5, "degC"), CO2=(700, "ppm")),
    reading(
        "cellar", SupplyTemperature=(343.15, "kelvin"), ReturnTemperature=(122, "degF"), HeatEnergy=(34121.4, "BTU")
    ),
    reading("103", IndoorTemperature=(21, "kg")),  # nonsense, refused at the edge with a reason
    reading("104", IndoorTemprature=(21, "degC")),  # misspelt
]


def main() -> None:
    """Rules in the units of the people who wrote them; everything is read in SI-like units."""
    refused: list[DeadLetter] = []
    comfort = {
        "Temperature": cps.Context(unit="degC"),
        "Concentration": cps.Context(unit="ppm"),
        "Energy": cps.Context(unit="kWh"),
    }
    with cps.Hub(onto, dead_letter=refused.append) as hub:
        rules = {
            "too warm": "IndoorTemperature > 25 degC",
            "open a window": "CO2 > 1000 ppm",
            "heating works": "SupplyTemperature > 60 degC AND SupplyTemperature > ReturnTemperature",
        }
        for name, text in rules.items():

            def show(event: cps.SemanticEvent, name: str = name) -> None:
                shown = [f"{k} {h.value:.1f} {h.context['unit']}" for k, h in event.attributes.items() if h.context]
                print(f"{name}: room {event['Room'].value}, {', '.join(shown)}")

            hub.subscribe(text, show, context=comfort, name=name)
        for event in READINGS:
            hub.publish(event)
    for letter in refused:
        print(f"refused: {letter.reason}")


if __name__ == "__main__":
    main()
