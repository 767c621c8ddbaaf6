"""Files: four formats that say the same, imports through a catalog, nothing from the network."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conceptpubsub.errors import OntologyError
from conceptpubsub.model import Ontology

OWL = "http://www.w3.org/2002/07/owl#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
EX = "http://example.org/o#"

TURTLE = f"""@prefix ex: <{EX}> . @prefix owl: <{OWL}> . @prefix rdfs: <{RDFS}> .
ex:A a owl:Class ; rdfs:label "Weg"@de . ex:B rdfs:subClassOf ex:A ."""
N_TRIPLES = f"""<{EX}A> <{RDF}type> <{OWL}Class> .
<{EX}A> <{RDFS}label> "Weg"@de .
<{EX}B> <{RDFS}subClassOf> <{EX}A> .
"""
RDF_XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:rdfs="{RDFS}" xmlns:owl="{OWL}" xmlns:ex="{EX}">
  <owl:Class rdf:about="{EX}A"><rdfs:label xml:lang="de">Weg</rdfs:label></owl:Class>
  <rdf:Description rdf:about="{EX}B"><rdfs:subClassOf rdf:resource="{EX}A"/></rdf:Description>
</rdf:RDF>"""
JSON_LD = {
    "@context": {"ex": EX, "owl": OWL, "rdfs": RDFS},
    "@graph": [
        {"@id": "ex:A", "@type": "owl:Class", "rdfs:label": {"@value": "Weg", "@language": "de"}},
        {"@id": "ex:B", "rdfs:subClassOf": {"@id": "ex:A"}},
    ],
}
SPELLINGS = {"o.ttl": TURTLE, "o.nt": N_TRIPLES, "o.rdf": RDF_XML, "o.owl": RDF_XML, "o.jsonld": json.dumps(JSON_LD)}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Any attempt to connect or to look up a host fails the test."""
    tried: list[Any] = []

    def refuse(*args: Any, **_: Any) -> Any:
        tried.append(args)
        raise OSError("no network in this test")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "create_connection", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)
    yield tried
    assert tried == []


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_format_says_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(SPELLINGS[name], encoding="utf-8")
    onto = Ontology.load(path)
    assert onto["B"].is_a("A")
    assert onto["A"].label("de") == "Weg"
    if name not in ("o.nt",):  # N-Triples have no prefixes, so one name fewer
        plain = tmp_path / "plain.ttl"
        plain.write_text(TURTLE)
        assert onto == Ontology.load(plain)


def test_a_format_may_be_given_where_the_name_does_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "ontology.data"
    path.write_text("   ex")
    with pytest.raises(OntologyError, match=r"name it \.ttl"):
        Ontology.load(path)
    path.write_text(N_TRIPLES)
    assert "A" in Ontology.load(path, format="nt")
    with pytest.raises(OntologyError, match="no RDF format 'n3'"):
        Ontology.load(path, format="n3")


def test_an_owl_file_in_turtle_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "o.owl"
    path.write_text(TURTLE)
    assert "A" in Ontology.load(path)


def test_several_files_are_one_ontology(tmp_path: Path) -> None:
    one, two = tmp_path / "one.ttl", tmp_path / "two.nt"
    one.write_text(TURTLE)
    two.write_text(f"<{EX}C> <{RDFS}subClassOf> <{EX}B> .\n")
    assert Ontology.load(one, two)["C"].is_a("A")


def importing(tmp_path: Path, iri: str, name: str = "main.ttl") -> Path:
    path = tmp_path / name
    path.write_text(
        f"@prefix ex: <{EX}> . @prefix owl: <{OWL}> . @prefix rdfs: <{RDFS}> .\n"
        f"<http://example.org/{name}> a owl:Ontology ; owl:imports <{iri}> . ex:Z rdfs:subClassOf ex:B ."
    )
    return path


def test_imports_go_through_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(TURTLE)
    main = importing(tmp_path, "http://example.org/o")
    assert Ontology.load(main, catalog={"http://example.org/o": tmp_path / "o.ttl"})["Z"].is_a("A")
    assert Ontology.load(main, catalog={"http://example.org/o/": str(tmp_path / "o.ttl")})["Z"].is_a("A")


def test_an_unmapped_import_is_an_error_that_says_how_to_map_it(tmp_path: Path) -> None:
    main = importing(tmp_path, "http://example.org/o")
    with pytest.raises(OntologyError, match=r"never fetched.*catalog=.*ignore_missing") as caught:
        Ontology.load(main)
    assert caught.value.missing == "http://example.org/o"
    onto = Ontology.load(main, ignore_missing=True)
    assert onto.warnings == ("main.ttl imports <http://example.org/o>, which was left out",)
    assert any("left out" in said for said in onto.check())
    assert Ontology.load(main, ignore_missing=True).warnings == onto.warnings


def test_imports_in_a_circle_end(tmp_path: Path) -> None:
    one = importing(tmp_path, "http://example.org/two.ttl", "one.ttl")
    two = importing(tmp_path, "http://example.org/one.ttl", "two.ttl")
    catalog = {"http://example.org/one.ttl": one, "http://example.org/two.ttl": two}
    assert "Z" in Ontology.load(one, catalog=catalog)
    assert "Z" in Ontology.load(one, two)


def test_the_bundled_ontologies_are_in_every_catalog(tmp_path: Path) -> None:
    assert "Temperature" in Ontology.load(importing(tmp_path, "https://w3id.org/conceptpubsub/core"))


def test_addresses_are_refused_as_sources_and_in_catalogs(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="nothing is fetched"):
        Ontology.load("http://example.org/o.ttl")
    with pytest.raises(OntologyError, match="nothing is fetched"):
        Ontology.load(importing(tmp_path, "urn:x"), catalog={"urn:x": "https://example.org/x.ttl"})


@pytest.mark.parametrize(
    "context",
    [
        "http://example.org/context.jsonld",
        ["http://example.org/context.jsonld", {"ex": EX}],
        {"ex": {"@id": EX, "@context": "http://example.org/context.jsonld"}},
        {"@import": "http://example.org/context.jsonld"},
    ],
)
def test_a_remote_json_ld_context_is_never_fetched(tmp_path: Path, context: Any) -> None:
    path = tmp_path / "o.jsonld"
    path.write_text(json.dumps({"@context": context, "@id": "ex:A", "@type": OWL + "Class"}))
    with pytest.raises(OntologyError, match=r"http://example\.org/context\.jsonld"):
        Ontology.load(path)


def test_a_json_ld_context_may_come_from_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "context.jsonld").write_text(json.dumps({"@context": JSON_LD["@context"]}))
    path = tmp_path / "o.jsonld"
    path.write_text(json.dumps({**JSON_LD, "@context": "http://example.org/context"}))
    onto = Ontology.load(path, catalog={"http://example.org/context": tmp_path / "context.jsonld"})
    assert onto["B"].is_a("A")


def test_no_file_at_all_or_none_that_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="at least one"):
        Ontology.load()
    with pytest.raises(OntologyError, match="cannot read"):
        Ontology.load(tmp_path / "missing.ttl")
    with pytest.raises(OntologyError, match="not a file"):
        Ontology.load(tmp_path)


def test_where_a_file_lies_makes_no_difference(tmp_path: Path) -> None:
    loaded: list[Ontology] = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "o.ttl"
        path.write_text(f"@prefix owl: <{OWL}> . <#A> a owl:Class .")
        loaded.append(Ontology.load(path))
    assert loaded[0] == loaded[1]
    assert "A" in loaded[0]
