"""Concepts, contexts, objects and events; codecs."""

from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.ontology import Concept, Ontology, QuantityKind
from conceptpubsub.model.values import Exact, decimal_text, exact

__all__ = [
    "EMPTY",
    "Concept",
    "Context",
    "Exact",
    "Instant",
    "Ontology",
    "QuantityKind",
    "SemanticEvent",
    "SemanticObject",
    "decimal_text",
    "exact",
]
