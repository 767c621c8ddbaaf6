"""Single events to words.

The hot loop handles what almost every attribute is: a text, a number or a Boolean whose reader is known. The rest goes
through `_slowly`, which reads as the evaluator does. Nothing is converted: the readers hold the constants in the
units that events use.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conceptpubsub.filters import arithmetic
from conceptpubsub.filters.events import Complex, View, candidates, view
from conceptpubsub.filters.normal import Lit, Neg, Product, Recip, Ref, Sum, Term, value_of
from conceptpubsub.matching.codes import Codebook
from conceptpubsub.matching.event_kernels import CODE
from conceptpubsub.matching.readers import NOTHING, Binding, Reader, Readers, word
from conceptpubsub.matching.texts import TextTable
from conceptpubsub.matching.vocabulary import Column, Vocabulary
from conceptpubsub.model import EMPTY, Context, Instant, SemanticEvent, SemanticObject
from conceptpubsub.model.objects import as_object

_WHOLE: Final = 1 << 53
_MOST_NAMES: Final = 65536
_MOST_REMEMBERED: Final = 16384
_HEADERS: Final = {"@concept": "EVENT", "@time": "time", "@id": "id", "@source": "source"}
_SPARE: Final = 64


class Entry(dict[type, Reader]):
    """The readers of one attribute name in one context, by Python type."""

    __slots__ = ("bindings", "context", "dated", "enters", "path", "remembers_text", "words")

    def __init__(self, path: tuple[str, ...], context: Context, readers: Readers) -> None:
        super().__init__()
        self.path = path
        self.context = context
        self.bindings: list[Binding] = readers.bindings(path, context)
        self.enters = readers.leads_inside(path)
        self.dated = any(
            plan.moves or plan.currency is not None or "money" in readers.kinds(column)
            for column, _, plan in self.bindings
        )
        """Whether a value may mean something else at another time."""
        self.update(readers.simple(self.bindings))
        self[type(None)] = NOTHING
        self.remembers_text = not self.dated and str not in self
        self.words: dict[type, dict[Any, array[int]]] = {}
        self.forget()

    def forget(self) -> None:
        """Begin to remember words anew: new constants have come, and codes may be others."""
        self.words = {}
        if self.remembers_text:
            self.words[str] = {}
            self[str] = Reader(self.words[str].get, -1)

    @property
    def is_idle(self) -> bool:
        """Whether no filter speaks of it."""
        return not self.bindings and not self.enters


class Words:
    """Room for the words of an event, and the floats beside them; one for each thread."""

    __slots__ = ("addresses", "values", "words")

    def __init__(self) -> None:
        self.words = array("Q", bytes(8 * 1024))
        self.values = array("d", bytes(8 * 1024))
        self.addresses = (self.words.buffer_info()[0], self.values.buffer_info()[0])

    def reserve(self, count: int) -> None:
        """Make room for so many."""
        if count > len(self.words):
            more = max(len(self.words), count - len(self.words))
            self.words.extend(array("Q", bytes(8 * more)))
            self.values.extend(array("d", bytes(8 * more)))
            self.addresses = (self.words.buffer_info()[0], self.values.buffer_info()[0])

    def append(self, words: Any, n: int, value: float = 0.0) -> int:
        """Write some at a place; returns the place after them."""
        end = n + len(words)
        self.reserve(end + _SPARE)
        self.words[n:end] = words if type(words) is array else array("Q", words)
        self.values[n] = value
        return end


class Encoder:
    """Turns events into words, for one codebook."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.book: Codebook = vocabulary.book
        self.readers = Readers(vocabulary, vocabulary.book)
        self._lock = threading.Lock()
        self._seen = -1
        self._seen_constants = -1
        self._entries: dict[Any, Entry] = {}
        self._idle = Entry(("",), EMPTY, self.readers)
        """What no filter speaks of."""
        self._in_context: dict[tuple[str, Context], Entry] = {}
        self._at_path: dict[tuple[tuple[str, ...], Context], Entry] = {}
        self._remembering: list[Entry] = []
        self._remembered = 0
        self._texts: TextTable | None = None
        self.of_event: list[Column] = []
        self.computed: list[Column] = []

    def _renew(self, revision: int) -> None:
        """The vocabulary has grown, or a converter was registered: forget what was worked out."""
        worlds = self.vocabulary.worlds
        self._entries, self._in_context, self._at_path = {}, {}, {}
        self._remembering, self._remembered = [], 0
        self.of_event = [column for world in worlds for column in world.of_event]
        self.computed = [column for world in worlds for column in world.computed]
        self._seen = revision

    def refresh(self) -> None:
        """Take in what has come to the vocabulary since; to be called before an event when the clock has moved on."""
        vocabulary = self.vocabulary
        revision = vocabulary.revision + self.converted()
        if self._seen != revision:
            with self._lock:
                self._renew(revision)
        if self._seen_constants != self.book.revision:
            with self._lock:
                seen = self.book.revision
                self.readers.lookups.refresh()
                self._forget()
                self._seen_constants = seen

    def converted(self) -> int:
        """Changes whenever a converter is registered."""
        return sum([conv.revision for conv in self.vocabulary.converters])

    def text_table(self) -> TextTable:
        """The text constants, as kernels look them up."""
        space = self.book.spaces[self.vocabulary.space(("text", None))]
        if self._texts is None or self._texts.seen != len(space.added):
            self._texts = TextTable(space)
        return self._texts

    @property
    def epoch(self) -> int:
        """Changes whenever the readers of attributes are worked out anew."""
        return self._seen

    def _forget(self) -> None:
        forgetting, self._remembering, self._remembered = self._remembering, [], 0
        for entry in forgetting:
            entry.forget()

    # ------------------------------------------------------------------ the hot loop

    def encode(self, event: Any, out: Words, doubtful: list[Column]) -> int:
        """Write the words of an event and return how many.

        ``doubtful`` gets the computed columns whose value depends on the binding: for filters that use one, only the
        evaluator can tell.
        """
        if type(event) is not dict:
            return self._any_event(event, out, doubtful)
        size = len(event) + _SPARE
        if size > len(out.words):
            out.reserve(size)
        words, values, entries = out.words, out.values, self._entries
        n = 0
        try:
            for name, value in event.items():
                get, base = entries[name][type(value)]
                if get is None:
                    if base:
                        words[n] = base
                        values[n] = value
                        n += 1
                elif (found := get(value)) is None:
                    if type(value) is int and -_WHOLE <= value <= _WHOLE:  # no constant: its place among them
                        get, base = entries[name].get(float, NOTHING)
                        if get is None and base:
                            words[n] = base
                            values[n] = value
                            n += 1
                            continue
                    n = self._slowly(entries[name], name, value, n, event, out)
                    out.reserve(n + size)
                elif base >= 0:
                    words[n] = base
                    values[n] = found
                    n += 1
                else:
                    end = n + len(found)
                    out.reserve(end + size)
                    words[n:end] = found
                    n = end
        except KeyError:  # a name or a type that has not come before
            n = self._carefully(event, out)
        if self.computed:
            n = self._compute(event, n, out, doubtful)
        return n

    def _carefully(self, event: Mapping[Any, Any], out: Words) -> int:
        """As the hot loop, for events with something new or rare in them."""
        n = 0
        for name, value in event.items():
            entry = self._entries[name] if name in self._entries else self._new_entry(name)
            out.reserve(n + _SPARE)
            reader = entry.get(type(value))
            if reader is None:
                if not entry.is_idle or name in _HEADERS:
                    n = self._slowly(entry, name, value, n, event, out)
                continue
            n = self._read(reader, value, n, out)
            if n < 0:
                n = self._slowly(entry, name, value, -1 - n, event, out)
        return n

    def _read(self, reader: Reader, value: Any, n: int, out: Words) -> int:
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
        out.words[n], out.values[n] = base, found
        return n + 1

    def _any_event(self, event: Any, out: Words, doubtful: list[Column]) -> int:
        if isinstance(event, SemanticEvent):
            n = 0
            for name, held in event.attributes.items():
                n = self._object(name, held, n, event, out)
            for part, value in (
                ("EVENT", event.concept),
                ("time", event.time),
                ("id", event.id),
                ("source", event.source),
            ):
                if value is not None and self.of_event:
                    n = self.part_words(part, value, n, out)
            return self._compute(event, n, out, doubtful) if self.computed else n
        seen = view(event)
        return self.encode(dict(seen.attributes), out, doubtful)

    # ------------------------------------------------------------------ everything else

    def _new_entry(self, name: Any) -> Entry:
        if len(self._entries) >= _MOST_NAMES:
            self._entries.clear()
        made = Entry((name if type(name) is str else "",), EMPTY, self.readers)
        if name in _HEADERS:
            made.clear()  # each value is looked at, also where no filter asks
        elif made.is_idle:
            made = self._idle
        self._entries[name] = made
        return made

    def _slowly(self, entry: Entry, name: str, value: Any, n: int, event: Any, out: Words) -> int:
        """An attribute whose type has no reader here, or whose value is none of the constants."""
        if value is None:
            return n
        if name in _HEADERS:
            n = self._header(name, value, n, out)
            if not entry.bindings:
                return n
        if isinstance(value, SemanticObject):
            return self._object(name, value, n, event, out)
        return self._value(entry, as_object(name, value), n, event, out)

    def _object(self, name: str, held: SemanticObject, n: int, event: Any, out: Words) -> int:
        """A semantic object: as a plain value, in its own context."""
        context = held.context
        if not context:
            entry = self._entries[name] if name in self._entries else self._new_entry(name)
            if entry is self._idle:
                return n
        else:
            key = (name, context)
            known = self._in_context.get(key)
            if known is None:
                if len(self._in_context) >= _MOST_NAMES:
                    self._in_context.clear()
                known = self._in_context[key] = Entry((name,), context, self.readers)
            entry = known
        out.reserve(n + _SPARE)
        reader = entry.get(type(held.value))
        if reader is not None:
            end = self._read(reader, held.value, n, out)
            if end >= 0:
                return end
        return self._value(entry, held, n, event, out)

    def _value(self, entry: Entry, held: SemanticObject, n: int, event: Any, out: Words) -> int:
        """The value of an attribute under an entry, the slow way."""
        value = held.value
        if held.is_complex:
            return self._complex(entry, held, n, event, out)
        kind = type(value)
        if kind is int and -_WHOLE <= value <= _WHOLE:
            reader = entry.get(float)
            if reader is not None and reader.get is None:
                return out.append([reader.base] if reader.base else [], n, float(value))
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
        reader = entry.get(str)
        if reader is None or reader.base <= 0:
            return None
        space = self.book.spaces[self.vocabulary.space(("text", None))]
        memo = space.memo
        code = memo.get(value)
        if code is None:
            code = space.code(value)
            if len(memo) < _MOST_REMEMBERED and len(value) < 256:
                memo[value] = code
        return reader.base ^ _CONSTANT_TO_CODE | code

    def _remember(self, entry: Entry, memo: dict[Any, array[int]], value: Any, words: array[int]) -> None:
        if self._remembered >= _MOST_REMEMBERED:
            self._forget()
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
                yield from self.readers.group(column, found, None, _rates(scope, at))

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
                if len(self._at_path) >= _MOST_NAMES:
                    self._at_path.clear()
                known = self._at_path[path, context] = Entry(path, context, self.readers)
            if not known.is_idle:
                n = self._value(known, inner, n, event, out)
        return n

    def _header(self, name: str, value: Any, n: int, out: Words) -> int:
        """What a mapping says about the event itself."""
        return self.part_words(_HEADERS[name], Instant.of(value) if name == "@time" else str(value), n, out)

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

    # ------------------------------------------------------------------ computed columns

    def _compute(self, event: Any, n: int, out: Words, doubtful: list[Column]) -> int:
        """Columns whose value is a term over others."""
        seen = view(event)
        values: dict[int, list[Any]] = {}
        for column in self.computed:
            bound: dict[str, Any] = {}
            for part in column.parts:
                found = values.get(part.number)
                if found is None:
                    found = values[part.number] = _values_of(part, seen)
                assert part.ref is not None
                bound[part.ref.key] = found[0] if found else None
                if len(found) > 1:
                    doubtful.append(column)
                    break
            else:
                rate = _rates(column.world.scope, seen.time)
                assert column.term is not None
                value = value_of_term(column.term, bound, rate)
                if value is not None:
                    n = out.append(list(self.readers.group(column, value, None, rate)), n)
        return n


