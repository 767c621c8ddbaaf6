"""A select behind a transform goes ahead of it, by substitution.

Transforms may destroy what a select needs, so selects move and transforms stay. A predicate over an opaque function's
result cannot be rewritten; the function is then computed ahead, carried as an auxiliary attribute, and both the select
and the transform read it.
"""

from __future__ import annotations

from conceptpubsub.filters import Filter
from conceptpubsub.flow.expressions import Attribute, Expr, replace
from conceptpubsub.flow.steps import Prepare, Setting, Step, Steps
from conceptpubsub.flow.substitution import Opacity, pushed
from conceptpubsub.flow.transforms import Transform

EXAMPLES = (
    (("transform z = x * y, x", "select z >= 10"), ("select x * y >= 10", "transform z = x * y, x")),
    (("transform z = x / y", "select z > 1 AND z IS NOT NULL"),
     ("select x / y > 1 AND NOT (x IS NULL OR y IS NULL)", "transform z = x / y")),
    (("transform n = UP(t)", "select n = 'B'"), ("select t IN ('b', 'bb')", "transform n = UP(t)")),
    (("transform n = UP(t)", "select NOT n = 'B'"), ("select t IN ('a')", "transform n = UP(t)")),
    (("transform n = OP(t), x", "select n = 'B' AND x > 1"),
     ("prepare aux_1 = OP(t)", "select aux_1 = 'B' AND x > 1", "transform n = aux_1, x")),
)  # fmt: skip


def push_select(first: Step, second: Step, setting: Setting) -> Steps | None:
    """``[T, S] -> [S with T put in, T]``."""
    if not (isinstance(first, Transform) and isinstance(second, Filter)):
        return None
    ahead: dict[str, Expr] = {}
    outputs, checks = dict(first.outputs), first.checks
    while True:
        prepare = Prepare(ahead, first.functions) if ahead else None
        try:
            text = pushed(second, outputs, first.functions)
        except Opacity as opaque:
            name = f"aux_{len(ahead) + 1}"
            while name in setting.schema:
                name += "_"
            ahead[name] = opaque.call
            outputs = {key: replace(expr, opaque.call, Attribute(name)) for key, expr in outputs.items()}
            checks = tuple(replace(check, opaque.call, Attribute(name)) for check in checks)
            continue
        select = setting.filter(text, "a select pushed ahead of a transform", prepare)
        transform = Transform(outputs, checks, first.functions)
        return (select, transform) if prepare is None else (prepare, select, transform)
