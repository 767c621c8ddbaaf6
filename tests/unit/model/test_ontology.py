"""Ontology and Concept as users hold them: names, subsumption, identity."""

import copy
import pickle
from collections.abc import Callable

import pytest

from conceptpubsub.errors import OntologyError, UnknownConcept
from conceptpubsub.model import Context, Ontology

Load = Callable[..., Ontology]

CHAIN = ":Thing1 a owl:Class . :B rdfs:subClassOf :Thing1 . :C rdfs:subClassOf :B . :D rdfs:subClassOf :Thing1 ."


def test_subsumption_is_transitive_and_reflexive(ontology: Load) -> None:
    onto = ontology(CHAIN)
    assert onto["C"].is_a(onto["Thing1"])
    assert onto["C"].is_a(onto["C"])
    assert not onto["Thing1"].is_a(onto["C"])
    assert not onto["D"].is_a(onto["B"])
    assert [c.name for c in onto["C"].ancestors] == ["B", "C", "Thing1"]
    assert [c.name for c in onto["Thing1"].descendants] == ["B", "C", "D", "Thing1"]


def test_a_name_is_short_prefixed_or_an_iri(ontology: Load) -> None:
    onto = ontology(CHAIN)
    assert onto["C"] is onto["ex:C"] is onto["http://example.org/o#C"] is onto.find("C")
    assert "C" in onto
    assert "ex:C" in onto
    assert onto["C"] in onto
    assert "X" not in onto
    assert onto.find("X") is None
    assert onto.names() == ("B", "C", "D", "Thing1")
    assert len(onto) == 4
    assert {c.name for c in onto} == set(onto.names())


def test_is_a_takes_names_and_refuses_unknown_ones(ontology: Load) -> None:
    onto = ontology(CHAIN)
    assert onto["C"].is_a("B")
    with pytest.raises(UnknownConcept):
        onto["C"].is_a("Nowhere")


def test_an_unknown_name_offers_near_ones(ontology: Load) -> None:
    onto = ontology(':Odometer a owl:Class ; rdfs:label "Kilometerstand"@de .')
    with pytest.raises(UnknownConcept, match="Did you mean 'Odometer'") as caught:
        onto["Odometr"]
    assert caught.value.near == ("Odometer",)
    assert isinstance(caught.value, KeyError)
    assert onto.near("kilometerstand") == ("Odometer",)


def test_near_names_are_found_among_thousands(ontology: Load) -> None:
    many = " ".join(f":Sensor{i} a owl:Class ." for i in range(3000))
    onto = ontology(many + " :Odometer a owl:Class .")
    assert "Odometer" in onto.near("Odometr")
    assert onto.near("x" * 100_000) == ()


def test_equivalent_classes_share_one_index_and_what_they_say(ontology: Load) -> None:
    onto = ontology(
        ":A a owl:Class ; cps:quantityKind kind:Length . :B owl:equivalentClass :A . :C rdfs:subClassOf :B ."
    )
    a, b, c = onto["A"], onto["B"], onto["C"]
    assert a.index == b.index != c.index
    assert a.representative == b.representative == "A"
    assert a.is_a(b)
    assert b.is_a(a)
    assert c.is_a(a)
    assert b.canonical_unit == c.canonical_unit == "m"
    assert a.equivalents == (a, b)
    assert a != b


