"""Rewriting a graph to its normal form: one select and one transform from every publisher to every subscriber.

A space that is published to and fed by others is split: publishers keep its name, subscribers are led to ``NAME_s``
(``sides`` says which), so that no event takes two ways to one subscriber. What is stateful stays where it is: a
collapse reads the subscribers' side of its history, an expansion publishes.
"""

from __future__ import annotations

from dataclasses import replace

from conceptpubsub.filters import Filter
from conceptpubsub.flow.arcs import Collapse, Expand, Map, Select, Space
from conceptpubsub.flow.graph import FlowGraph
from conceptpubsub.flow.normal_form import Path, normalised, paths
from conceptpubsub.flow.proofs import prove
from conceptpubsub.flow.steps import Setting


def rewrite(graph: FlowGraph, share: bool, budget_ms: int) -> FlowGraph:
    """The normal form of a graph, with its paths and their proofs."""
    made = FlowGraph(graph.converters)
    found = [(path, normalised(path, graph, share)) for path in paths(graph)]
    made.spaces = {
        name: Space(name, space.schema, space.is_source, space.is_state) for name, space in graph.spaces.items()
    }
    made.sinks = set(graph.sinks)
    entered = {path.source for _, path in found}
    for name in {path.target for _, path in found if path.source != path.target and path.target in entered}:
        made.sides[name] = f"{name}_s"
        made.spaces[f"{name}_s"] = Space(f"{name}_s", graph.spaces[name].schema)
    for _, path in found:
        _draw(path, made)
    for arc in graph.arcs:
        if isinstance(arc, Collapse):
            made.arcs.append(replace(arc, source=made.sides.get(arc.source, arc.source)))
        elif isinstance(arc, Expand):
            made.arcs.append(arc)
    made.paths = tuple(path for _, path in found)
    made.proofs = tuple(prove(original, path, graph.spaces[path.source].schema, budget_ms) for original, path in found)
    return made


def _draw(path: Path, made: FlowGraph) -> None:
    """The arcs of one path; between select and transform lies a space of the path's own."""
    target = made.sides.get(path.target, path.target)
    if path.source == target:
        return
    setting = Setting(made.spaces[path.source].schema, made.converters)
    at = path.source
    schema = setting.extended(path.prepare, str(path))
    if path.prepare is not None:
        from conceptpubsub.flow.expressions import Attribute
        from conceptpubsub.flow.transforms import Transform

        outputs = {name: Attribute(name) for name in setting.schema} | dict(path.prepare.outputs)
        at = _between(path, made, "prepared", schema)
        made.arcs.append(Map(path.source, at, Transform(outputs, (), path.prepare.functions)))
    select = path.select
    if path.transform is None:
        everything = select if select is not None else Filter.parse("", converters=made.converters)
        made.arcs.append(Select(at, target, everything))
        return
    if select is not None:
        selected = _between(path, made, "selected", schema)
        made.arcs.append(Select(at, selected, select))
        at = selected
    made.arcs.append(Map(at, target, path.transform))


def _between(path: Path, made: FlowGraph, word: str, schema: object) -> str:
    name = f"{path.source} {word} for {path.target}"
    count = 2
    while name in made.spaces:
        name, count = f"{path.source} {word} for {path.target} ({count})", count + 1
    made.spaces[name] = Space(name, schema)  # type: ignore[arg-type]
    return name
