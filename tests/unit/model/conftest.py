"""What the tests of ontologies share: a way to write one down, and a cache of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conceptpubsub.model import Ontology

PREFIXES = """
@prefix : <http://example.org/o#> .
@prefix ex: <http://example.org/o#> .
@prefix cps: <https://w3id.org/conceptpubsub/core#> .
@prefix kind: <https://w3id.org/conceptpubsub/kind#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix qudt: <http://qudt.org/schema/qudt/> .
@prefix quantitykind: <http://qudt.org/vocab/quantitykind/> .
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test starts with an empty cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("CPS_CACHE", str(folder))
    return folder


@pytest.fixture
def ontology(tmp_path: Path) -> Callable[..., Ontology]:
    """Load Turtle given as text; the usual prefixes are there."""

    def load(text: str, name: str = "o.ttl", **options: Any) -> Ontology:
        path = tmp_path / name
        path.write_text(PREFIXES + text, encoding="utf-8")
        return Ontology.load(path, **options)

    return load
