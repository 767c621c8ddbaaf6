"""Quantity kinds from the statements: name, canonical unit, broader kinds, and the IRIs others use for them."""

from __future__ import annotations

from dataclasses import dataclass

from conceptpubsub.errors import LimitExceeded
from conceptpubsub.model.owl_axioms import Statements
from conceptpubsub.model.rdf_terms import CPS, OWL, QUDT, SKOS, Term, is_blank, split_iri

MAX_ABOVE = 100
CANONICAL_UNIT = (CPS + "canonicalUnit",)
KIND_TYPES = (CPS + "QuantityKind", QUDT + "QuantityKind")
KIND_OF = (CPS + "quantityKind", QUDT + "hasQuantityKind", QUDT + "quantityKind")
_SAME = (SKOS + "exactMatch", OWL + "sameAs")


@dataclass(frozen=True, slots=True)
class KindRow:
    """One quantity kind as it is compiled."""

    iri: str
    name: str
    unit: str | None
    parents: tuple[str, ...]
    aliases: tuple[str, ...]


def text_of(term: Term) -> str:
    """A unit as it is written: the text of a literal, or an IRI."""
    return term if isinstance(term, str) else term.text


def read_kinds(statements: Statements) -> tuple[KindRow, ...]:
    """Every quantity kind, sorted by IRI; names that clash get their IRI instead.

    A kind that is only referred to in QUDT's words counts as well: it guards, though it brings no unit.

    >>> from conceptpubsub.model.rdf_terms import TYPE, Literal
    >>> rows = read_kinds(Statements([("urn:k#L", TYPE, CPS + "QuantityKind"),
    ...                               ("urn:k#L", CPS + "canonicalUnit", Literal("m", None, None))]))
    >>> rows[0].name, rows[0].unit
    ('L', 'm')
    """
    foreign = {o for p in KIND_OF[1:] for _, o in statements.pairs(p) if isinstance(o, str) and not is_blank(o)}
    defined = statements.typed(*KIND_TYPES)
    matched = {m for kind in defined for m in statements.of(kind, *_SAME)}
    kinds = sorted(defined | (foreign - matched))
    taken: dict[str, str] = {}
    for iri in kinds:
        taken.setdefault(split_iri(iri)[1] or iri, iri)
    names = {iri: name for name, iri in taken.items()}
    known = set(kinds)
    rows = []
    for iri in kinds:
        above = _above(statements, iri, known)
        units = [text_of(u) for kind in above for u in sorted(statements.of(kind, *CANONICAL_UNIT), key=text_of)]
        matches = statements.of(iri, *_SAME)
        aliases = sorted({m for m in matches if isinstance(m, str) and not is_blank(m) and m not in known})
        parents = tuple(sorted(names.get(kind, kind) for kind in above))
        rows.append(KindRow(iri, names.get(iri, iri), units[0] if units else None, parents, tuple(aliases)))
    return tuple(rows)


def named_kinds(statements: Statements) -> set[str]:
    """The IRIs of the kinds that concepts refer to."""
    return {o for p in KIND_OF for _, o in statements.pairs(p) if isinstance(o, str)}


def _above(statements: Statements, iri: str, known: set[str]) -> list[str]:
    """The kind and its broader ones, nearest first."""
    found = [iri]
    for kind in found:
        broader = sorted(o for o in statements.of(kind, SKOS + "broader") if isinstance(o, str))
        found += [b for b in broader if b in known and b not in found]
        if len(found) > MAX_ABOVE:
            raise LimitExceeded(f"the quantity kind <{iri}> has more than {MAX_ABOVE} broader ones", kind=iri)
    return found
