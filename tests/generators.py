"""Random filters and events, over every operator, unit and semantics: hypothesis strategies and a fast seeded source.

Both are one generator over a ``random.Random``; hypothesis brings its own, whose draws it shrinks.

>>> make = Generator(random.Random(1), world("plain"))
>>> isinstance(make.filter(), Filter), isinstance(make.text(), str)
(True, True)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from conceptpubsub.filters import Filter
from conceptpubsub.model import SemanticEvent, SemanticObject
from tests.worlds import INSTANTS, NAMES, Field, Source, World, world

T = TypeVar("T")

SEMANTICS = ("sql", "strict", "total", "default")
FEATURES = frozenset(
    ["between", "in", "like", "contains", "within", "affix", "matches", "isa", "null", "flag", "arithmetic", "event",
     "path", "units", "money", "instants", "pairs", "constants", "compound", "any"]
)  # fmt: skip
"""What may occur besides comparisons, AND, OR and NOT; leave out what an engine under test does not have."""

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
LIKES = ("'a%'", "'%b'", "'%a%'", "'a_'", "'_'", "'%'", "'ab'", "'a!_%' ESCAPE '!'", "'%a%b%'", "''")
REGEXES = ("'a.*'", "'[ab]+'", "'(a|b)b?'", "''", "'(?i)AB'", "'a{2}b'")
_ORDERED = ("number", "quantity", "money", "instant", "text", "any")


class Generator:
    """Filters and events of one world. ``features`` narrows the operators; a filter has at most ``atoms`` atoms."""

    def __init__(
        self,
        rng: random.Random,
        world: World,
        semantics: str | None = None,
        features: frozenset[str] = FEATURES,
        atoms: int = 5,
    ) -> None:
        self.rng = rng
        self.world = world
        self.semantics = semantics
        self.features = features
        self.atoms = atoms
        self.fields = [f for f in world.fields if self.usable(f)]
        self.numbers = [f for f in self.fields if f.kind == "number" and not f.compound]

    def usable(self, field: Field) -> bool:
        wanted = {"quantity": "units", "money": "money", "instant": "instants", "any": "any"}.get(field.kind)
        asked = {wanted, "event" if field.event else None, "path" if field.path else None}
        asked |= {"compound", "event" if "EVENT" in field.text else None} if field.compound else set()
        return all(each is None or each in self.features for each in asked)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def has(self, feature: str, percent: int) -> bool:
        return feature in self.features and self.chance(percent)

    # ------------------------------------------------------------------ filters

    def scope(self) -> dict[str, Any]:
        """Keyword arguments for ``Filter.parse``; the semantics drawn where none was asked for."""
        semantics = self.semantics or self.pick(SEMANTICS)
        return self.world.scope(semantics, defaults=semantics == "default" and self.chance(60))

    def filter(self, scope: dict[str, Any] | None = None) -> Filter:
        """A filter; give a scope to get several filters of the same one."""
        return Filter.parse(self.text(), **(self.scope() if scope is None else scope))

    def text(self) -> str:
        """A filter's text. Rarely the empty one, which everything matches."""
        if self.chance(2):
            return ""
        return self.condition(1 + self.rng.randrange(self.atoms))

    def conjunction(self) -> str:
        """Atoms joined by AND, as most subscriptions are."""
        return " AND ".join(f"({self.atom()})" for _ in range(1 + self.rng.randrange(self.atoms)))

    def condition(self, atoms: int) -> str:
        if atoms == 1:
            text = self.atom()
            return f"NOT ({text})" if self.chance(20) else text
        left = 1 + self.rng.randrange(atoms - 1)
        word = "AND" if self.chance(60) else "OR"
        text = f"({self.condition(left)}) {word} ({self.condition(atoms - left)})"
        return f"NOT ({text})" if self.chance(12) else text

    def atom(self) -> str:
        """One atom over a field of the world."""
        if self.has("constants", 2):
            return self.pick(("TRUE", "FALSE", "1 = 1", "1 = 'a'", "2 < 1", "'a' LIKE 'a%'", "1 / 0 > 0"))
        field = self.pick(self.fields)
        if field.kind in ("number", "any") and not field.compound and self.has("arithmetic", 15):
            return self.arithmetic()
        tests: list[Callable[[Field], str]] = []
        if field.kind in _ORDERED:
            tests += [self.comparison] * 5
            tests += [self.between] * ("between" in self.features) + [self.member] * ("in" in self.features)
        if field.kind in ("text", "any"):
            tests += [self.pattern] * 4
        if field.kind == "bool":
            tests += [self.equality, self.flag if "flag" in self.features else self.equality]
        if field.kind == "concept":
            tests += [self.equality, self.equality, self.member if "in" in self.features else self.equality]
        if field.kind in ("concept", "complex") and "isa" in self.features:
            tests += [self.isa] * 2
        if "null" in self.features and not field.compound:
            tests.append(self.null)
        if "event" in self.features and field.event:
            tests.append(self.event_isa)
        return self.pick(tests)(field) if tests else self.atom()

    def comparison(self, field: Field) -> str:
        op = self.pick(COMPARISONS)
        if self.has("pairs", 8):
            others = [f for f in self.fields if f.kind == field.kind and self.meets(field, f)]
            return f"{field.text} {op} {self.pick(others).text}"
        constant = self.pick(field.constants)
        if constant in ("TRUE", "FALSE"):
            op = self.pick(COMPARISONS[:2])
        return f"{constant} {op} {field.text}" if self.chance(10) else f"{field.text} {op} {constant}"

    def meets(self, one: Field, other: Field) -> bool:
        """Whether the type checker may compare two fields: they share a constant that says what it is."""
        bare = set() if one.kind not in ("quantity", "money") else {c for c in one.constants if " " not in c}
        return one == other or not (set(one.constants) - bare).isdisjoint(other.constants)

    def equality(self, field: Field) -> str:
        return f"{field.text} {self.pick(COMPARISONS[:2])} {self.pick(field.constants)}"

    def between(self, field: Field) -> str:
        constants = [c for c in field.constants if c not in ("TRUE", "FALSE")]
        word = "NOT BETWEEN" if self.chance(25) else "BETWEEN"
        return f"{field.text} {word} {self.pick(constants)} AND {self.pick(constants)}"

    def member(self, field: Field) -> str:
        items = ", ".join(self.pick(field.constants) for _ in range(1 + self.rng.randrange(4)))
        return f"{field.text} {'NOT IN' if self.chance(25) else 'IN'} ({items})"

    def pattern(self, field: Field) -> str:
        known = {
            "LIKE": ("like", LIKES),
            "CONTAINS": ("contains", ("'a'", "'b'", "'ab'", "''")),
            "WITHIN": ("within", ("'aab'", "'ba'", "''", "'a'")),
            "STARTS WITH": ("affix", ("'a'", "'ab'", "''", "'b'")),
            "ENDS WITH": ("affix", ("'a'", "'ab'", "''", "'b'")),
            "MATCHES": ("matches", REGEXES),
        }
        words = [word for word, (feature, _) in known.items() if feature in self.features]
        if not words:
            return self.comparison(field)
        word = self.pick(words)
        return f"{field.text} {'NOT ' if self.chance(20) else ''}{word} {self.pick(known[word][1])}"

    def flag(self, field: Field) -> str:
        return field.text

    def null(self, field: Field) -> str:
        return f"{field.text} IS {'NOT ' if self.chance(40) else ''}NULL"

    def isa(self, field: Field) -> str:
        return f"{field.text} {'NOT ' if self.chance(15) else ''}ISA {self.pick(self.world.below)}"

    def event_isa(self, field: Field) -> str:
        return f"EVENT {'NOT ' if self.chance(15) else ''}ISA {self.pick(self.world.below)}"

    def arithmetic(self) -> str:
        return f"{self.term(2)} {self.pick(COMPARISONS)} {self.term(1)}"

    def term(self, depth: int) -> str:
        """Arithmetic over plain numbers."""
        if depth == 0 or self.chance(25):
            return (
                self.pick(self.numbers).text if self.numbers and self.chance(65) else self.pick(("-1", "0", "1", "2"))
            )
        if self.chance(10):
            return f"-({self.term(depth - 1)})"
        return f"({self.term(depth - 1)} {self.pick(('+', '-', '*', '/'))} {self.term(depth - 1)})"

    # ------------------------------------------------------------------ events

    def event(self) -> SemanticEvent | dict[str, Any]:
        """An event: a plain mapping or a SemanticEvent, with gaps and with values that do not fit."""
        density = self.pick((20, 50, 80, 100))
        held = self.attributes(self.world.sources, density)
        time = self.pick((None, *INSTANTS))
        time = None if time is None else time[11:-1]
        parts = [self.pick((None, *self.world.concepts)), self.pick((None, "a", "ab", "")), self.pick((None, "a", "b"))]
        if self.chance(50):
            concept = parts[0] or self.world.concepts[0]
            return SemanticEvent(concept, held, time=time, id=parts[1], source=parts[2])
        named = {"@concept": parts[0], "@time": time, "@id": parts[1], "@source": parts[2]}
        return {**held, **{key: value for key, value in named.items() if value is not None}}

    def attributes(self, sources: Sequence[Source], density: int) -> dict[str, Any]:
        held: dict[str, Any] = {}
        for source in sources:
            if not self.chance(density):
                continue
            if source.odd and self.chance(8):
                held[source.key] = self.pick(source.odd)
            elif source.inner:
                inner = self.attributes(source.inner, density)
                held[source.key] = SemanticObject(source.key, inner) if self.chance(50) else inner
            else:
                held[source.key] = None if self.chance(3) else self.pick(source.values)
        return held


