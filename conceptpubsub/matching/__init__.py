"""Many filters against an event or a batch of them.

>>> from conceptpubsub.filters import Filter
>>> m = Matcher()
>>> m.add("cheap", Filter.parse("price < 500"))
>>> m.add("milan", Filter.parse("dest = 'MXP'"), interface="B2")
>>> m.match({"price": 300, "dest": "MXP"}), m.interfaces({"dest": "MXP"})
(['cheap', 'milan'], {'B2'})
"""

from conceptpubsub.matching.batch import MatchBatch, MatchError
from conceptpubsub.matching.engine import Engine
from conceptpubsub.matching.matcher import Matcher
from conceptpubsub.matching.stats import MatcherStats

__all__ = ["Engine", "MatchBatch", "MatchError", "Matcher", "MatcherStats"]