_CONSTANT_TO_CODE: Final = word(1, 0) ^ word(CODE, 0)


def _values_of(column: Column, seen: View) -> list[Any]:
    """The values a column may be bound to; its default where there are none."""
    assert column.ref is not None
    found = [each.value for each in candidates(column.ref, seen, column.world.scope)]
    return found or ([] if column.default is None else [column.default])


def _time_of(event: Any) -> Instant | None:
    if isinstance(event, Mapping):
        time = event.get("@time")
        return None if time is None else Instant.of(time)
    moment: Instant | None = event.time
    return moment


def _rates(scope: Any, at: Instant | None) -> Any:
    def rate(source: str, target: str) -> Any:
        if source == target:
            return 1
        return None if source.startswith("1/") or target.startswith("1/") else scope.converters.rate(source, target, at)

    return rate


def value_of_term(term: Term, bound: Mapping[str, Any], rate: Any) -> Any:
    """The canonical value of a term, or None where it has none."""
    if isinstance(term, Ref):
        return bound[term.key]
    if isinstance(term, Lit):
        return value_of(term)
    if isinstance(term, Neg | Recip):
        inner = value_of_term(term.arg, bound, rate)
        if inner is None:
            return None
        return arithmetic.add([inner], [-1], rate) if isinstance(term, Neg) else arithmetic.reciprocal(inner)
    signs = [-1 if isinstance(arg, Neg) and isinstance(term, Sum) else 1 for arg in term.args]
    inner_terms = [arg.arg if sign < 0 else arg for arg, sign in zip(term.args, signs, strict=True)]  # type: ignore[union-attr]
    values = [value_of_term(each, bound, rate) for each in inner_terms]
    if any(value is None for value in values):
        return None
    return arithmetic.multiply(values, rate) if isinstance(term, Product) else arithmetic.add(values, signs, rate)
