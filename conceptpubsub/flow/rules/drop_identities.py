"""A transform that passes every attribute on as it is, and a select that passes everything, are no steps at all."""

from __future__ import annotations

from conceptpubsub.filters import Filter
from conceptpubsub.flow.steps import Setting, Step, Steps
from conceptpubsub.flow.transforms import Transform

EXAMPLES = (
    (("transform x, y, t", "select x > 1"), ("select x > 1",)),
    (("select x > 1", "transform x, y, t"), ("select x > 1",)),
    (("transform x, y", "select x > 1"), None),
)


def drop_identities(first: Step, second: Step, setting: Setting) -> Steps | None:
    """``[T, X] -> [X]`` where T changes nothing. Only a transform of the whole source schema can be told to."""
    if _nothing(first, setting):
        return (second,)
    if _nothing(second, setting) and isinstance(first, Filter):
        return (first,)
    return None


def _nothing(step: Step, setting: Setting) -> bool:
    if isinstance(step, Filter):
        return not str(step)
    return isinstance(step, Transform) and step.is_identity and set(step.outputs) == set(setting.schema)
