"""Decisions on unions of terms: is this union inside that one, do two meet, and a term that shows why not.

Rule 1  A term lies in a union if it lies in one of its terms, or if cutting it along them leaves nothing.
Rule 2  Cutting is bounded by a budget; beyond it `GaveUp`.
Rule 3  A term handed out as a counterexample is not empty for certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from conceptpubsub.relations import domains
from conceptpubsub.relations.domains import Domain
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.terms import Term, surely_empty

Universe = Mapping[str, Domain]
"""What an attribute may be at all, or missing, by its key."""
Possible = Callable[[Term], bool]
"""Whether the attributes of a term can stand side by side in one event."""

MOST_CUTS = 4000


def always(term: Term) -> bool:
    """Attributes that do not depend on one another can always stand side by side."""
    return True


def inside(inner: Term, outer: Term, universe: Universe) -> bool:
    """Whether one term lies in another."""
    for key, wide in outer.items():
        narrow = inner.get(key)
        if narrow is wide:
            continue
        if not domains.includes(wide, universe[key] if narrow is None else narrow):
            return False
    return True


def covered(outer: Sequence[Term], inner: Sequence[Term], universe: Universe) -> bool | None:
    """Whether each inner term lies in some outer one; None where that does not settle it.

    With one outer term, and no inner one empty, a term outside settles it too: nothing is left to cut.
    """
    for term in inner:
        for other in outer:
            for key, wide in other.items():
                narrow = term.get(key)
                if narrow is wide:
                    continue
                if not domains.includes(wide, universe[key] if narrow is None else narrow):
                    break
            else:
                break
        else:
            return False if len(outer) < 2 else None
    return True


def uncovered(
    outer: Sequence[Term], inner: Sequence[Term], universe: Universe, possible: Possible = always
) -> Term | None:
    """A term of what lies in the inner union only, or None where the outer one holds it all."""
    cutting = _Cutting(universe, possible)
    doubt: GaveUp | None = None
    for term in inner:
        try:
            if not _within_one(term, outer, universe):
                left = cutting.rest(term, [o for o in outer if not _surely_apart(o, term)])
                if left is not None:
                    return left
        except GaveUp as error:
            doubt = error
    if doubt is not None:
        raise doubt
    return None


def _within_one(term: Term, outer: Sequence[Term], universe: Universe) -> bool:
    for other in outer:
        try:
            if inside(term, other, universe):
                return True
        except GaveUp:  # the cutting below will meet the same doubt, if it matters
            continue
    return False


def _surely_apart(one: Term, other: Term) -> bool:
    if len(one) > len(other):
        one, other = other, one
    for key, domain in one.items():
        held = other.get(key)
        if held is not None and held is not domain and surely_empty(domains.meet(domain, held)):
            return True
    return False


class _Cutting:
    """One decision's budget of cuts."""

    def __init__(self, universe: Universe, possible: Possible) -> None:
        self.universe = universe
        self.possible = possible
        self.left = MOST_CUTS

    def rest(self, term: Term, outer: list[Term]) -> Term | None:
        """Some of what is left of a term when the outer ones are cut away, surely not empty; or None."""
        self.left -= 1
        if self.left < 0:
            raise GaveUp("too many cuts")
        if not outer:
            return None if is_empty(term, self.possible) else term
        first, others = outer[0], outer[1:]
        rest = dict(term)
        doubt: GaveUp | None = None
        for key, domain in first.items():
            held = rest.get(key)
            if held is None:
                held = self.universe[key]
            for piece in domains.minus(held, domain):
                if surely_empty(piece):
                    continue
                cut = {**rest, key: piece}
                try:
                    left = self.rest(cut, [o for o in others if not _surely_apart(o, cut)])
                except GaveUp as error:
                    if self.left < 0:
                        raise
                    doubt = error
                    continue
                if left is not None:
                    return left
            rest[key] = domains.meet(held, domain)
            if surely_empty(rest[key]):
                break
        if doubt is not None:
            raise doubt
        return None


def is_empty(term: Term, possible: Possible = always) -> bool:
    """Whether no event fits a term."""
    doubt: GaveUp | None = None
    for domain in term.values():
        try:
            if domains.is_empty(domain):
                return True
        except GaveUp as error:
            doubt = error
    if doubt is not None:
        raise doubt
    return not possible(term)


def nonempty(terms: Sequence[Term], possible: Possible = always) -> Term | None:
    """A term that is surely not empty, or None where all surely are."""
    doubt: GaveUp | None = None
    for term in terms:
        try:
            if not is_empty(term, possible):
                return term
        except GaveUp as error:
            doubt = error
    if doubt is not None:
        raise doubt
    return None


def common(
    ones: Sequence[Term], others: Sequence[Term], loose: frozenset[str], possible: Possible = always
) -> tuple[Term, Term] | None:
    """Two terms that one event can match together, or None.

    A loose key may stand for two attributes at once, which are then both present or both missing.
    """
    doubt: GaveUp | None = None
    for one in ones:
        for other in others:
            try:
                if _meets(one, other, loose, possible):
                    return one, other
            except GaveUp as error:
                doubt = error
    if doubt is not None:
        raise doubt
    return None


def _meets(one: Term, other: Term, loose: frozenset[str], possible: Possible) -> bool:
    met = dict(one)
    for key, held in other.items():
        domain = met.get(key)
        if domain is None:
            met[key] = held
        elif key in loose:
            if domain.missing and held.missing:
                continue
            if not (domains.has_value(domain) and domains.has_value(held)):
                return False
        else:
            met[key] = domains.meet(domain, held)
    return not is_empty(met, possible)
