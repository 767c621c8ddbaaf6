"""Two transforms in a row are one: the second's expressions with the first's put in.

What the first could fail on, the combined one still checks: an attribute that nobody reads any more may have divided
by zero, and the event must fail as before.
"""

from __future__ import annotations

from conceptpubsub.flow.steps import Setting, Step, Steps
from conceptpubsub.flow.transforms import Transform

EXAMPLES = (
    (("transform z = x * y, x", "transform w = z + x"), ("transform w = x * y + x",)),
    (("transform x = y, y = x", "transform x = y, y = x"), ("transform x, y",)),
    (("transform x", "select x > 1"), None),
)


def combine_transforms(first: Step, second: Step, setting: Setting) -> Steps | None:
    """``[T, T] -> [T after T]``."""
    if isinstance(first, Transform) and isinstance(second, Transform):
        return (second.after(first),)
    return None
