"""A text in a formula: a cell number where it only meets constants, a string of z3 where it meets other texts.

Where the combinations of its tests cannot be found out, each test is a free Boolean: what is proved so is proved, and
what is found so is only a guess (``exact`` is false).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import z3

from conceptpubsub.relations import intervals, texts
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.smt_cells import Cell, as_texts, cells
from conceptpubsub.relations.smt_regex import Languages, Test, escaped, unescaped
from conceptpubsub.relations.smt_session import Session
from conceptpubsub.relations.texts import Texts, finite, passes


class FixedText:
    """A constant."""

    exact = True

    def __init__(self, session: Session, value: str) -> None:
        self.session = session
        self.value = value
        self.side: list[Any] = []

    def passes(self, test: Test) -> Any:
        """Whether it passes a test."""
        whole = as_texts(test)
        inside = intervals.includes(whole.intervals, texts.compared("=", self.value))
        return z3.BoolVal(inside and passes(self.value, whole.literals), self.session.context)

    def string(self) -> Any:
        """As a string of z3."""
        return z3.StringVal(escaped(self.value), self.session.context)

    def read(self, model: Any) -> str:
        """The text in a model."""
        return self.value


class StringText:
    """A string of z3."""

    exact = True

    def __init__(self, session: Session, name: str, room: Texts) -> None:
        self.session = session
        self.variable = z3.String("t|" + name, session.context)
        self.languages = Languages(session)
        listed = None if room == texts.EVERY else finite(room.intervals)
        self.side = [] if listed is None else [self.passes(Test("in", tuple(listed)))]

    def passes(self, test: Test) -> Any:
        """Whether it passes a test."""
        return z3.InRe(self.variable, self.languages.of(test))

    def string(self) -> Any:
        """As a string of z3."""
        return self.variable

    def read(self, model: Any) -> str:
        """The text in a model."""
        return unescaped(str(model.eval(self.variable, model_completion=True).as_string()))


class CellText:
    """The number of a cell, or free Booleans."""

    def __init__(self, session: Session, name: str, room: Texts, tests: tuple[Test, ...], by_domains: bool) -> None:
        self.session = session
        self.name = name
        self.tests = tests
        self.cells: tuple[Cell, ...] = ()
        self.exact = True
        try:
            self.cells = cells(session, tests, room, by_domains)
        except GaveUp:
            self.exact = False
        self.variable = z3.Int(f"c|{name}|{_number(tests)}", session.context)
        count = len(self.cells)
        self.side = [self.variable >= 0, self.variable < count] if self.exact else []

    def passes(self, test: Test) -> Any:
        """Whether it passes a test."""
        place = self.tests.index(test)
        if not self.exact:
            return z3.Bool(f"f|{self.name}|{test!r}", self.session.context)
        return self.session.any_of(self.variable == i for i, cell in enumerate(self.cells) if cell.passed[place])

    def string(self) -> Any:
        """Never asked: texts that meet others are strings."""
        raise GaveUp("a comparison of texts")

    def read(self, model: Any) -> str:
        """The text in a model."""
        if not self.exact:
            raise GaveUp("tests of text")
        number: int = model.eval(self.variable, model_completion=True).as_long()
        return self.cells[number].text


@lru_cache(maxsize=65536)
def _number(tests: tuple[Test, ...]) -> int:
    """A number for a list of tests, so that variables of different lists have different names."""
    return hash(tests)


Text = FixedText | StringText | CellText
