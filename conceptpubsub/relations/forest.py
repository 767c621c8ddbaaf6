"""The covering forest: filters under the filters that cover them, among a hundred thousand, without scanning them all.

Rule 1  No root covers another root. Every other filter hangs below one that covers it.
Rule 2  Only roots are indexed: each of their terms by what it asks of one attribute (a cover matches the sample of what
        it covers), and a sample of each by all its attributes (the covered have samples that match).
Rule 3  Removing a filter re-exposes what hung below it: each finds another cover or becomes a root.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any, Final

from conceptpubsub.errors import DuplicateKey, UnknownKey
from conceptpubsub.filters import Filter
from conceptpubsub.relations.decide import covers
from conceptpubsub.relations.outlines import STEP, UNBOUNDED, Ask, Needs, Outline, outline
from conceptpubsub.relations.postings import Points, Ranges, mask_of

_BITS: Final = 20
_AN_OBJECT: Final = Ask(*UNBOUNDED)


class _Node:
    __slots__ = ("asked", "children", "filter", "key", "number", "outline", "parent", "sampled")

    def __init__(self, key: Hashable, filter: Filter, number: int) -> None:
        self.key, self.filter, self.number = key, filter, number
        self.outline: Outline = outline(filter)
        self.asked: list[str] = []
        self.sampled: list[str] = []
        """The names under which its terms and its sample stand."""
        self.parent: _Node | None = None
        self.children: dict[Hashable, _Node] = {}


class CoveringForest:
    """Filters under keys, each below a filter that covers it. All are of one ontology; ``total`` ones stay apart.

    >>> forest = CoveringForest()
    >>> for key, text in {"a": "x > 5", "b": "x > 7", "c": "y = 1"}.items():
    ...     forest.insert(key, Filter.parse(text))
    >>> sorted(forest.roots()), forest.covered_by("a"), forest.cover_of(Filter.parse("x > 9 AND y = 2"))
    (['a', 'c'], ['b'], 'a')
    >>> forest.remove("a")
    >>> sorted(forest.roots())
    ['b', 'c']
    """

    def __init__(self) -> None:
        self._nodes: dict[Hashable, _Node] = {}
        self._roots: dict[int, _Node] = {}
        self._asking: dict[str, Ranges] = {}
        self._samples: dict[str, Points] = {}
        self._loose: dict[int, _Node] = {}
        """Roots with a term that needs nothing: they match all samples, for all that is known."""
        self._hidden: dict[int, _Node] = {}
        """Roots of which no sample is known."""
        self._next = 0

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    # ------------------------------------------------------------------ changes

    def insert(self, key: Hashable, filter: Filter) -> None:
        """Add a filter: below a root that covers it, or as a root that takes the roots it covers below itself."""
        if key in self._nodes:
            raise DuplicateKey(f"the forest already has a filter under {key!r}", key=key)
        node = _Node(key, filter, self._next)
        self._next += 1
        self._nodes[key] = node
        self._plant(node)

    def remove(self, key: Hashable) -> None:
        """Take a filter out; what it covered is covered by others or comes to light."""
        node = self._known(key)
        del self._nodes[key]
        parent = node.parent
        if parent is not None:
            del parent.children[key]
            for child in node.children.values():
                child.parent = parent
                parent.children[child.key] = child
            return
        self._unindex(node)
        for child in node.children.values():
            child.parent = None
        for child in list(node.children.values()):
            self._plant(child)

    def _plant(self, node: _Node) -> None:
        cover = self._cover(node.filter, node.outline)
        if cover is not None:
            node.parent = cover
            cover.children[node.key] = node
            return
        for root in self._covered(node):
            self._unindex(root)
            root.parent = node
            node.children[root.key] = root
        self._index(node)

    # ------------------------------------------------------------------ questions

    def cover_of(self, filter: Filter) -> Any:
        """The key of a root that covers a filter, or None."""
        found = self._cover(filter, outline(filter))
        return None if found is None else found.key

    def covered_by(self, key: Hashable) -> list[Any]:
        """The keys that hang directly below a filter."""
        return list(self._known(key).children)

    def parent(self, key: Hashable) -> Any:
        """The key that a filter hangs directly below, or None for a root."""
        above = self._known(key).parent
        return None if above is None else above.key

    def below(self, key: Hashable) -> Iterator[Any]:
        """Every key below a filter, at any depth."""
        stack = list(self._known(key).children.values())
        while stack:
            node = stack.pop()
            yield node.key
            stack.extend(node.children.values())

    def roots(self) -> list[Any]:
        """The keys of the roots."""
        return [node.key for node in self._roots.values()]

    def is_root(self, key: Hashable) -> bool:
        """Whether no filter here covers it."""
        return self._known(key).parent is None

    def _known(self, key: Hashable) -> _Node:
        try:
            return self._nodes[key]
        except KeyError:
            raise UnknownKey(f"the forest has no filter under {key!r}", key=key) from None

    # ------------------------------------------------------------------ the index

    def _index(self, node: _Node) -> None:
        """Enter a root: each of its terms where the fewest others stand, and its sample under all it needs."""
        self._roots[node.number] = node
        made = node.outline
        if made.bounded:
            for at, term in enumerate(made.terms):
                mask = mask_of(term)
                key = min(term, key=lambda name, of=term: self._crowd(name, of[name]))  # type: ignore[misc]
                most = made.hulls[key][1] if key in made.hulls else math.inf
                self._asking.setdefault(key, Ranges()).add(_ticket(node, at), mask, term[key], most)
                node.asked.append(key)
        else:
            self._loose[node.number] = node
        if made.sample is None:
            self._hidden[node.number] = node
            return
        names = _names(made, made.sample)
        mask = mask_of(names)
        for at, (name, ask) in enumerate((name, ask) for name, asks in names.items() for ask in asks):
            self._samples.setdefault(name, Points()).add(_ticket(node, at), mask, ask)
            node.sampled.append(name)

    def _crowd(self, key: str, ask: Ask) -> int:
        ranges = self._asking.get(key)
        return 0 if ranges is None else ranges.crowd(ask)

    def _unindex(self, node: _Node) -> None:
        del self._roots[node.number]
        self._loose.pop(node.number, None)
        self._hidden.pop(node.number, None)
        for table, names in ((self._asking, node.asked), (self._samples, node.sampled)):
            for at, name in enumerate(names):
                held = table[name]
                held.remove(_ticket(node, at))
                if not len(held):
                    del table[name]
            names.clear()

    def _cover(self, filter: Filter, made: Outline) -> _Node | None:
        """A root that covers a filter: one that matches its sample."""
        if made.empty:
            return next(iter(self._roots.values()), None)
        tried: set[int] = set()
        for ticket in self._stabbed(made):
            number = ticket >> _BITS
            if number not in tried:
                tried.add(number)
                root = self._roots[number]
                if _may_cover(root.outline, made) and covers(root.filter, filter):
                    return root
        for node in self._loose.values():
            if not node.outline.empty and covers(node.filter, filter):
                return node
        return None

    def _stabbed(self, made: Outline) -> Iterator[int]:
        if made.sample is not None:
            names = _names(made, made.sample)
            mask = mask_of(names)
            for name, asks in names.items():
                if name in self._asking:
                    for ask in asks:
                        yield from self._asking[name].around(mask, ask)
            return
        if made.inner is None:
            yield from [number << _BITS for number in self._roots]
            return
        # No event of it is known: every root that needs nothing else may be the one.
        known = {name for above in made.above.values() for name in above}
        mask = mask_of(known)
        for name in known & self._asking.keys():
            yield from self._asking[name].fitting(mask)

    def _covered(self, node: _Node) -> list[_Node]:
        """The roots that a new root covers: some of those whose sample it matches."""
        made = node.outline
        if made.empty:
            return []
        if not made.bounded:
            return [root for root in list(self._roots.values()) if covers(node.filter, root.filter)]
        found: dict[int, _Node] = {}
        for term in made.terms:
            key = min(term, key=lambda name, of=term: self._count(name, of[name]))  # type: ignore[misc]
            points = self._samples.get(key)
            for ticket in () if points is None else points.within(mask_of(term), term[key]):
                found[ticket >> _BITS] = self._roots[ticket >> _BITS]
        found |= self._hidden
        return [
            root
            for root in found.values()
            if root.outline.empty or (_may_cover(made, root.outline) and covers(node.filter, root.filter))
        ]

    def _count(self, key: str, ask: Ask) -> int:
        points = self._samples.get(key)
        return 0 if points is None else points.count(ask)


def _ticket(node: _Node, at: int) -> int:
    """The number of one of the places where a node stands."""
    return node.number << _BITS | at


def _names(made: Outline, needs: Needs) -> dict[str, list[Ask]]:
    """What is needed, by the references that may be bound to it: to its attributes, and to the objects around them."""
    found: dict[str, list[Ask]] = {}
    for key, ask in needs.items():
        depth = key.count(STEP)
        for name in made.above[key]:
            found.setdefault(name, []).append(ask if name.count(STEP) == depth else _AN_OBJECT)
    return found


def _may_cover(one: Outline, other: Outline) -> bool:
    """Whether a filter may cover another, for all that hulls show; they settle most pairs at a glance."""
    if other.inner is None:
        return True
    for key, (low, high) in one.hulls.items():
        own = other.inner.get(key)
        if own is None:
            if key in one.terms[0] and not any(key in other.above[name] for name in other.inner):
                return False
        elif (own[0] < low or own[1] > high) and len(other.above[key]) == 1:
            return False
    return True
