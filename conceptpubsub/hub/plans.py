"""Delivery plans: how events of one shape reach one delivery context, worked out once and then applied.

What a plan delivers equals ``Converters.deliver``, value for value; plans only skip finding out again what applies.
An affine conversion is one division of whole numbers, which Python rounds to the nearest float.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from conceptpubsub.converters import Converters
from conceptpubsub.converters.conversion import converted, delivered, merged
from conceptpubsub.converters.delivery import applicable, wanted_for
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.hub.edge import Shape
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.values import exact

_KEPT = 4096
AS_IT_CAME = 0
_UNSEEN: Any = object()
Convert = Callable[[Any, Instant | None], Any]


class Step:
    """One attribute on its way to another context."""

    __slots__ = ("concept", "context", "convert", "key")

    def __init__(self, key: str, concept: str, context: Context, convert: Convert) -> None:
        self.key, self.concept, self.context, self.convert = key, concept, context, convert


class Plans:
    """Delivers events into contexts.

    >>> plans = Plans(Converters())
    >>> event = SemanticEvent("Ping", {"T": SemanticObject("T", 86, Context(unit="degF"))})
    >>> plans.deliver(event, 1, plans.number(Context(unit="degC")))["T"].value
    30
    """

    def __init__(self, converters: Converters) -> None:
        self.converters = converters
        self.contexts: list[Mapping[Any, Any]] = [Context()]
        self._numbers: dict[Any, int] = {(): AS_IT_CAME}
        self._lock = threading.Lock()
        self._known: tuple[int, dict[tuple[Shape, int], Any]] = (converters.revision, {})
        """The revision of the converters, and the plans made under it: replaced together, so that no thread enters a
        plan of the old converters among those of the new."""

    def number(self, wanted: Mapping[Any, Any] | None) -> int:
        """The number of a delivery context; equal contexts have one number, and 0 is: as it came."""
        named = {} if wanted is None else dict(wanted)
        key = tuple(sorted((str(getattr(name, "name", name)), repr(value)) for name, value in named.items()))
        with self._lock:
            found = self._numbers.get(key)
            if found is None:
                self.contexts.append(named)
                found = self._numbers[key] = len(self.contexts) - 1
        return found

    def deliver(self, event: SemanticEvent, shape: Shape, number: int) -> SemanticEvent:
        """The event in the context of that number; the same object where nothing changes."""
        if number == AS_IT_CAME:
            return event
        revision, plans = self._known
        if revision != self.converters.revision or len(plans) > _KEPT:
            _, plans = self._known = (self.converters.revision, {})
        key = (shape, number)
        plan = plans.get(key, _UNSEEN)
        if plan is _UNSEEN:
            plan = plans[key] = self._find(event, self.contexts[number])
        if plan is None:
            return self.converters.deliver(event, self.contexts[number])
        if not plan:
            return event
        attributes = dict(event.attributes)
        at = event.time
        for step in plan:
            try:
                value = step.convert(attributes[step.key].value, at)
            except ConceptPubSubError:  # no rate that day: delivered as it came
                continue
            attributes[step.key] = _object(step.concept, value, step.context)
        return _event(event, attributes)

    def _find(self, event: SemanticEvent, wanted: Mapping[Any, Any]) -> tuple[Step, ...] | None:
        conv, steps = self.converters, []
        for key, held in event.attributes.items():
            if held.is_complex:
                return None
            concept = conv.concept(key)
            target = applicable(conv, key, concept, held, wanted_for(conv, key, wanted))
            if target:
                convert = _affine(conv, concept, held, target) or _general(conv, concept, held.context, target)
                steps.append(Step(key, held.concept, merged(held.context, target), convert))
        return tuple(steps)


def _general(conv: Converters, concept: Any, own: Context, target: Context) -> Convert:
    def convert(value: Any, at: Instant | None) -> Any:
        return delivered(converted(conv, concept, value, own, target, at), value, False)

    return convert


def _affine(conv: Converters, concept: Any, held: SemanticObject, target: Context) -> Convert | None:
    """The conversion of units and scales as (a*x + b)/d in whole numbers; None where it is something else."""
    if not target.keys() <= {"unit", "scale"} or type(held.value) not in (int, float):
        return None
    try:
        zero, one, two = (exact(converted(conv, concept, x, held.context, target, None)) for x in (0, 1, 2))
    except ConceptPubSubError:
        return None
    slope = one - zero
    if two - one != slope:  # a logarithm in between
        return None
    bottom = slope.denominator * zero.denominator
    a, b = int(slope * bottom), int(zero * bottom)
    return _of_floats(a, b, bottom) if type(held.value) is float else _of_ints(a, b, bottom)


def _of_ints(a: int, b: int, d: int) -> Convert:
    def convert(value: int, at: Instant | None) -> int | float:
        quotient, rest = divmod(value * a + b, d)
        return _ratio(value * a + b, d) if rest else quotient

    return convert


def _of_floats(a: int, b: int, d: int) -> Convert:
    def convert(value: float, at: Instant | None) -> float:
        whole, dot, part = repr(value).partition(".")
        if not dot or "e" in part:
            number = exact(value)
            return _ratio(number.numerator * a + b * number.denominator, number.denominator * d)
        ten = 10 ** len(part)
        return _ratio(int(whole + part) * a + b * ten, ten * d)

    return convert


def _ratio(top: int, bottom: int) -> float:
    try:
        return top / bottom
    except OverflowError:
        return float("inf") if top > 0 else float("-inf")


def _object(concept: str, value: Any, context: Context) -> SemanticObject:
    """A semantic object of parts that are known to be good."""
    made = object.__new__(SemanticObject)
    object.__setattr__(made, "concept", concept)
    object.__setattr__(made, "value", value)
    object.__setattr__(made, "context", context)
    return made


def _event(event: SemanticEvent, attributes: dict[str, SemanticObject]) -> SemanticEvent:
    made = object.__new__(SemanticEvent)
    object.__setattr__(made, "concept", event.concept)
    object.__setattr__(made, "attributes", MappingProxyType(attributes))
    object.__setattr__(made, "time", event.time)
    object.__setattr__(made, "id", event.id)
    object.__setattr__(made, "source", event.source)
    return made
