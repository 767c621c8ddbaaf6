"""Loading: files and their imports, through the cache where it knows them, else parsed and compiled.

Rule 1  An import is found in the catalog or among the loaded files; otherwise loading stops and says how to map it.
Rule 2  A cache hit parses nothing and imports no RDF library.
Rule 3  Bytes and triples are bounded over all files together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conceptpubsub.errors import LimitExceeded, OntologyError
from conceptpubsub.model import ontology_cache
from conceptpubsub.model.catalog import Catalog, bundled_path, local_path
from conceptpubsub.model.ontology import Ontology
from conceptpubsub.model.rdf_terms import CPS, TYPE, Document, Triple

MAX_BYTES = 64_000_000
MAX_TRIPLES = 2_000_000
MAX_IMPORTS = 500


@dataclass(slots=True)
class _Reader:
    """Reads files within common bounds and remembers what came through the catalog."""

    catalog: Catalog
    rdf_format: str | None
    bytes_left: int
    triples_left: int
    parts: dict[str, str] = field(default_factory=dict)

    def read(self, path: Path) -> bytes:
        from conceptpubsub.model.rdf_reader import read_bytes

        data = read_bytes(path, self.bytes_left)
        self.bytes_left -= len(data)
        return data

    def mapped(self, iri: str) -> tuple[str, bytes] | None:
        """Name and bytes of what the catalog maps an IRI to."""
        path = self.catalog.find(iri)
        if path is None:
            return None
        if len(self.parts) >= MAX_IMPORTS:
            raise LimitExceeded(f"more than {MAX_IMPORTS} imports", limit=MAX_IMPORTS)
        data = self.read(path)
        self.parts[iri] = hashlib.sha256(data).hexdigest()
        return path.name, data

    def parse(self, name: str, data: bytes, rdf_format: str | None = None) -> Document:
        from conceptpubsub.model.rdf_reader import parse

        document = parse(name, data, rdf_format, contexts=_Contexts(self), max_triples=self.triples_left)
        self.triples_left -= len(document.triples)
        return document


class _Contexts(Mapping[str, Any]):
    """JSON-LD contexts by IRI, from the catalog."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def __contains__(self, iri: object) -> bool:
        return isinstance(iri, str) and self._reader.catalog.find(iri) is not None

    def __getitem__(self, iri: str) -> Any:
        found = self._reader.mapped(iri)
        if found is None:
            raise KeyError(iri)
        try:
            return json.loads(found[1])
        except (ValueError, RecursionError) as error:
            raise OntologyError(f"{found[0]}, the JSON-LD context <{iri}>, is not JSON: {error}", source=iri) from None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def load(
    sources: Iterable[str | Path],
    *,
    catalog: Mapping[str, str | Path],
    reason: bool,
    time_limit: float,
    cache: bool,
    rdf_format: str | None,
    ignore_missing: bool,
    max_bytes: int | None,
    max_triples: int | None,
) -> Ontology:
    """What ``Ontology.load`` does."""
    paths = [local_path(source) for source in sources]
    if not paths:
        raise OntologyError("Ontology.load needs at least one file")
    reader = _Reader(Catalog(catalog), rdf_format, max_bytes or MAX_BYTES, max_triples or MAX_TRIPLES)
    files = [(path.name, reader.read(path)) for path in paths]
    core = bundled_path("core").read_bytes()
    key = ontology_cache.key_of((reason, ignore_missing, rdf_format), [*files, ("core", core)])
    if cache:
        known = _from_cache(key, reader.catalog)
        if known is not None:
            return known
    documents = [reader.parse(name, data, rdf_format) for name, data in files]
    imported, warnings = _imports(documents, reader, ignore_missing)
    body = _compiled(documents, imported, core, time_limit if reason else None)
    if cache:
        ontology_cache.put(key, ontology_cache.Entry(body, tuple(sorted(reader.parts.items())), tuple(warnings)))
    return Ontology.restore(body, tuple(warnings))


def _from_cache(key: str, catalog: Catalog) -> Ontology | None:
    entry = ontology_cache.get(key)
    if entry is None:
        return None
    for iri, digest in entry.parts:
        path = catalog.find(iri)
        try:
            if path is not None and path.stat().st_size > MAX_BYTES:
                return None
            current = "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return None
        if current != digest:
            return None
    try:
        return Ontology.restore(entry.body, entry.warnings)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def _imports(documents: list[Document], reader: _Reader, ignore_missing: bool) -> tuple[list[Document], list[str]]:
    imported: list[Document] = []
    warnings: list[str] = []
    seen = {document.iri for document in documents}
    wanted = [(document.name, iri) for document in documents for iri in document.imports]
    for name, iri in wanted:
        if iri in seen:
            continue
        seen.add(iri)
        found = reader.mapped(iri)
        if found is None:
            if not ignore_missing:
                raise OntologyError(
                    f"{name} imports <{iri}>, which is never fetched: map it to a local file with "
                    f"catalog={{{iri!r}: 'path.ttl'}}, or pass ignore_missing=True",
                    source=name,
                    missing=iri,
                )
            reader.parts[iri] = ""
            warnings.append(f"{name} imports <{iri}>, which was left out")
            continue
        document = reader.parse(*found)
        imported.append(document)
        wanted += [(document.name, further) for further in document.imports]
    return imported, warnings


def _compiled(documents: list[Document], imported: list[Document], core: bytes, time_limit: float | None) -> bytes:
    from conceptpubsub.model.ontology_compile import compile_documents, merged

    inferred = None
    if time_limit is not None:
        from conceptpubsub.model.owl_reasoner import infer

        inferred = infer(merged((*documents, *imported)), time_limit)
    return compile_documents(documents, imported, kinds_of_core=_kinds(core), inferred=inferred)


def _kinds(core: bytes) -> tuple[Triple, ...]:
    """What core says of quantity kinds: they may be named without importing it."""
    from conceptpubsub.model.rdf_reader import parse

    triples = parse("core.ttl", core).triples
    kinds = {s for s, p, o in triples if p == TYPE and o == CPS + "QuantityKind"}
    return tuple(triple for triple in triples if triple[0] in kinds)
