"""conceptpubsub: semantic, concept-based publish/subscribe."""

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject

__all__ = ["ConceptPubSubError", "Context", "Instant", "SemanticEvent", "SemanticObject"]
