"""The covering forest: filters under the filters that cover them, among a hundred thousand, without scanning them all.

Rule 1  No root covers another root. Every other filter hangs below one that covers it.
Rule 2  Only roots are indexed: by an attribute that each of their terms needs (to find a cover), and by all that they
        need (to find the covered).
Rule 3  Removing a filter re-exposes what hung below it: each finds another cover or becomes a root.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from conceptpubsub.errors import DuplicateKey, UnknownKey
from conceptpubsub.filters import Filter
from conceptpubsub.relations.decide import covers
from conceptpubsub.relations.outlines import UNBOUNDED, Outline, outline
from conceptpubsub.relations.postings import Postings, mask_of


class _Node:
    __slots__ = ("children", "filter", "key", "number", "outline", "parent")

    def __init__(self, key: Hashable, filter: Filter, number: int) -> None:
        self.key, self.filter, self.number = key, filter, number
        self.outline: Outline = outline(filter)
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
        self._anchors: dict[str, Postings] = {}
        self._needing: dict[str, Postings] = {}
        self._loose: dict[int, _Node] = {}
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
        self._roots[node.number] = node
        made = node.outline
        if not made.bounded:
            self._loose[node.number] = node
            return
        mask = mask_of(made.hulls)
        for key in made.needed:
            self._anchors.setdefault(key, Postings()).add(node.number, mask, *made.hulls.get(key, UNBOUNDED))
        registered = self._registered(made)
        mask = mask_of(registered)
        for key, bounds in registered.items():
            self._needing.setdefault(key, Postings()).add(node.number, mask, *bounds)

    def _unindex(self, node: _Node) -> None:
        del self._roots[node.number]
        made = node.outline
        if not made.bounded:
            del self._loose[node.number]
            return
        for table, keys in ((self._anchors, made.needed), (self._needing, self._registered(made))):
            for key in keys:
                table[key].remove(node.number)
                if not len(table[key]):
                    del table[key]

    def _registered(self, made: Outline) -> dict[str, tuple[float, float]]:
        """The keys under which a root is found by what may cover it: of all it needs, and of the concepts above."""
        found: dict[str, tuple[float, float]] = {}
        for key in {*made.hulls, *made.needed}:
            low, high = made.hulls.get(key, UNBOUNDED)
            for name in made.above[key]:
                known = found.get(name)
                # Two attributes below one concept: either may be meant, so only what holds for both is said.
                found[name] = (low, high) if known is None else (max(low, known[0]), min(high, known[1]))
        return found

    def _cover(self, filter: Filter, made: Outline) -> _Node | None:
        """A root that covers a filter. If every term needs an attribute, a cover is found by one that is needed."""
        if made.empty:
            return next(iter(self._roots.values()), None)
        tried: set[int] = set()
        mask = mask_of(name for above in made.above.values() for name in above)
        for key, above in made.above.items():
            bounds = made.hulls.get(key)
            for name in above:
                postings = self._anchors.get(name)
                if postings is None:
                    continue
                # An attribute that not every term needs says nothing of the values: every root here must be asked.
                low, high = bounds if bounds is not None else (float("inf"), float("-inf"))
                for number in postings.around(mask, low, high).tolist():
                    if number not in tried:
                        tried.add(number)
                        if self._covers(self._roots[number], filter, made):
                            return self._roots[number]
        for node in self._loose.values():
            if not node.outline.empty and covers(node.filter, filter):
                return node
        return None

    def _covers(self, root: _Node, filter: Filter, made: Outline) -> bool:
        """Whether a root covers a filter; the hulls of single terms settle most at a glance."""
        for key, (low, high) in root.outline.hulls.items():
            own = made.hulls.get(key)
            if own is None:
                if made.bounded and not any(key in made.above[name] for name in made.hulls):
                    return False
            elif (own[0] < low or own[1] > high) and len(made.above[key]) == 1:
                return False
        return covers(root.filter, filter)

    def _covered(self, node: _Node) -> list[_Node]:
        """The roots that a new root covers."""
        made = node.outline
        if not made.bounded:
            return [root for root in list(self._roots.values()) if covers(node.filter, root.filter)]
        found: dict[int, _Node] = {}
        if made.hulls:
            # Each term needs them all: the attribute that the fewest roots need leaves the fewest to ask.
            key = min(made.hulls, key=lambda name: len(self._needing.get(name, ())))
            self._ask(key, made.hulls[key], node, found)
        else:
            for key in made.needed:
                self._ask(key, UNBOUNDED, node, found)
        return list(found.values()) + [
            root for root in list(self._loose.values()) if root.number not in found and covers(node.filter, root.filter)
        ]

    def _ask(self, key: str, bounds: tuple[float, float], node: _Node, found: dict[int, _Node]) -> None:
        postings = self._needing.get(key)
        if postings is None:
            return
        for number in postings.within(mask_of(node.outline.hulls), *bounds).tolist():
            root = self._roots[number]
            if number not in found and self._covers(node, root.filter, root.outline):
                found[number] = root
