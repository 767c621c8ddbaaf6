"""Filter: what a subscriber says, in one object. Immutable, comparable by meaning of its parts, picklable."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import FilterError
from conceptpubsub.filters import evaluate as evaluation
from conceptpubsub.filters.events import view
from conceptpubsub.filters.normal import Normal, Ref
from conceptpubsub.filters.normalise import normalise
from conceptpubsub.filters.parser import parse
from conceptpubsub.filters.printer import show
from conceptpubsub.filters.scope import Scope
from conceptpubsub.filters.syntax import Condition, references

if TYPE_CHECKING:
    from conceptpubsub.converters import Converters
    from conceptpubsub.filters.explain import Explanation
    from conceptpubsub.model import SemanticEvent
    from conceptpubsub.model.ontology import Ontology


class Filter:
    """A Boolean expression over concepts, with constants in the subscriber's own context.

    >>> f = Filter.parse("price < 500 AND dest = 'MXP'")
    >>> f.matches({"price": 600, "dest": "MXP"}), f.evaluate({"price": 10})
    (False, None)
    >>> str(f), f == Filter.parse("dest='MXP' and price<500.0")
    ("price < 500 AND dest = 'MXP'", True)
    """

    __slots__ = ("_compiled", "_digest", "_normal", "_references", "_text", "scope", "source", "tree")

    scope: Scope
    tree: Condition
    source: str

    def __init__(self, tree: Condition, scope: Scope, source: str = "") -> None:
        self.tree = tree
        self.scope = scope
        self.source = source
        self._normal: Normal | None = None
        self._references: tuple[Ref, ...] | None = None
        self._text: str | None = None
        self._digest: str | None = None
        self._compiled: Any = None  # what the layer of relations works out once; never pickled

    @classmethod
    def parse(
        cls,
        text: str | Filter,
        *,
        ontology: Ontology | None = None,
        converters: Converters | None = None,
        semantics: str = "sql",
        types: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> Filter:
        """Read a filter text in a scope: the ontology that gives names meaning, converters, semantics, declarations.

        >>> from conceptpubsub import Context, SemanticObject
        >>> Filter.parse("x > 5 km").evaluate({"x": SemanticObject("x", 6000, Context(unit="m"))})
        True
        >>> Filter.parse("x > 1 AND x < 2", types={"x": "int"}, semantics="strict").names
        frozenset({'$x'})
        """
        if not isinstance(text, str):
            if not isinstance(text, Filter):
                raise FilterError(f"a filter is text, not {type(text).__name__}")
            text = str(text)
        scope = scope_of(ontology, converters, semantics, types, defaults)
        return cls(parse(text, scope), scope, text)

    # ------------------------------------------------------------------ parts

    @property
    def semantics(self) -> str:
        """sql, strict, total or default."""
        return self.scope.semantics

    @property
    def ontology(self) -> Ontology | None:
        """The ontology that gives the names their meaning."""
        return self.scope.ontology

    @property
    def converters(self) -> Converters:
        """The converters that give units, currencies and codes their meaning."""
        return self.scope.converters

    @property
    def references(self) -> tuple[Ref, ...]:
        """Every distinct reference the text names, simplified away or not."""
        if self._references is None:
            self._references = references(self.tree)
        return self._references

    @property
    def normal(self) -> Normal:
        """The normal form: what relations, indexes and archives work on."""
        if self._normal is None:
            self._normal = normalise(self.tree, self.scope.semantics, self.scope.defaults)
        return self._normal

    @property
    def names(self) -> frozenset[str]:
        """The keys of all references; under ``strict`` and ``total`` they are part of the meaning."""
        return frozenset(ref.key for ref in self.references)

    @property
    def digest(self) -> str:
        """A stable hash of the normal form, semantics, declarations and ontology: equal for equal filters."""
        if self._digest is None:
            whole = "\x1e".join(self._identity())
            self._digest = hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self._digest

    def _identity(self) -> tuple[str, ...]:
        scope = self.scope
        named = sorted(self.names) if scope.semantics in ("strict", "total") else ()
        types = sorted(f"{name}:{kind}" for name, kind in scope.types.items())
        defaults = sorted(f"{key}:{value!r}" for key, value in scope.defaults.items())
        onto = scope.ontology.digest if scope.ontology is not None else ""
        return (self.normal.key, scope.semantics, *named, "", *types, "", *defaults, "", onto)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __str__(self) -> str:
        if self._text is None:
            self._text = show(self.tree)
        return self._text

    def __repr__(self) -> str:
        text = str(self)
        extra = "" if self.semantics == "sql" else f", semantics={self.semantics!r}"
        return f"Filter.parse({text if len(text) < 200 else text[:200] + '…'!r}{extra})"

    def __reduce__(self) -> tuple[Any, ...]:
        scope = self.scope
        given = (scope.ontology, scope.given_converters, scope.semantics, scope.given_types, scope.given_defaults)
        return _unpickled, (str(self), *given)

    # ------------------------------------------------------------------ meaning

    def evaluate(self, event: SemanticEvent | Mapping[str, Any]) -> bool | None:
        """True, False or None (unknown) for an event, by the reference evaluator.

        >>> Filter.parse("x <> 5", semantics="default").evaluate({})
        True
        """
        return evaluation.evaluate(self.tree, self.references, view(event), self.scope)

    def matches(self, event: SemanticEvent | Mapping[str, Any]) -> bool:
        """Whether the event matches: only true counts."""
        return self.evaluate(event) is True

    def explain(self, event: SemanticEvent | Mapping[str, Any]) -> Explanation:
        """Why the event matched or not, atom by atom; print it.

        >>> print(Filter.parse("x > 5").explain({"x": 3}))
        not matched (false, semantics sql): x > 5
            false  x > 5
                   x = 3
        """
        from conceptpubsub.filters.explain import explain

        return explain(self.tree, str(self), event, self.scope)

    # ------------------------------------------------------------------ relations

    def satisfiable(self, **options: Any) -> bool:
        """Whether any event can match.

        >>> Filter.parse("x >= 2 AND x <= 2 AND x <> 2").satisfiable()
        False
        """
        return bool(_relations().satisfiable(self, **options))

    def identical(self, other: Filter, **options: Any) -> bool:
        """Whether both match the same events."""
        return bool(_relations().identical(self, other, **options))

    def overlaps(self, other: Filter, **options: Any) -> bool:
        """Whether some event matches both."""
        return bool(_relations().overlaps(self, other, **options))

    def covers(self, other: Filter, **options: Any) -> bool:
        """Whether every event that matches the other matches this one."""
        return bool(_relations().covers(self, other, **options))

    def merge(self, other: Filter, **options: Any) -> Filter:
        """One filter for both: their union, or with ``excess`` a simpler superset within that bound."""
        merged: Filter = _relations().merge(self, other, **options)
        return merged

    def witness(self, other: Filter, **options: Any) -> SemanticEvent | None:
        """An event that the other matches and this one does not, or None when this one covers the other."""
        event: SemanticEvent | None = _relations().witness(self, other, **options)
        return event

    # ------------------------------------------------------------------ building

    def bind(self, **scope: Any) -> Filter:
        """The same text in another scope.

        >>> Filter.parse("x = 1").bind(semantics="strict")
        Filter.parse('x = 1', semantics='strict')
        """
        mine = {
            "ontology": self.scope.ontology,
            "converters": self.scope.given_converters,
            "semantics": self.scope.semantics,
            "types": self.scope.given_types,
            "defaults": self.scope.given_defaults,
        }
        return Filter.parse(str(self), **{**mine, **scope})

    def __and__(self, other: Filter) -> Filter:
        return self._joined("AND", other)

    def __or__(self, other: Filter) -> Filter:
        return self._joined("OR", other)

    def __invert__(self) -> Filter:
        return self._made(f"NOT ({or_true(str(self))})")

    def _joined(self, word: str, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        if not self._same_scope(other):
            raise FilterError(
                "filters of different semantics, ontologies or declarations cannot be joined: bind() one to the other's"
            )
        return self._made(f"({or_true(str(self))}) {word} ({or_true(str(other))})")

    def _same_scope(self, other: Filter) -> bool:
        a, b = self.scope, other.scope
        return a is b or (
            (a.semantics, a.types, a.defaults, a.ontology) == (b.semantics, b.types, b.defaults, b.ontology)
            and a.given_converters is b.given_converters
        )

    def _made(self, text: str) -> Filter:
        return Filter(parse(text, self.scope), self.scope, text)

    def to_json(self) -> dict[str, Any]:
        """The filter as a semantic object in JSON-LD; `Filter.from_json` reads it back.

        >>> Filter.parse("x > 86 degF").to_json()["expression"]["right"]
        {'@type': 'SemanticObject', 'rdf:value': 86, 'cps:unit': 'degF'}
        """
        from conceptpubsub.filters.jsonld import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any] | str | bytes, **scope: Any) -> Filter:
        """Read what `to_json` wrote; ontology and converters are given by the caller.

        >>> f = Filter.parse("x > 86 degF", semantics="strict")
        >>> Filter.from_json(f.to_json()) == f
        True
        """
        from conceptpubsub.filters.jsonld import from_json

        return from_json(document, **scope)


def _relations() -> Any:
    """The layer above, looked up by name: the methods are the user's way to it, and no import here points up."""
    return importlib.import_module("conceptpubsub.relations")


