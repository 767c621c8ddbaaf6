"""One object into another context: the aspects of the target, each taken there, together one conversion.

Text-like aspects (scheme, language, time zone, open ones) go one after another; unit, scale and currency are one step
over exact numbers. What the object does not say, its concept's defaults say.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conceptpubsub.converters import labels, zones
from conceptpubsub.converters.canonical import Problem
from conceptpubsub.converters.currencies import is_currency
from conceptpubsub.converters.pairs import Pair, adopted, pair, pair_under
from conceptpubsub.converters.plans import Plan, is_number
from conceptpubsub.converters.registered import listing
from conceptpubsub.converters.units import applied, resolve, whole_numbers
from conceptpubsub.errors import ConverterFailed, InvalidValue, NoConversion, UnknownAspect, hint, near
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.values import Exact, exact, simplest, to_float

if TYPE_CHECKING:
    from conceptpubsub.converters.registry import Converters

NUMERIC = ("unit", "scale", "currency")
EMBEDDED = (*NUMERIC, "timezone", "language", "scheme")


def converted(conv: Converters, concept: Any, value: Any, own: Context, target: Context, at: Instant | None) -> Any:
    """The value in the target context: exact numbers, for the caller to round as it delivers."""
    source = conv.plan(concept, own).context
    numeric = False
    for aspect, wanted in target.items():
        stands = source.get(aspect)
        if stands == wanted:
            continue
        if aspect in NUMERIC:
            numeric = True
        else:
            value = _taken(conv, aspect, concept, value, stands, wanted, at)
    return _number(conv, concept, value, source, merged(source, target), at) if numeric else value


@lru_cache(maxsize=8192)
def merged(own: Context, over: Context) -> Context:
    """A context with another laid over it; the same few pairs meet again and again."""
    return own.merged(over)


def _taken(
    conv: Converters, aspect: str, concept: Any, value: Any, source: Any, target: Any, at: Instant | None
) -> Any:
    if conv.registered(aspect):
        made = conv.walk(aspect, value, source, target, at, concept)
        if made is not None:
            return made
    elif aspect not in EMBEDDED:
        offered = near(aspect, conv.aspects)
        raise UnknownAspect(
            f"no converter is registered for the aspect {aspect!r}.{hint(offered)}", aspect=aspect, near=offered
        )
    if aspect == "timezone":
        return zones.rewritten(value, source, target)
    if aspect == "language" and concept is not None and concept.value_type == "concept" and isinstance(value, str):
        meant = labels.named(concept, value, source)
        word = None if meant is None else labels.label(meant, target)
        if word is not None:
            return word
        raise NoConversion(f"{value!r:.80} has no label in the language {target!r}", source=source, target=target)
    raise no_path(conv, aspect, value, source, target)


def no_path(conv: Converters, aspect: str, value: Any, source: Any, target: Any) -> NoConversion:
    """The error for a missing path: it lists what is registered."""
    entries = conv.registered(aspect)
    return NoConversion(
        f"no conversion of {value!r:.80} from {aspect} {source or 'unknown'!r} to {target!r}; {listing(entries)}",
        aspect=aspect,
        source=source,
        target=target,
        registered=tuple(str(entry) for entry in entries),
    )


def _number(conv: Converters, concept: Any, value: Any, source: Context, target: Context, at: Instant | None) -> Exact:
    if not is_number(value):
        raise NoConversion(
            f"{value!r:.80} is not a number, so unit, scale and currency do not apply", value=repr(value)[:200]
        )
    try:
        whole, levels = _route(source, target, None if concept is None else concept.canonical_unit)
    except NoConversion as error:
        if concept is None or concept.quantity_kind is None:
            raise
        kind = concept.quantity_kind.name
        raise NoConversion(f"{concept.name} is a {kind}; {error.message}", kind=kind, **error.facts) from None
    if levels is None:
        number = applied(whole, exact(value))
    else:
        made = levels.exact(simplest(Fraction(exact(value)) * _scale(source)))
        number = simplest(Fraction(made) / _scale(target))
    if source.get("currency") == target.get("currency"):
        return number
    return simplest(Fraction(number) * _rate(conv, value, source.get("currency"), str(target.get("currency")), at))


@lru_cache(maxsize=8192)
def _route(source: Context, target: Context, expected: str | None) -> tuple[tuple[int, int, int], Pair | None]:
    """Unit and scale from context to context as one affine map; or the pair, where there is a logarithm between."""
    before, after = Fraction(_scale(source)), Fraction(_scale(target))
    start, stop = source.get("unit"), target.get("unit", "")
    if start == stop or not stop:
        return whole_numbers(before / after, 0), None
    resolve(stop)
    if start is None:
        raise NoConversion(f"the value has no unit to convert to {stop} from", source=None, target=stop)
    if expected is not None and adopted(resolve(stop), resolve(expected)) is None:
        pair(expected, stop)
    found = pair_under(start, stop, expected)
    if found.factor is None:
        return (1, 0, 1), found
    return whole_numbers(found.factor * before / after, found.offset / after), None


def _scale(context: Context) -> Exact:
    scale: Exact | str = context.get("scale", 1)
    if isinstance(scale, str | bool) or scale <= 0:
        raise InvalidValue(f"a scale is a number above zero, not {scale!r}", value=repr(scale)[:80])
    return scale


def _rate(conv: Converters, value: Any, source: Any, target: str, at: Instant | None) -> Exact:
    if not is_currency(target):
        raise NoConversion(f"{target!r} is not a currency of ISO 4217", source=source, target=target)
    if source is None:
        raise NoConversion(f"{value!r:.80} has no currency to convert to {target} from", source=None, target=target)
    rate = conv.strict_rate(source, target, at)
    if rate is not None:
        return rate
    entries = conv.registered("currency")
    when = f"as of {at}" if at is not None else "without a time (give at=, rates are dated)"
    raise NoConversion(
        f"no rate from {source} to {target} {when}; {listing(entries)}",
        aspect="currency",
        source=source,
        target=target,
        at=at,
        registered=tuple(str(entry) for entry in entries),
    )


def delivered(made: Any, value: Any, as_exact: bool) -> Any:
    """A number as it leaves: an int where it is one and the input was no float, else the nearest float."""
    if as_exact or not isinstance(made, int | Fraction) or isinstance(made, bool):
        return made
    was_float = isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind == "f")
    return made if isinstance(made, int) and not was_float else to_float(made)


def at_home(conv: Converters, plan: Plan, value: Any, at: Instant | None) -> Any:
    """A value in the scheme, language or open aspect in which its concept's values are compared; or a ``Problem``."""
    for aspect, stands, home in plan.moves:
        try:
            made = conv.walk(aspect, value, stands, home, at, plan.concept)
        except ConverterFailed as error:
            return Problem(error.message)
        if made is None:
            return Problem(no_path(conv, aspect, value, stands, home).message)
        value = made
    return value


def moves(conv: Converters, concept: Any, context: Context) -> tuple[tuple[str, Any, Any], ...]:
    """(aspect, where the value stands, where it is compared) for each aspect that needs a step.

    Home is what the concept's default says; a code without one is at home in the common scheme of its code list.
    """
    found = []
    for aspect, stands in context.items():
        if aspect in NUMERIC or aspect == "timezone":
            continue
        home = None if concept is None else concept.default_context.get(aspect)
        if aspect == "scheme" and home is None:
            home = _common_scheme(conv, stands)
        embedded = aspect == "language" and not conv.registered(aspect)
        if home is not None and home != stands and not embedded:
            found.append((aspect, stands, home))
    return tuple(found)


def _common_scheme(conv: Converters, scheme: Any) -> Any:
    for entry in reversed(conv.registered("scheme")):
        if scheme in getattr(entry.converter, "schemes", ()):
            return getattr(entry.converter, "common", None)
    return None
