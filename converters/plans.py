"""Reading plans: how values of one concept in one context become canonical, worked out once and then applied.

A plan holds the resolved unit, the scale, the currency and the declared type, so that the value of an event costs a
lookup and one multiply-add. A plan never raises on data; it returns a ``Problem``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from conceptpubsub.converters.canonical import Canonical, Money, Problem, Quantity
from conceptpubsub.converters.currencies import is_currency
from conceptpubsub.converters.dimensions import Dimension
from conceptpubsub.converters.pairs import adopted
from conceptpubsub.converters.units import Unit, applied, resolve, whole_numbers
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.values import Exact, exact, simplest, to_float

Moves: TypeAlias = tuple[tuple[str, Any, Any], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One concept in one context."""

    concept: Any
    context: Context
    """The effective context: the value's own, over the concept's default, over the canonical unit."""
    value_type: str | None
    problem: Problem | None
    unit: Unit | None = None
    dimension: Dimension | None = None
    canonical_unit: Unit | None = None
    scale: Exact = 1
    currency: str | None = None
    moves: Moves = ()
    """(aspect, where the value stands, where it is compared): steps for registered converters."""
    whole: tuple[int, int, int] | None = None
    """Scale and unit as one affine map in whole numbers; None where there is neither, or a logarithm."""
    checked: bool = False
    """Whether the declared type says more than that it is a number."""

    @property
    def name(self) -> str:
        """What sentences call the value."""
        return "the value" if self.concept is None else str(self.concept.name)

    def number(self, value: Any) -> Canonical | Problem:
        """A number, scaled, in base units and checked against the declared type."""
        try:
            number = value if type(value) is int else exact(value)
            if self.whole is not None:
                base = applied(self.whole, number)
            else:
                base = self.unit.to_base(simplest(number * self.scale)) if self.unit else number
        except ConceptPubSubError as error:
            return Problem(error.message)
        if self.checked:
            fault = self._declared(base)
            if fault is not None:
                return fault
        if self.currency is not None:
            return Money(base, self.currency)
        return base if self.dimension is None else Quantity(base, self.dimension)

    def _declared(self, base: Exact) -> Problem | None:
        concept = self.concept
        shown = base
        if self.canonical_unit is not None:
            try:
                shown = self.canonical_unit.from_base(base)
            except ConceptPubSubError as error:
                return Problem(error.message)
        if self.value_type == "int" and type(shown) is not int:
            return Problem(f"{concept.name} is an integer, and {to_float(shown):g} is not one")
        if self._bounds(concept.minimum) and shown < concept.minimum:
            return Problem(f"{concept.name} is at least {concept.minimum}, and {to_float(shown):g} is less")
        if self._bounds(concept.maximum) and shown > concept.maximum:
            return Problem(f"{concept.name} is at most {concept.maximum}, and {to_float(shown):g} is more")
        return None

    def _bounds(self, limit: Exact | None) -> bool:
        """Whether a declared limit speaks of this value: in another currency than the declared one only zero does."""
        if limit is None:
            return False
        home = self.concept.default_context.get("currency")
        return limit == 0 or self.currency is None or self.context.get("currency") == home


def _ranged(concept: Any) -> bool:
    return concept.minimum is not None or concept.maximum is not None


def effective(concept: Any, context: Mapping[str, Any]) -> Context:
    """The context of a value: its own, then its concept's default, then the canonical unit."""
    own = context if isinstance(context, Context) else Context(context)
    if concept is None:
        return own
    merged: Context = concept.default_context.merged(own)
    if "unit" not in merged and concept.canonical_unit is not None and "currency" not in merged:
        return Context(dict(merged), unit=concept.canonical_unit)
    return merged


def plan_for(concept: Any, context: Mapping[str, Any], moves: Callable[[Context], Moves] | None = None) -> Plan:
    """The plan of a concept (or None) in a context; whatever is wrong with the context becomes its problem."""
    try:
        whole = effective(concept, context)
    except ConceptPubSubError as error:
        return Plan(concept, EMPTY, None, Problem(error.message))
    kind = _value_type(concept, whole)
    try:
        return _plan(concept, whole, kind, () if moves is None else moves(whole))
    except ConceptPubSubError as error:
        return Plan(concept, whole, kind, Problem(error.message))


def _plan(concept: Any, whole: Context, kind: str | None, moves: Moves) -> Plan:
    def wrong(sentence: str) -> Plan:
        return Plan(concept, whole, kind, Problem(sentence))

    scale, currency, text = whole.get("scale", 1), whole.get("currency"), whole.get("unit")
    if isinstance(scale, str | bool) or scale <= 0:
        return wrong(f"a scale is a number above zero, not {scale!r}")
    if currency is not None and not is_currency(currency):
        return wrong(f"{currency!r} is not a currency of ISO 4217")
    unit = resolve(text) if isinstance(text, str) else None
    if text is not None and unit is None:
        return wrong(f"a unit is named by text, not {text!r}")
    expected = None if concept is None else _expected(concept)
    dimension = None if unit is None else unit.dimension
    checked = concept is not None and (kind == "int" or _ranged(concept))
    if expected is not None and currency is not None and "currency" not in concept.default_context:
        return wrong(f"{concept.name} is measured in {expected.name}, not in money")
    if unit is not None and expected is not None:
        dimension = adopted(unit, expected)
        if dimension is None:
            return wrong(f"{concept.name} is measured in {expected.name}, which {unit.name} does not convert to")
    elif unit is not None and checked:
        return wrong(f"{concept.name} is declared without a unit, and the value has one: {unit.name}")
    elif currency is not None and checked and "currency" not in concept.default_context:
        return wrong(f"{concept.name} is declared without a currency, and the value has one: {currency}")
    if unit is not None and currency is not None:
        currency = f"{currency}*({unit.dimension.base_unit})"
    return Plan(
        concept, whole, kind, None, unit, dimension, None if unit is None else expected, scale, currency, moves,
        _map(scale, unit), checked,
    )  # fmt: skip


def _expected(concept: Any) -> Unit | None:
    """The unit in which a concept declares its range: the canonical one, else that of its default context."""
    text = concept.canonical_unit or concept.default_context.get("unit")
    return None if text is None else resolve(text)


def _map(scale: Exact, unit: Unit | None) -> tuple[int, int, int] | None:
    if unit is None:
        return None if scale == 1 else whole_numbers(scale, 0)
    if unit.log is not None:
        return None
    return whole_numbers(unit.factor * scale, unit.offset)


def _value_type(concept: Any, whole: Context) -> str | None:
    declared = None if concept is None else concept.value_type
    if declared is None and any(aspect in whole for aspect in ("unit", "scale", "currency")):
        return "real"
    return declared


def instant(value: Any, zone: str | None) -> Instant | Problem:
    """The instant that a value means in a time zone."""
    if isinstance(value, int | float):
        return Problem("an instant is ISO 8601 text or a datetime, not a number")
    try:
        return Instant.of(value, zone)
    except ConceptPubSubError as error:
        return Problem(error.message)


def is_instant(value: Any) -> bool:
    """Whether a value speaks of time by its Python type."""
    return isinstance(value, Instant | dt.date) or type(value).__name__ == "datetime64"


def is_number(value: Any) -> bool:
    """Whether a value is a number by its Python type; Booleans are not."""
    if type(value) in (int, float, Fraction):
        return True
    if isinstance(value, bool | str | Instant | dt.date) or type(value).__name__ in ("bool_", "bool", "datetime64"):
        return False
    try:
        exact(value)
    except ConceptPubSubError:
        return False
    return True
