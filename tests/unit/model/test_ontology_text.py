"""An ontology as text: descriptions, drawings, complaints."""

from collections.abc import Callable
from dataclasses import dataclass

from conceptpubsub.errors import UnknownUnit
from conceptpubsub.model import Ontology

Load = Callable[..., Ontology]


def test_a_description_tells_everything_there_is(ontology: Load) -> None:
    onto = ontology(
        ':Way a owl:Class ; rdfs:label "way"@en , "Weg"@de ; skos:definition "How far."@en ; '
        '  cps:quantityKind kind:Length ; cps:minimum 0 ; cps:defaultContext [ cps:unit "mile" ] ; '
        "  cps:attributeOf :Trip . :Path owl:equivalentClass :Way . :Trip a owl:Class . :Step rdfs:subClassOf :Way ."
    )
    text = onto.describe("Way", "de")
    for part in ("Way", "Weg", "How far.", "Path", "Step", "Length", "m", "unit=mile", "minimum:", "Trip"):
        assert part in text
    assert onto.describe(onto["Trip"]).splitlines() == ["Trip  <http://example.org/o#Trip>"]


def test_a_drawing_is_a_mermaid_graph(ontology: Load) -> None:
    onto = ontology(':A a owl:Class . :B rdfs:subClassOf :A . :C owl:equivalentClass :B . <urn:x"y> a owl:Class .')
    lines = onto.draw().splitlines()
    assert lines[0] == "graph BT"
    assert '  c1["B = C"]' in lines
    assert "  c1 --> c0" in lines
    assert len([line for line in lines if "-->" in line]) == 1
    assert onto.draw("B").count("[") == 1
    assert "and 2 more" in onto.draw(most=1)
    assert 'x"y' not in onto.draw()


def test_complaints(ontology: Load) -> None:
    onto = ontology(
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A . :C owl:disjointWith :D . :E rdfs:subClassOf :C , :D . "
        ":F a owl:Class ; cps:quantityKind kind:Length . :G owl:equivalentClass :F ; cps:quantityKind kind:Mass . "
        ":H a owl:Class ; cps:minimum 3 ; cps:maximum 2 ."
    )
    said = "\n".join(onto.check())
    assert "A, B: a cycle of subclasses" in said
    assert "E: unsatisfiable" in said
    assert "F, G: equivalent, yet of the quantity kinds Length and Mass" in said
    assert "A: no label" in said
    assert "A: no definition" in said
    assert "H: its minimum is above its maximum" in said
    assert "cycle" not in said.replace("A, B: a cycle", "")


@dataclass(frozen=True)
class Dimension:
    name: str

    def comparable(self, other: "Dimension") -> bool:
        return self.name == other.name


@dataclass(frozen=True)
class Unit:
    dimension: Dimension


def test_units_are_checked_when_somebody_knows_them(ontology: Load) -> None:
    def resolve(text: str) -> Unit:
        if text not in ("m", "mile", "kg"):
            raise UnknownUnit(f"no unit {text!r}")
        return Unit(Dimension("mass" if text == "kg" else "length"))

    onto = ontology(
        ':Len a cps:QuantityKind ; cps:canonicalUnit "m" . :A a owl:Class ; cps:quantityKind :Len . '
        ':B rdfs:subClassOf :A ; cps:defaultContext [ cps:unit "mile" ] . '
        ':C rdfs:subClassOf :A ; cps:defaultContext [ cps:unit "kg" ] . '
        ':D rdfs:subClassOf :A ; cps:canonicalUnit "smoot" .'
    )
    said = [line for line in onto.check(resolve) if "no label" not in line and "no definition" not in line]
    assert said == ["C: its default unit kg is not of the dimension of m", "D: no unit 'smoot'"]
    assert not any("smoot" in line for line in onto.check())
