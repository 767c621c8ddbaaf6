"""Documents into the compiled form: one canonical JSON text, from which an ``Ontology`` is opened.

The law: equal content gives equal bytes. The SHA-256 of the bytes is the ontology's digest, and the bytes are what
the cache stores and what pickling carries; they hold data only, never code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conceptpubsub.errors import LimitExceeded
from conceptpubsub.model.ontology_closure import close, unstated
from conceptpubsub.model.ontology_facets import FacetReader, Facets, inherit
from conceptpubsub.model.ontology_kinds import KIND_TYPES, named_kinds, read_kinds
from conceptpubsub.model.ontology_names import aliases, prefixed_names, short_names
from conceptpubsub.model.owl_axioms import Axioms, Statements, read_axioms, texts
from conceptpubsub.model.rdf_terms import COMMENT, LABEL, SKOS, Document, Triple, is_blank

FORMAT = 1
MAX_CONCEPTS = 500_000
MAX_RECORDS = 400_000_000
_LABELS = (SKOS + "prefLabel", LABEL)
_DEFINITIONS = (SKOS + "definition", COMMENT, "http://purl.org/dc/terms/description")


def compile_documents(
    loaded: Sequence[Document],
    imported: Sequence[Document] = (),
    *,
    kinds_of_core: Sequence[Triple] = (),
    inferred: Axioms | None = None,
) -> bytes:
    """Compile what the documents say together; ``inferred`` adds what a reasoner found.

    >>> from conceptpubsub.model.rdf_reader import parse
    >>> body = compile_documents([parse("a.ttl", b"@prefix : <urn:a#> . :A a <http://www.w3.org/2002/07/owl#Class> .")])
    >>> json.loads(body)["concepts"][0][:2]
    ['urn:a#A', 'A']
    """
    statements = Statements(merged((*loaded, *imported)))
    if named_kinds(statements) - statements.typed(*KIND_TYPES):
        statements = Statements((*merged((*loaded, *imported)), *kinds_of_core))
    kinds = read_kinds(statements)
    axioms = read_axioms(statements)
    cycles = unstated(axioms)
    if inferred is not None:
        for lower, uppers in inferred.above.items():
            for upper in uppers:
                if lower in axioms.sorts and upper in axioms.sorts:
                    axioms.below(lower, upper)
        axioms.empty |= inferred.empty
    if len(axioms.sorts) > MAX_CONCEPTS:
        raise LimitExceeded(f"{len(axioms.sorts):,} concepts; at most {MAX_CONCEPTS:,} are compiled")
    closure = close(axioms)
    kinds_by_iri = {iri: row for row in kinds for iri in (*row.aliases, row.iri)}
    facets = inherit(closure, FacetReader(statements, axioms, kinds_by_iri))
    prefixes: dict[str, str] = {}
    for document in (*loaded, *imported):
        for prefix, namespace in document.prefixes.items():
            prefixes.setdefault(prefix, namespace)
    iris = sorted(closure.index)
    matches = [(s, o) for s, o in statements.pairs(SKOS + "exactMatch") if isinstance(o, str) and not is_blank(o)]
    foreign = aliases(closure.index, matches)
    prefixed = prefixed_names([*iris, *(iri for group in foreign.values() for iri in group)], prefixes)
    own = {subject for document in loaded for subject, _, _ in document.triples}
    names = short_names(closure.index, own, prefixed)
    table: dict[str, int] = {}
    concepts = []
    room = MAX_RECORDS
    for iri in iris:
        record = json.dumps(_record(facets[iri], names), sort_keys=True)
        room -= len(record)
        if room < 0:
            raise LimitExceeded("concepts inherit more text than can be kept: shorten lists of values or domains")
        concepts.append(
            [
                iri,
                names[iri],
                [*(prefixed[i] for i in (iri, *foreign.get(iri, ())) if i in prefixed), *foreign.get(iri, ())],
                axioms.sorts[iri],
                closure.index[iri],
                table.setdefault(record, len(table)),
                _first_texts(statements, iri, _LABELS),
                _english(_first_texts(statements, iri, _DEFINITIONS)),
            ]
        )
    return canonical(
        {
            "format": FORMAT,
            "concepts": concepts,
            "facets": [json.loads(record) for record in table],
            "parents": closure.parents,
            "apart": closure.apart,
            "empty": closure.empty,
            "cycles": sorted({closure.index[name] for name in cycles}),
            "kinds": [[k.iri, k.name, k.unit, list(k.parents), list(k.aliases)] for k in kinds],
        }
    )


def canonical(value: Any) -> bytes:
    """JSON with one spelling for each value.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\\\u00e9","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def merged(documents: Iterable[Document]) -> Iterator[Triple]:
    """All triples, blank nodes kept apart by document."""
    for number, document in enumerate(documents):
        for subject, predicate, value in document.triples:
            if subject.startswith("_:"):
                subject = f"_:{number}.{subject[2:]}"
            if isinstance(value, str) and value.startswith("_:"):
                value = f"_:{number}.{value[2:]}"
            yield subject, predicate, value


def _record(facets: Facets, names: dict[str, str]) -> dict[str, Any]:
    """A facet record without what is absent; concepts by name, the kind by IRI, aspects apart."""
    made: dict[str, Any] = {}
    for name, value in facets.items():
        if value is None:
            continue
        if name == "kind":
            made[name] = value.iri
        elif name in ("domain", "range"):
            made[name] = sorted(names[iri] for iri in value)
        elif name.startswith("@"):
            made.setdefault("context", {})[name[1:]] = value
        else:
            made[name] = value
    return made


def _first_texts(statements: Statements, iri: str, predicates: Iterable[str]) -> dict[str, str]:
    """Texts by language, each from the first predicate that has it."""
    found: dict[str, str] = {}
    for predicate in predicates:
        for language, text in texts(statements.of(iri, predicate)).items():
            found.setdefault(language, text)
    return dict(sorted(found.items()))


def _english(found: dict[str, str]) -> str:
    return found.get("en") or found.get("") or next(iter(found.values()), "")
