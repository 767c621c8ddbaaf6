"""Your own ontology and your own converter: a brewery with degrees Plato and beer styles in two code lists.

Run it: ``python samples/own_ontology.py``
"""

import tempfile
from pathlib import Path

import conceptpubsub as cps

TURTLE = """
@prefix : <https://example.org/brewery#> .
@prefix cps: <https://w3id.org/conceptpubsub/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

<https://example.org/brewery> a owl:Ontology ; owl:imports <https://w3id.org/conceptpubsub/core> .
:TankReport a owl:Class ; rdfs:subClassOf cps:Event ; rdfs:label "tank report"@en .
:TankTemperature a owl:Class ; rdfs:subClassOf cps:Temperature ; rdfs:label "tank temperature"@en .
:Gravity a owl:Class ; cps:valueType cps:Real ; cps:defaultContext [ cps:gravity "plato" ] ; rdfs:label "gravity"@en .
:Style a owl:Class ; rdfs:subClassOf cps:Code ; rdfs:label "style"@en .
"""


def main() -> None:
    """Load, register, publish."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "brewery.ttl"
        file.write_text(TURTLE)
        onto = cps.Ontology.load(file)
    conv = cps.Converters.default(onto)

    @conv.converter("gravity", source="sg", target="plato")
    def to_plato(value: float, source: str, target: str) -> float:
        """Degrees Plato from specific gravity (the usual approximation)."""
        return round(259 - 259 / float(value), 3)

    @conv.converter("gravity", source="plato", target="sg")
    def to_gravity(value: float, source: str, target: str) -> float:
        """Specific gravity from degrees Plato."""
        return round(259 / (259 - float(value)), 4)

    hub = cps.Hub(onto, conv)
    hub.subscribe(
        "Gravity > 12 AND TankTemperature < 50 degF",
        lambda event: print("strong and cold:", {key: held.value for key, held in event.attributes.items()}),
        context={"Gravity": cps.Context(gravity="plato"), "Temperature": cps.Context(unit="degC")},
    )
    for gravity, scale in ((1.055, "sg"), (1.040, "sg"), (13.5, "plato")):
        report = {
            "Gravity": cps.SemanticObject("Gravity", gravity, cps.Context(gravity=scale)),
            "TankTemperature": cps.SemanticObject("Temperature", 46.4, cps.Context(unit="degF")),
        }
        receipt = hub.publish(cps.SemanticEvent("TankReport", report))
        print(f"{gravity} {scale}: {receipt.matched} matched")
    hub.close()


if __name__ == "__main__":
    main()
