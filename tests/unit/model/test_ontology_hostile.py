"""Hostile files: each gets a clear error, in bounded time and memory."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from conceptpubsub.errors import ConceptPubSubError, LimitExceeded, OntologyError
from conceptpubsub.model import Ontology
from conceptpubsub.model.rdf_reader import parse
from conceptpubsub.model.rdf_terms import XSD, Literal

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY l0 "lol">'
    + "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    + ']><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&l9;</rdf:RDF>'
)
EXTERNAL = '<?xml version="1.0"?><!-- x --><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'
REMOTE = '<!DOCTYPE r SYSTEM "http://example.org/evil.dtd"><r/>'
NOISE = random.Random(1).randbytes(200_000)


@pytest.mark.parametrize("text", [LAUGHS, EXTERNAL, REMOTE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("suffix", ["rdf", "owl", "xml"])
def test_a_doctype_is_refused_before_parsing(tmp_path: Path, text: str, encoding: str, suffix: str) -> None:
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(OntologyError, match="DOCTYPE, which is refused"):
        Ontology.load(path)


@pytest.mark.parametrize("suffix", ["ttl", "nt", "rdf", "jsonld"])
@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 1000,
        NOISE,
        b"<" * 100_000,
        b"[" * 100_000,
        b"(" * 100_000,
        b'"' * 100_000,
        b"{" * 100_000,
        b"\xff\xfe\xfd",
    ],
    ids=["zeros", "noise", "angles", "squares", "rounds", "quotes", "braces", "bytes"],
)
def test_garbage_is_a_clear_error_that_names_the_file(tmp_path: Path, suffix: str, data: bytes) -> None:
    path = tmp_path / f"garbage.{suffix}"
    path.write_bytes(data)
    with pytest.raises((OntologyError, LimitExceeded), match=r"garbage\.") as caught:
        Ontology.load(path)
    assert len(str(caught.value)) < 500


def test_a_hundred_megabytes_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.ttl"
    with path.open("wb") as out:
        out.truncate(100_000_000)
    with pytest.raises(LimitExceeded, match=r"100,000,000 bytes; at most 64,000,000"):
        Ontology.load(path)
    small = tmp_path / "small.ttl"
    small.write_text("# " + "x" * 2000)
    with pytest.raises(LimitExceeded, match="at most 1,000"):
        Ontology.load(small, max_bytes=1000)


def test_bytes_and_triples_are_bounded_over_all_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.ttl" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_text(" ".join(f"<urn:{i}:{n}> <urn:p> <urn:o> ." for n in range(10)))
    with pytest.raises(LimitExceeded, match="triples"):
        Ontology.load(*paths, max_triples=25)
    with pytest.raises(LimitExceeded, match="bytes"):
        Ontology.load(*paths, max_bytes=600)
    assert len(Ontology.load(*paths, max_triples=30)) == 0


def test_what_is_no_file_is_not_read() -> None:
    with pytest.raises(OntologyError, match="not a file"):
        Ontology.load("/dev/zero", format="turtle")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.ttl", "<urn:a> <urn:b> " + "[ <urn:c> " * 50_000),
        ("deep.rdf", "<a>" * 50_000),
        ("deep.jsonld", '{"@graph":[' * 50_000),
        ("deep.jsonld", '{"a":' * 500 + "1" + "}" * 500),
        ("circle.jsonld", '{"@context": {"a": "b:c", "b": "a:d"}, "a:x": 1}'),
        ("wide.rdf", "<a " + " ".join(f'xmlns:p{i}="urn:{i}"' for i in range(2000)) + "/>"),
        ("escapes.ttl", '<urn:a> <urn:b> "' + "\\\\" * 1_000_000 + '" .'),
        ("escapes.nt", '<urn:a> <urn:b> "' + "\\\\" * 1_000_000 + '" .'),
    ],
)
def test_depth_width_and_escapes_are_bounded(name: str, text: str) -> None:
    with pytest.raises(LimitExceeded, match=name):
        parse(name, text.encode())


def test_many_prefixes_are_read() -> None:
    count = 20_000
    text = "".join(f"@prefix p{i}: <http://example.org/{i}#> .\n" for i in range(count))
    assert len(parse("prefixes.ttl", text.encode()).prefixes) == count


@pytest.mark.parametrize("datatype", ["decimal", "double", "integer", "float", "dateTime", "boolean", "duration"])
def test_an_absurd_literal_keeps_its_spelling_and_costs_nothing(datatype: str) -> None:
    iri = XSD + datatype
    wanted = Literal("1e999999999", None, iri)
    turtle = f'<urn:a> <urn:b> "1e999999999"^^<{iri}> .'
    xml = (
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:"><r:Description r:about="urn:a">'
        f'<u:b r:datatype="{iri}">1e999999999</u:b></r:Description></r:RDF>'
    )
    linked = json.dumps({"@id": "urn:a", "urn:b": {"@value": "1e999999999", "@type": iri}})
    for name, text in (("a.ttl", turtle), ("a.nt", turtle), ("a.rdf", xml), ("a.jsonld", linked)):
        assert parse(name, text.encode()).triples == (("urn:a", "urn:b", wanted),)


@pytest.mark.parametrize("name", ["a.ttl", "a.jsonld"])
def test_an_integer_of_a_million_digits_is_refused(name: str) -> None:
    digits = "1" * 1_000_000
    text = f"<urn:a> <urn:b> {digits} ." if name == "a.ttl" else f'{{"@id": "urn:a", "urn:b": {digits}}}'
    with pytest.raises(OntologyError):
        parse(name, text.encode())


@pytest.mark.parametrize("text", ["[NaN]", '"x"', "null", "3", '{"@id": Infinity}', "", "{", '{"@context": 3}'])
def test_json_that_is_no_json_ld(text: str) -> None:
    with pytest.raises(OntologyError, match=r"bad\.jsonld"):
        parse("bad.jsonld", text.encode())


def test_odd_names_do_not_break_the_registry(ontology: Callable[..., Ontology]) -> None:
    onto = ontology(
        "<urn:x> a owl:Class . <http://example.org/> a owl:Class . <http://example.org/o#__class__> a owl:Class ; "
        'rdfs:label """<script>"&\\n"""@en-GB . <http://example.org/é#ü> a owl:Class .'
    )
    assert {"x", "__class__", "ü", "http://example.org/"} == set(onto.names())
    assert onto["__class__"].labels["en-gb"].startswith("<script>")
    with pytest.raises(ConceptPubSubError):
        onto["\x00" * 10_000]


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f":c{i} rdfs:subClassOf :c{i + 1} ." for i in range(6000)),
        " ".join(f":a{i} owl:disjointWith :r . :b{i} rdfs:subClassOf :r ." for i in range(4000)),
        " ".join(f":u{i} a owl:Class ; owl:unionOf _:l ." for i in range(3000))
        + " _:l rdf:first :x ; rdf:rest _:m . _:m rdf:first :y ; rdf:rest ( "
        + " ".join(f":m{i}" for i in range(3000))
        + " ) .",
        " ".join(f":k{i} a cps:QuantityKind ; skos:broader :k{i + 1} ." for i in range(500))
        + " :k500 a cps:QuantityKind .",
        ":A a owl:Class ; cps:defaultContext [ " + " ; ".join(f":p{i} 'x'" for i in range(500)) + " ] .",
    ],
    ids=["chain", "exclusions", "shared list", "kinds", "aspects"],
)
def test_hierarchies_that_would_grow_without_bound_are_refused(ontology: Callable[..., Ontology], text: str) -> None:
    with pytest.raises(LimitExceeded):
        ontology(text)
