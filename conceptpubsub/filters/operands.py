"""Constants on their way from text to meaning.

A constant is read *raw* first: what a bare number means depends on what it stands beside (``Temperature > 30`` is 30 in
the concept's own context), and that is known only when the comparison is complete.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from conceptpubsub.converters import Converters, Unit
from conceptpubsub.errors import ConceptPubSubError, hint, near
from conceptpubsub.filters import lexer
from conceptpubsub.filters.arithmetic import is_absolute
from conceptpubsub.filters.normal import Lit, Ref
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.syntax import Constant, Minus, Over, Times, Total, references
from conceptpubsub.model.values import exact, exact_decimal

_NUMBER = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([\w$]*)\Z")
_HEX = re.compile(r"0[xX]([0-9a-fA-F]{1,4096})[lL]?\Z")
_PAIR = re.compile(r"\s*([^\W\d][\w.\-]*)\s*:\s*('(?:[^']|'')*+'|[^,'{}]+?)\s*(,|\Z)")
MAX_ASPECTS = 32
EMBEDDED = ("unit", "scale", "currency", "language", "timezone", "scheme")


class Raw(NamedTuple):
    """A constant as read: value, the context written with it, its text, its token."""

    value: Any
    context: dict[str, Any]
    text: str
    at: int


def number_of(token: str, text: str, at: int) -> Any:
    """The value of a number token. A JMS suffix counts only when glued to the number; a unit stands after a space."""
    found = _NUMBER.match(token)
    if found is None or (found[2] and found[2].lower() not in ("l", "f", "d")):
        sixteen = _HEX.match(token)
        if sixteen:
            return int(sixteen[1], 16)
        number, glued = (found[1], found[2]) if found else (token, "")
        raise lexer.fail(
            text,
            at,
            f"'{token[:60]}' is no number and no name; a unit stands after a space: '{number[:40]} {glued[:20]}'",
        )
    try:
        return exact_decimal(found[1])
    except ConceptPubSubError as error:
        raise lexer.fail(text, at, str(error)) from None


def read_braces(token: str, text: str, at: int, converters: Converters) -> dict[str, Any]:
    """The aspects in ``{unit: mile, scale: 1000}``."""
    inner, offset, found = token[1:-1], 0, {}
    if len(token) < 2 or token[-1] != "}":
        raise lexer.fail(text, at, "a context in braces that is never closed")
    while offset < len(inner) or not found:
        pair = _PAIR.match(inner, offset)
        if pair is None:
            raise lexer.fail(text, at, "a context is written as {aspect: value, …}, as in {unit: mile, scale: 1000}")
        aspect, value, _ = pair.groups()
        if aspect in found or len(found) >= MAX_ASPECTS:
            raise lexer.fail(text, at, f"the aspect '{aspect[:60]}' is given twice, or there are too many")
        found[aspect] = _aspect_value(value)
        offset = pair.end()
    known = {*EMBEDDED, *getattr(converters, "aspects", ())}
    for aspect in found:
        if aspect not in known:
            offered = near(aspect, known)
            message = f"no aspect '{aspect[:60]}' is known: a converter must be registered for it.{hint(offered)}"
            raise Meaningless(message, aspect=aspect, near=offered, at=at)
    return found


def _aspect_value(value: str) -> Any:
    if value[0] == "'":
        return value[1:-1].replace("''", "'")
    if value in ("true", "false", "TRUE", "FALSE"):
        return value.lower() == "true"
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value):
        return exact_decimal(value)
    return value.strip()


def settle(term: Any, beside: Any, scope: Scope) -> Any:
    """A term whose constants have found their meaning, given what it is compared with."""
    if isinstance(term, Raw):
        return _constant(term, beside if isinstance(beside, Ref) else None, scope)
    if isinstance(term, Times):
        return Times(tuple(settle(arg, None, scope) for arg in term.args), term.at)
    if isinstance(term, Total):
        measured = next((ref for ref in references(_bare(term)) if ref.dimension is not None), None)
        return Total(tuple(_part(arg, measured, scope) for arg in term.args), term.at)
    if isinstance(term, Minus):
        return Minus(settle(term.arg, beside, scope), term.at)
    if isinstance(term, Over):
        return Over(settle(term.arg, None, scope), term.at)
    return term


def _bare(term: Total) -> Total:
    """Only the references that stand in a sum directly: those inside a product have another dimension."""
    direct = [arg.arg if isinstance(arg, Minus) else arg for arg in term.args]
    return Total(tuple(arg for arg in direct if isinstance(arg, Ref)), term.at)


def _part(arg: Any, measured: Ref | None, scope: Scope) -> Any:
    """A part of a sum. A bare number beside an absolute temperature is a difference, in the concept's own unit."""
    if isinstance(arg, Minus):
        return Minus(_part(arg.arg, measured, scope), arg.at)
    if isinstance(arg, Raw) and not arg.context and measured is not None and measured.dimension is not None:
        concept = scope.concept(measured)
        if concept is not None and is_absolute(measured.dimension) and not isinstance(arg.value, bool | str):
            unit = scope.unit(concept.default_context.get("unit") or concept.canonical_unit or "kelvin")
            difference = scope.unit("delta_degC")
            if isinstance(unit, Unit) and isinstance(difference, Unit):
                return Constant(Lit("quantity", exact(arg.value * unit.factor), difference.dimension), arg.text, arg.at)
    return settle(arg, measured, scope)


def _constant(raw: Raw, beside: Ref | None, scope: Scope) -> Constant:
    try:
        return Constant(scope.constant(raw.value, raw.context, beside), raw.text, raw.at)
    except Meaningless as error:
        error.facts.setdefault("at", raw.at)
        raise
    except ConceptPubSubError as error:
        raise Meaningless(str(error), at=raw.at) from None
