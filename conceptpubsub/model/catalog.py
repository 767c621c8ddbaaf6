"""Where imports live: IRIs to local files. The bundled ontologies are always in it; the network never is."""

from __future__ import annotations

from pathlib import Path

from conceptpubsub.errors import OntologyError, hint, near

BASE = "https://w3id.org/conceptpubsub/"
BUNDLED = ("core", "vehicles", "observations", "trading", "flights")
_FOLDER = Path(__file__).resolve().parent.parent / "ontologies"


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
    return _FOLDER / f"{name}.ttl"


def bundled_catalog() -> dict[str, Path]:
    """IRI to file for every bundled ontology.

    >>> bundled_catalog()["https://w3id.org/conceptpubsub/core"].name
    'core.ttl'
    """
    return {BASE + name: _FOLDER / f"{name}.ttl" for name in BUNDLED}
