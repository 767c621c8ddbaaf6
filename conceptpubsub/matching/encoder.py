"""Single events to words.

The hot loop handles what almost every attribute is: a text, a number or a Boolean whose reader is known. The rest goes
through ``value_words``, which reads as the evaluator does. Nothing is converted: the readers hold the constants in the
units that events use.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from conceptpubsub.filters.events import view
from conceptpubsub.matching.computed_words import compute_words
from conceptpubsub.matching.entries import SPARE, Words
from conceptpubsub.matching.readers import NOTHING, Reader
from conceptpubsub.matching.texts import TextTable
from conceptpubsub.matching.value_words import HEADERS, MOST_NAMES, WHOLE, ValueWords
from conceptpubsub.matching.vocabulary import Column, Vocabulary
from conceptpubsub.model import SemanticEvent


class Encoder(ValueWords):
    """Turns events into words, for one codebook."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._lock = threading.Lock()
        self._seen = -1
        self._seen_constants = -1
        self._readers: dict[Any, dict[type, Reader]] = {}
        """Those of the entries, without a step between."""
        self._texts: TextTable | None = None
        self.computed: list[Column] = []

    def _renew(self, revision: int) -> None:
        """The vocabulary has grown, or a converter was registered: forget what was worked out."""
        worlds = self.vocabulary.worlds
        self.forget_names()
        self._readers = {}
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
                self.forget_words()
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

    # ------------------------------------------------------------------ the hot loop

    def encode(self, event: Any, out: Words, doubtful: list[Column]) -> int:
        """Write the words of an event and return how many.

        ``doubtful`` gets the computed columns whose value depends on the binding: for filters that use one, only the
        evaluator can tell.
        """
        if type(event) is not dict:
            return self._any_event(event, out, doubtful)
        size = len(event) + SPARE
        if size > len(out.words):
            out.reserve(size)
        words, values, numbers, readers = out.words, out.values, out.numbers, self._readers
        n = 0
        try:
            for name, value in event.items():
                get, base = readers[name][type(value)]
                if get is None:
                    if base:
                        words[n] = base
                        values[n] = value
                        n += 1
                elif (found := get(value)) is None:
                    if type(value) is int and -WHOLE <= value <= WHOLE:  # no constant: its place among them
                        get, base = readers[name].get(float, NOTHING)
                        if get is None and base:
                            words[n] = base
                            values[n] = value
                            n += 1
                            continue
                    n = self.slowly(self.entry(name), name, value, n, event, out)
                    out.reserve(n + size)
                elif base >= 0:
                    words[n] = base
                    numbers[n] = found
                    n += 1
                else:
                    end = n + len(found)
                    out.reserve(end + size)
                    words[n:end] = found
                    n = end
        except KeyError:  # a name or a type that has not come before
            n = self._carefully(event, out)
        if self.computed:
            n = compute_words(self.computed, self.readers, event, n, out, doubtful)
        return n

    def _carefully(self, event: Mapping[Any, Any], out: Words) -> int:
        """As the hot loop, for events with something new or rare in them."""
        n, known = 0, self._readers  # taken before the entries are: forgetting replaces it
        if len(known) > MOST_NAMES:
            known = self._readers = {}
        for name, value in event.items():
            entry = self.entry(name)
            known[name] = entry.readers
            out.reserve(n + SPARE)
            reader = entry.readers.get(type(value))
            if reader is None:
                if not entry.is_idle or name in HEADERS:
                    n = self.slowly(entry, name, value, n, event, out)
                continue
            n = self.read(reader, value, n, out)
            if n < 0:
                n = self.slowly(entry, name, value, -1 - n, event, out)
        return n

    def _any_event(self, event: Any, out: Words, doubtful: list[Column]) -> int:
        if isinstance(event, SemanticEvent):
            n = 0
            for name, held in event.attributes.items():
                n = self.object_words(name, held, n, event, out)
            for part, value in (
                ("EVENT", event.concept),
                ("time", event.time),
                ("id", event.id),
                ("source", event.source),
            ):
                if value is not None and self.of_event:
                    n = self.part_words(part, value, n, out)
            return compute_words(self.computed, self.readers, event, n, out, doubtful) if self.computed else n
        seen = view(event)
        return self.encode(dict(seen.attributes), out, doubtful)
