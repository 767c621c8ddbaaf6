"""The cache of compiled ontologies: found by content, never trusted, never in the way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conceptpubsub.model import Ontology

HEAD = "@prefix ex: <http://example.org/o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "o.ttl"
    path.write_text(HEAD + "ex:A a owl:Class .")
    return path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were parsed."""
    from conceptpubsub.model import rdf_reader

    names: list[str] = []
    plain = rdf_reader.parse

    def counting(name: str, *args: object, **options: object) -> object:
        names.append(name)
        return plain(name, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(rdf_reader, "parse", counting)
    return names


def entries(cache: Path) -> list[Path]:
    return sorted((cache / "ontologies").glob("*"))


def test_a_second_load_parses_nothing_and_says_the_same(source: Path, parsed: list[str], own_cache: Path) -> None:
    first = Ontology.load(source)
    assert "o.ttl" in parsed
    parsed.clear()
    assert Ontology.load(source) == first
    assert parsed == []
    assert len(entries(own_cache)) == 1


def test_another_content_or_option_is_another_entry(source: Path, parsed: list[str], own_cache: Path) -> None:
    Ontology.load(source)
    source.write_text(HEAD + "ex:A a owl:Class . ex:B a owl:Class .")
    assert "B" in Ontology.load(source)
    Ontology.load(source, ignore_missing=True)
    assert len(entries(own_cache)) == 3


def test_cache_false_neither_reads_nor_writes(source: Path, parsed: list[str], own_cache: Path) -> None:
    Ontology.load(source, cache=False)
    assert not (own_cache / "ontologies").exists()
    Ontology.load(source)
    parsed.clear()
    Ontology.load(source, cache=False)
    assert "o.ttl" in parsed


def test_a_changed_import_is_noticed(tmp_path: Path) -> None:
    main, part = tmp_path / "main.ttl", tmp_path / "part.ttl"
    main.write_text(HEAD + "<urn:main> a owl:Ontology ; owl:imports <urn:part> .")
    part.write_text(HEAD + "ex:A a owl:Class .")
    catalog = {"urn:part": part}
    assert Ontology.load(main, catalog=catalog).names() == ("A",)
    part.write_text(HEAD + "ex:B a owl:Class .")
    assert Ontology.load(main, catalog=catalog).names() == ("B",)
    part.unlink()
    with pytest.raises(ValueError, match="cannot read"):
        Ontology.load(main, catalog=catalog)


def test_an_import_that_was_left_out_and_is_mapped_now_is_read(tmp_path: Path) -> None:
    main, part = tmp_path / "main.ttl", tmp_path / "part.ttl"
    main.write_text(HEAD + "<urn:main> a owl:Ontology ; owl:imports <urn:part> .")
    part.write_text(HEAD + "ex:A a owl:Class .")
    assert Ontology.load(main, ignore_missing=True).names() == ()
    assert Ontology.load(main, ignore_missing=True, catalog={"urn:part": part}).names() == ("A",)


@pytest.mark.parametrize("damage", [b"", b"\x00" * 50, b"{}\n{}", b'{"sha256": "0", "parts": [], "warnings": []}\n{}'])
def test_a_damaged_entry_is_ignored_and_replaced(source: Path, own_cache: Path, damage: bytes) -> None:
    first = Ontology.load(source)
    (entry,) = entries(own_cache)
    whole = entry.read_bytes()
    entry.write_bytes(damage)
    assert Ontology.load(source) == first
    assert entry.read_bytes() == whole
    entry.write_bytes(whole[:-10])
    assert Ontology.load(source) == first


def test_a_forged_entry_of_the_wrong_shape_is_ignored(source: Path, own_cache: Path) -> None:
    import hashlib
    import json

    first = Ontology.load(source)
    (entry,) = entries(own_cache)
    for body in (b"[]", b'{"concepts": 3}', b"not json"):
        head = {"sha256": hashlib.sha256(body).hexdigest(), "parts": [], "warnings": []}
        entry.write_bytes(json.dumps(head).encode() + b"\n" + body)
        assert Ontology.load(source) == first


def test_an_entry_that_anybody_may_write_is_not_trusted(source: Path, parsed: list[str], own_cache: Path) -> None:
    Ontology.load(source)
    (entry,) = entries(own_cache)
    entry.chmod(0o666)
    parsed.clear()
    Ontology.load(source)
    assert "o.ttl" in parsed


def test_the_cache_may_be_switched_off_or_impossible(
    source: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CPS_CACHE", "off")
    assert "A" in Ontology.load(source)
    blocked = own_cache / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("CPS_CACHE", str(blocked))
    assert "A" in Ontology.load(source)
    monkeypatch.delenv("CPS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache / "xdg"))
    Ontology.load(source)
    assert list((own_cache / "xdg" / "conceptpubsub" / "ontologies").glob("*.json"))


def test_old_entries_go_when_there_are_many(source: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from conceptpubsub.model import ontology_cache

    monkeypatch.setattr(ontology_cache, "MAX_ENTRIES", 3)
    for i in range(6):
        source.write_text(HEAD + f"ex:A{i} a owl:Class .")
        Ontology.load(source)
    assert len(entries(own_cache)) == 3


def test_a_cache_hit_imports_no_rdf_library(source: Path) -> None:
    Ontology.load(source)
    code = (
        "import sys; from conceptpubsub.model import Ontology; o = Ontology.load(sys.argv[1]); "
        "print(o['A'].name, 'rdflib' in sys.modules, 'owlready2' in sys.modules, 'pint' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(source)], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert done.stdout.split() == ["A", "False", "False", "False"]
