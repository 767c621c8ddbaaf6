"""conceptpubsub: semantic, concept-based publish/subscribe."""

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model import Context, Instant, Ontology, SemanticEvent, SemanticObject

__all__ = ["ConceptPubSubError", "Context", "Instant", "Ontology", "SemanticEvent", "SemanticObject"]
