"""The words of values that the hot loop of ``encoder`` does not write by itself, read as the evaluator reads them.

What does not depend on the time of the event is remembered, within bounds: rare names, contexts and values must not
fill the memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conceptpubsub.filters.events import Complex
from conceptpubsub.matching.codes import Codebook
from conceptpubsub.matching.computed_words import rates
from conceptpubsub.matching.entries import SPARE, Entry, Words
from conceptpubsub.matching.event_kernels import CODE, CONSTANT
from conceptpubsub.matching.readers import Reader, Readers, word
from conceptpubsub.matching.vocabulary import Column, Vocabulary
from conceptpubsub.model import EMPTY, Context, Instant, SemanticObject
from conceptpubsub.model.objects import as_object

MOST_NAMES: Final = 65536
HEADERS: Final = {"@concept": "EVENT", "@time": "time", "@id": "id", "@source": "source"}
WHOLE: Final = 1 << 53
"""Up to here every whole number is a float."""
_MOST_REMEMBERED: Final = 16384
_CONSTANT_TO_CODE: Final = word(CONSTANT, 0) ^ word(CODE, 0)


class ValueWords:
    """Writes the words of single attributes, for one codebook."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.book: Codebook = vocabulary.book
        self.readers = Readers(vocabulary, vocabulary.book)
        self.idle = Entry(("",), EMPTY, self.readers)
        """What no filter speaks of."""
        self.of_event: list[Column] = []
        """The columns that speak of the event itself."""
        self._entries: dict[Any, Entry] = {}
        self._in_context: dict[tuple[str, Context], Entry] = {}
        self._at_path: dict[tuple[tuple[str, ...], Context], Entry] = {}
        self._remembering: list[Entry] = []
        self._remembered = 0

    def forget_names(self) -> None:
        """Work out anew what names mean."""
        self._entries, self._in_context, self._at_path = {}, {}, {}
        self._remembering, self._remembered = [], 0

    def forget_words(self) -> None:
        """Forget the words of values: they may be others by now."""
        forgetting, self._remembering, self._remembered = self._remembering, [], 0
        for entry in forgetting:
            entry.forget()

    def entry(self, name: Any) -> Entry:
        """What is known of a name without a context."""
        entries = self._entries  # taken before the entry is made: forgetting replaces it
        found = entries.get(name)
        if found is None:
            if len(entries) >= MOST_NAMES:
                entries.clear()
            found = Entry((name if type(name) is str else "",), EMPTY, self.readers)
            if name in HEADERS:
                found.readers.clear()  # each value is looked at, also where no filter asks
            elif found.is_idle:
                found = self.idle
            entries[name] = found
        return found

    def read(self, reader: Reader, value: Any, n: int, out: Words) -> int:
        """Write what a reader makes of a value; -1 minus the place where it does not know the value."""
        get, base = reader
        if get is None:
            if not base:
                return n
            out.words[n], out.values[n] = base, value
            return n + 1
        found = get(value)
        if found is None:
            return -1 - n
        if base < 0:
            return out.append(found, n)
        out.words[n], out.numbers[n] = base, found
        return n + 1

    def slowly(self, entry: Entry, name: str, value: Any, n: int, event: Any, out: Words) -> int:
        """An attribute whose type has no reader here, or whose value is none of the constants."""
        if value is None:
            return n
        if name in HEADERS:
            n = self._header(name, value, n, out)
            if not entry.bindings:
                return n
        if isinstance(value, SemanticObject):
            return self.object_words(name, value, n, event, out)
        return self._value(entry, as_object(name, value), n, event, out)

    def object_words(self, name: str, held: SemanticObject, n: int, event: Any, out: Words) -> int:
        """A semantic object: as a plain value, in its own context."""
        context = held.context
        if not context:
            entry = self.entry(name)
            if entry is self.idle:
                return n
        else:
            key = (name, context)
            known = self._in_context.get(key)
            if known is None:
                if len(self._in_context) >= MOST_NAMES:
                    self._in_context.clear()
                known = self._in_context[key] = Entry((name,), context, self.readers)
            entry = known
        out.reserve(n + SPARE)
        reader = entry.readers.get(type(held.value))
        if reader is not None:
            end = self.read(reader, held.value, n, out)
            if end >= 0:
                return end
        return self._value(entry, held, n, event, out)

    def _value(self, entry: Entry, held: SemanticObject, n: int, event: Any, out: Words) -> int:
        """The value of an attribute under an entry, the slow way."""
        value = held.value
        if held.is_complex:
            return self._complex(entry, held, n, event, out)
        kind = type(value)
        if kind is int and -WHOLE <= value <= WHOLE:
            reader = entry.readers.get(float)
            if reader is not None and reader[0] is None:
                return out.append([reader[1]] if reader[1] else [], n, float(value))
        if kind is str:
            between = self._between(entry, value)
            if between is not None:
                return out.append([between], n)
        if entry.dated or kind is float or (kind is str and len(value) > 256):
            at = _time_of(event) if entry.dated else None
            return out.append(list(self.canonical_words(entry, value, at)), n)
        memo = entry.words.setdefault(kind, {})  # taken before the codes are: forgetting replaces it
        known = memo.get(value)
        if known is None:
            known = array("Q", self.canonical_words(entry, value, None))
            self._remember(entry, memo, value, known)
        return out.append(known, n)

    def _between(self, entry: Entry, value: str) -> int | None:
        """The word for a text that is no constant, where only its place among the constants counts."""
        reader = entry.readers.get(str)
        if reader is None or reader[1] <= 0:
            return None
        space = self.book.spaces[self.vocabulary.space(("text", None))]
        memo = space.memo
        code = memo.get(value)
        if code is None:
            code = space.code(value)
            if len(memo) < _MOST_REMEMBERED and len(value) < 256:
                memo[value] = code
        return reader[1] ^ _CONSTANT_TO_CODE | code

    def _remember(self, entry: Entry, memo: dict[Any, array[int]], value: Any, words: array[int]) -> None:
        if self._remembered >= _MOST_REMEMBERED:
            self.forget_words()
        if not memo:
            self._remembering.append(entry)
        memo[value] = words
        self._remembered += 1

    def canonical_words(self, entry: Entry, value: Any, at: Instant | None) -> Iterator[int]:
        """The words of a value in every column, by way of its canonical value; ``at`` counts where that is dated."""
        for column, concept, _ in entry.bindings:
            scope = column.world.scope
            if concept is not None:
                found: Any = scope.converters.canonical(concept, value, entry.context, at)
            else:
                assert column.ref is not None
                found = scope.canonical(column.ref, value, entry.context, at)
            if found is not None:
                yield from self.readers.group(column, found, None, rates(scope, at))

    def _complex(self, entry: Entry, held: SemanticObject, n: int, event: Any, out: Words) -> int:
        """A complex object: it may be bound itself, and dotted paths lead inside."""
        for column, concept, _ in entry.bindings:
            ref = column.ref
            assert ref is not None
            declared = ref.type if concept is None else concept.value_type or concept.canonical_unit
            if declared in (None, "complex"):
                name = entry.path[-1] if ref.steps else held.concept
                n = out.append(list(self.readers.group(column, Complex(name), name, None)), n)
        if not entry.enters:
            return n
        for key, inner in held.value.items():
            path = (*entry.path, key)
            context = inner.context or EMPTY
            known = self._at_path.get((path, context))
            if known is None:
                if len(self._at_path) >= MOST_NAMES:
                    self._at_path.clear()
                known = self._at_path[path, context] = Entry(path, context, self.readers)
            if not known.is_idle:
                n = self._value(known, inner, n, event, out)
        return n

    def _header(self, name: str, value: Any, n: int, out: Words) -> int:
        """What a mapping says about the event itself."""
        return self.part_words(HEADERS[name], Instant.of(value) if name == "@time" else str(value), n, out)

    def part_words(self, part: str, value: Any, n: int, out: Words) -> int:
        """The words of what is said of the event itself."""
        for column in self.of_event:
            assert column.ref is not None
            if column.ref.path[-1] != part:
                continue
            onto, held = column.world.ontology, value
            if part == "EVENT" and onto is not None:
                known = onto.find(value)
                held = None if known is None else onto[known.representative].iri
            if held is not None:
                n = out.append(list(self.readers.group(column, held, None, None)), n)
        return n


def _time_of(event: Any) -> Instant | None:
    if isinstance(event, Mapping):
        time = event.get("@time")
        return None if time is None else Instant.of(time)
    moment: Instant | None = event.time
    return moment
