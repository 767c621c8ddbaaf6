"""Rewriting rules, one a file, named after what they do. The tuple is the optimizer: tried in order, to a fixpoint.

A rule takes two neighbouring steps and the setting they stand in, and gives what replaces them, or None.
"""

from conceptpubsub.flow.rules.combine_selects import combine_selects
from conceptpubsub.flow.rules.combine_transforms import combine_transforms
from conceptpubsub.flow.rules.drop_identities import drop_identities
from conceptpubsub.flow.rules.hoist_preparation import hoist_preparation
from conceptpubsub.flow.rules.push_select import push_select
from conceptpubsub.flow.rules.share_expressions import share_expressions

RULES = (drop_identities, combine_selects, combine_transforms, hoist_preparation, push_select)

__all__ = [
    "RULES",
    "combine_selects",
    "combine_transforms",
    "drop_identities",
    "hoist_preparation",
    "push_select",
    "share_expressions",
]
