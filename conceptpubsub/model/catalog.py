"""Where imports live: IRIs to local files. The bundled ontologies are always in it; the network never is."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from conceptpubsub.errors import OntologyError, hint, near

BASE = "https://w3id.org/conceptpubsub/"
BUNDLED = ("core", "vehicles", "observations", "trading", "flights")


@cache
def _folder() -> Path:
    """Where the bundled ontologies lie; of a package that runs from a wheel, in a folder of this process."""
    here = Path(__file__).resolve().parent.parent / "ontologies"
    if here.is_dir():
        return here
    held = tempfile.TemporaryDirectory(prefix="conceptpubsub-")
    atexit.register(held.cleanup)
    for name in BUNDLED:
        data = files("conceptpubsub.ontologies").joinpath(f"{name}.ttl").read_bytes()
        (Path(held.name) / f"{name}.ttl").write_bytes(data)
    return Path(held.name)


class Catalog:
    """IRIs of imports and JSON-LD contexts to local files; a final ``#`` or ``/`` makes no difference.

    >>> Catalog({"http://example.org/o": "o.ttl"}).find("http://example.org/o#")
    PosixPath('o.ttl')
    >>> Catalog({}).find("https://w3id.org/conceptpubsub/core").name, Catalog({}).find("http://example.org/o")
    ('core.ttl', None)
    """

    __slots__ = ("_paths",)

    def __init__(self, given: Mapping[str, str | Path]) -> None:
        self._paths = {BASE + name: _folder() / f"{name}.ttl" for name in BUNDLED}
        self._paths.update((_bare(iri), local_path(path)) for iri, path in given.items())

    def find(self, iri: str) -> Path | None:
        """The local file of an IRI, or None."""
        return self._paths.get(_bare(iri))


def local_path(source: str | Path) -> Path:
    """A path to a local file; an address on the network is refused, since nothing is fetched.

    >>> local_path("a/b.ttl")
    PosixPath('a/b.ttl')
    """
    text = str(source)
    if "://" in text and not isinstance(source, Path):
        raise OntologyError(
            f"{text[:200]} is an address, and nothing is fetched: save it as a local file and give its path",
            source=text[:200],
        )
    return Path(source)


def bundled_path(name: str) -> Path:
    """The file of a bundled ontology.

    >>> bundled_path("vehicles").name
    'vehicles.ttl'
    """
    if name not in BUNDLED:
        offers = near(name, BUNDLED)
        raise OntologyError(
            f"no bundled ontology {name[:80]!r}; there are {', '.join(BUNDLED)}.{hint(offers)}",
            name=name[:80],
            near=offers,
        )
    return _folder() / f"{name}.ttl"


def _bare(iri: str) -> str:
    return iri.rstrip("#/")
