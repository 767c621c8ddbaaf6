"""Domains: what one attribute may be, as a tagged union over the sorts of values, and missing.

Rule 1  A sort is a set of values that compare with one another: numbers, quantities of one dimension, money, instants,
        texts, Booleans, concepts, complex objects. Values of different sorts never compare.
Rule 2  ``parts`` says what of a sort is inside; a sort that is not listed is inside as a whole if ``rest`` is true, and
        else not at all. So an undeclared attribute, which may hold anything, has a finite description.
Rule 3  Every operation is exact, or raises `GaveUp` where tests of text leave a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from conceptpubsub.relations import intervals, texts
from conceptpubsub.relations.intervals import LINE
from conceptpubsub.relations.outcome import GaveUp

Sort: TypeAlias = str
Part: TypeAlias = Any
"""Intervals of an ordered sort, Texts of a textual one, a bit mask of a finite one."""

NUMBER, MONEY, NO_RATE, INSTANT, TEXT, BOOL = "n", "m", "M", "i", "t", "b"
CONCEPT, COMPLEX, NAMED = "c", "o", "O"
"""CONCEPT: the value names a concept (bits are indexes). COMPLEX: a complex object, under an attribute of that concept.
NAMED: the same without an ontology, where concepts are texts. NO_RATE: money that nothing converts."""

_ORDERED = frozenset("nqmi")
_TEXTUAL = frozenset("tO")
_WHOLE_MASKS = {BOOL: 3, NO_RATE: 1}
_NOTHING = (0, (), texts.NONE)


def quantity_sort(key: str) -> Sort:
    """The sort of the quantities of a dimension, given the dimension's key."""
    return "q" + key


def whole(sort: Sort) -> Part:
    """All values of a sort."""
    if sort[0] in _ORDERED:
        return LINE
    return texts.EVERY if sort in _TEXTUAL else _WHOLE_MASKS.get(sort, -1)


def nothing(sort: Sort) -> Part:
    """No value of a sort."""
    if sort[0] in _ORDERED:
        return ()
    return texts.NONE if sort in _TEXTUAL else 0


class Domain:
    """A set of values of any sorts, with missing or without. Immutable."""

    __slots__ = ("missing", "parts", "rest")

    def __init__(self, parts: Mapping[Sort, Part], missing: bool = False, rest: bool = False) -> None:
        self.parts = parts
        self.missing = missing
        self.rest = rest

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Domain)
            and self.missing is other.missing
            and self.rest is other.rest
            and self.parts == other.parts
        )

    def __hash__(self) -> int:
        return hash((self.missing, self.rest, frozenset(self.parts.items())))

    def __repr__(self) -> str:
        return f"<Domain {dict(self.parts)}{' or missing' if self.missing else ''}{' or else' if self.rest else ''}>"

    def part(self, sort: Sort) -> Part:
        """What of a sort is inside."""
        found = self.parts.get(sort)
        if found is None:
            return whole(sort) if self.rest else nothing(sort)
        return found


EMPTY = Domain({})
ABSENT = Domain({}, missing=True)
ANYTHING = Domain({}, missing=True, rest=True)
PRESENT = Domain({}, rest=True)


def single(sort: Sort, part: Part) -> Domain:
    """Some values of one sort."""
    return Domain({sort: part})


def meet(a: Domain, b: Domain) -> Domain:
    """What lies in both."""
    one, other = a.parts, b.parts
    if not a.rest:
        sorts: Iterator[Sort] | Mapping[Sort, Part] = one if b.rest else (s for s in one if s in other)
    elif not b.rest:
        sorts = other
    else:
        sorts = {**one, **other}
    parts = {}
    both_rest = a.rest and b.rest
    for sort in sorts:
        mine, its = one.get(sort), other.get(sort)
        if mine is None or its is None:
            met = its if mine is None else mine
        elif sort[0] in _ORDERED:
            met = intervals.intersection(mine, its)
        elif sort in _TEXTUAL:
            met = texts.meet(mine, its)
        else:
            met = mine & its
        if both_rest or met not in _NOTHING:
            parts[sort] = met
    return Domain(parts, a.missing and b.missing, both_rest)


