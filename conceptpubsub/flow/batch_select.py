"""A select over a table: exact, and by columns where it can be.

Comparisons of arithmetic stand among the conjuncts of most rewritten selects (``price * capital / price >= 1000000``).
They are computed by columns in float64; a row whose sides are too close to call is decided by the reference evaluator.
The other conjuncts go to the matcher.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conceptpubsub.filters import Filter
from conceptpubsub.filters.parser import parse
from conceptpubsub.filters.printer import show
from conceptpubsub.filters.syntax import All, Comparison, Minus, Over, Times, Total, references
from conceptpubsub.flow.columns import Columns
from conceptpubsub.flow.predicates import expression
from conceptpubsub.flow.schema import Schema
from conceptpubsub.matching import Matcher
from conceptpubsub.model.codecs import table_to_events

CLOSE = 1e-9
_OPS = {"=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}


class BatchSelect:
    """One select, for many tables."""

    def __init__(self, select: Filter, schema: Schema) -> None:
        self.select, self.schema = select, schema
        conjuncts = select.tree.args if isinstance(select.tree, All) else (select.tree,)
        self.arithmetic = [node for node in conjuncts if self._by_columns(node)]
        rest = [node for node in conjuncts if not self._by_columns(node)]
        self._matcher: Matcher | None = None
        if rest:
            text = " AND ".join(f"({show(node)})" for node in rest)
            self._matcher = Matcher()
            self._matcher.add(0, Filter(parse(text, select.scope), select.scope, text))

    def _by_columns(self, node: Any) -> bool:
        """Arithmetic over plain numbers: no units, no money, whose rates change with the event."""
        if not isinstance(node, Comparison) or not any(
            isinstance(side, Total | Times | Minus | Over) for side in (node.left, node.right)
        ):
            return False
        named = [self.schema.get(ref.path[0]) for ref in references(node)]
        plain = all(
            kind is not None and kind.type in ("int", "real") and not (kind.unit or kind.currency) for kind in named
        )
        return plain and expression(node.left) is not None and expression(node.right) is not None

    def rows(self, table: pa.Table) -> tuple[np.ndarray[Any, Any], dict[int, str]]:
        """The rows that pass, and those that could not be read."""
        bad: dict[int, str] = {}
        if self._matcher is not None:
            found = self._matcher.match_batch(table)
            rows = np.flatnonzero(np.diff(found.offsets))
            bad = {error.row: error.reason for error in found.errors if error.row is not None}
            table = table.take(pa.array(rows)) if self.arithmetic else table
        else:
            rows = np.arange(table.num_rows)
        if not self.arithmetic:
            return rows, bad
        passes, close = np.ones(len(rows), bool), np.zeros(len(rows), bool)
        columns = Columns(table, self.schema, {}, {})
        for node in self.arithmetic:
            holds, near = self._compared(node, columns)
            passes &= holds | near
            close |= near
        close |= columns.risky
        unsure = np.flatnonzero(passes & close)
        if len(unsure):
            events, _ = table_to_events(table.take(pa.array(unsure)))
            passes[unsure] = [event is not None and self.select.matches(event) for event in events]
        return rows[passes], bad

    def _compared(self, node: Comparison, columns: Columns) -> tuple[Any, Any]:
        before = set(columns.bad)
        left, right = (pc.cast(columns.column(expression(side)), pa.float64()) for side in (node.left, node.right))  # type: ignore[arg-type]
        holds = _numpy(_OPS[node.op](left, right))
        distance = pc.abs(pc.subtract(left, right))
        near = _numpy(pc.less_equal(distance, pc.multiply(pc.add(pc.abs(left), pc.abs(right)), CLOSE)))
        unknown = sorted(set(columns.bad) - before)
        holds[unknown] = False
        near[unknown] = False
        return holds, near


def _numpy(mask: Any) -> Any:
    return np.array(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))
