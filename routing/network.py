"""The broker network: an undirected tree with named brokers; checked once, immutable after.

Rule 1  Acyclic and connected, or a NetworkError that names the cycle, or the brokers that cannot be reached.
Rule 2  Links carry latency (seconds) and bandwidth (bytes a second; None is unlimited), the same both ways.
Rule 3  Between two brokers there is one path, and each broker knows its first step in O(log n).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conceptpubsub.errors import NetworkError, hint, near

LATENCY = 0.01
MAX_BROKERS = 100_000
LISTED = ("names", "latency", "bandwidth")
FIELDS = {"kary": ("branching",), "tree": ("seed",)}
"""What a description may say of a kind of network, besides how many brokers there are and how they are linked."""


@dataclass(frozen=True, slots=True)
class Link:
    """Two neighbours and what lies between them.

    >>> Link("B1", "B2", latency=0.02).other("B2")
    'B1'
    """

    a: str
    b: str
    latency: float = LATENCY
    bandwidth: float | None = None

    def other(self, end: str) -> str:
        """The end that is not this one."""
        return self.b if end == self.a else self.a


class Network:
    """A tree of brokers.

    >>> network = Network([Link("B1", "B2"), Link("B2", "B3")])
    >>> network.neighbours("B2"), network.path("B1", "B3")
    (('B1', 'B3'), ('B1', 'B2', 'B3'))
    >>> Network([Link("B1", "B2"), Link("B2", "B3"), Link("B3", "B1")])
    Traceback (most recent call last):
    conceptpubsub.errors.NetworkError: the network has a cycle: B3 - B1 - B2 - B3; brokers form a tree
    """

    __slots__ = ("_children", "_depth", "_entry", "_exit", "_neighbours", "_parent", "brokers", "links")

    def __init__(self, links: Iterable[Link] = (), brokers: Iterable[str] = ()) -> None:
        self.links = tuple(links)
        named = [*brokers, *(end for link in self.links for end in (link.a, link.b))]
        self.brokers: tuple[str, ...] = tuple(dict.fromkeys(named))
        if not self.brokers:
            raise NetworkError("a network has at least one broker")
        if len(self.brokers) > MAX_BROKERS:
            raise NetworkError(f"{len(self.brokers)} brokers; at most {MAX_BROKERS} are allowed")
        self._neighbours: dict[str, dict[str, Link]] = {broker: {} for broker in self.brokers}
        for link in self.links:
            _check_link(link)
            if link.a == link.b:
                raise NetworkError(f"{link.a} is linked to itself", cycle=(link.a, link.a))
            if link.b in self._neighbours[link.a]:
                raise NetworkError(f"{link.a} and {link.b} are linked twice", cycle=(link.a, link.b, link.a))
            self._neighbours[link.a][link.b] = self._neighbours[link.b][link.a] = link
        self._walk()

    def _walk(self) -> None:
        """Root the tree at the first broker; the walk meets a broker twice exactly where there is a cycle."""
        root = self.brokers[0]
        self._parent: dict[str, str] = {root: root}
        self._depth = {root: 0}
        self._entry: dict[str, int] = {}
        self._exit: dict[str, int] = {}
        self._children: dict[str, list[str]] = {}
        stack = [root]
        while stack:
            at = stack[-1]
            if at in self._entry:
                self._exit[at] = len(self._entry)
                stack.pop()
                continue
            self._entry[at] = len(self._entry)
            below = [other for other in self._neighbours[at] if other != self._parent[at]]
            for other in below:
                if other in self._parent:
                    raise _cycle(self._parent, at, other)
                self._parent[other] = at
                self._depth[other] = self._depth[at] + 1
            self._children[at] = below[::-1]  # in the order the walk enters them
            stack.extend(below)
        lost = [broker for broker in self.brokers if broker not in self._parent]
        if lost:
            listed = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
            raise NetworkError(f"the network is not connected: {listed} cannot be reached from {root}", lost=lost)

    # ------------------------------------------------------------------ asking

    def neighbours(self, broker: str) -> tuple[str, ...]:
        """The brokers linked to this one."""
        return tuple(self._neighbours[self.known(broker)])

    def link(self, a: str, b: str) -> Link:
        """The link between two neighbours."""
        try:
            return self._neighbours[self.known(a)][b]
        except KeyError:
            raise NetworkError(f"there is no link between {a} and {b}", a=a, b=b) from None

    def known(self, broker: str) -> str:
        """The name itself, or a NetworkError that offers near ones."""
        if broker not in self._neighbours:
            raise NetworkError(f"no broker '{broker}'.{hint(near(str(broker), self.brokers))}", name=broker)
        return broker

    def next_hop(self, at: str, to: str) -> str:
        """The neighbour of ``at`` on the way to ``to``."""
        if self.known(at) == self.known(to):
            return at
        number = self._entry[to]
        if not self._entry[at] < number < self._exit[at]:
            return self._parent[at]
        children = self._children[at]
        return children[bisect.bisect_right(children, number, key=self._entry.__getitem__) - 1]

    def path(self, a: str, b: str) -> tuple[str, ...]:
        """The brokers from a to b, both included."""
        way = [a]
        while way[-1] != b:
            way.append(self.next_hop(way[-1], b))
        return tuple(way)

    def depth(self, broker: str) -> int:
        """Links between a broker and the first one."""
        return self._depth[self.known(broker)]

    def parent(self, broker: str) -> str | None:
        """The neighbour nearer to the first broker; None for that one."""
        above = self._parent[self.known(broker)]
        return None if above == broker else above

    def position(self, broker: str) -> int:
        """A broker's place on a walk from the first one, on which those below one broker follow each other."""
        return self._entry[self.known(broker)]

    def border(self) -> tuple[str, ...]:
        """The brokers with at most one neighbour, where clients usually attach."""
        return tuple(broker for broker in self.brokers if len(self._neighbours[broker]) <= 1)

    def __len__(self) -> int:
        return len(self.brokers)

    def __repr__(self) -> str:
        return f"<Network of {len(self.brokers)} brokers>"

    # ------------------------------------------------------------------ making

    @classmethod
    def line(cls, brokers: int, **link: Any) -> Network:
        """B1 - B2 - … in a row."""
        return _numbered(brokers, lambda number: number - 1, link)

    @classmethod
    def star(cls, brokers: int, **link: Any) -> Network:
        """B1 in the middle, the others around it."""
        return _numbered(brokers, lambda number: 1, link)

    @classmethod
    def kary(cls, brokers: int, branching: int = 2, **link: Any) -> Network:
        """A balanced tree in which each broker has ``branching`` below it."""
        if branching < 1:
            raise NetworkError(f"a tree branches at least once, not {branching} times")
        return _numbered(brokers, lambda number: (number - 2) // branching + 1, link)

    @classmethod
    def tree(cls, brokers: int, seed: int = 0, **link: Any) -> Network:
        """A random tree: each broker joins at one of those before it.

        >>> Network.tree(brokers=50, seed=1).neighbours("B2")
        ('B1', 'B4', 'B11', 'B35', 'B47')
        """
        import random

        rng = random.Random(seed)
        return _numbered(brokers, lambda number: rng.randint(1, number - 1), link)

    @classmethod
    def read(cls, description: Mapping[str, Any]) -> Network:
        """A network from the table that a TOML file holds: a kind with its numbers, or links one by one.

        >>> Network.read({"kind": "kary", "brokers": 7, "branching": 2})
        <Network of 7 brokers>
        >>> Network.read({"links": [["A", "B"], {"a": "B", "b": "C", "latency": 0.5}]}).path("A", "C")
        ('A', 'B', 'C')
        """
        given = dict(description)
        if "links" in given:
            rows = given.pop("links")
            if not isinstance(rows, list):
                raise NetworkError("'links' is a list of links, each [a, b] or {a, b, latency, bandwidth}")
            for key in given:
                if key not in LISTED:
                    raise NetworkError(f"a network of links has no '{key}'.{hint(near(key, LISTED))}")
            return cls((_row(row, given) for row in rows), given.pop("names", ()))
        builders = {"line": cls.line, "star": cls.star, "kary": cls.kary, "tree": cls.tree}
        kind = given.pop("kind", "tree")
        if kind not in builders:
            raise NetworkError(f"no network is a '{kind}'.{hint(near(str(kind), builders))}", kind=kind)
        known = ("brokers", "latency", "bandwidth", *FIELDS.get(kind, ()))
        for key in given:
            if key not in known:
                raise NetworkError(f"a network of kind '{kind}' has no '{key}'.{hint(near(key, known))}", kind=kind)
        try:
            return builders[kind](**given)
        except TypeError:
            raise NetworkError(f"a network of kind '{kind}' needs whole numbers: brokers = 31", kind=kind) from None

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """A network from a TOML file: its table [network], or the whole file."""
        import tomllib

        try:
            tree = tomllib.loads(Path(path).read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise NetworkError(f"{path}: not TOML: {error}", path=str(path)) from error
        return cls.read(tree.get("network", tree))

    @classmethod
    def from_networkx(cls, graph: Any) -> Network:
        """A network from a networkx graph; edges may carry ``latency`` and ``bandwidth``."""
        links = (
            Link(str(a), str(b), about.get("latency", LATENCY), about.get("bandwidth"))
            for a, b, about in graph.edges(data=True)
        )
        return cls(links, (str(node) for node in graph.nodes))


def _numbered(brokers: int, parent: Any, link: Mapping[str, Any]) -> Network:
    if type(brokers) is not int or not 1 <= brokers <= MAX_BROKERS:
        raise NetworkError(f"a network has 1 to {MAX_BROKERS} brokers, not {brokers!r}")
    links = [Link(f"B{parent(number)}", f"B{number}", **link) for number in range(2, brokers + 1)]
    return Network(links, ["B1"])


def _row(row: Any, common: Mapping[str, Any]) -> Link:
    defaults = {key: common[key] for key in ("latency", "bandwidth") if key in common}
    try:
        if isinstance(row, Mapping):
            return Link(**{**defaults, **row})
        a, b = row
        return Link(str(a), str(b), **defaults)
    except (TypeError, ValueError):
        raise NetworkError(f"a link is [a, b] or {{a, b, latency, bandwidth}}, not {row!r:.80}") from None


def _check_link(link: Link) -> None:
    if not (isinstance(link.a, str) and isinstance(link.b, str) and link.a and link.b):
        raise NetworkError(f"brokers are named by text, not {link.a!r:.80} and {link.b!r:.80}")
    numbers = (link.latency, 1.0 if link.bandwidth is None else link.bandwidth)
    fine = all(isinstance(n, int | float) and math.isfinite(n) for n in numbers)
    if not fine or link.latency < 0 or numbers[1] <= 0:
        raise NetworkError(
            f"the link {link.a} - {link.b} has latency {link.latency!r} and bandwidth {link.bandwidth!r}; "
            "the first is a number not below 0, the second above 0"
        )


def _cycle(parent: Mapping[str, str], at: str, met: str) -> NetworkError:
    """The cycle that the link from ``at`` to the broker already met closes."""

    def upward(broker: str) -> list[str]:
        way = [broker]
        while parent[way[-1]] != way[-1]:
            way.append(parent[way[-1]])
        return way

    left, right = upward(at), upward(met)
    shared = set(left) & set(right)
    top = next(broker for broker in left if broker in shared)
    cycle = [*left[: left.index(top) + 1], *reversed(right[: right.index(top)]), at]
    return NetworkError(f"the network has a cycle: {' - '.join(cycle)}; brokers form a tree", cycle=tuple(cycle))
