"""The index: filters as cubes over codes, found by the rarest thing they ask for.

Rule 1  Filters are compiled once, to literals over axes and constants; what an index holds can be built from that.
Rule 2  Segments are immutable and grow geometrically: a new filter joins a short tail, full tails become segments,
        and segments of like size are merged. A removed filter is masked out at once and gone at the next merge.
Rule 3  A reader takes one snapshot and keeps to it. The writer's next one is made when a reader asks for it.
Rule 4  Where labels run out of room, or many filters come at once, there is a new codebook, and all is built anew.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from conceptpubsub.errors import LimitExceeded
from conceptpubsub.matching.cubes import MAX_SLOT, CubeStore
from conceptpubsub.matching.engine import Entry
from conceptpubsub.matching.program import Compiler, Program
from conceptpubsub.matching.slots import Slots
from conceptpubsub.matching.vocabulary import Vocabulary

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter
    from conceptpubsub.matching.segment import Segment
    from conceptpubsub.matching.snapshot import Snapshot
    from conceptpubsub.matching.tail import Tail

_TAIL: Final = 128
_RATIO: Final = 4
_DENSE: Final = 512
_ROWS: Final = 24
_CLASSES: Final = 2048
_UNITED: Final = 32
_CHUNK: Final = 1 << 20
"""Literals that are gathered before they go to the store."""


class Index:
    """Filters by slot, compiled; makes the snapshots that readers match against. Not for several writers at once.

    ``tail`` is how many cubes may wait for a segment, ``ratio`` how much larger a segment is than those after it, and
    ``dense`` how many cubes make a dense part worth its while; ``rows`` is how many rows of a table make it worth to
    take many at a time, and ``classes`` how many filters of a dense part make bitmaps of classes worth theirs;
    ``united`` is how many bounds or equal values make it worth to unite their interfaces, and for how many events at
    least.
    """

    def __init__(
        self, tail: int = _TAIL, ratio: int = _RATIO, dense: int = _DENSE, rows: int = _ROWS, classes: int = _CLASSES,
        united: int = _UNITED,
    ) -> None:  # fmt: skip
        self._most_tail, self._ratio, self._least_dense = tail, ratio, dense
        self._least_classes = classes
        self.least_rows, self.least_united = rows, united
        self.vocabulary = Vocabulary()
        self.compiler = Compiler(self.vocabulary)
        self.store = CubeStore(self.vocabulary)
        self.slots = Slots()
        self.asking: dict[int, Filter] = {}
        """The filters about which the evaluator may have to be asked."""
        self.computing: dict[int, list[int]] = {}
        """The slots that use a computed column."""
        self.total: dict[tuple[int, ...], list[int]] = {}
        """Under ``total``, the slots by the columns they name."""
        self.live = 0
        self._segments: list[Segment] = []
        self._tail: Tail | None = None
        self._encoder: Any = None

    # ------------------------------------------------------------------ filters

    def add(self, slot: int, filter: Filter, interfaces: tuple[int, ...]) -> None:
        """Take a filter."""
        program = self.compiler.compile(filter)
        if self.vocabulary.waiting:
            self._settle()
        before = self.store.count
        self.store.add(slot, program)
        asks = bool((self.store.owners.view[before:] >> 31).any()) if not program.is_conjunction else False
        self._enter(slot, filter, program, interfaces, asks)

    def add_many(self, entries: Iterable[Entry]) -> None:
        """Take many filters. If one is refused, those before it are in."""
        vocabulary = self.vocabulary
        vocabulary.bulk = True
        slots, ends, literals = array("I"), array("q"), array("q")
        programs: list[tuple[int, Program, Filter]] = []
        try:
            for slot, filter, interfaces in entries:
                program = self.compiler.compile(filter)
                if program.is_conjunction:
                    slots.append(slot)
                    literals.extend(program.tokens)
                    ends.append(len(literals))
                    if len(literals) > _CHUNK:
                        self.store.add_conjunctions(slots, literals, ends)
                        slots, ends, literals = array("I"), array("q"), array("q")
                else:
                    programs.append((slot, program, filter))
                self._enter(slot, filter, program, interfaces, False)
        finally:
            self._settle()
            self.store.add_conjunctions(slots, literals, ends)
            if programs:
                self._add_programs(programs)

    def _add_programs(self, programs: list[tuple[int, Program, Filter]]) -> None:
        before = self.store.count
        self.store.add_programs([slot for slot, _, _ in programs], [program.tokens for _, program, _ in programs])
        owners = self.store.owners.view[before:]
        asks = set((owners[owners >> 31 == 1] & (MAX_SLOT - 1)).tolist())
        for slot, _, filter in programs:
            if slot in asks:
                self.asking[slot] = filter

    def _enter(self, slot: int, filter: Filter, program: Program, interfaces: tuple[int, ...], asks: bool) -> None:
        """Note what there is to a slot besides its cubes."""
        if slot >= MAX_SLOT:
            raise LimitExceeded(f"more than {MAX_SLOT:,} filters in one matcher", limit=MAX_SLOT)
        self.slots.enter(slot, program.bound, interfaces)
        if program.named:
            self.total.setdefault(program.named, []).append(slot)
        for column in program.computed:
            self.computing.setdefault(column, []).append(slot)
            asks = True
        if asks:
            self.asking[slot] = filter
        self.live += 1

    def remove(self, slot: int) -> None:
        """Forget a filter."""
        self.slots.leave(slot)
        self.asking.pop(slot, None)
        self.live -= 1

    def total_groups(self) -> list[tuple[tuple[int, ...], list[int]]]:
        """Under ``total``: the columns that filters name, and the slots of those filters."""
        groups = [
            (named, [s for s in list(slots) if self.slots.is_alive(s)]) for named, slots in list(self.total.items())
        ]
        return [(named, slots) for named, slots in groups if slots]

    # ------------------------------------------------------------------ snapshots

    def _settle(self) -> None:
        """A new codebook: everything is built from the cubes again."""
        self.vocabulary.settle()
        self.vocabulary.bulk = False
        self._segments, self._tail, self._encoder = [], None, None

    def snapshot(self) -> Snapshot:
        """Everything up to now."""
        from conceptpubsub.matching.encoder import Encoder
        from conceptpubsub.matching.snapshot import Snapshot
        from conceptpubsub.matching.tail import Tail

        if self._encoder is None:
            self._encoder = Encoder(self.vocabulary)
        start = self._segments[-1].last if self._segments else 0
        if self.store.count - start > self._most_tail:
            self._segments.append(self._segment(start, self.store.count))
            self._merge()
            start, self._tail = self.store.count, None
        if self._tail is None:
            self._tail = Tail(start)
        if self._tail.last < self.store.count:
            self._tail.extend(self.store, self.vocabulary, self.slots)
        tail = [self._tail.frozen()] if self._tail.cubes else []
        return Snapshot(self._encoder, [*self._segments, *tail], self.slots.alive.view, self.slots.width)

    def _segment(self, first: int, last: int) -> Segment:
        from conceptpubsub.matching.segment import Segment

        return Segment(self.store, self.vocabulary, self.slots, first, last, self._least_dense, self._least_classes)

    def _merge(self) -> None:
        """Merge the newest segments while each is not much smaller than the one before."""
        first = last = len(self._segments) - 1
        size = self._size(last)
        while first > 0 and size * self._ratio >= self._size(first - 1):
            first -= 1
            size += self._size(first)
        if first < last:
            self._segments[first:] = [self._segment(self._segments[first].first, self._segments[last].last)]

    def _size(self, number: int) -> int:
        return self._segments[number].last - self._segments[number].first

    def renumbered(self, slots: Mapping[int, int]) -> Index:
        """The same filters under other slots, without those that are gone."""
        made = Index(
            self._most_tail, self._ratio, self._least_dense, self.least_rows, self._least_classes, self.least_united
        )
        made.vocabulary, made.compiler, made.live = self.vocabulary, self.compiler, self.live
        made.store, made.slots = self.store.renumbered(slots), self.slots.renumbered(slots)
        made.asking = {slots[slot]: filter for slot, filter in self.asking.items()}
        made.computing = {key: _moved(held, slots) for key, held in self.computing.items()}
        made.total = {key: _moved(held, slots) for key, held in self.total.items()}
        return made

    # ------------------------------------------------------------------ service

    def nbytes(self) -> dict[str, int]:
        """The memory it holds, by part."""
        return {
            "cubes": self.store.nbytes(),
            "segments": sum(segment.nbytes() for segment in self._segments),
            "constants": self.vocabulary.book.nbytes(),
            "slots": self.slots.nbytes(),
        }

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments, largest first."""
        return tuple(self._segments)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_encoder", "_tail")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._encoder = self._tail = None


def _moved(held: list[int], slots: Mapping[int, int]) -> list[int]:
    return [slots[slot] for slot in held if slot in slots]
