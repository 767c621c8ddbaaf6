"""The subscriptions of one semantics as one shared BDD, extended online.

New filters wait until an event asks. Then their atoms become variables, in an order of choice but always below the old
ones; their functions are built, restricted by what their atoms imply of each other, and their nodes appended. When what
was appended, or what was removed, outgrows a share of the whole, the nodes are sorted anew.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.filters.normal import And, Compare, Lit, Or, Truth
from conceptpubsub.matching import bdd_kernels as kernels
from conceptpubsub.matching.bdd_assignment import FALSE, UNDEFINED, Assigner
from conceptpubsub.matching.bdd_atoms import Key, Literal, Reader, Variable, declared_kind
from conceptpubsub.matching.bdd_dependency import dependency
from conceptpubsub.matching.bdd_diagram import Diagram, Function, TooLarge
from conceptpubsub.matching.bdd_kernels import FINE, LACKING, LOOK_AGAIN
from conceptpubsub.matching.bdd_nodes import Nodes, Roots
from conceptpubsub.matching.counting_bindings import References
from conceptpubsub.matching.counting_conjunctions import ordered_by
from conceptpubsub.model.values import to_float

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.filters.events import View

ORDERS = ("attribute", "frequency", "arrival", "random")
EVALUATIONS = {"auto": 0, "sweep": 1, "walk": 2}
MAX_RESTRICTED = 64  # variables of a filter that is restricted; larger ones are shared as they are


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What events are matched against."""

    assigner: Assigner
    levels: NDArray[Any]
    label: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    base: int
    count: int
    value: NDArray[Any]
    roots: Roots
    references: int


