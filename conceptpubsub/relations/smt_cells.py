"""Cells: the ways in which one text can pass and fail a list of tests, each with a text that does.

A Boolean combination of tests of one text needs no theory of strings: which combinations are possible at all is found
once and remembered, and the formula then speaks of a small number. z3's own string solver is slow where several
negated tests meet (seconds); a cell is one membership in one regular language (milliseconds).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import z3

from conceptpubsub.relations import texts
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.smt_regex import Languages, Test, unescaped
from conceptpubsub.relations.smt_session import Session
from conceptpubsub.relations.texts import Texts

MOST_CELLS = 256


class Cell(NamedTuple):
    """A possible combination: for each test whether it is passed, and a text for which it is so."""

    passed: tuple[bool, ...]
    text: str


def cells(session: Session, tests: tuple[Test, ...], room: Texts, by_domains: bool) -> tuple[Cell, ...]:
    """Every possible combination of the tests, for texts in a room; `GaveUp` where there are too many, or doubts.

    ``by_domains`` asks the algebra of texts first; else z3 alone answers.
    """
    found: tuple[Cell, ...] = session.remembered(
        ("cells", tests, room, by_domains), lambda: _Search(session, tests, room, by_domains).all()
    )
    return found


class _Search:
    def __init__(self, session: Session, tests: tuple[Test, ...], room: Texts, by_domains: bool) -> None:
        self.session = session
        self.tests = tests
        self.room = room
        self.by_domains = by_domains
        self.languages = Languages(session)
        self.found: list[Cell] = []

    def all(self) -> tuple[Cell, ...]:
        self.extend((), self.room if self.by_domains else None)
        return tuple(self.found)

    def extend(self, passed: tuple[bool, ...], inside: Texts | None) -> None:
        """Split what is left along the next test, as long as anything is left."""
        if len(passed) == len(self.tests):
            text = self.member(passed, inside)
            if text is not None:
                self.found.append(Cell(passed, text))
                if len(self.found) > MOST_CELLS:
                    raise GaveUp("too many combinations of tests of one text")
            return
        if passed and self.member(passed, inside) is None:
            return
        test = self.tests[len(passed)]
        for holds in (True, False):
            self.extend((*passed, holds), None if inside is None else narrowed(inside, test, holds))

    def member(self, passed: tuple[bool, ...], inside: Texts | None) -> str | None:
        if inside is not None:
            try:
                return texts.sample(inside)
            except GaveUp:
                pass
        return self.by_solver(passed)

    def by_solver(self, passed: tuple[bool, ...]) -> str | None:
        to = self.languages
        parts = [
            to.of(test) if holds else z3.Complement(to.of(test))
            for test, holds in zip(self.tests, passed, strict=False)
        ]
        if self.room != texts.EVERY:
            listed = texts.finite(self.room.intervals)
            assert listed is not None, "declared values are a finite set"
            parts.append(to.either([to.text(value) for value in listed]))
        if not parts:
            return ""
        language = parts[0] if len(parts) == 1 else z3.Intersect(*parts)
        variable = z3.String("text", self.session.context)
        model = self.session.check([z3.InRe(variable, language)], "text")
        return None if model is None else unescaped(_string(model, variable))


def _string(model: Any, variable: Any) -> str:
    value = model.eval(variable, model_completion=True)
    return str(value.as_string())


def as_texts(test: Test) -> Texts:
    """The set of texts that pass a test."""
    if isinstance(test.pattern, tuple):
        return Texts(texts.one_of(test.pattern))
    if test.op in ("=", "<", "<=", ">", ">="):
        return Texts(texts.compared(test.op, test.pattern))
    return texts.tested(test.op, test.pattern)


def narrowed(inside: Texts, test: Test, holds: bool) -> Texts:
    """What of a set passes a test, or fails it."""
    whole = as_texts(test)
    if holds:
        return texts.meet(inside, whole)
    outside = texts.minus(texts.EVERY, whole)
    return texts.meet(inside, outside[0]) if outside else texts.NONE
