"""Constants on their way from text to meaning.

A constant is read *raw* first: what a bare number means depends on what it stands beside (``Temperature > 30`` is 30 in
the concept's own context), and that is known only when the comparison is complete.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

from conceptpubsub.converters import Converters, Unit, resolve
from conceptpubsub.errors import ConceptPubSubError, hint, near
from conceptpubsub.filters import lexer
from conceptpubsub.filters.arithmetic import is_absolute
from conceptpubsub.filters.normal import Lit, Ref
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.syntax import Constant, Minus, Over, Times, Total
from conceptpubsub.filters.typecheck import type_of
from conceptpubsub.model import Exact, exact
from conceptpubsub.model.values import exact_decimal

_NUMBER = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([\w$]*)\Z")
_HEX = re.compile(r"0[xX]([0-9a-fA-F]{1,3000})[lL]?\Z")
ASPECT = re.compile(r"[^\W\d][\w.\-]*")
_PAIR = re.compile(rf"\s*({ASPECT.pattern})\s*:\s*('(?:[^']|'')*+'|[^,'{{}}]+)(,|\Z)")
_RATIONAL = re.compile(r"([+-]?[0-9]+)/([0-9]+)\Z")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
MAX_ASPECTS = 32


class Raw(NamedTuple):
    """A constant as read: value, the context written with it, its text, its token."""

    value: Any
    context: dict[str, Any]
    text: str
    at: int

    @property
    def is_number(self) -> bool:
        """Whether it is a number; a Boolean is not one."""
        return isinstance(self.value, int | Fraction) and not isinstance(self.value, bool)

    def negated(self) -> Raw:
        """The opposite number, in the same context."""
        text = self.text[1:] if self.text[0] == "-" else "-" + self.text
        return self._replace(value=-self.value, text=text)


def number_of(token: str, text: str, at: int) -> Exact:
    """The value of a number token. A JMS suffix counts only when glued to the number; a unit stands after a space."""
    found = _NUMBER.match(token)
    if found is None or (found[2] and found[2].lower() not in ("l", "f", "d")):
        sixteen = _HEX.match(token)
        if sixteen:
            return int(sixteen[1], 16)
        number, glued = (found[1], found[2]) if found else (token, "")
        shown = f"; a unit stands after a space: '{number[:40]} {glued[:20]}'" if glued else ""
        raise lexer.fail(text, at, f"'{token[:60]}' is no number and no name{shown}")
    try:
        return exact_decimal(found[1])
    except ConceptPubSubError as error:
        raise lexer.fail(text, at, str(error)) from None


def read_braces(token: str, text: str, at: int, converters: Converters) -> dict[str, Any]:
    """The aspects in ``{unit: mile, scale: 1000}``."""
    if len(token) < 2 or token[-1] != "}":
        raise lexer.fail(text, at, "a context in braces that is never closed")
    inner, offset = token[1:-1], 0
    found: dict[str, Any] = {}
    while offset < len(inner) or not found:
        pair = _PAIR.match(inner, offset)
        if pair is None:
            raise lexer.fail(text, at, "a context is written as {aspect: value, …}, as in {unit: mile, scale: 1000}")
        aspect, value, _ = pair.groups()
        if aspect in found or len(found) >= MAX_ASPECTS:
            raise lexer.fail(text, at, f"the aspect '{aspect[:60]}' is given twice, or there are too many")
        try:
            found[aspect] = _aspect_value(value.strip())
        except ConceptPubSubError as error:
            raise lexer.fail(text, at, str(error)) from None
        offset = pair.end()
    for aspect in found:
        if aspect not in converters.aspects:
            offered = near(aspect, converters.aspects)
            message = f"no aspect '{aspect[:60]}' is known: a converter must be registered for it.{hint(offered)}"
            raise Meaningless(message, aspect=aspect, near=offered, at=at)
    return found


def _aspect_value(value: str) -> Any:
    if value[:1] == "'":
        return value[1:-1].replace("''", "'")
    if value in ("true", "false", "TRUE", "FALSE"):
        return value.lower() == "true"
    if _DECIMAL.match(value):
        return exact_decimal(value)
    ratio = _RATIONAL.match(value)
    if ratio and ratio[2].strip("0"):
        top, bottom = int(exact_decimal(ratio[1])), int(exact_decimal(ratio[2]))
        return exact(Fraction(top, bottom))
    return value


def settle(term: Any, beside: Any, scope: Scope) -> Any:
    """A term whose constants have found their meaning, given what it is compared with."""
    if isinstance(term, Raw):
        return _beside(term, beside, scope)
    if isinstance(term, Times):
        return Times(tuple([settle(arg, None, scope) for arg in term.args]), term.at)
    if isinstance(term, Total):
        measured = _measured(term)
        return Total(tuple([_part(arg, measured, scope) for arg in term.args]), term.at)
    if isinstance(term, Minus):
        return Minus(settle(term.arg, beside, scope), term.at)
    if isinstance(term, Over):
        return Over(settle(term.arg, None, scope), term.at)
    return term


def _beside(raw: Raw, beside: Any, scope: Scope) -> Constant:
    """A constant beside a reference, or beside a sum: then a bare number stands in the unit of what is summed up."""
    if isinstance(beside, Minus):
        beside = beside.arg
    if isinstance(beside, Total) and raw.is_number and not raw.context:
        measured = _measured(beside)
        if measured is not None:
            whole = type_of(settle(beside, None, scope)).dimension
            if whole is not None and whole != measured.dimension:
                return _difference(raw, measured, whole)
        return _constant(raw, measured, scope)
    return _constant(raw, beside if isinstance(beside, Ref) else None, scope)


def _measured(term: Total) -> Ref | None:
    """The first reference with a unit that stands in a sum directly; one inside a product has another dimension."""
    for arg in term.args:
        direct = arg.arg if isinstance(arg, Minus) else arg
        if isinstance(direct, Ref) and direct.dimension is not None:
            return direct
    return None


def _part(arg: Any, measured: Ref | None, scope: Scope) -> Any:
    """A part of a sum. A bare number is in the unit of what is summed up; beside a temperature it is a difference."""
    if isinstance(arg, Minus):
        return Minus(_part(arg.arg, measured, scope), arg.at)
    if isinstance(arg, Raw) and arg.context:
        return settle(arg, None, scope)
    absolute = measured is not None and measured.dimension is not None and is_absolute(measured.dimension)
    if measured is not None and absolute and isinstance(arg, Raw) and arg.is_number and not arg.context:
        return _difference(arg, measured, resolve("delta_degC").dimension)
    return settle(arg, measured, scope)


def _difference(raw: Raw, measured: Ref, dimension: Any) -> Constant:
    """So many degrees of the unit in which a concept's bare values stand."""
    assert measured.concept is not None
    named = measured.concept.default_context.get("unit") or measured.concept.canonical_unit
    unit: Unit = resolve(str(named))
    scale = measured.concept.default_context.get("scale", 1)
    return Constant(Lit("quantity", exact(raw.value * scale * unit.factor), dimension), raw.text, raw.at)


def _constant(raw: Raw, beside: Ref | None, scope: Scope) -> Constant:
    try:
        return Constant(scope.constant(raw.value, raw.context, beside), raw.text, raw.at)
    except Meaningless as error:
        error.facts.setdefault("at", raw.at)
        raise
    except ConceptPubSubError as error:
        raise Meaningless(str(error), at=raw.at) from None