class Store:
    """One diagram for the filters of one semantics."""

    def __init__(self, semantics: str, references: References, order: str, evaluation: str, restrict: bool) -> None:
        self.two_valued = semantics == "default"
        self.order = order
        self.restricting = restrict
        self.method = EVALUATIONS[evaluation] + (4 if semantics == "strict" else 0)
        self.missing = UNDEFINED if not self.two_valued else FALSE
        self.references = references
        self.reader = Reader(references, self.two_valued)
        self.diagram = Diagram()
        self.nodes = Nodes(self.diagram)
        self.variables: list[Variable] = []
        self.numbers: dict[Key, int] = {}
        self.large: dict[int, Filter] = {}
        """Filters whose diagram would be too large: the evaluator has them."""
        self.removed = 0
        self.roots = Roots()
        self._cares: dict[tuple[int, ...], Function | None] = {}
        self.snapshot = self._snapshot(Assigner(0, {}, ()))

    # ------------------------------------------------------------------ filters

    def extend(self, filters: list[tuple[int, Filter]]) -> None:
        """Take filters into the diagram."""
        read = [(slot, f, self._literals(f)) for slot, f in filters]
        self._add_variables(read)
        added: list[tuple[int, int, tuple[int, ...]]] = []
        for slot, f, literals in read:
            names = self.references.of(f)
            try:
                function = self._function(f, literals)
            except (TooLarge, MemoryError):
                self.large[slot] = f
                continue
            added.append((slot, self.nodes.place(function), tuple(sorted(names))))
        self._cares = {}
        self.diagram.forget()
        self.roots = self.roots.joined(Roots(added, grouped=len(added) > 64))
        self._settle()

    def _literals(self, f: Filter) -> dict[str, Literal | bool]:
        found: dict[str, Literal | bool] = {}
        stack: list[Any] = [f.normal]
        while stack:
            node = stack.pop()
            if isinstance(node, And | Or):
                stack.extend(node.args)
            elif not isinstance(node, Truth) and node.key not in found:
                found[node.key] = self.reader.literal(node, f.scope)
        return found

    def _add_variables(self, read: list[tuple[int, Filter, dict[str, Literal | bool]]]) -> None:
        new: dict[Key, Variable] = {}
        uses: Counter[Key] = Counter()
        for _, _, literals in read:
            for literal in literals.values():
                if not isinstance(literal, bool):
                    key = literal.variable.key
                    uses[key] += 1
                    if key not in self.numbers:
                        new.setdefault(key, literal.variable)
        if not new:
            return
        ordered = arranged(new, uses, self.order)
        for key in ordered:
            self.numbers[key] = len(self.variables)
            self.variables.append(new[key])
        self.diagram.add_variables(len(ordered))

    def _function(self, f: Filter, literals: dict[str, Literal | bool]) -> Function:
        def literal(node: Any) -> tuple[int, bool] | bool:
            found = literals[node.key]
            return found if isinstance(found, bool) else (self.numbers[found.variable.key], found.positive)

        function = self.diagram.build(f.normal, literal)
        if self.restricting:
            mine = {self.numbers[found.variable.key] for found in literals.values() if not isinstance(found, bool)}
            if len(mine) <= MAX_RESTRICTED:
                function = self._restricted(function, mine)
        return function

    def _restricted(self, function: Function, mine: set[int]) -> Function:
        """The function restricted by the dependencies of its own variables, one reference after the other."""
        by_reference: dict[int, list[int]] = {}
        for number in sorted(mine):
            variable = self.variables[number]
            if len(variable.numbers) == 1:
                by_reference.setdefault(variable.numbers[0], []).append(number)
        for reference, numbers in by_reference.items():
            if len(numbers) < 2:
                continue
            key = tuple(numbers)
            if key not in self._cares:
                self._cares[key] = self._care(reference, numbers)
            care = self._cares[key]
            if care is not None:
                function = self.diagram.restrict(function, care)
                function = self.diagram.spared(function, care, numbers)
        return function

    def _care(self, reference: int, numbers: list[int]) -> Function | None:
        ref = self.references.refs[reference]
        variables = [(number, self.variables[number]) for number in numbers]
        kinds = {variable.kind for _, variable in variables}
        closed = not self.two_valued and kinds == {declared_kind(ref)}
        return dependency(self.diagram, variables, closed, ref.type == "int" and ref.dimension is None)

    def remove(self, slot: int) -> None:
        """Forget a filter; its nodes go when there are many such."""
        if self.large.pop(slot, None) is None:
            self.roots.remove(slot)
            self.removed += 1
            if 2 * self.removed > len(self.roots) + 64:
                self._settle(force=True)

    def _settle(self, force: bool = False) -> None:
        """Sort the nodes anew where that has become worth its while, and let events see the new state."""
        nodes = self.nodes
        if force or 4 * (nodes.count - nodes.base) > nodes.count:
            living = self.roots.living()
            roots = np.array([root for _, root, _ in living], np.int64)
            self.nodes, moved = nodes.compacted(roots, len(self.variables))
            self.roots = Roots([(slot, int(moved[root]), names) for slot, root, names in living], grouped=True)
            self.removed = 0
        assigner = self.snapshot.assigner
        if assigner.count != len(self.variables):
            assigner = assigner.extended(self.variables, self.references.refs, self.two_valued)
        self.snapshot = self._snapshot(assigner)

    def _snapshot(self, assigner: Assigner) -> Snapshot:
        n = self.nodes
        return Snapshot(
            assigner, n.levels, n.label, n.low, n.high, n.base, n.count, n.value, self.roots, len(self.references)
        )  # fmt: skip

    # ------------------------------------------------------------------ events

    def match(self, values: dict[int, Any], seen: View, ambiguous: Any = ()) -> tuple[NDArray[Any], NDArray[Any]]:
        """The slots that match one binding, ascending, and those that the evaluator must look at."""
        s = self.snapshot
        alpha, odd = s.assigner.assign(values, seen, self.missing)
        flags = np.full(s.references, FINE if self.two_valued else LACKING, np.uint8)
        if not self.two_valued:
            flags[[number for number in values if number < s.references]] = FINE
        flags[[number for number in (*odd, *ambiguous) if number < s.references]] = LOOK_AGAIN
        r = s.roots
        found, again = kernels.match(
            s.levels, s.label, s.low, s.high, s.base, s.count, s.value, r.names, r.starts, r.members, r.roots, r.slots,
            flags, alpha, r.verdicts, self.method,
        )  # fmt: skip
        return found, again


def arranged(new: dict[Key, Variable], uses: Counter[Key], order: str) -> list[Key]:
    """New variables in the order of choice, topmost first."""
    if order == "arrival":
        return list(new)
    if order == "random":
        keys = sorted(new, key=repr)
        random.Random(len(keys)).shuffle(keys)
        return keys
    if order == "frequency":
        return sorted(new, key=lambda key: -uses[key])
    return sorted(new, key=lambda key: (new[key].numbers, new[key].kind or "", _constant(new[key]), key[0], key[1]))


def _constant(variable: Variable) -> float:
    atom = variable.atom
    if variable.kind in (None, "text", "bool") or not isinstance(atom, Compare) or not isinstance(atom.right, Lit):
        return 0.0
    return to_float(ordered_by(atom.right))
