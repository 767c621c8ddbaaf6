"""``ISA`` as a run of concepts: in trees and where concepts have several parents, as the evaluator judges it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher, table_grids, table_matching
from conceptpubsub.matching.hierarchy import Row, row_of
from conceptpubsub.matching.scan import answer
from conceptpubsub.model import Ontology
from conceptpubsub.model.codecs import table_to_events

_TURTLE = """
@prefix : <https://example.org/kinds#> .
@prefix cps: <https://w3id.org/conceptpubsub/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://example.org/kinds> a owl:Ontology ; owl:imports <https://w3id.org/conceptpubsub/core> .
:Root a owl:Class ; rdfs:subClassOf cps:Event .
:A a owl:Class ; rdfs:subClassOf :Root .
:B a owl:Class ; rdfs:subClassOf :Root .
:C a owl:Class ; rdfs:subClassOf :Root .
:A1 a owl:Class ; rdfs:subClassOf :A .
:A2 a owl:Class ; rdfs:subClassOf :A .
:B1 a owl:Class ; rdfs:subClassOf :B .
:Both a owl:Class ; rdfs:subClassOf :A1 , :B , :C .
:Alike a owl:Class ; owl:equivalentClass :B1 .
:Kind a owl:Class ; cps:valueType cps:Concept .
:Level a owl:Class ; cps:valueType cps:Real .
:Place a owl:Class ; cps:valueType cps:Text .
"""
_CONCEPTS = ("Root", "A", "B", "C", "A1", "A2", "B1", "Both", "Alike")


@pytest.fixture(scope="module")
def onto(tmp_path_factory: pytest.TempPathFactory) -> Ontology:
    path: Path = tmp_path_factory.mktemp("kinds") / "kinds.ttl"
    path.write_text(_TURTLE)
    return Ontology.load(path)


def test_a_run_holds_just_what_lies_below(onto: Ontology) -> None:
    row = Row(onto)
    scattered = set()
    for concept in onto:
        run = row.run(concept)
        if run is None:
            scattered.add(concept.name)
            continue
        for other in onto:
            place = row.place(other.name)
            assert place is not None
            assert (run[0] <= place < run[1]) == other.is_a(concept), (concept, other)
    assert scattered & set(_CONCEPTS) in ({"B", "C"}, {"A", "A1", "C"}, {"A", "A1", "B"})  # Both stands below one
    assert row.place("Alike") == row.place("B1")
    assert row_of(onto) is row_of(onto)


@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
@pytest.mark.parametrize("indexed", [False, True])
def test_every_engine_path_agrees(
    onto: Ontology, semantics: str, indexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_matching, "enough", lambda rows, cubes: indexed)
    monkeypatch.setattr(table_grids, "_LOOK", 0.0)
    make = np.random.default_rng(3)
    texts = []
    for concept in _CONCEPTS:
        texts += [f"EVENT ISA {concept}", f"EVENT NOT ISA {concept}", f"Kind ISA {concept}", f"NOT Kind ISA {concept}"]
        for _ in range(6):
            low = float(np.round(make.uniform(0, 9), 1))
            texts.append(
                f"EVENT ISA {concept} AND Level >= {low} AND Level < {low + 1} AND Place = 'p{make.integers(3)}'"
            )
            texts.append(f"EVENT ISA {concept} AND Level BETWEEN {low} AND {low + 2}")
            texts.append(f"Kind ISA {concept} AND EVENT ISA {_CONCEPTS[make.integers(9)]} AND NOT Level > {low}")
    defaults = {"Kind": "A1"} if semantics == "default" else None
    filters = {
        key: Filter.parse(text, ontology=onto, semantics=semantics, defaults=defaults) for key, text in enumerate(texts)
    }
    named = [*_CONCEPTS, "Event", "Nothing such", None]
    rows = 600
    table = pa.table(
        {
            "@concept": [named[n] or "Root" for n in make.integers(0, len(named), rows)],
            "Kind": pa.array([named[n] for n in make.integers(0, len(named), rows)], pa.string()),
            "Level": pa.array(np.round(make.uniform(0, 11, rows), 1), mask=make.random(rows) < 0.1),
            "Place": [f"p{n}" for n in make.integers(0, 4, rows)],
        }
    )
    matcher = Matcher()
    matcher.add_many(filters.items())
    events, errors = table_to_events(table)
    assert not errors
    found = matcher.match_batch(table)
    for row, event in enumerate(events):
        expected = [key for key, one in filters.items() if answer(one, event) is True]
        assert found.row(row) == expected, event
        if row % 10 == 0:
            assert matcher.match(event) == expected
    plan = matcher._both[0]._batches._planner._plans[0]  # type: ignore[attr-defined]
    index = plan.indexed[1] if plan.indexed else None
    assert (index is not None) == indexed
    if indexed:
        assert (index.entries[:, 4] < 32).any()  # some cubes stand in a grid of two axes
