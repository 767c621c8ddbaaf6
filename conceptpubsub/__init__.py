"""conceptpubsub: semantic, concept-based publish/subscribe.

The public names, each loaded on first use: importing the package costs milliseconds and pulls in no NumPy, rdflib,
pint, z3 or Spark.

>>> import conceptpubsub as cps
>>> cps.SemanticObject("Distance", 3850, cps.Context(unit="mile", scale=1)).context["unit"]
'mile'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError

if TYPE_CHECKING:
    from conceptpubsub.converters import Converters
    from conceptpubsub.filters import Filter, quantity, ref
    from conceptpubsub.hub import Hub
    from conceptpubsub.matching import MatchBatch, Matcher
    from conceptpubsub.model.context import Context
    from conceptpubsub.model.instants import Instant
    from conceptpubsub.model.objects import SemanticEvent, SemanticObject
    from conceptpubsub.model.ontology import Concept, Ontology

__all__ = [
    "Concept",
    "ConceptPubSubError",
    "Context",
    "Converters",
    "Filter",
    "Hub",
    "Instant",
    "MatchBatch",
    "Matcher",
    "Ontology",
    "SemanticEvent",
    "SemanticObject",
    "quantity",
    "ref",
]

_HOMES = {
    "Concept": "conceptpubsub.model.ontology",
    "Context": "conceptpubsub.model.context",
    "Converters": "conceptpubsub.converters",
    "Filter": "conceptpubsub.filters",
    "Hub": "conceptpubsub.hub",
    "Instant": "conceptpubsub.model.instants",
    "MatchBatch": "conceptpubsub.matching",
    "Matcher": "conceptpubsub.matching",
    "Ontology": "conceptpubsub.model.ontology",
    "SemanticEvent": "conceptpubsub.model.objects",
    "SemanticObject": "conceptpubsub.model.objects",
    "quantity": "conceptpubsub.filters",
    "ref": "conceptpubsub.filters",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"conceptpubsub has no '{name}'; its public names are {', '.join(__all__)}")
    try:
        found = getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        raise AttributeError(f"conceptpubsub.{name} is not in this version: there is no {home}") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
