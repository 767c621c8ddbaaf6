"""What concepts say of their values: types, kinds, units, contexts, bounds; declared, inherited, taken from ranges."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from conceptpubsub.errors import OntologyError
from conceptpubsub.model import Context, Ontology

Load = Callable[..., Ontology]


def test_facets_are_inherited_until_declared_anew(ontology: Load) -> None:
    onto = ontology(
        ":Way a owl:Class ; cps:quantityKind kind:Length ; cps:minimum 0 ; cps:maximum 12.50 ; "
        '  cps:defaultContext [ cps:unit "mile" ; cps:scale 1000 ] . '
        ":Meter rdfs:subClassOf :Way . "
        ':Short rdfs:subClassOf :Meter ; cps:defaultContext [ cps:unit "cm" ] ; cps:maximum 1 .'
    )
    meter, short = onto["Meter"], onto["Short"]
    assert (meter.value_type, meter.canonical_unit, meter.minimum, meter.maximum) == ("real", "m", 0, Fraction(25, 2))
    assert meter.quantity_kind is onto.kinds["Length"]
    assert meter.default_context == Context(unit="mile", scale=1000)
    assert short.default_context == Context(unit="cm", scale=1000)
    assert (short.minimum, short.maximum) == (0, 1)


def test_the_most_specific_declaration_wins_in_a_diamond(ontology: Load) -> None:
    onto = ontology(
        ":Top a owl:Class ; cps:valueType cps:Real . :Left rdfs:subClassOf :Top . "
        ":Right rdfs:subClassOf :Top ; cps:valueType cps:Int . :Both rdfs:subClassOf :Left , :Right ."
    )
    assert onto["Both"].value_type == "int"
    assert onto["Left"].value_type == "real"


def test_bounds_go_with_their_unit(ontology: Load) -> None:
    onto = ontology(
        ":T a owl:Class ; cps:quantityKind kind:Temperature ; cps:minimum -273.15 . "
        ':K rdfs:subClassOf :T ; cps:canonicalUnit "kelvin" . :U rdfs:subClassOf :T .'
    )
    assert onto["U"].minimum == Fraction(-27315, 100)
    assert onto["K"].minimum is None
    assert onto["K"].canonical_unit == "kelvin"


@pytest.mark.parametrize(
    ("declared", "value_type"),
    [
        ("cps:Real", "real"),
        ("xsd:double", "real"),
        ("xsd:nonNegativeInteger", "int"),
        ("xsd:boolean", "bool"),
        ("xsd:dateTimeStamp", "instant"),
        ("xsd:anyURI", "text"),
        ('"complex"', "complex"),
        ("cps:Concept", "concept"),
    ],
)
def test_value_types_in_every_spelling(ontology: Load, declared: str, value_type: str) -> None:
    onto = ontology(f":A a owl:Class ; cps:valueType {declared} . :p a owl:DatatypeProperty ; rdfs:range xsd:string .")
    assert onto["A"].value_type == value_type
    assert onto["p"].value_type == "text"


def test_properties_take_facets_from_datatypes_and_from_classes_in_their_range(ontology: Load) -> None:
    onto = ontology(
        ":age a owl:DatatypeProperty ; rdfs:domain :Person ; rdfs:range "
        "  [ a rdfs:Datatype ; owl:onDatatype xsd:integer ; "
        "  owl:withRestrictions ( [ xsd:minInclusive 0 ] [ xsd:maxInclusive 150 ] ) ] . "
        ':grade a owl:DatatypeProperty ; rdfs:range [ a rdfs:Datatype ; owl:oneOf ( "b" "a" ) ] . '
        ":Named a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; owl:onDatatype xsd:decimal ; "
        "  owl:withRestrictions ( [ xsd:minInclusive 1.5 ] ) ] . :num a owl:DatatypeProperty ; rdfs:range :Named . "
        ":Heat a owl:Class ; cps:quantityKind kind:Temperature . :has a owl:ObjectProperty ; rdfs:range :Heat . "
        ":Person a owl:Class ."
    )
    age, grade, num, has = onto["age"], onto["grade"], onto["num"], onto["has"]
    assert (age.value_type, age.minimum, age.maximum, age.domain) == ("int", 0, 150, ("Person",))
    assert (grade.value_type, grade.values) == ("text", ("a", "b"))
    assert (num.value_type, num.minimum) == ("real", Fraction(3, 2))
    assert "Named" not in onto
    assert (has.value_type, has.canonical_unit, has.range) == ("real", "degC", ("Heat",))


def test_enumerated_values_and_concept_values(ontology: Load) -> None:
    onto = ontology(
        ':Side a owl:Class ; cps:values ( "sell" "buy" ) . :Part a owl:Class . :Bolt rdfs:subClassOf :Part . '
        ":Failure a owl:Class ; cps:valuesFrom :Part ; cps:attributeOf :Report . :Report a owl:Class ."
    )
    assert (onto["Side"].value_type, onto["Side"].values) == ("text", ("buy", "sell"))
    failure = onto["Failure"]
    assert (failure.value_type, failure.range, failure.domain) == ("concept", ("Part",), ("Report",))


def test_domains_may_be_unions(ontology: Load) -> None:
    onto = ontology(
        ":A a owl:Class . :B a owl:Class . :p a owl:ObjectProperty ; rdfs:domain [ owl:unionOf ( :B :A ) ] ."
    )
    assert onto["p"].domain == ("A", "B")


def test_domains_and_ranges_in_the_words_of_schema_org(ontology: Load) -> None:
    onto = ontology(
        "@prefix sdo: <http://schema.org/> . :Observation a rdfs:Class , owl:Class . :Act a owl:Class . "
        ":resultTime a owl:DatatypeProperty ; sdo:domainIncludes :Observation , :Act ; rdfs:range xsd:dateTime . "
        ":made a owl:ObjectProperty ; sdo:rangeIncludes :Act ."
    )
    assert onto["resultTime"].domain == ("Act", "Observation")
    assert onto["resultTime"].value_type == "instant"
    assert (onto["made"].range, onto["made"].value_type) == (("Act",), None)


def test_quantity_kinds_of_core_are_known_without_importing_it(ontology: Load) -> None:
    onto = ontology(
        ":T a owl:Class ; qudt:hasQuantityKind quantitykind:Temperature . "
        ":F a owl:Class ; qudt:hasQuantityKind quantitykind:FrictionCoefficient . "
        ":U a owl:Class ; qudt:hasUnit <http://qudt.org/vocab/unit/MI> ."
    )
    assert onto["T"].quantity_kind is onto.kinds["Temperature"]
    assert onto["T"].canonical_unit == "degC"
    friction = onto["F"].quantity_kind
    assert friction is not None
    assert (friction.name, friction.unit) == ("FrictionCoefficient", None)
    assert (onto["U"].canonical_unit, onto["U"].value_type) == ("http://qudt.org/vocab/unit/MI", "real")
    assert "Event" not in onto


def test_kinds_have_broader_kinds_and_guard_by_name(ontology: Load) -> None:
    onto = ontology(
        ':Wide a cps:QuantityKind ; cps:canonicalUnit "m" . :Narrow a cps:QuantityKind ; skos:broader :Wide . '
        ":A a owl:Class ; cps:quantityKind :Narrow ."
    )
    kinds = onto.kinds
    assert kinds["Narrow"].is_a(kinds["Wide"])
    assert not kinds["Wide"].is_a("Narrow")
    assert onto["A"].canonical_unit == "m"
    assert kinds["http://example.org/o#Wide"] is kinds["Wide"]


def test_aspects_of_ones_own_and_typed_aspect_values(ontology: Load) -> None:
    onto = ontology(
        ":A a owl:Class ; cps:defaultContext [ :grid 'OSGB' ; cps:scale 0.5 ; :wet true ; :odd 'x' ] . "
        ":odd cps:aspectName 'frame' ."
    )
    assert onto["A"].default_context == Context(grid="OSGB", scale=Fraction(1, 2), wet=True, frame="x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":A a owl:Class ; cps:valueType cps:Reel .", "value type"),
        (":A a owl:Class ; cps:quantityKind kind:Lenght .", "quantity kind"),
        (':A a owl:Class ; cps:minimum "low" .', "not a number"),
        (':A a owl:Class ; cps:minimum "1e999999999" .', "not a number"),
        (":A a owl:Class ; cps:valuesFrom :Nothing .", "no concept"),
        (':A a owl:Class ; cps:defaultContext "mile" .', "takes a node"),
    ],
)
def test_a_faulty_declaration_names_the_concept(ontology: Load, text: str, message: str) -> None:
    with pytest.raises(OntologyError, match=message) as caught:
        ontology(text)
    assert caught.value.concept == "http://example.org/o#A"
