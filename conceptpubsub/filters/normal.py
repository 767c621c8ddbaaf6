"""The normal form: what a filter means, apart from how it was spelt.

Rule 1  Negations stand at the atoms only; AND and OR are flat, sorted and free of repeats.
Rule 2  Every constant is canonical: numbers exact, quantities in the coherent SI unit, text in the concept's own code.
Rule 3  Every node carries ``key``, a text that is equal for two nodes exactly when they are the same node. Equality,
        order, hashing and digests go by it, so none of them recurses. A long key is kept as its hash.
Rule 4  Kleene's three values are kept: rewriting never turns an unknown into false or true.
Rule 5  A Neg that stands directly in a Sum is a subtraction: an instant has no opposite, but two have a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, TypeAlias

from conceptpubsub.converters import Dimension, Money, Quantity
from conceptpubsub.model import Concept, Exact, Instant

_LONG = 2048


def shortened(key: str) -> str:
    """The key itself, or its hash where it is long: a key holds those of all below, and nesting must not pay for it."""
    if len(key) <= _LONG:
        return key
    return key[:2] + "…" + blake2b(key.encode("utf-8", "surrogatepass"), digest_size=24).hexdigest()


def number_key(value: Exact) -> str:
    """A number's text, in hexadecimal where the decimal one would be refused."""
    try:
        return f"{value}" if type(value) is int else f"{value.numerator}/{value.denominator}"
    except ValueError:  # the interpreter refuses to write long integers in decimal
        return f"{value.numerator:#x}/{value.denominator:#x}"


class Node:
    """A node of the normal form: immutable by convention, compared by ``key``."""

    __slots__ = ("key",)
    key: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.key == other.key

    def __lt__(self, other: Node) -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.key}>"


class Lit(Node):
    """A canonical constant: kind is number, quantity, money, text, bool or instant.

    ``of`` is the dimension of a quantity, whose value stands in the coherent SI unit, or the currency of money. A
    concept is the text of its representative's IRI.
    """

    __slots__ = ("kind", "of", "value")

    def __init__(self, kind: str, value: Any, of: Dimension | str | None = None) -> None:
        self.kind = kind
        self.value: Any = value
        self.of = of
        if kind == "number":
            self.key = "#" + number_key(value)
        elif kind == "quantity":
            self.key = f"#{number_key(value)}[{of.key}]"  # type: ignore[union-attr]
        elif kind == "text":
            self.key = shortened(f"'{len(value)}:{value}")
        elif kind == "money":
            self.key = f"#{number_key(value)} {of}"
        elif kind == "instant":
            self.key = f"@{value.ns}"
        else:
            self.key = f"{kind}:{value}"


class Ref(Node):
    """A reference: ``path`` of names (one, or several for a dotted path), each the representative of its concept.

    ``type`` is number, int, text, bool, instant, concept, complex or None (undeclared). ``dimension`` is that of its
    quantity kind. ``steps`` are the concepts, where there is an ontology, and ``concept`` is the last of them.
    ``event`` marks EVENT, EVENT.time and so on.
    """

    __slots__ = ("concept", "dimension", "event", "path", "shown", "steps", "type")

    def __init__(
        self,
        path: tuple[str, ...],
        steps: tuple[Concept, ...] = (),
        type: str | None = None,
        dimension: Dimension | None = None,
        shown: str = "",
        event: bool = False,
    ) -> None:
        self.path = path
        self.steps = steps
        self.type = type
        self.dimension = dimension
        self.event = event
        self.shown = shown or ".".join(path)
        self.concept = steps[-1] if steps else None
        self.key = ("EVENT$" if event else "$") + "\x1f".join(
            [p if p.isidentifier() else f"{len(p)}:{p}" for p in path]
        )


class Sum(Node):
    """The sum of its arguments."""

    __slots__ = ("args",)

    def __init__(self, args: tuple[Term, ...]) -> None:
        self.args = args
        self.key = shortened("(+ " + " ".join([a.key for a in args]) + ")")


class Product(Node):
    """The product of its arguments."""

    __slots__ = ("args",)

    def __init__(self, args: tuple[Term, ...]) -> None:
        self.args = args
        self.key = shortened("(* " + " ".join([a.key for a in args]) + ")")


class Neg(Node):
    """Minus its argument."""

    __slots__ = ("arg",)

    def __init__(self, arg: Term) -> None:
        self.arg = arg
        self.key = f"(- {arg.key})"


class Recip(Node):
    """One over its argument; unknown where that is zero."""

    __slots__ = ("arg",)

    def __init__(self, arg: Term) -> None:
        self.arg = arg
        self.key = f"(/ {arg.key})"


Term: TypeAlias = Ref | Lit | Sum | Product | Neg | Recip

FLIPPED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Compare(Node):
    """``left op right``. In the simple case left is a Ref and right a Lit.

    Two constants stand here only where a rate must decide: money of different currencies. ``<>`` does not occur under
    the semantics ``default``, nor beside a Boolean constant.
    """

    __slots__ = ("left", "op", "right")

    def __init__(self, op: str, left: Term, right: Term) -> None:
        self.op = op
        self.left = left
        self.right = right
        self.key = f"{left.key}{op}{right.key}"


