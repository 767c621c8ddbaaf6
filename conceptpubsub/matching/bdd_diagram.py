"""Shared BDDs, by OxiDD: building, restricting, and nothing else.

A variable's number is its level; new ones come in at the bottom, so that nothing is ever reordered and what was built
before stays as it is. Restriction is Coudert and Madre's, as in the paper's package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from oxidd.bdd import BDDManager

from conceptpubsub.filters.normal import And, Normal, Or, Truth

Function: TypeAlias = Any
"""A Boolean function: OxiDD's handle of a node. Equal handles are equal functions."""

CAPACITY = 1 << 26  # nodes; memory is taken as they come
CACHE = 1 << 20
MAX_NODES = 10_000
_SMALL = 16


class TooLarge(Exception):
    """A filter whose diagram would be too large to share."""


class Diagram:
    """Boolean functions over numbered variables."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._manager = BDDManager(capacity, CACHE, 1)
        self._restricted: dict[tuple[Function, Function], Function] = {}
        self.true: Function = self._manager.true()
        self.false: Function = self._manager.false()
        self.positive: list[Function] = []
        self.negative: list[Function] = []

    def add_variables(self, count: int) -> None:
        """More variables, below all others."""
        for number in self._manager.add_vars(count):
            self.positive.append(self._manager.var(number))
            self.negative.append(self._manager.not_var(number))

    def cube(self, literals: Iterable[tuple[int, bool]]) -> Function:
        """The conjunction of literals."""
        made = self.true
        for number, value in sorted(literals, reverse=True):
            made = made & (self.positive if value else self.negative)[number]
        return made

    def any(self, functions: Iterable[Function]) -> Function:
        """The disjunction of functions."""
        made = self.false
        for function in functions:
            made = made | function
        return made

    def nodes(self) -> int:
        """The nodes that some function still needs."""
        self._manager.gc()
        return int(self._manager.num_inner_nodes())

    # ------------------------------------------------------------------ building

    def build(self, normal: Normal, literal: Callable[[Any], tuple[int, bool] | bool]) -> Function:
        """The function of a normal form; ``literal`` gives the variable of each literal, or a constant."""
        order: list[Any] = []
        stack: list[Any] = [normal]
        while stack:
            node = stack.pop()
            order.append(node)
            if isinstance(node, And | Or):
                stack.extend(node.args)
        made: dict[int, Function] = {}
        large = len(order) > _SMALL
        for node in reversed(order):
            if isinstance(node, And | Or):
                parts = [made[id(arg)] for arg in node.args]
                made[id(node)] = self._joined(parts, isinstance(node, And), large)
            elif isinstance(node, Truth):
                made[id(node)] = self.true if node.value else self.false
            else:
                found = literal(node)
                if isinstance(found, bool):
                    made[id(node)] = self.true if found else self.false
                else:
                    made[id(node)] = (self.positive if found[1] else self.negative)[found[0]]
        return made[id(normal)]

    def _joined(self, parts: Sequence[Function], conjunctive: bool, large: bool) -> Function:
        if large:  # from the bottom up, each step adds to the top
            parts = sorted(parts, key=_level, reverse=True)
        whole = parts[0]
        for part in parts[1:]:
            whole = whole & part if conjunctive else whole | part
            if large and whole.node_count() > MAX_NODES:
                raise TooLarge
        return whole

    # ------------------------------------------------------------------ restriction

    def restrict(self, function: Function, care: Function) -> Function:
        """A function that agrees with the given one wherever ``care`` holds, and is mostly smaller."""
        if care == self.true:
            return function
        level = function.node_level()
        if level is None:
            return function
        key = (function, care)
        found = self._restricted.get(key)
        if found is None:
            found = self._restricted[key] = self._restrict(function, level, care)
        return found

    def spared(self, function: Function, care: Function, variables: Iterable[int]) -> Function:
        """A function that agrees where ``care`` holds and does without those variables that it does not need there."""
        used = self.support(function).intersection(variables)
        for number in sorted(used) if len(used) > 1 else ():
            for literal in (self.positive[number], self.negative[number]):
                without = self.restrict(function, literal)
                if without != function and ((without ^ function) & care) == self.false:
                    function = without
                    break
        return function

    def support(self, function: Function) -> set[int]:
        """The variables that a function depends on."""
        seen: set[Function] = set()
        found: set[int] = set()
        stack = [function]
        while stack:
            node = stack.pop()
            level = node.node_level()
            if level is not None and node not in seen:
                seen.add(node)
                found.add(level)
                stack.extend(node.cofactors())
        return found

    def _restrict(self, function: Function, level: int, care: Function) -> Function:
        at = care.node_level()
        if at is None:
            return self.false
        if at < level:
            high, low = care.cofactors()
            return self.restrict(function, high | low)
        then, other = function.cofactors()
        if level < at:
            return self._node(level, self.restrict(then, care), self.restrict(other, care))
        high, low = care.cofactors()
        if low == self.false:
            return self.restrict(then, high)
        if high == self.false:
            return self.restrict(other, low)
        return self._node(level, self.restrict(then, high), self.restrict(other, low))

    def _node(self, level: int, then: Function, other: Function) -> Function:
        return then if then == other else self.positive[level].ite(then, other)

    def forget(self) -> None:
        """Drop what restriction remembers, and with it nodes that nothing else needs."""
        self._restricted = {}


def _level(function: Function) -> int:
    level = function.node_level()
    return 1 << 60 if level is None else int(level)
