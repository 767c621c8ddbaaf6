"""FlowGraph: information spaces and the arcs between them, checked as they are added.

Every arc's schemas are checked when the arc is added, and errors name the arc; the graph is acyclic at every moment,
because an arc that would close a cycle is refused with the cycle's spaces in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptpubsub.converters import Converters
from conceptpubsub.errors import FlowError, hint, near
from conceptpubsub.filters import Filter
from conceptpubsub.flow import predicates
from conceptpubsub.flow.arcs import Arc, Collapse, Expand, Map, Select, Space
from conceptpubsub.flow.collapse import CollapseRule, Rule
from conceptpubsub.flow.expressions import parse
from conceptpubsub.flow.functions import Function, canonical, named_functions
from conceptpubsub.flow.inference import Measured, assignable, infer
from conceptpubsub.flow.schema import Schema, kind, schema, show
from conceptpubsub.flow.transforms import Transform

if TYPE_CHECKING:
    from conceptpubsub.flow.normal_form import Path as FlowPath
    from conceptpubsub.flow.proofs import Proof


class FlowGraph:
    """An information flow graph.

    >>> g = FlowGraph()
    >>> g.source("NASDAQ", {"issue": "text", "price": "real", "capital": "real"})
    >>> g.transform("NASDAQ", "Combined", {"name": "NAS(issue)", "price": "price", "volume": "capital / price"},
    ...             functions={"NAS": {"MSFT": "Microsoft"}})
    >>> g.select("Combined", "LargeTrades", "price * volume >= 1000000")
    >>> print(g)
    source NASDAQ [issue: text, price: real, capital: real]
    transform NASDAQ -> Combined: [name = NAS(issue), price, volume = capital / price]
    select Combined -> LargeTrades: price * volume >= 1000000
    """

    def __init__(self, converters: Converters | None = None) -> None:
        self.converters = converters if converters is not None else Converters.default()
        self.spaces: dict[str, Space] = {}
        self.arcs: list[Arc] = []
        self.sinks: set[str] = set()
        self.sides: dict[str, str] = {}
        self.paths: tuple[FlowPath, ...] = ()
        self.proofs: tuple[Proof, ...] = ()

    # ------------------------------------------------------------------ spaces

    def source(self, name: str, attributes: Mapping[str, Any]) -> None:
        """A space that publishers publish to; an internal space of the same schema becomes one too."""
        made = schema(attributes, f"source {name}")
        known = self.spaces.get(name)
        if known is not None:
            if known.is_state or dict(known.schema) != dict(made):
                raise FlowError(f"source {name}: the space exists with {show(known.schema)}", arc=f"source {name}")
            made = known.schema
        self.spaces[name] = Space(name, made, is_source=True)

    def sink(self, name: str) -> None:
        """Mark a space as one that clients subscribe to. Without any mark, every derived history is one."""
        if self.space(name).is_state:
            raise FlowError(f"sink {name}: a state has no events; subscribe to an expansion of it", arc=f"sink {name}")
        self.sinks.add(name)

    def space(self, name: str) -> Space:
        """The space of that name, or an error that offers near names."""
        try:
            return self.spaces[name]
        except KeyError:
            offered = hint(near(str(name), self.spaces)) or " Declare it with source() or as the target of an arc."
            raise FlowError(f"no space '{name}'.{offered}", name=name) from None

    # ------------------------------------------------------------------ arcs

    def select(self, source: str, target: str, predicate: str | Filter) -> None:
        """Pass on the events that match; the target has the source's schema."""
        place = f"select {source} -> {target}"
        start = self._history(source, place)
        made = predicates.read(predicate, start.schema, self.converters, place)
        self._connect(target, start.schema, place)
        self._add(Select(source, target, made), place)

    def transform(
        self, source: str, target: str, outputs: Mapping[str, str], functions: Mapping[str, Any] | None = None
    ) -> None:
        """Pass on every event with its attributes computed anew: output name to expression."""
        place = f"transform {source} -> {target}"
        start = self._history(source, place)
        named = named_functions(functions)
        if not isinstance(outputs, Mapping) or not outputs:
            raise FlowError(f"{place}: a transform maps output attributes to expressions", arc=place)
        known = self.spaces.get(target)
        exprs, kinds = {}, {}
        for name, text in outputs.items():
            expr = parse(text, place)
            made = infer(expr, start.schema, named, place)
            wanted = known.schema.get(name) if known is not None else None
            kinds[name] = self._kind(name, made, wanted, place)
            exprs[name] = expr
        self._connect(target, schema(kinds, place), place)
        self._add(Map(source, target, Transform(exprs, (), named)), place)

    def collapse(
        self,
        source: str,
        target: str,
        *,
        key: str,
        rules: Sequence[Mapping[str, Any]],
        initial: Mapping[str, Any] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> None:
        """Fold a history into a state with one row a key. ``initial`` gives the columns and their first values."""
        place = f"collapse {source} -> {target}"
        start = self._history(source, place)
        if key not in start.schema:
            raise FlowError(f"{place}: no attribute '{key}'.{hint(near(key, start.schema))}", arc=place)
        first = dict(initial or {})
        for rule in rules:
            for column in rule.get("set", {}) if isinstance(rule, Mapping) else ():
                first.setdefault(column, 0)
        shared = sorted(set(first) & set(start.schema))
        if shared or not first:
            reason = f"the columns {shared} are attributes too: name them apart" if shared else "no rule sets a column"
            raise FlowError(f"{place}: {reason}", arc=place)
        columns = tuple(first)
        named = named_functions(functions)
        made = tuple(Rule.of(rule, columns, place) for rule in rules)
        row = tuple(None if value is None else canonical(value) for value in first.values())
        if target in self.spaces:
            raise FlowError(f"{place}: a state has a single in-arc, and '{target}' exists", arc=place)
        self.spaces[target] = Space(
            target, self._state_schema(key, columns, made, start.schema, named, place), is_state=True
        )
        self._add(Collapse(source, target, CollapseRule(key, columns, row, made, named)), place)

    def expand(
        self,
        source: str,
        target: str,
        outputs: Mapping[str, str] | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> None:
        """Turn changes of a state into events.

        Without ``outputs``: a sequence of the collapsed history's own events that has the same interpretation. With
        them: derived events (alarms, summaries) computed from the key and the columns of the row that changed.
        """
        place = f"expand {source} -> {target}"
        state = self.space(source)
        if not state.is_state:
            raise FlowError(f"{place}: '{source}' is a history; only a state can be expanded", arc=place)
        named = named_functions(functions)
        if outputs is None:
            into = next(arc for arc in self.arcs if arc.target == source)
            self._connect(target, self.spaces[into.source].schema, place)
            self._add(Expand(source, target), place)
            return
        exprs = {name: parse(text, place) for name, text in outputs.items()}
        kinds = {n: self._kind(n, infer(e, state.schema, named, place), None, place) for n, e in exprs.items()}
        self._connect(target, schema(kinds, place), place)
        self._add(Expand(source, target, exprs, named), place)

    # ------------------------------------------------------------------ uses

    def rewrite(self, share: bool = False, budget_ms: int = 2_000) -> FlowGraph:
        """The graph in normal form: one select and one transform on every path, each path proven equal by z3.

        ``share`` computes common sub-expressions of select and transform once, at the source, and carries them.
        ``budget_ms`` is the time z3 may take for one path; what it cannot prove within it, `proofs` names.
        """
        from conceptpubsub.flow.rewrite import rewrite

        return rewrite(self, share, budget_ms)

    def run(self) -> Any:
        """A runner that carries events through the graph in this process."""
        from conceptpubsub.flow.running import Flow

        return Flow(self)

    @classmethod
    def load(
        cls, path: str | Path, functions: Mapping[str, Any] | None = None, converters: Converters | None = None
    ) -> FlowGraph:
        """Read a graph from a TOML file."""
        from conceptpubsub.flow.files import load

        return load(path, functions or {}, converters)

    def mermaid(self) -> str:
        """The graph as Mermaid text."""
        from conceptpubsub.flow.drawing import mermaid

        return mermaid(self)

    def svg(self) -> str:
        """The graph as an SVG picture."""
        from conceptpubsub.flow.drawing import svg

        return svg(self)

    def __str__(self) -> str:
        sources = [f"source {space.name} {show(space.schema)}" for space in self.spaces.values() if space.is_source]
        return "\n".join([*sources, *(str(arc) for arc in self.arcs)])

    # ------------------------------------------------------------------ checks

    def _history(self, name: str, place: str) -> Space:
        found = self.space(name)
        if found.is_state:
            raise FlowError(f"{place}: '{name}' is a state; expand it first", arc=place)
        return found

    def _kind(self, name: str, made: Measured, wanted: Any, place: str) -> Any:
        if wanted is None:
            return made.kind(place)
        if not assignable(made, wanted):
            raise FlowError(f"{place}: '{name}' is {made} here and {wanted} in the target space", arc=place)
        return wanted

    def _connect(self, target: str, made: Schema, place: str) -> None:
        known = self.spaces.get(target)
        if known is None:
            self.spaces[target] = Space(target, made)
        elif known.is_state:
            raise FlowError(f"{place}: '{target}' is a state; only collapse leads to a state", arc=place)
        elif dict(known.schema) != dict(made):
            raise FlowError(
                f"{place}: the schema {show(made)} does not fit '{target}', which has {show(known.schema)}", arc=place
            )

    def _state_schema(
        self,
        key: str,
        columns: Sequence[str],
        rules: Sequence[Rule],
        start: Schema,
        named: Mapping[str, Function],
        place: str,
    ) -> Schema:
        """Columns take the type of the first expression that sets them; conditions may read both."""
        kinds: dict[str, Any] = {key: start[key]}
        whole = {**start, **{column: kind("real", place) for column in columns}}
        for rule in rules:
            for column, expr in rule.replaces.items():
                made = infer(expr, whole, named, f"{place}, column {column}")
                kinds.setdefault(column, made.kind(place))
            for ref in rule.condition.references if rule.condition is not None else ():
                if ref.path[0] not in whole:
                    raise FlowError(
                        f"{place}: no attribute or column '{ref.shown}'.{hint(near(ref.shown, whole))}", arc=place
                    )
        for column in columns:
            kinds.setdefault(column, kind("real", place))
        return schema(kinds, place)

    def _add(self, arc: Arc, place: str) -> None:
        cycle = self._way(arc.target, arc.source)
        if cycle:
            if not any(other.target == arc.target for other in self.arcs) and not self.spaces[arc.target].is_source:
                del self.spaces[arc.target]
            raise FlowError(
                f"{place}: this arc closes a cycle: {' -> '.join([arc.source, *cycle])}", arc=place, cycle=tuple(cycle)
            )
        self.arcs.append(arc)

    def _way(self, start: str, goal: str) -> list[str]:
        """The spaces from one to another along the arcs, or none."""
        came: dict[str, str] = {}
        stack, seen = [start], {start}
        while stack:
            top = stack.pop()
            if top == goal:
                way = [top]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1]
            for arc in self.arcs:
                if arc.source == top and arc.target not in seen:
                    seen.add(arc.target)
                    came[arc.target] = top
                    stack.append(arc.target)
        return []
