"""A tree of boxes: among many, those around a point or within a box are found without looking at the rest.

Rule 1  A *box* gives names to ranges, (least, greatest); a point is a box too. Boxes may have different names.
Rule 2  A leaf that grows too large is split by one name at one place, into the boxes below it, those across it, those
        above it, and those without the name. Of all names the one that leaves the least to look at is taken, by how
        often questions have had it.
Rule 3  A part that has doubled and lost its balance is built anew, so that no order of insertions makes the tree deep.
Rule 4  Ends are closed and compared as they are, so nothing that meets a question is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

Range: TypeAlias = tuple[float, float]
Box: TypeAlias = Mapping[str, Range]
_Entries: TypeAlias = dict[int, Box]

_LEAF: Final = 12
_LOOKED_AT: Final = 33
_FEW: Final = 3
_SHARE: Final = 0.002
"""A fork is worth it if at least so many boxes stand apart from the most, of few and of many."""
_BELOW, _ACROSS, _ABOVE, _WITHOUT = range(4)


class _Leaf:
    __slots__ = ("entries", "most")

    def __init__(self, entries: _Entries, most: int = _LEAF) -> None:
        self.entries = entries
        self.most = most
        """Beyond so many it is split, if there is a way."""


class _Fork:
    __slots__ = ("at", "built", "high", "low", "name", "parts", "size")

    def __init__(self, name: str, at: float, parts: list[_Part], size: int, across: Range) -> None:
        self.name, self.at, self.parts, self.size = name, at, parts, size
        self.low, self.high = across
        """Ends of what stands across the place: if it is narrow, most questions pass it by."""
        self.built = size
        """Its size when its balance was last looked at."""

    def enter(self, box: Box) -> int:
        """Which part a new box belongs to."""
        place = _where(self.name, self.at, box)
        if place == _ACROSS:
            low, high = box[self.name]
            self.low, self.high = min(low, self.low), max(high, self.high)
        return place

    def met(self, ends: Range, stack: list[_Part]) -> None:
        """Push the parts that may meet a range."""
        low, high = ends
        below, across, over, _ = self.parts
        if low < self.at:
            stack.append(below)
        if high > self.at:
            stack.append(over)
        if low <= self.high and high >= self.low:
            stack.append(across)


_Part: TypeAlias = "_Leaf | _Fork | None"
_Asked: TypeAlias = "Callable[[str], float] | None"
"""The share of questions that have a name; None where all questions are for boxes around."""


class BoxTree:
    """Boxes under numbers.

    >>> tree = BoxTree()
    >>> tree.add(7, {"x": (1, 5)}); tree.add(8, {"x": (2, 2), "y": (0, 9)})
    >>> tree.around({"x": (2, 2)}), tree.around({"x": (2, 2), "y": (3, 3), "z": (0, 0)}), tree.within({"y": (5, 7)})
    ([7], [7, 8], [8])
    >>> tree.remove(7, {"x": (1, 5)}); len(tree)
    1
    """

    __slots__ = ("_asked", "_questions", "_top")

    def __init__(self) -> None:
        self._top: _Part = None
        self._asked: dict[str, int] = {}
        """How often each name was in a box that others were looked for within, and how often that was asked at all."""
        self._questions = 0

    def __len__(self) -> int:
        return _size(self._top)

    def add(self, number: int, box: Box) -> None:
        """Add a box; its number must be new, and it must never change."""
        above: _Fork | None = None
        place, node = 0, self._top
        while type(node) is _Fork:
            node.size += 1
            if node.size > 2 * node.built and not _is_balanced(node):
                node = self._put(above, place, _built(_all(node), node.name, self._shares()))
                continue
            above, place = node, node.enter(box)
            node = node.parts[place]
        if node is None:
            node = self._put(above, place, _Leaf({}))
        assert isinstance(node, _Leaf)
        node.entries[number] = box
        if len(node.entries) > node.most:
            self._put(above, place, _built(node.entries, "" if above is None else above.name, self._shares()))

    def _shares(self) -> _Asked:
        count = self._questions
        return None if not count else lambda name: self._asked.get(name, 0) / count

    def _put(self, above: _Fork | None, place: int, node: _Part) -> _Part:
        if above is None:
            self._top = node
        else:
            above.parts[place] = node
        return node

    def remove(self, number: int, box: Box) -> None:
        """Take a box out, which must be the one that was added."""
        above: _Fork | None = None
        place, node = 0, self._top
        while type(node) is _Fork:
            node.size -= 1
            if not node.size:
                self._put(above, place, None)
                return
            above, place = node, _where(node.name, node.at, box)
            node = node.parts[place]
        assert isinstance(node, _Leaf)
        del node.entries[number]
        if not node.entries:
            self._put(above, place, None)

    def around(self, box: Box) -> list[int]:
        """The numbers of the boxes that have no other names than this one, and meet it in all of theirs."""
        found: list[int] = []
        stack = [self._top]
        while stack:
            node = stack.pop()
            if type(node) is _Leaf:
                found += [number for number, held in node.entries.items() if _meets(held, box)]
            elif type(node) is _Fork:
                stack.append(node.parts[_WITHOUT])
                ends = box.get(node.name)
                if ends is not None:
                    node.met(ends, stack)
        return found

    def within(self, box: Box) -> list[int]:
        """The numbers of the boxes that have all names of this one, and meet it in all of them."""
        self._questions += 1
        for name in box:
            self._asked[name] = self._asked.get(name, 0) + 1
        found: list[int] = []
        stack = [self._top]
        while stack:
            node = stack.pop()
            if type(node) is _Leaf:
                found += [number for number, held in node.entries.items() if _meets(box, held)]
            elif type(node) is _Fork:
                ends = box.get(node.name)
                if ends is None:
                    stack += node.parts
                else:
                    node.met(ends, stack)
        return found


def _meets(few: Box, many: Box) -> bool:
    """Whether one box has all names of another, and meets it in all of them."""
    for name, (low, high) in few.items():
        ends = many.get(name)
        if ends is None or ends[1] < low or ends[0] > high:
            return False
    return True


def _where(name: str, at: float, box: Box) -> int:
    ends = box.get(name)
    if ends is None:
        return _WITHOUT
    if ends[1] < at:
        return _BELOW
    return _ABOVE if ends[0] > at else _ACROSS


def _size(node: _Part) -> int:
    if node is None:
        return 0
    return node.size if isinstance(node, _Fork) else len(node.entries)


def _is_balanced(node: _Fork) -> bool:
    node.built = node.size
    return max(map(_size, node.parts[:_WITHOUT])) <= 0.7 * node.size


def _all(node: _Fork) -> _Entries:
    found: _Entries = {}
    stack: list[_Part] = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, _Fork):
            stack += top.parts
        elif top is not None:
            found.update(top.entries)
    return found


def _built(entries: _Entries, last: str, asked: _Asked) -> _Leaf | _Fork:
    """A tree of some boxes, below a fork by a name; one leaf where no fork would help.

    Where boxes have few of many names, those without one name are many; they are forked on in a loop, not deeper.
    """
    first: _Leaf | _Fork | None = None
    above: _Fork | None = None
    while True:
        node, rest = _forked(entries, last, asked)
        if above is not None:
            above.parts[_WITHOUT] = node
        first = first or node
        if not rest or not isinstance(node, _Fork):
            return first
        above, entries, last = node, rest, node.name


def _forked(entries: _Entries, last: str, asked: _Asked) -> tuple[_Leaf | _Fork, _Entries]:
    """A leaf; or a fork and, yet to be built, its boxes without the name."""
    if len(entries) <= _LEAF:
        return _Leaf(entries), {}
    name, at = _best_fork(entries, last, asked)
    parts: list[_Entries] = [{}, {}, {}, {}]
    for number, box in entries.items():
        parts[_where(name, at, box)][number] = box
    if len(entries) - max(map(len, parts)) < max(_FEW, _SHARE * len(entries)):
        return _Leaf(entries, 2 * len(entries)), {}
    ranges = [box[name] for box in parts[_ACROSS].values()]
    across = (min((low for low, _ in ranges), default=at), max((high for _, high in ranges), default=at))
    made: list[_Part] = [_built(part, name, asked) if part else None for part in parts[:_WITHOUT]]
    return _Fork(name, at, [*made, None], len(entries), across), parts[_WITHOUT]


def _best_fork(entries: _Entries, last: str, asked: _Asked) -> tuple[str, float]:
    """The name and place that leave the least to look at, by some of the boxes; of equals, not the last name again."""
    step = max(1, len(entries) // _LOOKED_AT)
    some = list(entries.values())[::step]
    count = len(some)
    best, least = ("", 0.0), 2.0 * count
    for name in {name: None for box in some for name in box}:
        ranges = [box[name] for box in some if name in box]
        middle = len(ranges) // 2
        for at in {sorted(low for low, _ in ranges)[middle], sorted(high for _, high in ranges)[middle]}:
            apart = sum(high < at or low > at for low, high in ranges)
            share = len(ranges) / count if asked is None else asked(name)
            if asked is None:  # those with the name look at what is without it, too; the others at nothing else
                left = share * (count - apart / 2) + (1 - share) * (count - len(ranges))
            else:
                left = share * (len(ranges) - apart / 2) + (1 - share) * count
            left += 0.5 if name == last else 0.0
            if left < least:
                best, least = (name, at), left
    return best
