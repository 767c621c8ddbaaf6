"""References by number, and what an event binds each of them to: one reading of the event for all filters.

Rule 1  What a reference is bound to is what `conceptpubsub.filters.events.candidates` says. Plain values of plain
        names, which are most, take a shorter way to the same answer.
Rule 2  A value is canonical; only a finite float may stand for the shortest decimal it means, which saves making it.
Rule 3  Two references are one number only if nothing can tell them apart: same name and declared type, same ontology
        and converters, same declared default.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from conceptpubsub.filters.events import PARTS, View, candidates, view
from conceptpubsub.filters.normal import Ref
from conceptpubsub.model import SemanticObject
from conceptpubsub.model.ontology import Ontology

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.filters.scope import Scope
    from conceptpubsub.matching.engine import Event

_SHORT = 1 << 63  # longer integers take the long way, where they are checked
_FITS = frozenset(
    [(None, int), (None, float), (None, str), (None, bool), ("number", int), ("number", float), ("int", int),
     ("text", str), ("bool", bool)]
)  # fmt: skip


class Bound(NamedTuple):
    """What an event binds: the value of each bound reference, and all values of those that could be bound twice."""

    values: dict[int, Any]
    several: dict[int, list[Any]]
    seen: View


class _Vocabulary:
    """The one-step references of one ontology: which of them an attribute of a given name lies at or below."""

    def __init__(self, ontology: Ontology, scope: Scope) -> None:
        self.ontology = ontology
        self.scope = scope
        self.wanted: list[tuple[int, Any, Ref]] = []
        self._below: dict[str, tuple[int, ...]] = {}

    def add(self, number: int, ref: Ref) -> None:
        self.wanted = [*self.wanted, (number, ref.steps[0], ref)]
        self._below = {}

    def below(self, name: str) -> tuple[int, ...]:
        """The references that an attribute of that name may be bound to."""
        known = self._below
        found = known.get(name)
        if found is None:
            concept = None if name in PARTS else self.ontology.find(name)
            found = () if concept is None else tuple(n for n, above, _ in self.wanted if concept.is_a(above))
            if len(known) < 65536:
                known[name] = found
        return found


class References:
    """The references that filters name.

    >>> from conceptpubsub.filters import Filter
    >>> refs, f = References(), Filter.parse("x > 1 AND y = 'a'")
    >>> refs.of(f), refs.bind({"y": "b", "z": 3}).values
    ((0, 1), {1: 'b'})
    """

    def __init__(self) -> None:
        self.refs: list[Ref] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._scopes: list[Scope] = []
        self._plain: dict[str, tuple[tuple[int, str | None], ...]] = {}
        self._vocabularies: dict[tuple[int, int], _Vocabulary] = {}
        self._other: list[int] = []
        self._defaults: list[tuple[int, Any]] = []

    def __len__(self) -> int:
        return len(self.refs)

    def of(self, filter: Filter) -> tuple[int, ...]:
        """The numbers of the references a filter names, in its order."""
        return tuple(self.number(ref, filter.scope) for ref in filter.references)

    def number(self, ref: Ref, scope: Scope) -> int:
        """The number of a reference; a new one where it was never seen."""
        default = scope.defaults.get(ref.key) if scope.defaults else None
        key = (ref.key, ref.type, id(scope.ontology), id(scope.converters), type(default), default)
        found = self._numbers.get(key)
        if found is None:
            found = len(self.refs)
            self._scopes.append(scope)  # keeps alive what the key tells apart by identity
            self.refs.append(ref)
            self._enter(found, ref, scope)
            if default is not None:
                self._defaults = [*self._defaults, (found, default)]
            self._numbers[key] = found
        return found

    def _enter(self, number: int, ref: Ref, scope: Scope) -> None:
        if ref.event or len(ref.path) > 1:
            self._other = [*self._other, number]
        elif not ref.steps:
            self._plain[ref.path[0]] = (*self._plain.get(ref.path[0], ()), (number, ref.type))
        else:
            assert scope.ontology is not None
            key = (id(scope.ontology), id(scope.converters))
            if key not in self._vocabularies:
                self._vocabularies = {**self._vocabularies, key: _Vocabulary(scope.ontology, scope)}
            self._vocabularies[key].add(number, ref)

    # ------------------------------------------------------------------ events

    def bind(self, event: Event) -> Bound:
        """What an event binds each reference to; those it lacks are left out."""
        seen = view(event)
        bound = Bound({}, {}, seen)
        values, plain = bound.values, self._plain
        for name, held in seen.attributes.items():
            if held is None:
                continue
            for number, declared in plain.get(name, ()):
                value = held
                if type(held) is SemanticObject and not held.context:
                    value = held.value
                kind = type(value)
                if (declared, kind) in _FITS and (
                    kind is str or kind is bool or (math.isfinite(value) if kind is float else -_SHORT < value < _SHORT)
                ):
                    values[number] = value
                else:
                    self._ask(number, bound)
        for vocabulary in self._vocabularies.values():
            self._bind_concepts(vocabulary, bound)
        for number in self._other:
            self._ask(number, bound)
        for number, default in self._defaults:
            values.setdefault(number, default)
        return bound

    def _bind_concepts(self, vocabulary: _Vocabulary, bound: Bound) -> None:
        wanted: set[int] = set()
        for name, held in bound.seen.attributes.items():
            if held is not None:
                wanted.update(vocabulary.below(name))
        for number in wanted:
            self._ask(number, bound)

    def _ask(self, number: int, bound: Bound) -> None:
        self._put(number, (c.value for c in candidates(self.refs[number], bound.seen, self._scopes[number])), bound)

    def _put(self, number: int, found: Iterable[Any], bound: Bound) -> None:
        every = list(found)
        if every:
            bound.values[number] = every[0]
        if len(every) > 1:
            bound.several[number] = every
