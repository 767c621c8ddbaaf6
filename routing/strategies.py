"""The strategies by name."""

from __future__ import annotations

from typing import Any

from conceptpubsub.errors import NetworkError, hint, near
from conceptpubsub.routing.covering import Covering
from conceptpubsub.routing.flooding import Flooding
from conceptpubsub.routing.identity import Identity
from conceptpubsub.routing.merging import Merging
from conceptpubsub.routing.simple import Simple
from conceptpubsub.routing.strategy import Strategy

STRATEGIES: dict[str, type[Strategy]] = {made.name: made for made in (Flooding, Simple, Identity, Covering, Merging)}
"""In the order of REBECA's evaluation: from no tables to the smallest."""


def strategy(named: str | Strategy, **options: Any) -> Strategy:
    """The strategy of that name, with its options; a strategy is returned as it is.

    >>> strategy("merging", excess=0.25)
    Merging(excess=0.25)
    >>> strategy("covring")
    Traceback (most recent call last):
    conceptpubsub.errors.NetworkError: no strategy 'covring'. Did you mean 'covering'?
    """
    if isinstance(named, Strategy):
        return named
    made = STRATEGIES.get(named)
    if made is None:
        offered = hint(near(str(named), STRATEGIES)) or f" There are {', '.join(STRATEGIES)}."
        raise NetworkError(f"no strategy '{named}'.{offered}", name=named)
    try:
        return made(**options)
    except TypeError:
        raise NetworkError(f"the strategy '{named}' has no option {', '.join(options)}", name=named) from None