# ---------------------------------------------------------------------- seeded


def random_filters(
    count: int,
    seed: int = 1,
    name: str = "plain",
    semantics: str | None = "sql",
    features: frozenset[str] = FEATURES,
    atoms: int = 5,
) -> Iterator[Filter]:
    """That many filters of a world, the same ones each time."""
    make = Generator(random.Random(seed), world(name), semantics, features, atoms)
    return (make.filter() for _ in range(count))


def random_events(count: int, seed: int = 2, name: str = "plain") -> Iterator[SemanticEvent | dict[str, Any]]:
    """That many events of a world, the same ones each time."""
    make = Generator(random.Random(seed), world(name))
    return (make.event() for _ in range(count))


# ---------------------------------------------------------------------- hypothesis

_randoms = st.randoms(use_true_random=False)


@st.composite
def generators(
    draw: st.DrawFn,
    name: str | None = None,
    semantics: str | None = None,
    features: frozenset[str] = FEATURES,
    atoms: int = 5,
) -> Generator:
    """A generator whose draws hypothesis controls, in one world or any."""
    chosen = name or draw(st.sampled_from(NAMES))
    return Generator(draw(_randoms), world(chosen), semantics, features, atoms)


def filters(name: str | None = None, semantics: str | None = None, **options: Any) -> st.SearchStrategy[Filter]:
    """Filters of a world and semantics, or of any."""
    return generators(name, semantics, **options).map(lambda make: make.filter())


def events(name: str) -> st.SearchStrategy[SemanticEvent | dict[str, Any]]:
    """Events of a world."""
    return generators(name).map(lambda make: make.event())


@st.composite
def cases(
    draw: st.DrawFn, /, name: str | None = None, semantics: str | None = None, **options: Any
) -> tuple[Filter, SemanticEvent | dict[str, Any]]:
    """A filter and an event of the same world."""
    make = draw(generators(name, semantics, **options))
    return make.filter(), make.event()


@st.composite
def pairs(
    draw: st.DrawFn, /, name: str | None = None, semantics: str | None = None, **options: Any
) -> tuple[Filter, Filter, SemanticEvent | dict[str, Any]]:
    """Two filters of the same scope and an event of their world."""
    make = draw(generators(name, semantics, **options))
    scope = make.scope()
    return make.filter(scope), make.filter(scope), make.event()
