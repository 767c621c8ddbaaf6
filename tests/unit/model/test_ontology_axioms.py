"""What OWL says between names: sameAs, disjointness, unions, individuals, properties; and the closure itself."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.model import Ontology
from conceptpubsub.model.ontology_closure import close
from conceptpubsub.model.ontology_indexes import Indexes
from conceptpubsub.model.owl_axioms import Axioms

Load = Callable[..., Ontology]


def test_same_individuals_share_an_index_and_lie_below_their_classes(ontology: Load) -> None:
    onto = ontology(":Exchange a owl:Class . :NYSE a :Exchange . :NewYork owl:sameAs :NYSE . :Nasdaq a :Exchange .")
    assert onto["NYSE"].index == onto["NewYork"].index != onto["Nasdaq"].index
    assert onto["NewYork"].is_a("Exchange")
    assert onto["NYSE"].sort == "individual"


@pytest.mark.parametrize(
    "axiom",
    [
        ":A owl:disjointWith :B .",
        "[] a owl:AllDisjointClasses ; owl:members ( :A :B :X ) .",
        ":All owl:disjointUnionOf ( :A :B ) . :All a owl:Class .",
        ":A rdfs:subClassOf [ a owl:Class ; owl:complementOf :B ] .",
        ":A owl:equivalentClass [ a owl:Class ; owl:complementOf :B ] .",
        ":A owl:complementOf :B .",
    ],
)
def test_disjointness_is_inherited_however_it_is_said(ontology: Load, axiom: str) -> None:
    onto = ontology(
        ":A a owl:Class . :B a owl:Class . :X a owl:Class . :A1 rdfs:subClassOf :A . :B1 rdfs:subClassOf :B . " + axiom
    )
    assert onto["A1"].disjoint_with("B1")
    assert onto["B"].disjoint_with(onto["A"])
    assert not onto["A"].disjoint_with("A1")
    assert not onto["A"].disjoint_with("A")
    assert onto.unsatisfiable == ()


def test_what_lies_below_disjoint_classes_is_unsatisfiable(ontology: Load) -> None:
    onto = ontology(
        ":A owl:disjointWith :B . :C rdfs:subClassOf :A , :B . :D rdfs:subClassOf :C . "
        ":E rdfs:subClassOf owl:Nothing . :F rdfs:subClassOf :A ."
    )
    assert [c.name for c in onto.unsatisfiable] == ["C", "D", "E"]
    assert onto["D"].disjoint_with("F")
    assert onto["D"].disjoint_with("D")
    assert not onto["C"].satisfiable
    assert onto["F"].satisfiable


def test_names_for_one_thing_that_exclude_each_other_are_unsatisfiable(ontology: Load) -> None:
    onto = ontology(":A owl:equivalentClass :B . :A owl:disjointWith :B . :C a owl:Class .")
    assert [c.name for c in onto.unsatisfiable] == ["A", "B"]


def test_class_expressions_with_plain_consequences(ontology: Load) -> None:
    onto = ontology(
        ":Either owl:equivalentClass [ owl:unionOf ( :A :B ) ] . "
        ":Both owl:equivalentClass [ owl:intersectionOf ( :A :B ) ] . "
        ":Part rdfs:subClassOf [ owl:intersectionOf ( :A [ a owl:Restriction ] ) ] . "
        "[ owl:unionOf ( :P :Q ) ] rdfs:subClassOf :Top . :Top a owl:Class . "
        ":Day a owl:Class ; owl:oneOf ( :Mon :Tue ) . :In a owl:Class ; owl:intersectionOf ( :A :Top ) ."
    )
    assert onto["A"].is_a("Either")
    assert onto["Both"].is_a("A")
    assert onto["Both"].is_a("B")
    assert onto["Both"].is_a("Either")
    assert onto["Part"].is_a("A")
    assert onto["P"].is_a("Top")
    assert onto["Mon"].is_a("Day")
    assert onto["In"].is_a("Top")


def test_owl_and_rdf_themselves_are_no_concepts(ontology: Load) -> None:
    onto = ontology(":A rdfs:subClassOf owl:Thing . owl:Thing a owl:Class . :A a rdfs:Class .")
    assert onto.names() == ("A",)


def test_properties_are_concepts_below_their_super_properties(ontology: Load) -> None:
    onto = ontology(
        ":value a owl:DatatypeProperty . :celsius a owl:DatatypeProperty ; rdfs:subPropertyOf :value . "
        ":part a owl:ObjectProperty . :bit owl:equivalentProperty :part ; a owl:ObjectProperty . "
        ":remark a owl:AnnotationProperty ."
    )
    assert onto["celsius"].is_a("value")
    assert onto["celsius"].sort == "property"
    assert onto["bit"].index == onto["part"].index
    assert "remark" not in onto


def test_an_rdf_list_in_a_circle_is_refused(ontology: Load) -> None:
    with pytest.raises(ValueError, match="circle"):
        ontology(":A a owl:Class ; owl:unionOf _:l . _:l rdf:first :B ; rdf:rest _:l .")


@st.composite
def skeletons(draw: st.DrawFn) -> Axioms:
    names = [chr(97 + i) for i in range(draw(st.integers(2, 9)))]
    edges = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=16))
    groups = draw(st.lists(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True), max_size=3))
    axioms = Axioms(dict.fromkeys(names, "class"))
    for lower, upper in edges:
        axioms.below(lower, upper)
    axioms.apart.extend(map(tuple, groups))
    axioms.empty.update(draw(st.lists(st.sampled_from(names), max_size=1)))
    return axioms


def reachable(axioms: Axioms, start: str) -> set[str]:
    found = {start}
    while True:
        more = found | {upper for name in found for upper in axioms.above.get(name, ())}
        if more == found:
            return found
        found = more


@given(skeletons())
def test_the_closure_agrees_with_plain_reachability(axioms: Axioms) -> None:
    made = close(axioms)
    order = Indexes(made.parents, made.apart, made.empty)
    above = {name: reachable(axioms, name) for name in axioms.sorts}
    for a in axioms.sorts:
        for b in axioms.sorts:
            assert (made.index[b] in order.above(made.index[a])) == (b in above[a])
            assert (made.index[a] == made.index[b]) == (b in above[a] and a in above[b])
            assert bool(order.mask(made.index[b]) >> made.index[a] & 1) == (b in above[a])

    def excluded(a: str, b: str) -> bool:
        return any(x != y and x in above[a] and y in above[b] for group in axioms.apart for x in group for y in group)

    empty = {a for a in axioms.sorts if excluded(a, a) or above[a] & axioms.empty}
    assert {a for a in axioms.sorts if made.index[a] in order.empty} == empty
    for a in axioms.sorts:
        for b in axioms.sorts:
            assert order.disjoint(made.index[a], made.index[b]) == (bool({a, b} & empty) or excluded(a, b))