class OneOf(Node):
    """The term equals one of two or more constants, sorted by key."""

    __slots__ = ("term", "values")

    def __init__(self, term: Term, values: tuple[Lit, ...]) -> None:
        self.term = term
        self.values = values
        self.key = shortened(f"{term.key} in ({','.join([v.key for v in values])})")


class TextTest(Node):
    """A test of text: op is starts, ends, contains, within, like or matches. ``within``: the constant holds the value.

    A ``like`` pattern is written with the escape character backslash.
    """

    __slots__ = ("op", "pattern", "term")

    def __init__(self, op: str, term: Term, pattern: str) -> None:
        self.op = op
        self.term = term
        self.pattern = pattern
        self.key = shortened(f"{term.key} {op} {len(pattern)}:{pattern}")


class IsNull(Node):
    """The reference is unbound."""

    __slots__ = ("ref",)

    def __init__(self, ref: Ref) -> None:
        self.ref = ref
        self.key = f"{ref.key} null"


class IsA(Node):
    """The concept that the reference holds (or, for EVENT, the event's own) lies at or below ``concept``.

    ``concept`` is a Concept of the ontology, or a plain name where there is none.
    """

    __slots__ = ("concept", "name", "ref")

    def __init__(self, ref: Ref, concept: Any, name: str) -> None:
        self.ref = ref
        self.concept = concept
        self.name = name
        self.key = f"{ref.key} isa {len(name)}:{name}"


Atom: TypeAlias = Compare | OneOf | TextTest | IsNull | IsA


class Truth(Node):
    """A constant: True, False or None (unknown)."""

    __slots__ = ("value",)

    def __init__(self, value: bool | None) -> None:
        self.value = value
        self.key = f"!{value}"


class Not(Node):
    """A negated atom. Under ``default`` it holds wherever the atom is not true; elsewhere unknown stays unknown."""

    __slots__ = ("atom",)

    def __init__(self, atom: Atom) -> None:
        self.atom = atom
        self.key = f"not {atom.key}"


class And(Node):
    """All of two or more; flat, sorted, without repeats."""

    __slots__ = ("args",)

    def __init__(self, args: tuple[Normal, ...]) -> None:
        self.args = args
        self.key = shortened("(& " + " ".join([a.key for a in args]) + ")")


class Or(Node):
    """Some of two or more; flat, sorted, without repeats."""

    __slots__ = ("args",)

    def __init__(self, args: tuple[Normal, ...]) -> None:
        self.args = args
        self.key = shortened("(| " + " ".join([a.key for a in args]) + ")")


Normal: TypeAlias = And | Or | Not | Truth | Compare | OneOf | TextTest | IsNull | IsA

TRUE, FALSE, UNKNOWN = Truth(True), Truth(False), Truth(None)


def conjunction(args: Iterable[Normal]) -> Normal:
    """The AND of some normal forms, in normal form."""
    return _junction(args, And, FALSE, TRUE)


def disjunction(args: Iterable[Normal]) -> Normal:
    """The OR of some normal forms, in normal form."""
    return _junction(args, Or, TRUE, FALSE)


def _junction(args: Iterable[Normal], cls: type[And] | type[Or], zero: Truth, one: Truth) -> Normal:
    found: dict[str, Normal] = {}
    for arg in args:
        if type(arg) is Compare:  # by far the most
            found[arg.key] = arg
        elif isinstance(arg, Truth):
            if arg.value is zero.value:
                return zero
            if arg.value is not one.value:
                found[arg.key] = arg
        elif isinstance(arg, cls):
            for inner in arg.args:
                found[inner.key] = inner
        else:
            found[arg.key] = arg
    if len(found) < 2:
        return next(iter(found.values()), one)
    return cls(tuple([found[key] for key in sorted(found)]))


def atoms(node: Normal) -> Iterator[Atom]:
    """Every atom below a node, repeats included, without recursion."""
    stack: list[Normal] = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, And | Or):
            stack.extend(top.args)
        elif isinstance(top, Not):
            yield top.atom
        elif not isinstance(top, Truth):
            yield top


def term_refs(term: Term) -> Iterator[Ref]:
    """The references in a term."""
    stack: list[Term] = [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Ref):
            yield top
        elif isinstance(top, Sum | Product):
            stack.extend(top.args)
        elif isinstance(top, Neg | Recip):
            stack.append(top.arg)


def atom_refs(atom: Atom) -> Iterator[Ref]:
    """The references in an atom."""
    if isinstance(atom, Compare):
        yield from term_refs(atom.left)
        yield from term_refs(atom.right)
    elif isinstance(atom, OneOf | TextTest):
        yield from term_refs(atom.term)
    else:
        yield atom.ref


def literal(value: Any) -> Lit:
    """A canonical value as a constant of the normal form."""
    if isinstance(value, bool):
        return Lit("bool", value)
    if isinstance(value, str):
        return Lit("text", value)
    if isinstance(value, Instant):
        return Lit("instant", value)
    if isinstance(value, Quantity):
        return Lit("quantity", value.value, value.dimension)
    if isinstance(value, Money):
        return Lit("money", value.value, value.currency)
    exactly: Exact = value
    return Lit("number", exactly)


def value_of(lit: Lit) -> Any:
    """A constant of the normal form as a canonical value."""
    if lit.kind == "quantity":
        return Quantity(lit.value, lit.of)  # type: ignore[arg-type]
    if lit.kind == "money":
        return Money(lit.value, str(lit.of))
    return lit.value