def or_true(text: str) -> str:
    """The empty filter as a condition that can be joined to others."""
    return text or "TRUE"


def scope_of(
    ontology: Ontology | None,
    converters: Converters | None,
    semantics: str,
    types: Mapping[str, str] | None,
    defaults: Mapping[str, Any] | None,
) -> Scope:
    """One scope for the same arguments, so that what it has resolved is shared."""
    if not types and not defaults:
        global _last
        scope = _last
        if scope.ontology is not ontology or scope.given_converters is not converters or scope.semantics != semantics:
            scope = _last = _plain_scope(ontology, converters, semantics)
        return scope.fresh()
    declared = tuple(sorted((types or {}).items()))
    standing_in = tuple((name, type(value), value) for name, value in sorted((defaults or {}).items()))
    try:
        return _declared_scope(ontology, converters, semantics, declared, standing_in).fresh()
    except TypeError:  # an unhashable default
        return Scope(ontology, converters, semantics, types, defaults)


_last = Scope()  # most filters are read in the scope of the one before


@lru_cache(maxsize=256)
def _plain_scope(ontology: Any, converters: Any, semantics: str) -> Scope:
    return Scope(ontology, converters, semantics)


@lru_cache(maxsize=256)
def _declared_scope(ontology: Any, converters: Any, semantics: str, types: Any, defaults: Any) -> Scope:
    return Scope(ontology, converters, semantics, dict(types), {name: value for name, _, value in defaults})


def _unpickled(text: str, ontology: Any, converters: Any, semantics: str, types: Any, defaults: Any) -> Filter:
    return Filter.parse(
        text, ontology=ontology, converters=converters, semantics=semantics, types=types, defaults=defaults
    )
