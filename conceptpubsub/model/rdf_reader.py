"""Local RDF files into documents of plain triples, within bounds.

Rule 1  Nothing is fetched: no import, no JSON-LD context, no external entity.
Rule 2  Bytes, triples and nesting are bounded; whatever is wrong with a file is an ``OntologyError`` that names it.
Rule 3  What a file says does not depend on where it lies: relative IRIs resolve against its bare name.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conceptpubsub.errors import LimitExceeded, OntologyError
from conceptpubsub.model.rdf_safety import check_text, check_xml, load_json_ld
from conceptpubsub.model.rdf_terms import IMPORTS, ONTOLOGY, TYPE, Document, Literal, Term, Triple

MAX_BYTES = 64_000_000
MAX_TRIPLES = 2_000_000
MAX_SECONDS = 60.0
FORMATS = {
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".nt": "nt",
    ".rdf": "xml",
    ".owl": "xml",
    ".xml": "xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
}
_LOCK = threading.Lock()


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a local file, refused when missing, not a file, or too large."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise OntologyError(f"{path} is not a file", source=str(path))
        if size > max_bytes:
            raise LimitExceeded(
                f"{path} has {size:,} bytes; at most {max_bytes:,} are read. Split it, or pass max_bytes=",
                source=str(path),
                size=size,
                limit=max_bytes,
            )
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise OntologyError(f"cannot read {path}: {error.strerror or error}", source=str(path)) from error
    if len(data) > max_bytes:
        raise LimitExceeded(f"{path} grew beyond {max_bytes:,} bytes", source=str(path), limit=max_bytes)
    return data


def format_of(name: str, data: bytes) -> str:
    """The RDF format of a file, by its suffix; ``.owl`` and unknown suffixes also by how it begins.

    >>> format_of("a.ttl", b""), format_of("a.owl", b"<?xml version='1.0'?>"), format_of("a.owl", b"@prefix : <#> .")
    ('turtle', 'xml', 'turtle')
    """
    suffix = Path(name).suffix.lower()
    known = FORMATS.get(suffix)
    if known and suffix not in (".owl", ".xml"):
        return known
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith((b"<?xml", b"<rdf:", b"<!", b"\xff\xfe", b"\xfe\xff")):
        return "xml"
    if head.startswith((b"{", b"[")) and suffix not in (".owl", ".xml"):
        return "json-ld"
    if head.startswith((b"@", b"#", b"<http", b"<urn", b"PREFIX", b"prefix", b"BASE", b"base", b"_:")):
        return "turtle"
    if known:
        return known
    raise OntologyError(
        f"{name} is in no format we can tell: name it .ttl, .nt, .rdf, .owl or .jsonld, or pass format=", source=name
    )


def parse(
    name: str,
    data: bytes,
    rdf_format: str | None = None,
    *,
    contexts: Mapping[str, Any] | None = None,
    max_triples: int = MAX_TRIPLES,
) -> Document:
    """Read one file's bytes. ``contexts`` gives JSON-LD contexts by IRI, since none is ever fetched.

    >>> document = parse("a.ttl", b"@prefix : <http://example.org/> . :A a :B .")
    >>> len(document.triples), dict(document.prefixes)
    (1, {'': 'http://example.org/'})
    """
    form = rdf_format or format_of(name, data)
    document: Any = None
    if form not in set(FORMATS.values()):
        raise OntologyError(f"no RDF format {form!r}; there are turtle, nt, xml and json-ld", source=name, format=form)
    if form == "xml":
        check_xml(name, data)
    elif form == "json-ld":
        document = load_json_ld(name, data, {} if contexts is None else contexts)
    else:
        check_text(name, data)
    try:
        prefixes, triples = _with_rdflib(name, data if document is None else document, form, max_triples)
    except (LimitExceeded, OntologyError):
        raise
    except RecursionError:
        raise LimitExceeded(f"{name} nests too deeply to be read", source=name) from None
    except Exception as error:  # rdflib's parsers raise whatever their innards raise
        raise OntologyError(
            f"{name} is not well-formed {form}: {_first_line(error)}", source=name, format=form
        ) from error
    return _document(name, prefixes, triples)


def _document(name: str, prefixes: dict[str, str], triples: list[Triple]) -> Document:
    headers = sorted(s for s, p, o in triples if p == TYPE and o == ONTOLOGY and not s.startswith("_:"))
    imports = sorted({o for _, p, o in triples if p == IMPORTS and isinstance(o, str)})
    return Document(name, headers[0] if headers else None, tuple(imports), prefixes, tuple(triples))


def _with_rdflib(name: str, data: Any, form: str, max_triples: int) -> tuple[dict[str, str], list[Triple]]:
    from rdflib import BNode, Graph, URIRef
    from rdflib.namespace import NamespaceManager
    from rdflib.plugins.parsers.jsonld import to_rdf
    from rdflib.store import Store

    triples: list[Triple] = []
    prefixes: dict[str, str] = {}
    deadline = time.process_time() + MAX_SECONDS

    def term(node: Any) -> Term:
        if isinstance(node, URIRef):
            return str(node)
        if isinstance(node, BNode):
            return "_:" + node
        return Literal(str(node), node.language, None if node.datatype is None else str(node.datatype))

    class Recorder(Store):  # type: ignore[misc, unused-ignore]
        """A store that only writes down: no index is needed while parsing."""

        def add(self, triple: Any, context: Any = None, quoted: bool = False) -> None:
            if len(triples) >= max_triples:
                raise LimitExceeded(f"{name} has more than {max_triples:,} triples; pass max_triples=", source=name)
            if time.process_time() > deadline:
                raise LimitExceeded(f"{name} took more than {MAX_SECONDS:g} s of work to read", source=name)
            subject, predicate, value = triple
            triples.append((str(term(subject)), str(predicate), term(value)))

        def bind(self, prefix: str, namespace: Any, override: bool = True) -> None:
            prefixes[str(prefix)] = str(namespace)

    class Prefixes(NamespaceManager):
        """Prefixes that are only written down: rdflib's own trie of them takes quadratic time."""

        def __init__(self, graph: Graph) -> None:
            self.graph = graph

        def bind(self, prefix: Any, namespace: Any, override: bool = True, replace: bool = False) -> None:
            self.graph.store.bind(prefix or "", namespace)

    with _quiet_literals():
        graph = Graph(store=Recorder(), bind_namespaces="none")
        graph.namespace_manager = Prefixes(graph)
        base = f"file:///{Path(name).name}"
        if form == "json-ld":
            to_rdf(data, graph, base)
        else:
            # N-Triples are Turtle, and rdflib's reader of lines takes time quadratic in their length
            graph.parse(data=data, format="turtle" if form == "nt" else form, publicID=base)
    return prefixes, triples


@contextmanager
def _quiet_literals() -> Iterator[None]:
    """Literals keep their spelling: normalising 1e999999999 would write out a gigabyte of digits."""
    import rdflib

    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, log = rdflib.NORMALIZE_LITERALS, logging.getLogger("rdflib.term")
        level = log.level
        rdflib.NORMALIZE_LITERALS = False
        log.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS = before
            log.setLevel(level)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (" ".join(lines[:2]) or type(error).__name__)[:300]
