"""Semantic objects and events: <concept, value, context>, immutable once made.

Rule 1  The key of an attribute is its concept; the object under it has that concept or one above.
Rule 2  null is missing: an attribute whose value is None is left out.
Rule 3  A list is an error with a hint: one attribute, one value.
Rule 4  Objects are equal when they mean the same number: 0.1 equals Decimal("0.1"); True is not 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from conceptpubsub.errors import InvalidEvent, InvalidValue
from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.entry import BUILTIN, meaning, plain, same
from conceptpubsub.model.instants import Instant

MAX_DEPTH = 32


@dataclass(frozen=True, slots=True, init=False)
class SemanticObject:
    """<concept, value, context>: *simple* with a value, *complex* with a mapping of attributes.

    >>> SemanticObject("Distance", 3850, Context(unit="mile", scale=1)).value
    3850
    >>> SemanticObject("Vehicle", {"Odometer": SemanticObject("Odometer", 12)}).is_complex
    True
    """

    concept: str
    value: Any
    context: Context

    def __init__(self, concept: Any, value: Any, context: Mapping[str, Any] | None = None) -> None:
        object.__setattr__(self, "concept", _name(concept))
        object.__setattr__(self, "context", _context(context))
        object.__setattr__(self, "value", _value(value, self.concept, 0, self.context))

    @property
    def is_complex(self) -> bool:
        """Whether the value is a set of semantic objects."""
        return type(self.value) is MappingProxyType

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SemanticObject):
            return NotImplemented
        return self.concept == other.concept and self.context == other.context and same(self.value, other.value)

    def __hash__(self) -> int:
        value = frozenset(self.value.items()) if self.is_complex else meaning(self.value)
        return hash((self.concept, value, self.context))

    def __reduce__(self) -> tuple[Any, ...]:
        value = dict(self.value) if self.is_complex else self.value
        return SemanticObject, (self.concept, value, self.context)


@dataclass(frozen=True, slots=True, init=False)
class SemanticEvent:
    """A complex semantic object with an id, a time and a source.

    >>> e = SemanticEvent("VehicleStatus", {"Odometer": SemanticObject("Distance", 3850, Context(unit="mile"))})
    >>> e["Odometer"].context["unit"], e.get("Speedometer")
    ('mile', None)
    """

    concept: str
    attributes: Mapping[str, SemanticObject]
    time: Instant | None
    id: str | None
    source: str | None

    def __init__(
        self,
        concept: Any,
        attributes: Mapping[str, Any] | None = None,
        *,
        time: Any = None,
        id: Any = None,
        source: Any = None,
    ) -> None:
        object.__setattr__(self, "concept", _name(concept))
        object.__setattr__(self, "attributes", _attributes({} if attributes is None else attributes, 0))
        object.__setattr__(self, "time", None if time is None else Instant.of(time))
        object.__setattr__(self, "id", None if id is None else str(id))
        object.__setattr__(self, "source", None if source is None else str(source))

    def __getitem__(self, key: str) -> SemanticObject:
        return self.attributes[key]

    def __contains__(self, key: object) -> bool:
        return key in self.attributes

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def get(self, key: str, default: Any = None) -> Any:
        """The attribute under that key, or the default."""
        return self.attributes.get(key, default)

    def replace(self, **changes: Any) -> SemanticEvent:
        """A copy with some of concept, attributes, time, id and source changed."""
        known = {"attributes": self.attributes, "time": self.time, "id": self.id, "source": self.source, **changes}
        return SemanticEvent(known.pop("concept", self.concept), **known)

    def __hash__(self) -> int:
        return hash((self.concept, frozenset(self.attributes.items()), self.time, self.id, self.source))

    def __reduce__(self) -> tuple[Any, ...]:
        return _event, (self.concept, dict(self.attributes), self.time, self.id, self.source)


def _event(concept: str, attributes: dict[str, Any], time: Any, id: Any, source: Any) -> SemanticEvent:
    return SemanticEvent(concept, attributes, time=time, id=id, source=source)


def as_object(key: str, value: Any, depth: int = 0) -> SemanticObject:
    """What stands under an attribute key: a semantic object as it is, a plain value wrapped in one."""
    if isinstance(value, SemanticObject):
        return value
    made = object.__new__(SemanticObject)
    object.__setattr__(made, "concept", key)
    object.__setattr__(made, "value", _value(value, key, depth, EMPTY))
    object.__setattr__(made, "context", EMPTY)
    return made


def _attributes(given: Mapping[str, Any], depth: int) -> Mapping[str, SemanticObject]:
    if not isinstance(given, Mapping):
        raise InvalidEvent(f"attributes are a mapping from concept to value, not {type(given).__name__}")
    if depth > MAX_DEPTH:
        raise InvalidEvent(f"objects nested deeper than {MAX_DEPTH}", depth=depth)
    made: dict[str, SemanticObject] = {}
    for key, value in given.items():
        if value is None:
            continue
        name = key if type(key) is str and key else _name(key)
        if name in made:
            raise InvalidEvent(f"two attributes {name!r}; an event holds one a key", attribute=name)
        under = as_object(name, value, depth)
        if under.value is None:
            continue
        if value is under and under.is_complex and depth + _height(under) > MAX_DEPTH:
            raise InvalidEvent(f"objects nested deeper than {MAX_DEPTH}", attribute=name, depth=depth)
        made[name] = under
    return MappingProxyType(made)


def _height(under: SemanticObject) -> int:
    """How many levels of attributes an object holds; each was checked when it was made, so this is bounded."""
    if not under.is_complex:
        return 0
    return 1 + max(map(_height, under.value.values()), default=0)


def _value(value: Any, concept: str, depth: int, context: Context) -> Any:
    if type(value) not in BUILTIN and isinstance(value, Mapping):
        return _attributes(value, depth + 1)
    if isinstance(value, list | tuple | set | frozenset):
        raise InvalidEvent(
            f"{concept} is a {type(value).__name__}; an attribute holds one value: "
            "publish one event a value, or use a key for each (sub-concepts may stand side by side)",
            attribute=concept,
        )
    return plain(value, concept, context)


def _name(concept: Any) -> str:
    name = concept if isinstance(concept, str) else getattr(concept, "name", None)
    if not isinstance(name, str) or not name:
        raise InvalidValue(f"a concept is named by text or a Concept, not {concept!r}", value=repr(concept)[:200])
    return name


def _context(context: Mapping[str, Any] | None) -> Context:
    if context is None:
        return EMPTY
    return context if isinstance(context, Context) else Context(context)
