"""The tree of a filter as it was written: immutable nodes, each with the token it stands at.

Named tuples rather than dataclasses: a hundred thousand subscriptions are loaded at a time, and a tuple is made
three times as fast. ``at`` is a token's number; `conceptpubsub.filters.lexer.position` turns it into line and column.

Conditions are walked without recursion (`postorder`). Terms nest at most MAX_TERM_DEPTH levels, so that they may be
walked by plain recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from conceptpubsub.filters.normal import Lit, Ref

MAX_DEPTH = 200
MAX_TERM_DEPTH = 40
MAX_TEXT = 1 << 20


class Constant(NamedTuple):
    """A constant as canonical value and as text in its own context (``86 degF``)."""

    lit: Lit
    text: str
    at: int


class Total(NamedTuple):
    """The sum of its arguments."""

    args: tuple[Any, ...]
    at: int


class Times(NamedTuple):
    """The product of its arguments."""

    args: tuple[Any, ...]
    at: int


class Minus(NamedTuple):
    """Minus its argument."""

    arg: Any
    at: int


class Over(NamedTuple):
    """One over its argument."""

    arg: Any
    at: int


SourceTerm: TypeAlias = Ref | Constant | Total | Times | Minus | Over


class Comparison(NamedTuple):
    """``left op right``."""

    op: str
    left: SourceTerm
    right: SourceTerm
    at: int


class Between(NamedTuple):
    """``term BETWEEN low AND high``, both ends included."""

    term: SourceTerm
    low: SourceTerm
    high: SourceTerm
    at: int


class Member(NamedTuple):
    """``term IN (constants)``."""

    term: SourceTerm
    items: tuple[Constant, ...]
    at: int


class Pattern(NamedTuple):
    """``term op 'text'`` for LIKE, CONTAINS, WITHIN, STARTS WITH, ENDS WITH and MATCHES."""

    op: str
    term: SourceTerm
    text: str
    escape: str | None
    at: int


class Null(NamedTuple):
    """``reference IS NULL``."""

    ref: Ref
    at: int


class Below(NamedTuple):
    """``reference ISA concept``."""

    ref: Ref
    concept: Any
    name: str
    shown: str
    at: int


class Flag(NamedTuple):
    """A reference or a Boolean constant that stands as a condition by itself."""

    term: Ref | Constant
    at: int


class Inverse(NamedTuple):
    """NOT."""

    arg: Any
    at: int


class All(NamedTuple):
    """AND of two or more; of none for the empty filter, which every event matches."""

    args: tuple[Any, ...]
    at: int


class Some(NamedTuple):
    """OR of two or more."""

    args: tuple[Any, ...]
    at: int


Condition: TypeAlias = Comparison | Between | Member | Pattern | Null | Below | Flag | Inverse | All | Some
CONDITIONS = (Comparison, Between, Member, Pattern, Null, Below, Flag, Inverse, All, Some)


def children(node: Any) -> tuple[Any, ...]:
    """The nodes directly below a node of the tree, conditions and terms alike."""
    match node:
        case All(args) | Some(args) | Total(args) | Times(args):
            return args
        case Inverse(arg) | Minus(arg) | Over(arg):
            return (arg,)
        case Comparison(_, left, right):
            return (left, right)
        case Between(term, low, high):
            return (term, low, high)
        case Member(term, items):
            return (term, *items)
        case Pattern(_, term):
            return (term,)
        case Flag(term) | Null(term) | Below(term):
            return (term,)
        case _:
            return ()


def postorder(tree: Condition) -> Iterator[Condition]:
    """Every condition below a tree and the tree itself, each after those directly below it."""
    work: list[tuple[Condition, bool]] = [(tree, False)]
    while work:
        node, ready = work.pop()
        if ready:
            yield node
        elif isinstance(node, (All, Some)):
            work.append((node, True))
            work.extend([(arg, False) for arg in reversed(node.args)])
        elif isinstance(node, Inverse):
            work.append((node, True))
            work.append((node.arg, False))
        else:
            yield node


def references(node: Any) -> tuple[Ref, ...]:
    """Every distinct reference that a tree names, in order of first appearance."""
    found: dict[str, Ref] = {}
    stack = [node]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is Ref:
            found.setdefault(top.key, top)
        elif kind is Comparison:  # by far the most
            stack += (top.right, top.left)
        elif kind is not Constant:
            stack.extend(reversed(children(top)))
    return tuple(found.values())


def depth(node: Any) -> int:
    """How many levels a tree has, counted level by level."""
    level, count = [node], 0
    while level:
        count += 1
        level = [child for top in level for child in children(top)]
    return count
