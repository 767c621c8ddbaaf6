"""Relations between filters: satisfiable, identical, overlaps, covers, merge; witnesses; the covering forest."""

from conceptpubsub.relations.decide import covers, identical, overlaps, satisfiable
from conceptpubsub.relations.merging import merge
from conceptpubsub.relations.witnessing import witness

__all__ = ["covers", "identical", "merge", "overlaps", "satisfiable", "witness"]
