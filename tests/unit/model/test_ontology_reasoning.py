"""Reasoning by HermiT: what it infers enters the closure, what it cannot do is a clear error."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conceptpubsub.errors import OntologyError, ReasonerError
from conceptpubsub.model import Ontology
from conceptpubsub.model.catalog import BUNDLED, bundled_path

Load = Callable[..., Ontology]
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="HermiT needs Java")

INFERABLE = """
:part a owl:ObjectProperty . :Engine a owl:Class . :Motor rdfs:subClassOf :Engine .
:Motorised owl:equivalentClass [ a owl:Restriction ; owl:onProperty :part ; owl:someValuesFrom :Engine ] .
:Car a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :part ; owl:someValuesFrom :Motor ] .
:Bike a owl:Class ; owl:disjointWith :Motorised .
:Moped a owl:Class ; rdfs:subClassOf :Bike , [ a owl:Restriction ; owl:onProperty :part ; owl:someValuesFrom :Motor ] .
"""


@needs_java
def test_inferred_subclasses_enter_the_closure_and_empty_classes_are_reported(ontology: Load) -> None:
    plain = ontology(INFERABLE)
    assert not plain["Car"].is_a("Motorised")
    assert plain.unsatisfiable == ()
    wise = ontology(INFERABLE, reason=True)
    assert wise["Car"].is_a("Motorised")
    assert [c.name for c in wise.unsatisfiable] == ["Moped"]
    assert wise.cycles == ()
    assert any("Moped: unsatisfiable" in said for said in wise.check())
    assert wise != plain


@needs_java
def test_imports_and_annotations_do_not_reach_the_reasoner(ontology: Load) -> None:
    onto = ontology(
        "<http://example.org/o> a owl:Ontology ; owl:imports <http://192.0.2.1/never> . :A a owl:Class ; "
        'rdfs:label "x"@en ; cps:defaultContext [ cps:unit "km" ] . :d a owl:DatatypeProperty ; rdfs:range xsd:date . '
        ":B owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :A :C ) ] . :D rdfs:subClassOf :A , :C .",
        reason=True,
        ignore_missing=True,
    )
    assert onto["D"].is_a("B")
    assert onto["A"].default_context["unit"] == "km"


@needs_java
def test_an_inconsistent_ontology_is_an_error(ontology: Load) -> None:
    with pytest.raises(OntologyError, match="inconsistent"):
        ontology(":A owl:disjointWith :B . :A a owl:Class . :B a owl:Class . :i a :A , :B .", reason=True)


@needs_java
def test_at_the_time_limit_the_reasoner_ends_with_its_java(
    ontology: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin"
    fake.mkdir()
    mark = tmp_path / "pid"
    (fake / "java").write_text(f"#!/bin/sh\necho $$ > {mark}\nexec sleep 600\n")
    (fake / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ReasonerError, match="did not finish within 4 s") as caught:
        ontology(INFERABLE, reason=True, time_limit=4)
    assert caught.value.time_limit == 4
    pid = int(mark.read_text())
    for _ in range(50):
        if not _alive(pid):
            break
        time.sleep(0.1)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_a_java_that_fails_is_a_clear_error(ontology: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "java").write_text("#!/bin/sh\necho 'Could not reserve enough space' >&2\nexit 1\n")
    (fake / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ReasonerError, match="Could not reserve"):
        ontology(INFERABLE, reason=True)


def test_without_java_the_error_says_how_to_get_it(
    ontology: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReasonerError, match="sudo apt install default-jre-headless"):
        ontology(INFERABLE, reason=True)


@needs_java
def test_no_class_of_the_bundled_ontologies_is_unsatisfiable_to_hermit() -> None:
    onto = Ontology.load(*map(bundled_path, BUNDLED), reason=True)
    assert onto.unsatisfiable == ()
    assert onto["AirportTemperature"].is_a("Temperature")
