"""Two selects in a row are one: what passes both passes their conjunction."""

from __future__ import annotations

from conceptpubsub.filters import Filter
from conceptpubsub.flow.steps import Setting, Step, Steps

EXAMPLES = (
    (("select x > 1", "select x < 5"), ("select x > 1 AND x < 5",)),
    (("select x > 1 OR y = 2", "select t = 'a'"), ("select (x > 1 OR y = 2) AND t = 'a'",)),
    (("select x > 1", "transform x"), None),
)


def combine_selects(first: Step, second: Step, setting: Setting) -> Steps | None:
    """``[S, S] -> [S AND S]``."""
    if isinstance(first, Filter) and isinstance(second, Filter):
        return (first & second,) if str(first) and str(second) else (second if str(second) else first,)
    return None
