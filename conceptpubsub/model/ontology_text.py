"""An ontology as text: what it says of a concept, its hierarchy as a Mermaid diagram, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model.ontology_concepts import Concept
from conceptpubsub.model.values import decimal_text

if TYPE_CHECKING:
    from conceptpubsub.model.ontology import Ontology

Resolve = Callable[[str], Any]
"""Takes a unit's text; raises where it is unknown. ``conceptpubsub.converters.resolve`` is one."""


def describe(concept: Concept, language: str = "en") -> str:
    """A few lines for a terminal: label, definition, place, values.

    >>> from conceptpubsub.model import Ontology
    >>> print(describe(Ontology.bundled("vehicles")["TyrePressure"], "de").splitlines()[1].strip())
    Reifendruck
    """
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
        ("values below", ", ".join(concept.range) if concept.value_type == "concept" else ""),
        ("quantity kind", concept.quantity_kind.name if concept.quantity_kind else ""),
        ("canonical unit", concept.canonical_unit or ""),
        ("default context", ", ".join(f"{k}={v}" for k, v in concept.default_context.items())),
        ("minimum", "" if concept.minimum is None else decimal_text(concept.minimum)),
        ("maximum", "" if concept.maximum is None else decimal_text(concept.maximum)),
        ("attribute of", ", ".join(concept.domain)),
        ("satisfiable", "" if concept.satisfiable else "no: nothing can be one"),
    ]
    return "\n".join(lines + [f"  {name + ':':<17}{text}" for name, text in facts if text])


def draw(ontology: Ontology, root: Concept | None = None, most: int = 500) -> str:
    """The hierarchy as a Mermaid graph, arrows from below to above; equivalent concepts share a box.

    >>> from conceptpubsub.model import Ontology
    >>> onto = Ontology.bundled("vehicles")
    >>> print(draw(onto, onto["Speed"]))
    graph BT
      c0["Speed"]
      c1["GroundSpeed"]
      c2["Speedometer"]
      c1 --> c0
      c2 --> c0
    """
    indexes = sorted(range(ontology.index_count) if root is None else ontology.indexes.below(root.index))
    numbers = {index: number for number, index in enumerate(indexes[:most])}
    boxes, arrows = [], []
    for index, number in numbers.items():
        shared = " = ".join(concept.name for concept in ontology.members((index,)))
        boxes.append(f'  c{number}["{_escaped(shared)}"]')
        arrows += [f"  c{number} --> c{numbers[p]}" for p in ontology.indexes.direct_parents(index) if p in numbers]
    left = len(indexes) - len(numbers)
    rest = [f'  more["and {left} more"]'] if left else []
    return "\n".join(["graph BT", *boxes, *rest, *arrows])


def check(ontology: Ontology, resolve: Resolve | None = None) -> list[str]:
    """What a careful author would want to mend, one sentence each; units are looked at when ``resolve`` is given.

    >>> from conceptpubsub.model import Ontology
    >>> check(Ontology.bundled("vehicles"))
    []
    """
    return [*faults(ontology, resolve), *silences(ontology)]


def faults(ontology: Ontology, resolve: Resolve | None = None) -> list[str]:
    """What is wrong with an ontology, one sentence each."""
    return [*_contradictions(ontology), *(_units(ontology, resolve) if resolve else ())]


def _contradictions(ontology: Ontology) -> Iterator[str]:
    yield from ontology.warnings
    for concept in ontology.unsatisfiable:
        yield f"{concept.name}: unsatisfiable: it lies below concepts that exclude each other"
    for index in ontology.cycles:
        yield f"{', '.join(c.name for c in ontology.members((index,)))}: a cycle of subclasses, read as an equivalence"
    for index in range(ontology.index_count):
        group = ontology.members((index,))
        kinds = {c.quantity_kind.name for c in group if c.quantity_kind}
        types = {c.value_type for c in group if c.value_type}
        for what, found in (("quantity kinds", kinds), ("value types", types)):
            if len(found) > 1:
                names = ", ".join(c.name for c in group)
                yield f"{names}: equivalent, yet of the {what} {' and '.join(sorted(map(str, found)))}"
    for concept in ontology:
        if concept.minimum is not None and concept.maximum is not None and concept.minimum > concept.maximum:
            yield f"{concept.name}: its minimum is above its maximum"


def silences(ontology: Ontology) -> Iterator[str]:
    """What an ontology leaves unsaid of its concepts, one sentence each."""
    for concept in ontology:
        if not concept.labels:
            yield f"{concept.name}: no label (rdfs:label or skos:prefLabel)"
        if not concept.definition:
            yield f"{concept.name}: no definition (skos:definition or rdfs:comment)"


def _units(ontology: Ontology, resolve: Resolve) -> Iterator[str]:
    known: dict[str, Any] = {}
    for kind in dict.fromkeys(ontology.kinds.values()):
        if kind.unit is not None:
            yield from _unit(f"quantity kind {kind.name}", kind.unit, resolve, known)
    for concept in ontology:
        units = (concept.canonical_unit, concept.default_context.get("unit"))
        given = [unit for unit in dict.fromkeys(units) if isinstance(unit, str)]
        for unit in given:
            yield from _unit(concept.name, unit, resolve, known)
        dimensions = [known[unit].dimension for unit in given if hasattr(known[unit], "dimension")]
        if len(dimensions) == 2 and not dimensions[0].comparable(dimensions[1]):
            yield f"{concept.name}: its default unit {given[1]} is not of the dimension of {given[0]}"


def _unit(where: str, unit: str, resolve: Resolve, known: dict[str, Any]) -> Iterator[str]:
    if unit not in known:
        try:
            known[unit] = resolve(unit)
        except ConceptPubSubError as error:
            known[unit] = None
            yield f"{where}: {error}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
