"""Delivery: an event as its subscriber wants to read it.

Rule 1  ``Context(unit="kelvin")`` applies to the attributes that are temperatures; the rest is delivered as it came.
Rule 2  ``{concept: Context}`` applies to attributes of that concept and below; the most specific entry wins.
Rule 3  An attribute that cannot be taken there (no rate that day) is delivered as it came: its own context says what
        it is. ``check`` finds contexts that could never apply, when a subscription is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conceptpubsub.converters.conversion import EMBEDDED, converted, delivered, merged
from conceptpubsub.converters.currencies import currency_names
from conceptpubsub.converters.pairs import adopted, pair_under
from conceptpubsub.converters.plans import is_instant, is_number
from conceptpubsub.converters.units import resolve
from conceptpubsub.errors import ConceptPubSubError, InvalidValue, NoConversion, UnknownAspect, hint, near
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant, time_zone
from conceptpubsub.model.objects import SemanticEvent, SemanticObject

if TYPE_CHECKING:
    from conceptpubsub.converters.registry import Converters

Wanted = Mapping[Any, Any]


def deliver_event(
    conv: Converters, event: SemanticEvent, wanted: Wanted, at: Instant | None, exact: bool
) -> SemanticEvent:
    """The event in the subscriber's context."""
    moment = event.time if at is None else at
    made = deliver_attributes(conv, event.attributes, wanted, moment, exact)
    return event if made is None else event.replace(attributes=made)


def deliver_attributes(
    conv: Converters, attributes: Mapping[str, SemanticObject], wanted: Wanted, at: Instant | None, exact: bool
) -> dict[str, SemanticObject] | None:
    """The attributes as wanted; None where nothing changes."""
    changed: dict[str, SemanticObject] = {}
    for key, held in attributes.items():
        concept = conv.concept(key)
        if held.is_complex:
            inner = deliver_attributes(conv, held.value, wanted, at, exact)
            if inner is not None:
                changed[key] = SemanticObject(held.concept, inner, held.context)
            continue
        target = applicable(conv, key, concept, held, wanted_for(conv, key, wanted))
        if not target:
            continue
        try:
            made = converted(conv, concept, held.value, held.context, target, at)
            value = delivered(made, held.value, exact)
            changed[key] = SemanticObject(held.concept, value, merged(held.context, target))
        except ConceptPubSubError:  # or no float is so large: as it came
            continue
    return {**attributes, **changed} if changed else None


def is_by_concept(wanted: Wanted) -> bool:
    """Whether a wanted context is ``{concept: Context}`` rather than one context for all."""
    return not isinstance(wanted, Context) and any(isinstance(value, Mapping) for value in wanted.values())


def wanted_for(conv: Converters, key: str, wanted: Wanted) -> Mapping[str, Any]:
    """The context wanted for an attribute."""
    if not is_by_concept(wanted):
        return wanted
    names = {name if isinstance(name, str) else name.name: context for name, context in wanted.items()}
    if key in names:
        return names[key]  # type: ignore[no-any-return]
    concept = conv.concept(key)
    if concept is None:
        return {}
    above = [found for found in map(conv.concept, names) if found is not None and concept.is_a(found)]
    for candidate in above:
        if all(candidate.is_a(other) for other in above):
            chosen = next(name for name in names if conv.concept(name) == candidate)
            return names[chosen]  # type: ignore[no-any-return]
    return {}


def applicable(conv: Converters, key: str, concept: Any, held: SemanticObject, target: Mapping[str, Any]) -> Context:
    """The aspects of a target that apply to an object; unit and currency bring the scale with them."""
    source = conv.plan(concept, held.context).context
    found: dict[str, Any] = {}
    number = is_number(held.value)
    if number and "unit" in target and "unit" in source and _convertible(source["unit"], target["unit"], concept):
        found["unit"] = target["unit"]
    if number and "currency" in target and "currency" in source:
        found["currency"] = target["currency"]
    if number and "scale" in target and (found or ("scale" in source and not target.keys() & {"unit", "currency"})):
        found["scale"] = target["scale"]
    for aspect in target:
        if aspect in ("unit", "scale", "currency"):
            continue
        if aspect in source or (aspect in ("timezone", "language") and _speaks(aspect, concept, held)):
            found[aspect] = target[aspect]
    return Context(found)


def _speaks(aspect: str, concept: Any, held: SemanticObject) -> bool:
    kind = None if concept is None else concept.value_type
    return kind == "concept" if aspect == "language" else kind == "instant" or is_instant(held.value)


def _convertible(source: Any, target: Any, concept: Any) -> bool:
    """Whether a value's unit and the wanted one are of one kind; levels are not taken to what they count."""
    expected = None if concept is None else concept.canonical_unit
    try:
        if expected is None:
            return resolve(source).dimension.comparable(resolve(target).dimension)
        return all(adopted(resolve(unit), resolve(expected)) is not None for unit in (source, target))
    except ConceptPubSubError:
        return False


def check(conv: Converters, wanted: Wanted) -> None:
    """Raise on a wanted context that could never apply: an unknown unit, zone, aspect, concept, or a wrong kind."""
    if not is_by_concept(wanted):
        _check_context(conv, wanted)
        return
    for name, context in wanted.items():
        concept = None if conv.ontology is None else conv.ontology[name]
        if not isinstance(context, Mapping):
            raise InvalidValue(f"{name}: a context is a mapping from aspect to value", value=repr(context)[:80])
        _check_context(conv, context)
        if concept is not None and "unit" in context:
            if concept.canonical_unit is None:
                raise NoConversion(f"{concept.name} has no unit", source=None, target=context["unit"])
            pair_under(concept.canonical_unit, str(context["unit"]), concept.canonical_unit)


def _check_context(conv: Converters, context: Mapping[str, Any]) -> None:
    for aspect, value in context.items():
        if aspect == "unit":
            resolve(value)
        elif aspect == "timezone":
            time_zone(str(value))
        elif aspect == "currency" and value not in currency_names():
            offered = near(str(value), currency_names())
            raise NoConversion(f"{value!r} is not a currency of ISO 4217.{hint(offered)}", target=value, near=offered)
        elif aspect == "scale" and (isinstance(value, str | bool) or value <= 0):
            raise InvalidValue(f"a scale is a number above zero, not {value!r}", value=repr(value)[:80])
        elif aspect not in EMBEDDED and aspect not in conv.aspects:
            offered = near(aspect, conv.aspects)
            raise UnknownAspect(
                f"no converter is registered for the aspect {aspect!r}.{hint(offered)}", aspect=aspect, near=offered
            )
