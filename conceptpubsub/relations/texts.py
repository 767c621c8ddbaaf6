"""Sets of texts: intervals in code point order, narrowed by tests that order cannot say.

Rule 1  Equality, IN, order and STARTS WITH are intervals: between a text and itself followed by U+0000 lies nothing.
Rule 2  ENDS WITH, CONTAINS, LIKE and MATCHES stay as signed literals beside the intervals.
Rule 3  ``sample`` finds a member or proves that there is none. Endings, contents and their negations are decided by a
        text whose parts are kept apart by a character that no pattern holds; where LIKE or MATCHES leave a doubt it
        raises ``GaveUp`` rather than guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple, TypeAlias

from conceptpubsub.filters.patterns import ANY, ONE, like_pieces, text_test
from conceptpubsub.relations.intervals import Cut, Intervals, difference, includes, intersection, union
from conceptpubsub.relations.outcome import GaveUp

Literal: TypeAlias = tuple[bool, str, str]
"""Whether it holds, the test (ends, contains, within, like, matches), the pattern."""

TOP: Cut = (1, "")
ALL: Intervals = ((0, ""), TOP)
NO_LITERALS: frozenset[Literal] = frozenset()
MOST_PARTS = 2000
_LIKED = "xyz~#*+-.:;,?!|@0123456789abcdefghijklmnopqrstuvwABCDEFGHIJKLMNOPQRSTUVWXYZ "


class Texts(NamedTuple):
    """The texts in the intervals that pass every literal."""

    intervals: Intervals
    literals: frozenset[Literal] = NO_LITERALS


EVERY = Texts(ALL)
NONE = Texts(())


def after(text: str) -> str:
    """The next text in code point order."""
    return text + "\0"


def compared(op: str, value: str) -> Intervals:
    """The texts x with ``x op value``."""
    here, next_ = (0, value), (0, after(value))
    match op:
        case "=":
            return (here, next_)
        case "<>":
            return (*(((0, ""), here) if value else ()), next_, TOP)
        case "<":
            return ((0, ""), here) if value else ()
        case "<=":
            return ((0, ""), next_)
        case ">":
            return (next_, TOP)
        case _:
            return (here, TOP)


def one_of(values: Iterator[str] | tuple[str, ...] | frozenset[str] | set[str]) -> Intervals:
    """A finite set."""
    made: list[Cut] = []
    for value in sorted(set(values)):
        if made and made[-1] == (0, value):
            made[-1] = (0, after(value))
        else:
            made += ((0, value), (0, after(value)))
    return tuple(made)


def tested(op: str, pattern: str) -> Texts:
    """The texts that pass a test of the normal form."""
    if op == "starts":
        return Texts(((0, pattern), _past(pattern)))
    if op in ("ends", "contains") and not pattern:
        return EVERY
    if op == "within" and len(pattern) * (len(pattern) + 1) <= 2 * MOST_PARTS:
        size = len(pattern)
        return Texts(one_of({pattern[i:j] for i in range(size + 1) for j in range(i, size + 1)}))
    return Texts(ALL, frozenset([(True, op, pattern)]))


def _past(prefix: str) -> Cut:
    """The cut after every text that starts with a prefix."""
    stripped = prefix.rstrip("\U0010ffff")
    return (0, stripped[:-1] + chr(ord(stripped[-1]) + 1)) if stripped else TOP


def meet(a: Texts, b: Texts) -> Texts:
    """What lies in both; a finite set is sieved at once."""
    return sieved(Texts(intersection(a.intervals, b.intervals), a.literals | b.literals))


def sieved(a: Texts) -> Texts:
    """A set whose texts can be listed, without its literals."""
    if not a.literals:
        return a
    listed = finite(a.intervals)
    return a if listed is None else Texts(one_of({text for text in listed if passes(text, a.literals)}))


def finite(intervals: Intervals) -> list[str] | None:
    """The texts of a finite set in order, or None where there are too many."""
    if len(intervals) > 2 * MOST_PARTS:
        return None
    found: list[str] = []
    for i in range(0, len(intervals), 2):
        (_, low), high = intervals[i], intervals[i + 1]
        if high == TOP or high[1].rstrip("\0") != low.rstrip("\0") or len(found) > MOST_PARTS:
            return None
        found += [low + "\0" * k for k in range(len(high[1]) - len(low))]
    return found


def passes(text: str, literals: frozenset[Literal]) -> bool:
    """Whether a text passes every literal."""
    return all(text_test(op, text, pattern) is holds for holds, op, pattern in literals)


def minus(a: Texts, b: Texts) -> list[Texts]:
    """Sets whose union is what lies in the first only. Empty ones may be among them."""
    made = [Texts(difference(a.intervals, b.intervals, ALL), a.literals)]
    rest = Texts(intersection(a.intervals, b.intervals), a.literals)
    for holds, op, pattern in sorted(b.literals):
        if (holds, op, pattern) in rest.literals:
            continue
        made.append(Texts(rest.intervals, rest.literals | {(not holds, op, pattern)}))
        rest = Texts(rest.intervals, rest.literals | {(holds, op, pattern)})
    return [sieved(piece) for piece in made if piece.intervals]


def join(a: Texts, b: Texts) -> Texts | None:
    """The union, where it is a set of this form."""
    if a.literals == b.literals:
        return Texts(union(a.intervals, b.intervals), a.literals)
    if a.intervals == b.intervals and len(a.literals ^ b.literals) == 2:
        (one, op, pattern), (other, op_, pattern_) = a.literals ^ b.literals
        if one is not other and (op, pattern) == (op_, pattern_):
            return Texts(a.intervals, a.literals & b.literals)
    return None


def subset(a: Texts, b: Texts) -> bool:
    """Whether the first lies in the second."""
    if not b.literals and includes(b.intervals, a.intervals):
        return True
    return all(sample(piece) is None for piece in minus(a, b))


@lru_cache(maxsize=16384)
def sample(a: Texts) -> str | None:
    """A text of the set, or None where there is none; `GaveUp` where that is not clear."""
    intervals, literals = a
    if not intervals or any((not holds, op, pattern) in literals for holds, op, pattern in literals):
        return None
    suffix = _longest_suffix(literals)
    if suffix is None:
        return None
    busy = {char for _, _, pattern in literals for char in pattern}
    pieces = [pattern for holds, op, pattern in literals if holds and op == "contains"]
    doubt = any(op in ("like", "matches", "within") for _, op, _ in literals)
    for i in range(0, len(intervals), 2):
        high = None if intervals[i + 1] == TOP else intervals[i + 1][1]
        for text, is_cone in _corners(intervals[i][1], high, busy):
            if not is_cone:
                if passes(text, literals):
                    return text
                continue
            for candidate in _candidates(text, pieces, suffix, busy, literals if doubt else NO_LITERALS):
                if candidate.startswith(text) and passes(candidate, literals):
                    return candidate
    if doubt:
        raise GaveUp("tests of text")
    return None


def _longest_suffix(literals: frozenset[Literal]) -> str | None:
    found = ""
    for holds, op, pattern in literals:
        if holds and op == "ends":
            if pattern.endswith(found):
                found = pattern
            elif not found.endswith(pattern):
                return None
    return found


def _corners(low: str, high: str | None, busy: set[str]) -> Iterator[tuple[str, bool]]:
    """Texts of [low, high), and prefixes all of whose extensions lie there (marked True), one of each kind.

    A range of next characters is stood for by one that no pattern holds; where there is none, by each of them.
    """
    if high is not None and high.startswith(low):
        split = len(low)
    else:
        yield low, False
        yield low, True
        split = 0 if high is None else next(i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b)
        for level in range(len(low) - 1, split if high is not None else -1, -1):
            for char in _between(low[level], None, busy):
                yield low[:level] + char, True
        if high is None:
            return
        for char in _between(low[split], high[split], busy):
            yield low[:split] + char, True
        split += 1
    for level in range(split, len(high)):
        yield high[:level], False
        for char in _between(None, high[level], busy):
            yield high[:level] + char, True


def _between(low: str | None, high: str | None, busy: set[str]) -> list[str]:
    """A fresh character strictly between two, or, if every one is in use, all of them."""
    bottom = -1 if low is None else ord(low)
    top = 0x110000 if high is None else ord(high)
    for char in _LIKED:
        if bottom < ord(char) < top and char not in busy:
            return [char]
    used: list[str] = []
    for code in range(bottom + 1, top):
        if 0xD800 <= code <= 0xDFFF:  # half a surrogate pair is no character
            continue
        if chr(code) not in busy:
            return [chr(code)]
        used.append(chr(code))
    return used


def _candidates(
    prefix: str, pieces: list[str], suffix: str, busy: set[str], likes: frozenset[Literal]
) -> Iterator[str]:
    fresh = _between(None, None, busy | set(prefix))[0]
    yield prefix + suffix
    yield prefix + "".join(pieces) + suffix
    yield fresh.join([prefix, *pieces, suffix])
    yield fresh + suffix if not prefix else prefix + fresh + suffix
    for _, op, pattern in sorted(likes):
        if op == "like":
            yield from _instances(pattern, fresh)
            yield from (prefix + text for text in _instances(pattern, fresh))
        elif op == "within":
            yield from (pattern[i:j] for i in range(len(pattern)) for j in range(i, min(len(pattern), i + 8) + 1))


def _instances(pattern: str, fresh: str) -> Iterator[str]:
    shape = like_pieces(pattern, "\\") or []
    for gap, one in product(("", fresh, fresh * 2), (fresh, "a", "b")):
        yield "".join(gap if piece is ANY else one if piece is ONE else piece for piece in shape)
