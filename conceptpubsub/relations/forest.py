"""The covering forest: filters under the filters that cover them, among a hundred thousand, without scanning them all.

Rule 1  No root covers another root. Every other filter hangs below one that covers it.
Rule 2  Only roots are indexed: the boxes of what each may match (a cover has one around the sample of what it covers),
        and a sample of each (the covered have samples within). Hulls settle most of what is found so, a decision the
        rest.
Rule 3  Removing a filter re-exposes what hung below it: each finds another cover or becomes a root.
Rule 4  Before the solver is asked, an event of the one is tried on the other; and one search asks the solver
        `MOST_SOLVED` times at most. Beyond that a filter may stay a root that another root
        covers, which is counted, and loses an optimisation only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final

from conceptpubsub.errors import DuplicateKey, UnknownKey
from conceptpubsub.filters import Filter
from conceptpubsub.relations.boxtree import BoxTree
from conceptpubsub.relations.compiled import compiled
from conceptpubsub.relations.decide import covers
from conceptpubsub.relations.outcome import STATISTICS
from conceptpubsub.relations.outlines import STEP, UNBOUNDED, Hulls, Outline, outline
from conceptpubsub.relations.witnessing import example, shows

MOST_SOLVED: Final = 32
_BITS: Final = 20


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
        self._boxes = BoxTree()
        """What each root's terms need; a root has several numbers here."""
        self._samples = BoxTree()
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
        self._roots[node.number] = node
        made = node.outline
        if made.bounded:
            for at, box in enumerate(made.boxes):
                self._boxes.add(node.number << _BITS | at, box)
        else:
            self._loose[node.number] = node
        if made.sample is None:
            self._hidden[node.number] = node
        else:
            self._samples.add(node.number, _named(made, made.sample))

    def _unindex(self, node: _Node) -> None:
        del self._roots[node.number]
        made = node.outline
        if made.bounded:
            for at, box in enumerate(made.boxes):
                self._boxes.remove(node.number << _BITS | at, box)
        else:
            del self._loose[node.number]
        if made.sample is None:
            del self._hidden[node.number]
        else:
            self._samples.remove(node.number, _named(made, made.sample))

    def _cover(self, filter: Filter, made: Outline) -> _Node | None:
        """A root that covers a filter: one that matches its sample."""
        if made.empty:
            return next(iter(self._roots.values()), None)
        search = _Search()
        for node in self._around(made):
            if _may_cover(node.outline, made) and search.covers(node.filter, filter):
                return node
        for node in self._loose.values():
            if not node.outline.empty and search.covers(node.filter, filter):
                return node
        return None

    def _around(self, made: Outline) -> Iterable[_Node]:
        """The roots with a box around the sample of a filter, or, if no event of it is known, that meet its hulls."""
        if not made.boxes:
            return list(self._roots.values())
        if made.sample is not None:
            found = self._boxes.around(_named(made, made.sample))
        else:
            found = self._boxes.around(_named(made, {key: made.hulls.get(key, UNBOUNDED) for key in made.above}))
        roots = self._roots
        return {number: roots[number] for number in (ticket >> _BITS for ticket in found)}.values()

    def _covered(self, node: _Node) -> list[_Node]:
        """The roots that a new root covers: some of those whose sample it matches."""
        made = node.outline
        if made.empty:
            return []
        if made.bounded:
            found = {number: self._roots[number] for box in made.boxes for number in self._samples.within(box)}
            found |= self._hidden
        else:
            found = self._roots
        search = _Search()
        return [
            root
            for root in found.values()
            if root.outline.empty or (_may_cover(made, root.outline) and search.covers(node.filter, root.filter))
        ]


class _Search:
    """One search's decisions, of which only so many go to the solver."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_SOLVED

    def covers(self, f: Filter, g: Filter) -> bool:
        if compiled(f).terms is None or compiled(g).terms is None:
            event = example(g)
            if event is not None and shows(f, g, event):
                return False
            self.left -= 1
            if self.left < 0:
                STATISTICS.count("forest: not asked")
                return False
        return covers(f, g)


def _named(made: Outline, needs: Hulls) -> Hulls:
    """What is needed, by the references that may be bound to it: to its attributes, and to the objects around them."""
    above = made.above
    if all(len(above[key]) == 1 for key in needs):
        return needs
    found: Hulls = {}
    for key, ends in needs.items():
        depth = key.count(STEP)
        for name in above[key]:
            own = ends if name.count(STEP) == depth else UNBOUNDED
            held = found.get(name, own)
            found[name] = (min(own[0], held[0]), max(own[1], held[1]))
    return found


def _may_cover(one: Outline, other: Outline) -> bool:
    """Whether a filter may cover another, for all that hulls show; they settle most pairs at a glance."""
    if other.inner is None:
        return True
    for key, (low, high) in one.hulls.items():
        own = other.inner.get(key)
        if own is None:
            if key in one.boxes[0] and not any(key in other.above[name] for name in other.inner):
                return False
        elif (own[0] < low or own[1] > high) and len(other.above[key]) == 1:
            return False
    return True