def join(a: Domain, b: Domain) -> Domain | None:
    """The union, where it can be said."""
    parts = {}
    rest = a.rest or b.rest
    for sort in {**a.parts, **b.parts}:
        mine, its = a.part(sort), b.part(sort)
        if sort[0] in _ORDERED:
            joined: Part = intervals.union(mine, its)
        elif sort in _TEXTUAL:
            joined = texts.join(mine, its)
            if joined is None:
                return None
        else:
            joined = mine | its
        if not (rest and joined == whole(sort)):
            parts[sort] = joined
    return Domain(parts, a.missing or b.missing, rest)


def minus(a: Domain, b: Domain) -> list[Domain]:
    """Domains whose union is what lies in the first only; one a piece of text, and one for all else."""
    parts: dict[Sort, Part] = {}
    pieces: list[Domain] = []
    rest = a.rest and not b.rest
    sorts = {**a.parts, **b.parts} if a.rest else a.parts
    for sort in sorts:
        mine, its = a.part(sort), b.part(sort)
        if sort[0] in _ORDERED:
            left: Part = intervals.difference(mine, its)
        elif sort in _TEXTUAL:
            split = texts.minus(mine, its)
            if len(split) > 1 or (split and split[0].literals):
                pieces += [Domain({sort: piece}) for piece in split]
                left = texts.NONE
            else:
                left = split[0] if split else texts.NONE
        else:
            left = mine & ~its
        if rest or left not in _NOTHING:
            parts[sort] = left
    first = Domain(parts, a.missing and not b.missing, rest)
    return ([first] if parts or first.missing or rest else []) + pieces


def includes(a: Domain, b: Domain) -> bool:
    """Whether the first holds all of the second."""
    if a is b:
        return True
    if (b.missing and not a.missing) or (b.rest and not a.rest):
        return False
    mine = a.parts
    for sort, part in b.parts.items():
        wide = mine.get(sort)
        if wide is None:
            if a.rest or is_empty_part(sort, part):
                continue
            return False
        if wide is part:
            continue
        if sort[0] in _ORDERED:
            if len(wide) == 2:
                if part and (wide[0] > part[0] or part[-1] > wide[1]):
                    return False
            elif not intervals.includes(wide, part):
                return False
        elif sort in _TEXTUAL:
            if wide != part and not texts.subset(part, wide):
                return False
        elif part & ~wide:
            return False
    if b.rest:
        return all(sort in b.parts or part == whole(sort) for sort, part in mine.items())
    return True


def is_empty_part(sort: Sort, part: Part) -> bool:
    """Whether a part of a sort holds nothing."""
    if sort in _TEXTUAL:
        return texts.sample(part) is None
    return not part


def is_empty(a: Domain) -> bool:
    """Whether nothing lies inside."""
    if a.missing or a.rest:
        return False
    doubt = None
    for sort, part in a.parts.items():
        try:
            if not is_empty_part(sort, part):
                return False
        except GaveUp as error:
            doubt = error
    if doubt is not None:
        raise doubt
    return True


def has_value(a: Domain) -> bool:
    """Whether some value, not only missing, lies inside."""
    return a.rest or not is_empty(Domain(a.parts))


def without_missing(a: Domain) -> Domain:
    """The values only."""
    return Domain(a.parts, False, a.rest) if a.missing else a


def opposite(a: Domain, universe: Domain) -> Domain:
    """Everything of the universe outside a domain that is no union of texts (as an atom's never is)."""
    pieces = minus(universe, a)
    if not pieces:
        return EMPTY
    made = pieces[0]
    for piece in pieces[1:]:
        joined = join(made, piece)
        if joined is None:
            raise GaveUp("a union of tests of text")
        made = joined
    return made
