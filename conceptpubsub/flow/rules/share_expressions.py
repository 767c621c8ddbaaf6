"""What a select and a transform both compute is computed once, at the source, and carried as an auxiliary attribute.

Only what the transform computes is shared: computed ahead, a division by zero fails the event, as it does in the
transform; in a select alone it would merely be unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conceptpubsub.filters import Filter
from conceptpubsub.flow.expressions import Attribute, Binary, Call, Expr, parts, replace
from conceptpubsub.flow.predicates import expressions
from conceptpubsub.flow.steps import Prepare, Setting, Step, Steps
from conceptpubsub.flow.substitution import exchanged
from conceptpubsub.flow.transforms import Transform

EXAMPLES = (
    (("select x * y >= 10", "transform z = x * y, x"),
     ("prepare aux_1 = x * y", "select aux_1 >= 10", "transform z = aux_1, x")),
    (("select x > 1", "transform z = x * y, w = x * y + 1"),
     ("prepare aux_1 = x * y", "select x > 1", "transform z = aux_1, w = aux_1 + 1")),
    (("select x > 1", "transform z = x * y"), None),
    (("select x / y > 1 OR x / y < 0", "transform x"), None),
)  # fmt: skip


def share_expressions(first: Step, second: Step, setting: Setting) -> Steps | None:
    """``[S(e), T(e)] -> [P(aux = e), S(aux), T(aux)]`` for the largest ``e`` that stands in both, or twice in one."""
    if not (isinstance(first, Filter) and isinstance(second, Transform)):
        return None
    computed = _counted((*second.outputs.values(), *second.checks))
    tested = _counted(expressions(first))
    repeated = [expr for expr, count in computed.items() if count + tested[expr] > 1]
    if not repeated:
        return None
    shared = max(repeated, key=lambda expr: len(str(expr)))
    name = "aux_1"
    while name in setting.schema:
        name = f"aux_{int(name[4:]) + 1}"
    carried = Attribute(name)
    prepare = Prepare({name: shared}, second.functions)
    outputs = {key: replace(expr, shared, carried) for key, expr in second.outputs.items()}
    checks = tuple(replace(check, shared, carried) for check in second.checks)
    select = setting.filter(exchanged(first, shared, carried), "a select that shares an expression", prepare)
    return prepare, select, Transform(outputs, checks, second.functions)


def _counted(exprs: Iterable[Expr]) -> Counter[Expr]:
    return Counter(part for expr in exprs for part in parts(expr) if isinstance(part, Binary | Call))
