"""The filter language: text to immutable tree to normal form, and the reference evaluator."""

from conceptpubsub.filters.build import Expression, quantity, ref
from conceptpubsub.filters.explain import Explanation
from conceptpubsub.filters.filter import Filter

__all__ = ["Explanation", "Expression", "Filter", "quantity", "ref"]
