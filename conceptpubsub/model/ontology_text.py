"""An ontology as text: what it says of a concept, its hierarchy as a Mermaid diagram, and what is wrong with it."""

from __future__ import annotations

from conceptpubsub.model.ontology_concepts import Concept
from conceptpubsub.model.values import decimal_text


def describe(concept: Concept, language: str = "en") -> str:
    """A few lines for a terminal: label, definition, place, values."""
    lines = [f"{concept.name}  <{concept.iri}>"]
    lines += [f"  {concept.label(language)}"] if concept.label(language) != concept.name else []
    lines += [f"  {concept.definition}"] if concept.definition else []
    facts: list[tuple[str, str]] = [
        ("sort", "" if concept.sort == "class" else concept.sort),
        ("same as", ", ".join(c.name for c in concept.equivalents if c is not concept)),
        ("below", ", ".join(c.name for c in concept.parents)),
        ("above", ", ".join(c.name for c in concept.children)),
        ("values", concept.value_type or ""),
        ("one of", ", ".join(concept.values or ())),
        ("concepts below", ", ".join(concept.range) if concept.value_type == "concept" else ""),
        ("quantity kind", concept.quantity_kind.name if concept.quantity_kind else ""),
        ("canonical unit", concept.canonical_unit or ""),
        ("default context", ", ".join(f"{k}={v}" for k, v in concept.default_context.items())),
        ("minimum", "" if concept.minimum is None else decimal_text(concept.minimum)),
        ("maximum", "" if concept.maximum is None else decimal_text(concept.maximum)),
        ("attribute of", ", ".join(concept.domain)),
        ("satisfiable", "" if concept.satisfiable else "no: nothing can be one"),
    ]
    return "\n".join(lines + [f"  {name + ':':<17}{text}" for name, text in facts if text])
