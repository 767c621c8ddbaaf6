"""Loading: files and their imports, through the cache where it knows them, else parsed and compiled.

Rule 1  An import is found in the catalog or among the loaded files; otherwise loading stops and says how to map it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from conceptpubsub.errors import OntologyError
from conceptpubsub.model.catalog import bundled_catalog, bundled_path
from conceptpubsub.model.ontology import Ontology
from conceptpubsub.model.ontology_compile import compile_documents
from conceptpubsub.model.rdf_reader import MAX_BYTES, MAX_TRIPLES, parse, read_bytes
from conceptpubsub.model.rdf_terms import CPS, TYPE, Document, Triple


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
    paths = [Path(source) for source in sources]
    if not paths:
        raise OntologyError("Ontology.load needs at least one file")
    known: dict[str, Path] = {**bundled_catalog(), **{iri: Path(path) for iri, path in catalog.items()}}
    limit, most = max_bytes or MAX_BYTES, max_triples or MAX_TRIPLES
    loaded = [parse(p.name, read_bytes(p, limit), rdf_format, max_triples=most) for p in paths]
    imported: list[Document] = []
    seen = {d.iri for d in loaded}
    wanted = [(d.name, iri) for d in loaded for iri in d.imports]
    warnings: list[str] = []
    for name, iri in wanted:
        if iri in seen:
            continue
        seen.add(iri)
        if iri not in known:
            if not ignore_missing:
                raise OntologyError(
                    f"{name} imports <{iri}>, which is never fetched: map it to a local file with "
                    f"catalog={{{iri!r}: 'path.ttl'}}, or pass ignore_missing=True",
                    source=name,
                    missing=iri,
                )
            warnings.append(f"{name} imports <{iri}>, which was left out")
            continue
        document = parse(known[iri].name, read_bytes(known[iri], limit), max_triples=most)
        imported.append(document)
        wanted += [(document.name, further) for further in document.imports]
    body = compile_documents(loaded, imported, kinds_of_core=_core_kinds())
    return Ontology.restore(body, tuple(warnings))


def _core_kinds() -> tuple[Triple, ...]:
    path = bundled_path("core")
    triples = parse(path.name, read_bytes(path)).triples
    kinds = {s for s, p, o in triples if p == TYPE and o == CPS + "QuantityKind"}
    return tuple(triple for triple in triples if triple[0] in kinds)
