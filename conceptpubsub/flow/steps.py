"""Steps of a path through a flow graph: selects and transforms in a row, and a text form for reading them.

Rules rewrite a row of steps; each rule's before/after pairs are written in the text form:
``select price > 3``, ``transform name = NYS(issue), price``, ``prepare total = price * volume``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conceptpubsub.converters import Converters
from conceptpubsub.filters import Filter
from conceptpubsub.flow import predicates
from conceptpubsub.flow.expressions import Attribute, Expr, parse
from conceptpubsub.flow.functions import Function
from conceptpubsub.flow.inference import infer
from conceptpubsub.flow.schema import Schema
from conceptpubsub.flow.transforms import Transform


@dataclass(frozen=True, slots=True)
class Prepare:
    """Auxiliary attributes computed at the source and carried along with the event."""

    outputs: Mapping[str, Expr]
    functions: Mapping[str, Function] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {expr}" for name, expr in self.outputs.items())


Step: TypeAlias = Filter | Transform | Prepare
Steps: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a row of steps stands: the schema of its source, and the converters of the graph."""

    schema: Schema
    converters: Converters

    def filter(self, text: str, place: str, extra: Prepare | None = None) -> Filter:
        """A predicate in this setting, auxiliary attributes included."""
        return predicates.read(text, self.extended(extra, place), self.converters, place)

    def extended(self, extra: Prepare | None, place: str) -> Schema:
        """The schema with the auxiliary attributes' types."""
        if extra is None:
            return self.schema
        kinds: dict[str, Any] = dict(self.schema)
        for name, expr in extra.outputs.items():
            kinds[name] = infer(expr, self.schema, extra.functions, place).kind(place)
        return kinds


def show(step: Step) -> str:
    """A step as text."""
    if isinstance(step, Filter):
        return f"select {step}"
    if isinstance(step, Prepare):
        return f"prepare {step}"
    return f"transform {str(step)[1:-1]}"


def read(text: str, setting: Setting, functions: Mapping[str, Function] | None = None) -> Step:
    """A step from its text; the inverse of `show`."""
    word, _, rest = text.partition(" ")
    if word == "select":
        return setting.filter(rest, text)
    outputs: dict[str, Expr] = {}
    for part in _split(rest):
        name, equals, expr = part.partition(" = ")
        outputs[name.strip()] = parse(expr, text) if equals else Attribute(name.strip())
    named = dict(functions or {})
    return Prepare(outputs, named) if word == "prepare" else Transform(outputs, (), named)


def _split(text: str) -> list[str]:
    """The parts of a list, commas inside parentheses left alone."""
    found, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            found.append(text[start:index])
            start = index + 1
    return [*found, text[start:]]
