"""Relations between filters: satisfiable, identical, overlaps, covers, merge; witnesses; how much a merger exceeds."""

from conceptpubsub.relations.decide import covers, identical, overlaps, satisfiable
from conceptpubsub.relations.estimating import excess
from conceptpubsub.relations.merging import merge
from conceptpubsub.relations.outcome import Budget, reset_statistics, statistics
from conceptpubsub.relations.witnessing import witness

__all__ = [
    "Budget",
    "covers",
    "excess",
    "identical",
    "merge",
    "overlaps",
    "reset_statistics",
    "satisfiable",
    "statistics",
    "witness",
]