def test_a_cycle_of_subclasses_is_an_equivalence(ontology: Load) -> None:
    onto = ontology(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :A . :D rdfs:subClassOf :C .")
    assert onto["A"].index == onto["B"].index == onto["C"].index
    assert onto["D"].is_a("B")
    assert onto.index_count == 2


def test_a_long_chain_and_a_long_cycle_do_not_hit_the_recursion_limit(ontology: Load) -> None:
    chain = " ".join(f":c{i} rdfs:subClassOf :c{i + 1} ." for i in range(2000))
    onto = ontology(chain)
    assert onto["c0"].is_a("c2000")
    assert len(onto["c0"].lineage) == 2001
    looped = ontology(chain + " :c2000 rdfs:subClassOf :c0 .", name="loop.ttl")
    assert looped.index_count == 1


def test_masks_are_bits_of_everything_below(ontology: Load) -> None:
    onto = ontology(CHAIN)
    for upper in onto:
        for lower in onto:
            assert bool(upper.mask >> lower.index & 1) == lower.is_a(upper)


def test_indexes_are_dense_and_supers_come_first(ontology: Load) -> None:
    onto = ontology(CHAIN)
    assert sorted({c.index for c in onto}) == list(range(onto.index_count))
    assert all(parent.index < c.index for c in onto for parent in c.parents)
    assert all(onto.by_index(i).index == i for i in range(onto.index_count))


def test_parents_and_children_are_direct(ontology: Load) -> None:
    onto = ontology(CHAIN + " :C rdfs:subClassOf :Thing1 .")
    assert [c.name for c in onto["C"].parents] == ["B"]
    assert [c.name for c in onto["Thing1"].children] == ["B", "D"]


def test_the_digest_is_of_what_is_said_not_of_how(ontology: Load) -> None:
    first = ontology(CHAIN)
    again = ontology(
        "# a remark\n:D rdfs:subClassOf :Thing1 . :C rdfs:subClassOf :B . "
        ":B rdfs:subClassOf :Thing1 . :Thing1 a owl:Class .",
        name="p.ttl",
    )
    other = ontology(CHAIN + " :E a owl:Class .", name="q.ttl")
    assert first.digest == again.digest
    assert first == again
    assert hash(first) == hash(again)
    assert first != other
    assert len(first.digest) == 64


def test_ontologies_and_concepts_pickle_and_come_back_as_themselves(ontology: Load) -> None:
    onto = ontology(CHAIN)
    assert pickle.loads(pickle.dumps(onto)) is onto
    assert pickle.loads(pickle.dumps(onto["C"])) is onto["C"]
    assert copy.deepcopy(onto) is onto
    assert len(pickle.dumps([onto[n] for n in onto.names()])) < 2 * len(pickle.dumps(onto)) + 2000


def test_concepts_and_ontologies_are_immutable(ontology: Load) -> None:
    onto = ontology(CHAIN)
    with pytest.raises(AttributeError):
        onto["C"].name = "X"  # type: ignore[misc]
    with pytest.raises(TypeError):
        onto["C"].labels["en"] = "x"  # type: ignore[index]
    with pytest.raises(TypeError):
        onto.kinds["x"] = None  # type: ignore[index]
    with pytest.raises(AttributeError):
        onto.digest = ""
    with pytest.raises(TypeError, match=r"Ontology\.load"):
        Ontology()


def test_concepts_of_another_ontology_are_known_by_iri(ontology: Load) -> None:
    one = ontology(CHAIN)
    two = ontology(CHAIN + " :E rdfs:subClassOf :C .", name="two.ttl")
    assert two["E"].is_a(one["B"])
    assert not one["C"].is_a(two["E"])
    assert one["C"] != two["C"]
    assert two[one["C"]] is two["C"]


def test_a_clash_of_names_is_settled_for_the_loaded_file_or_by_prefixes(ontology: Load) -> None:
    onto = ontology("@prefix o2: <http://example.org/two#> . :A a owl:Class . o2:A a owl:Class . o2:B a owl:Class .")
    assert onto.names() == ("B", "ex:A", "o2:A")
    assert onto.find("A") is None
    assert set(onto.near("A")) == {"ex:A", "o2:A"}
    own = ontology(
        "<http://example.org/o> a owl:Ontology ; owl:imports <https://w3id.org/conceptpubsub/core> . "
        ":Temperature rdfs:subClassOf cps:Temperature .",
        name="own.ttl",
    )
    assert own["Temperature"].iri == "http://example.org/o#Temperature"
    assert own["Temperature"].is_a("cps:Temperature")


def test_labels_in_several_languages_and_the_definition(ontology: Load) -> None:
    onto = ontology(':A a owl:Class ; rdfs:label "way"@en , "Weg"@de , "plain" ; skos:definition "How far."@en .')
    a = onto["A"]
    assert dict(a.labels) == {"": "plain", "de": "Weg", "en": "way"}
    assert (a.label("de"), a.label("fr"), a.label()) == ("Weg", "way", "way")
    assert a.definition == "How far."
    assert str(a) == a.name == "A"


def test_what_was_not_declared_is_empty(ontology: Load) -> None:
    a = ontology(":A a owl:Class .")["A"]
    assert (a.value_type, a.quantity_kind, a.canonical_unit, a.minimum, a.maximum, a.values) == (None,) * 6
    assert a.default_context == Context()
    assert (a.domain, a.range, a.definition, a.label()) == ((), (), "", "A")


def test_a_missing_bundled_ontology_offers_near_names() -> None:
    with pytest.raises(OntologyError, match="Did you mean 'vehicles'"):
        Ontology.bundled("vehicle")
