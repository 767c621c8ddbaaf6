"""Spaces and arcs of a flow graph: frozen data that knows no graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conceptpubsub.filters import Filter
from conceptpubsub.flow.collapse import CollapseRule
from conceptpubsub.flow.expressions import Expr
from conceptpubsub.flow.schema import Schema
from conceptpubsub.flow.transforms import Transform


@dataclass(frozen=True, slots=True)
class Space:
    """An information space: an event history with a schema, or a state with a key."""

    name: str
    schema: Schema
    is_source: bool = False
    is_state: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """Events of the source space that match go on."""

    source: str
    target: str
    filter: Filter

    def __str__(self) -> str:
        return f"select {self.source} -> {self.target}: {self.filter or 'everything'}"


@dataclass(frozen=True, slots=True)
class Map:
    """Events of the source space go on transformed."""

    source: str
    target: str
    transform: Transform

    def __str__(self) -> str:
        return f"transform {self.source} -> {self.target}: {self.transform}"


@dataclass(frozen=True, slots=True)
class Collapse:
    """Events of the source history change the state."""

    source: str
    target: str
    rule: CollapseRule

    def __str__(self) -> str:
        return f"collapse {self.source} -> {self.target} by {self.rule.key}"


@dataclass(frozen=True, slots=True)
class Expand:
    """Changes of the state become events: derived ones by an expression, or a sequence that collapses to the state."""

    source: str
    target: str
    outputs: Mapping[str, Expr] | None = None
    functions: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"expand {self.source} -> {self.target}"


Arc: TypeAlias = Select | Map | Collapse | Expand
