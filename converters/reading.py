"""Reading values: from what an event holds to the canonical value, or to the sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.converters import labels
from conceptpubsub.converters.canonical import Canonical, Money, Problem, Quantity
from conceptpubsub.converters.conversion import at_home
from conceptpubsub.converters.plans import Plan, instant, is_instant, is_number
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject

if TYPE_CHECKING:
    from conceptpubsub.converters.registry import Converters


def read(conv: Converters, plan: Plan, value: Any, at: Instant | None) -> Canonical | Problem:
    """The canonical value under a plan."""
    if plan.problem is not None:
        return plan.problem
    kind = plan.value_type
    if plan.moves and isinstance(value, str | int | float):
        value = at_home(conv, plan, value, at)
        if isinstance(value, Problem):
            return value
    if kind in ("real", "int") or (kind is None and type(value) in (int, float)):
        return plan.number(value) if is_number(value) else _wrong(plan, value, "a number")
    if value is None:
        return Problem(f"{plan.name} has no value")
    if isinstance(value, Mapping):
        return Problem(f"{plan.name} is a complex object; a path such as {plan.name}.X leads inside")
    if kind == "complex":
        return _wrong(plan, value, "a complex object")
    if kind == "instant" or (kind is None and is_instant(value)):
        return instant(value, plan.context.get("timezone"))
    if kind == "bool" or (kind is None and isinstance(value, bool)):
        return value if isinstance(value, bool) else _wrong(plan, value, "a Boolean")
    if kind is None and is_number(value):
        return plan.number(value)
    if not isinstance(value, str):
        return _wrong(plan, value, "text")
    if kind == "concept":
        return _concept(plan, value)
    values = None if plan.concept is None else plan.concept.values
    if values is not None and value not in values:
        return Problem(f"{value!r:.80} is not one of the values of {plan.name}: {', '.join(values[:12])}")
    return value


def _wrong(plan: Plan, value: Any, expected: str) -> Problem:
    return Problem(f"{plan.name} is {expected}, and {value!r:.80} is not")


def _concept(plan: Plan, value: str) -> str | Problem:
    attribute = plan.concept
    found = labels.named(attribute, value, plan.context.get("language"))
    if found is None:
        return Problem(f"{plan.name} names a concept, and the ontology has no {value!r:.80}")
    if not labels.possible(attribute, found):
        return Problem(f"{found.name} is not one of the values of {plan.name}")
    representative: str = attribute.ontology[found.representative].iri
    return representative


def equal(conv: Converters, one: Canonical, other: Canonical, at: Instant | None) -> bool:
    """Whether two canonical values are the same; money of two currencies by the rate of the time."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return one.dimension.comparable(other.dimension) and one.value == other.value
    if isinstance(one, Money) and isinstance(other, Money):
        rate = conv.rate(one.currency, other.currency, at)
        return rate is not None and one.value * rate == other.value
    return one == other


def equivalent(conv: Converters, one: Any, other: Any, at: Instant | None) -> bool:
    """Whether two objects or events mean the same, through all their parts."""
    if isinstance(one, SemanticEvent) and isinstance(other, SemanticEvent):
        moment = at if at is not None else one.time
        return _same_concept(conv, one.concept, other.concept) and _same_parts(
            conv, one.attributes, other.attributes, moment
        )
    if not isinstance(one, SemanticObject) or not isinstance(other, SemanticObject):
        return False
    if not _same_concept(conv, one.concept, other.concept) or one.is_complex != other.is_complex:
        return False
    if one.is_complex:
        return _same_parts(conv, one.value, other.value, at)
    return _same_value(conv, one.concept, one, other, at)


def _same_value(conv: Converters, key: str, one: SemanticObject, other: SemanticObject, at: Instant | None) -> bool:
    concept = conv.concept(key)
    first = read(conv, conv.plan(concept, one.context), one.value, at)
    second = read(conv, conv.plan(concept, other.context), other.value, at)
    if isinstance(first, Problem) or isinstance(second, Problem):
        return bool(one.value == other.value and one.context == other.context)
    return equal(conv, first, second, at)


def _same_concept(conv: Converters, one: str, other: str) -> bool:
    if one == other:
        return True
    first, second = conv.concept(one), conv.concept(other)
    return first is not None and second is not None and first.index == second.index


def _same_parts(
    conv: Converters, one: Mapping[str, SemanticObject], other: Mapping[str, SemanticObject], at: Instant | None
) -> bool:
    if len(one) != len(other):
        return False
    keys = {_key(conv, key): key for key in other}
    for key, held in one.items():
        match = keys.get(_key(conv, key))
        if match is None:
            return False
        theirs = other[match]
        if held.is_complex != theirs.is_complex:
            return False
        if held.is_complex:
            if not _same_parts(conv, held.value, theirs.value, at):
                return False
        elif not _same_value(conv, key, held, theirs, at):
            return False
    return True


def _key(conv: Converters, name: str) -> Any:
    concept = conv.concept(name)
    return name if concept is None else concept.index
