"""Perfect mergers of conjunctions: (R AND A) OR (R AND B) is R AND (A OR B), where both name the same references.

That holds under every semantics: both sides name the same references, so they have the same bindings and need the same
values to be there; and inside a binding AND distributes over OR, in two values and in three.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from conceptpubsub.filters import Filter
from conceptpubsub.filters.normal import atoms
from conceptpubsub.filters.normalise import normalise
from conceptpubsub.filters.syntax import All, Condition, Some, references

MAX_ATOMS = 24
"""The longest merger, in atoms: a longer one costs its reader more than the entries it saves."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a conjunction says of one reference: its conditions, and what they mean."""

    conditions: tuple[Condition, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A conjunction taken apart by reference; ``scope`` is what two of them must share besides."""

    scope: Hashable
    parts: tuple[tuple[str, Part], ...]

    @property
    def names(self) -> frozenset[str]:
        """The references it names."""
        return frozenset(name for name, _ in self.parts)

    def rest(self, name: str) -> Hashable:
        """What it says of all other references."""
        return tuple((other, part.meaning) for other, part in self.parts if other != name)

    def part(self, name: str) -> Part:
        """What it says of one reference."""
        return next(part for other, part in self.parts if other == name)


@lru_cache(maxsize=100_000)
def shape(filter: Filter) -> Shape | None:
    """A filter taken apart; None where it is not a conjunction of conditions on single references.

    >>> [len(part.conditions) for _, part in shape(Filter.parse("x > 5 AND s = 'a' AND x < 9")).parts]
    [1, 2]
    """
    scope = filter.scope
    said: dict[str, list[Condition]] = {}
    for condition in _flat(filter.tree):
        named = references(condition)
        if len(named) != 1:
            return None
        said.setdefault(named[0].key, []).append(condition)
    if not said or scope.defaults:
        return None
    parts = [
        (name, Part(tuple(said[name]), normalise(_all(said[name]), scope.semantics, scope.defaults).key))
        for name in sorted(said)
    ]
    ontology = None if scope.ontology is None else scope.ontology.digest
    kind = (scope.semantics, ontology, tuple(sorted(scope.types.items())), id(scope.given_converters))
    return Shape(kind, tuple(parts))


@lru_cache(maxsize=100_000)
def length(filter: Filter) -> int:
    """How many atoms a filter has.

    >>> length(Filter.parse("x > 5 AND s IN ('a', 'b')"))
    2
    """
    return sum(1 for _ in atoms(filter.normal))


@lru_cache(maxsize=100_000)
def factored(filters: tuple[Filter, ...], name: str) -> Filter:
    """The perfect merger of conjunctions that agree on all references but one.

    >>> both = Filter.parse("x > 5 AND s = 'a'"), Filter.parse("s = 'b' AND x > 5")
    >>> str(factored(both, shape(both[0]).parts[0][0]))
    "x > 5 AND (s = 'a' OR s = 'b')"
    """
    if len(filters) == 1:
        return filters[0]
    shapes = [found for found in map(shape, filters) if found is not None]
    rest = [condition for other, part in shapes[0].parts if other != name for condition in part.conditions]
    either = {found.part(name).meaning: _all(found.part(name).conditions) for found in shapes}
    choice = Some(tuple(either[meaning] for meaning in sorted(either)), 0)
    return Filter(_all([*rest, choice]), filters[0].scope)


def _all(conditions: Sequence[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else All(tuple(conditions), 0)


def _flat(tree: Condition) -> list[Condition]:
    """The conditions that a conjunction joins; a choice of one attribute's conditions is one of them."""
    found: list[Condition] = []
    stack = [tree]
    while stack:
        top = stack.pop()
        if isinstance(top, All):
            stack.extend(reversed(top.args))
        else:
            found.append(top)
    return found
