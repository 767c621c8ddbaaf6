"""What is computed ahead is computed first: a preparation moves ahead of selects, and two become one."""

from __future__ import annotations

from conceptpubsub.filters import Filter
from conceptpubsub.flow.expressions import substitute
from conceptpubsub.flow.steps import Prepare, Setting, Step, Steps

EXAMPLES = (
    (("select x > 1", "prepare aux_1 = OP(t)"), ("prepare aux_1 = OP(t)", "select x > 1")),
    (("prepare aux_1 = OP(t)", "prepare aux_2 = OP(aux_1)"), ("prepare aux_1 = OP(t), aux_2 = OP(OP(t))",)),
    (("prepare aux_1 = OP(t)", "select x > 1"), None),
)


def hoist_preparation(first: Step, second: Step, setting: Setting) -> Steps | None:
    """``[S, P] -> [P, S]`` and ``[P, P] -> [P]``."""
    if not isinstance(second, Prepare):
        return None
    if isinstance(first, Filter):
        return (second, first)
    if isinstance(first, Prepare):
        added = {name: substitute(expr, first.outputs) for name, expr in second.outputs.items()}
        return (Prepare({**first.outputs, **added}, {**first.functions, **second.functions}),)
    return None
