"""Pictures of flow graphs: Mermaid text, and SVG drawn in layers from publishers to subscribers."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from conceptpubsub.flow.arcs import Arc, Collapse, Expand, Map, Select

if TYPE_CHECKING:
    from conceptpubsub.flow.graph import FlowGraph

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 170, 40, 230, 46
_COLOURS = {"source": "#dbeafe", "state": "#fef3c7", "history": "#f3f4f6"}


def label(arc: Arc, most: int = 60) -> str:
    """What stands on an arc."""
    match arc:
        case Select(_, _, select):
            text = f"select {select}"
        case Map(_, _, transform):
            text = f"transform {transform}"
        case Collapse(_, _, rule):
            text = f"collapse by {rule.key}"
        case _:
            text = "expand"
    return text if len(text) <= most else text[: most - 1] + "…"


def mermaid(graph: FlowGraph) -> str:
    """The graph as a Mermaid flowchart: states are boxes, histories are rounded, sources are stadiums."""
    numbers = {name: f"s{index}" for index, name in enumerate(graph.spaces)}
    lines = ["flowchart LR"]
    for name, space in graph.spaces.items():
        shown = name.replace('"', "#quot;")
        shape = f'["{shown}"]' if space.is_state else f'(["{shown}"])' if space.is_source else f'("{shown}")'
        lines.append(f"    {numbers[name]}{shape}")
    for arc in graph.arcs:
        shown = label(arc).replace('"', "#quot;").replace("|", "#124;")
        lines.append(f'    {numbers[arc.source]} -- "{shown}" --> {numbers[arc.target]}')
    return "\n".join(lines)


def layers(graph: FlowGraph) -> dict[str, int]:
    """For each space, how many arcs lead to it at the most: its column in the picture."""
    depth = dict.fromkeys(graph.spaces, 0)
    for _ in graph.spaces:
        for arc in graph.arcs:
            depth[arc.target] = max(depth[arc.target], depth[arc.source] + 1)
    return depth


def svg(graph: FlowGraph) -> str:
    """The graph as a self-contained SVG picture."""
    depth = layers(graph)
    rows: dict[int, int] = {}
    at: dict[str, tuple[int, int]] = {}
    for name in graph.spaces:
        column = depth[name]
        row = rows.get(column, 0)
        rows[column] = row + 1
        at[name] = (20 + column * _GAP_X, 20 + row * (_HEIGHT + _GAP_Y))
    width = 40 + _WIDTH + _GAP_X * max(depth.values(), default=0)
    height = 40 + max(rows.values(), default=1) * (_HEIGHT + _GAP_Y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#374151"/></marker></defs>',
    ]
    parts += [_arrow(arc, at) for arc in graph.arcs]
    for name, space in graph.spaces.items():
        x, y = at[name]
        kind = "state" if space.is_state else "source" if space.is_source else "history"
        rounding = 0 if space.is_state else 18
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{rounding}" '
            f'fill="{_COLOURS[kind]}" stroke="#374151"/>'
            f'<text x="{x + _WIDTH // 2}" y="{y + 24}" text-anchor="middle">{html.escape(_short(name))}'
            f"<title>{html.escape(name)}</title></text>"
        )
    return "\n".join([*parts, "</svg>"])


def _arrow(arc: Arc, at: dict[str, tuple[int, int]]) -> str:
    x1, y1 = at[arc.source]
    x2, y2 = at[arc.target]
    middle = ((x1 + _WIDTH + x2) // 2, (y1 + y2 + _HEIGHT) // 2 - 6)
    dash = ' stroke-dasharray="5 3"' if isinstance(arc, Expand | Collapse) else ""
    return (
        f'<line x1="{x1 + _WIDTH}" y1="{y1 + _HEIGHT // 2}" x2="{x2}" y2="{y2 + _HEIGHT // 2}" stroke="#374151"'
        f'{dash} marker-end="url(#tip)"/>'
        f'<text x="{middle[0]}" y="{middle[1]}" text-anchor="middle" font-size="9" fill="#6b7280">'
        f"{html.escape(label(arc, 26))}<title>{html.escape(label(arc, 1000))}</title></text>"
    )


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"
