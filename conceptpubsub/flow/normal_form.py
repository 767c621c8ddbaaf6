"""Paths through a graph, and their normal form: at most one preparation, one select, one transform.

Externalise: an internal space that clients publish to or subscribe to is split in two, so that a path leads from every
space that is published to, to every space that is subscribed to, however many spaces lie between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conceptpubsub.errors import FlowError
from conceptpubsub.filters import Filter
from conceptpubsub.flow.arcs import Collapse, Expand, Map, Select
from conceptpubsub.flow.rules import RULES, share_expressions
from conceptpubsub.flow.steps import Prepare, Setting, Steps, show
from conceptpubsub.flow.transforms import Transform

if TYPE_CHECKING:
    from conceptpubsub.flow.graph import FlowGraph

MAX_PATHS = 10_000
MAX_REWRITES = 10_000


@dataclass(frozen=True, slots=True)
class Path:
    """A way from a space that is published to, to one that is subscribed to."""

    source: str
    target: str
    through: tuple[str, ...]
    steps: Steps

    @property
    def prepare(self) -> Prepare | None:
        """What is computed at the source, if anything."""
        return next((step for step in self.steps if isinstance(step, Prepare)), None)

    @property
    def select(self) -> Filter | None:
        """The one select; None where every event passes."""
        return next((step for step in self.steps if isinstance(step, Filter)), None)

    @property
    def transform(self) -> Transform | None:
        """The one transform; None where events pass as they are."""
        return next((step for step in self.steps if isinstance(step, Transform)), None)

    def __str__(self) -> str:
        return f"{self.source} to {self.target}: " + ("; ".join(show(step) for step in self.steps) or "as it is")


def publishers(graph: FlowGraph) -> list[str]:
    """The spaces that events enter by: sources, and the expansions of states."""
    expanded = {arc.target for arc in graph.arcs if isinstance(arc, Expand)}
    return [name for name, space in graph.spaces.items() if space.is_source or name in expanded]


def subscribers(graph: FlowGraph) -> list[str]:
    """The spaces that events are wanted at: sinks, and the histories that states are collapsed from."""
    collapsed = {arc.source for arc in graph.arcs if isinstance(arc, Collapse)}
    histories = [name for name, space in graph.spaces.items() if not space.is_state]
    wanted = graph.sinks or {name for name in histories if any(arc.target == name for arc in graph.arcs)}
    return [name for name in histories if name in wanted or name in collapsed]


def paths(graph: FlowGraph) -> list[Path]:
    """Every way from a publisher's space to a subscriber's, steps as written."""
    wanted = set(subscribers(graph))
    found: list[Path] = []
    for source in publishers(graph):
        for path in _ways(graph, source):
            if path.target in wanted and (path.steps or path.source in graph.sinks or path.target == source):
                if path.source == path.target and source not in wanted:
                    continue
                found.append(path)
                if len(found) > MAX_PATHS:
                    raise FlowError(f"the graph has more than {MAX_PATHS:,} paths from publishers to subscribers")
    return found


def _ways(graph: FlowGraph, source: str) -> Iterator[Path]:
    stack: list[tuple[str, tuple[str, ...], Steps]] = [(source, (), ())]
    while stack:
        at, through, steps = stack.pop()
        yield Path(source, at, through, steps)
        for arc in reversed(graph.arcs):
            if arc.source == at and isinstance(arc, Select | Map):
                step = arc.filter if isinstance(arc, Select) else arc.transform
                stack.append((arc.target, (*through, arc.target), (*steps, step)))


def normalised(path: Path, graph: FlowGraph, share: bool = False) -> Path:
    """The path with the rules applied until none fits."""
    plain = Setting(graph.spaces[path.source].schema, graph.converters)
    steps = path.steps
    rules = (*RULES, share_expressions) if share else RULES
    for _ in range(MAX_REWRITES):
        changed = _once(steps, plain, rules)
        if changed is None:
            break
        steps = changed
    else:
        raise FlowError(f"{path}: rewriting did not end within {MAX_REWRITES:,} steps")
    if len(steps) == 1 and isinstance(steps[0], Transform) and steps[0].is_identity:
        steps = () if set(steps[0].outputs) == set(plain.schema) else steps
    return Path(path.source, path.target, path.through, steps)


def _once(steps: Steps, plain: Setting, rules: tuple) -> Steps | None:  # type: ignore[type-arg]
    """The steps after the first rule that fits, at the first place it fits; None when none does."""
    prepared = steps[0] if steps and isinstance(steps[0], Prepare) else None
    setting = Setting(plain.extended(prepared, "a prepared path"), plain.converters)
    for rule in rules:
        for index in range(len(steps) - 1):
            made = rule(steps[index], steps[index + 1], setting)
            if made is not None:
                return (*steps[:index], *made, *steps[index + 2 :])
    return None
