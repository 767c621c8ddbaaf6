"""Events at the edges of a flow: from plain or semantic to canonical values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from conceptpubsub.converters import Converters, Money, Quantity, resolve
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.flow.functions import Failed
from conceptpubsub.flow.schema import Kind, Schema
from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject, exact
from conceptpubsub.model.objects import as_object


@dataclass(frozen=True, slots=True)
class Flowing:
    """An event inside a flow: canonical values, and what the event says of itself."""

    values: Mapping[str, Any]
    time: Instant | None = None
    id: str | None = None
    source: str | None = None

    def with_values(self, values: Mapping[str, Any]) -> Flowing:
        """The same event with other values."""
        return Flowing(values, self.time, self.id, self.source)


def enter(event: Any, schema: Schema, converters: Converters, space: str) -> Flowing:
    """Read an event at a source; a value that does not fit the schema fails the event."""
    if isinstance(event, SemanticEvent):
        given: Mapping[str, Any] = event.attributes
        made = Flowing({}, event.time, event.id, event.source)
    elif isinstance(event, Mapping):
        given = {key: value for key, value in event.items() if not str(key).startswith("@")}
        time = event.get("@time")
        texts = [None if event.get(part) is None else str(event[part]) for part in ("@id", "@source")]
        made = Flowing({}, None if time is None else Instant.of(time), *texts)
    else:
        raise Failed(f"an event is a mapping or a SemanticEvent, not {type(event).__name__}")
    values: dict[str, Any] = {}
    for name, held in given.items():
        if held is None:
            continue
        kind = schema.get(name)
        if kind is None:
            raise Failed(f"{space} has no attribute '{name}'")
        values[name] = _value(name, held, kind, converters, made.time)
    return made.with_values(values)


def _value(name: str, held: Any, kind: Kind, converters: Converters, at: Instant | None) -> Any:
    try:
        obj = as_object(name, held)
    except ConceptPubSubError as error:
        raise Failed(f"{name}: {error}") from None
    context = obj.context if obj.context else kind.context
    if kind.type == "instant" and isinstance(obj.value, str):
        try:
            return Instant.parse(obj.value, context.get("timezone"))
        except ConceptPubSubError as error:
            raise Failed(f"{name}: {error}") from None
    value = converters.canonical(None, obj.value, context, at)
    if value is None or not fits(value, kind):
        reason = converters.problem(None, obj.value, context, at)
        raise Failed(f"{name}: {reason or f'{obj.value!r} is not {kind}'}")
    return value


def fits(value: Any, kind: Kind) -> bool:
    """Whether a canonical value is of a schema's type."""
    if kind.type == "any":
        return True
    if isinstance(value, bool) or kind.type == "bool":
        return isinstance(value, bool) and kind.type == "bool"
    if kind.type == "text":
        return isinstance(value, str)
    if kind.type == "instant":
        return isinstance(value, Instant)
    if kind.unit is not None:
        return isinstance(value, Quantity) and value.dimension.comparable(resolve(kind.unit).dimension)
    if kind.currency is not None:
        return isinstance(value, Money)
    if kind.type == "int":
        return isinstance(value, int)
    return isinstance(value, int | Fraction)


def uncanonical(name: str, value: Any) -> Any:
    """A canonical value as an attribute that filters and subscribers read; exact."""
    if isinstance(value, Quantity):
        return SemanticObject(name, value.value, Context(unit=value.dimension.base_unit))
    if isinstance(value, Money):
        return SemanticObject(name, value.value, Context(currency=value.currency))
    return value


def leave(event: Flowing, schema: Schema, space: str) -> SemanticEvent:
    """The event as a subscriber of a space gets it: in the schema's units; whole numbers as int, others as float."""
    made: dict[str, Any] = {}
    for name, value in event.values.items():
        kind = schema.get(name)
        if isinstance(value, Quantity):
            unit = kind.unit if kind is not None and kind.unit is not None else value.dimension.base_unit
            made[name] = SemanticObject(name, plain(resolve(unit).from_base(value.value)), Context(unit=unit))
        elif isinstance(value, Money):
            made[name] = SemanticObject(name, plain(value.value), Context(currency=value.currency))
        else:
            made[name] = plain(value)
    return SemanticEvent(space, made, time=event.time, id=event.id, source=event.source)


def plain(value: Any) -> Any:
    """A whole number as int, another rational as the nearest float; everything else as it is."""
    if isinstance(value, Fraction):
        value = exact(value)
        return value if isinstance(value, int) else float(value)
    return value
