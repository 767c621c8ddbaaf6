"""Short names: each concept gets one that no other has, and prefixed names stand beside it.

Rule 1  The short name is the IRI's last part. Where two concepts want it, one from a loaded file goes before one
        that was imported; among equals nobody gets it and both are called by their prefixed names.
Rule 2  Equivalent concepts do not quarrel: the first of them gets the name.
Rule 3  ``skos:exactMatch`` lets the IRI of another vocabulary name a concept, as long as one concept claims it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from conceptpubsub.model.rdf_terms import split_iri


def prefixed_names(iris: Iterable[str], prefixes: Mapping[str, str]) -> dict[str, str]:
    """``prefix:Local`` for every IRI whose namespace has a prefix.

    >>> prefixed_names(["urn:v#A"], {"v": "urn:v#", "": "urn:v#"})
    {'urn:v#A': 'v:A'}
    """
    by_namespace: dict[str, str] = {}
    for prefix, namespace in sorted(prefixes.items()):
        if prefix:
            by_namespace.setdefault(namespace, prefix)
    found: dict[str, str] = {}
    for iri in iris:
        namespace, local = split_iri(iri)
        if local and namespace in by_namespace:
            found[iri] = f"{by_namespace[namespace]}:{local}"
    return found


def aliases(index: Mapping[str, int], matches: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Foreign IRIs by the concept that says it matches them exactly; one claimed by two concepts names neither.

    >>> aliases({"urn:A": 0, "urn:B": 1}, [("urn:A", "urn:x"), ("urn:A", "urn:y"), ("urn:B", "urn:y")])
    {'urn:A': ['urn:x']}
    """
    claims: dict[str, set[str]] = {}
    for iri, foreign in matches:
        if iri in index and foreign not in index:
            claims.setdefault(foreign, set()).add(iri)
    found: dict[str, list[str]] = {}
    for foreign, claimants in sorted(claims.items()):
        if len({index[iri] for iri in claimants}) == 1:
            found.setdefault(min(claimants), []).append(foreign)
    return found


def short_names(index: Mapping[str, int], loaded: set[str], prefixed: Mapping[str, str]) -> dict[str, str]:
    """The unique name of every IRI.

    >>> short_names({"urn:v#A": 0, "urn:w#A": 1, "urn:w#B": 2}, {"urn:v#A"}, {"urn:w#A": "w:A"})
    {'urn:v#A': 'A', 'urn:w#A': 'w:A', 'urn:w#B': 'B'}
    """
    wanted: dict[str, list[str]] = {}
    for iri in sorted(index):
        wanted.setdefault(split_iri(iri)[1] or iri, []).append(iri)
    names: dict[str, str] = {}
    for local, iris in wanted.items():
        first = [iri for iri in iris if iri in loaded] or iris
        winner = first[0] if len({index[iri] for iri in first}) == 1 else None
        for iri in iris:
            names[iri] = local if iri == winner else prefixed.get(iri, iri)
    return names


def alike(name: str, names: Sequence[str], most: int = 500) -> Sequence[str]:
    """The names that share most pairs of letters with one: all of a few, the best of many, found in one quick pass.

    >>> alike("Odometr", ["Odometer", "Pressure", "Meter"], most=1)
    ['Odometer']
    """
    if len(names) <= most:
        return names
    pairs = _pairs(name[:200])
    return heapq.nlargest(most, names, key=lambda other: len(pairs & _pairs(other)))


def _pairs(name: str) -> set[str]:
    low = name.lower()
    return {low[i : i + 2] for i in range(len(low) - 1)}
