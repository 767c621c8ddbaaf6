"""Labels by language: a concept-valued attribute may be written, and delivered, in words of a language."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from conceptpubsub.model.ontology import Ontology
    from conceptpubsub.model.ontology_concepts import Concept

_INDEXES: WeakKeyDictionary[Ontology, dict[str, dict[str, tuple[str, ...]]]] = WeakKeyDictionary()


def named(concept: Concept, text: str, language: str | None) -> Concept | None:
    """The concept that a text names as a value of another concept: a label in the language, else a name or IRI.

    A label that several concepts share names the one that is a possible value; else it names none.
    """
    ontology = concept.ontology
    if language is not None:
        found = [ontology[iri] for iri in _labelled(ontology, language).get(text.strip().casefold(), ())]
        if len({each.index for each in found}) > 1:
            found = [each for each in found if possible(concept, each)]
        if len({each.index for each in found}) == 1:
            return found[0]
    return ontology.find(text)


def label(concept: Concept, language: str) -> str | None:
    """The label in a language; a regional one (``de-AT``) falls back to its language."""
    return concept.labels.get(language) or concept.labels.get(language.partition("-")[0])


def possible(attribute: Concept, value: Concept) -> bool:
    """Whether a concept is a declared value of a concept-valued attribute."""
    if attribute.values is not None:
        return any(value.is_a(name) for name in attribute.values)
    return any(value.is_a(name) for name in attribute.range) if attribute.range else True


def _labelled(ontology: Ontology, language: str) -> dict[str, tuple[str, ...]]:
    by_language = _INDEXES.setdefault(ontology, {})
    if language not in by_language:
        index: dict[str, tuple[str, ...]] = {}
        for concept in ontology:
            text = label(concept, language)
            if text:
                index[text.casefold()] = (*index.get(text.casefold(), ()), concept.iri)
        by_language[language] = index
    return by_language[language]
