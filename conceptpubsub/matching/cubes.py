"""The cubes of all filters, in the order added: what every index is built from.

A cube is a conjunction of literals and belongs to a slot. A filter has one or more; one that can never match has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.matching.program import FALSE, OPAQUE, TRUE, Program
from conceptpubsub.matching.vocabulary import Vocabulary

ASK: Final = 1 << 31
"""Set in a cube's owner: where it matches, the evaluator must be asked."""
MAX_SLOT: Final = 1 << 30
MOST_WIDE_LITERALS: Final = 100_000
"""Literals in all cubes of one filter; beyond that it is a candidate for every event."""


class Growing:
    """A NumPy array that grows at its end."""

    def __init__(self, dtype: Any) -> None:
        self.array: NDArray[Any] = np.zeros(64, dtype)
        self.count = 0

    def room(self, more: int) -> NDArray[Any]:
        """The array, with room for so many more after the first ``count``."""
        need = self.count + more
        if need > len(self.array):
            grown = np.zeros(max(need, 2 * len(self.array)), self.array.dtype)
            grown[: self.count] = self.array[: self.count]
            self.array = grown
        return self.array

    def append(self, *values: int) -> None:
        """Append a few, which takes less than to make an array of them."""
        array, at = self.room(len(values)), self.count
        for value in values:
            array[at] = value
            at += 1
        self.count = at

    def extend(self, values: Any) -> None:
        """Append some."""
        count = len(values)
        self.room(count)[self.count : self.count + count] = values
        self.count += count

    @property
    def view(self) -> NDArray[Any]:
        """What is in use."""
        return self.array[: self.count]

    def __getstate__(self) -> NDArray[Any]:
        return self.view.copy()

    def __setstate__(self, state: NDArray[Any]) -> None:
        self.array, self.count = state, len(state)
        self.room(64)


class CubeStore:
    """Cubes of literals, each with its owner: a slot, and the flag ASK."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.literals = Growing(np.int64)
        self.ends = Growing(np.int64)
        self.owners = Growing(np.uint32)

    @property
    def count(self) -> int:
        """How many cubes there are."""
        return self.owners.count

    def add(self, slot: int, program: Program) -> None:
        """Take the cubes of one filter; its constants have their labels."""
        if program.is_conjunction:
            self.literals.append(*program.tokens)
            self.ends.append(self.literals.count)
            self.owners.append(slot)
        else:
            self.add_programs([slot], [program.tokens])

    def _append(self, slot: int, cubes: Sequence[Sequence[int]], asks: Sequence[bool]) -> None:
        for cube, ask in zip(cubes, asks, strict=True):
            self.literals.extend(cube)
            self.ends.extend((self.literals.count,))
            self.owners.extend((slot | ASK if ask else slot,))

    def add_conjunctions(self, slots: Sequence[int], literals: Sequence[int], ends: Sequence[int]) -> None:
        """Take many filters that are one conjunction each; ``ends`` are counted from the first literal given."""
        base = self.literals.count
        self.literals.extend(literals)
        self.ends.extend(np.asarray(ends, np.int64) + base)
        self.owners.extend(slots)

    def add_programs(self, slots: Sequence[int], programs: Sequence[list[int]]) -> None:
        """Take many filters of any form."""
        from conceptpubsub.matching.cube_kernels import make_cubes

        tokens = np.fromiter((token for program in programs for token in program), np.int64)
        bounds = np.zeros(len(programs) + 1, np.int64)
        np.cumsum([len(program) for program in programs], out=bounds[1:])
        counts = np.zeros(len(programs), np.int64)
        labels, column_of = self.vocabulary.book.labels, self.vocabulary.column_of
        done = 0
        ends, out = np.zeros(4 * len(programs) + 512, np.int64), np.zeros(4 * len(tokens) + 32768, np.int64)
        while done < len(programs):
            last, made, written = make_cubes(tokens, bounds, done, len(programs), labels, column_of, counts, ends, out)
            self._take(slots, programs, done, last, counts, ends[:made], out[:written])
            done = last

    def _take(
        self, slots: Sequence[int], programs: Sequence[list[int]], first: int, last: int,
        counts: NDArray[np.int64], ends: NDArray[np.int64], literals: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Keep what the kernel made of some programs; those too wide for it are done here, in their place."""
        wide = [p for p in range(first, last) if counts[p] < 0]
        begin, cube, used = first, 0, 0
        for stop in [*wide, last]:
            made = int(counts[begin:stop].sum())
            mine = ends[cube : cube + made]
            end = int(mine[-1] >> 1) if made else used
            base = self.literals.count - used
            self.literals.extend(literals[used:end])
            self.ends.extend((mine >> 1) + base)
            owners = np.repeat(np.asarray(slots[begin:stop], np.uint32), counts[begin:stop])
            self.owners.extend(owners | ((mine & 1) << 31).astype(np.uint32))
            cube, used = cube + made, end
            if stop < last:
                self._append(slots[stop], *wide_cubes(programs[stop]))
            begin = stop + 1

    def renumbered(self, slots: Mapping[int, int]) -> CubeStore:
        """The cubes of some slots, under other numbers."""
        made = CubeStore(self.vocabulary)
        owners = self.owners.view
        table = np.full(int(max(slots, default=0)) + 1, -1, np.int64)
        table[list(slots.keys())] = list(slots.values())
        mine = owners & np.uint32(ASK - 1)
        kept = (mine < len(table)) & (table[np.minimum(mine, len(table) - 1)] >= 0)
        lengths = np.diff(self.ends.view, prepend=0)
        made.literals.extend(self.literals.view[np.repeat(kept, lengths)])
        made.ends.extend(np.cumsum(lengths[kept]))
        made.owners.extend(table[mine[kept]].astype(np.uint32) | (owners[kept] & np.uint32(ASK)))
        return made

    def nbytes(self) -> int:
        """The memory it holds."""
        return self.literals.array.nbytes + self.ends.array.nbytes + self.owners.array.nbytes


def wide_cubes(tokens: list[int]) -> tuple[list[list[int]], list[bool]]:
    """The cubes of a program with very many literals, and whether to ask the evaluator about each.

    As in the kernel: bounded, and where a product would be too large its larger factor is left out.
    """
    stack: list[set[frozenset[int]]] = []
    for token in tokens:
        if token > 0:
            stack.append(set() if token == FALSE else {frozenset() if token == TRUE else frozenset((token,))})
            continue
        args = (-token) >> 1
        parts = stack[-args:]
        del stack[-args:]
        stack.append(_union(parts) if token & 1 else _products(parts))
    cubes = stack.pop()
    return [sorted(cube - {OPAQUE}) for cube in cubes], [OPAQUE in cube for cube in cubes]


def _size(cubes: set[frozenset[int]]) -> int:
    return sum(map(len, cubes)) + len(cubes)


def _union(parts: list[set[frozenset[int]]]) -> set[frozenset[int]]:
    made: set[frozenset[int]] = set().union(*parts)
    return made if _size(made) <= MOST_WIDE_LITERALS else {frozenset((OPAQUE,))}


def _products(parts: list[set[frozenset[int]]]) -> set[frozenset[int]]:
    made: set[frozenset[int]] = {frozenset()}
    exact = True
    for part in sorted(parts, key=len):
        if len(made) * _size(part) + len(part) * _size(made) > MOST_WIDE_LITERALS:
            exact = False
        else:
            made = {one | other for one in made for other in part}
    return made if exact else {cube | {OPAQUE} for cube in made}
