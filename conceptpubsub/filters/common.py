"""The common atom, ``name op constant``, read in one step: most of what a hundred thousand subscriptions say.

A shortcut and nothing else: it gives what the parser would give, or None, and then the parser does it (and finds what
is wrong, if anything is). What a number beside a name means is worked out once for each name and unit, as an affine
map over integers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from conceptpubsub.converters import Dimension
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters.lexer import DIGITS, RESERVED, TESTS, text_of, word_of
from conceptpubsub.filters.normal import Lit, Ref
from conceptpubsub.filters.reader import Reader
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.syntax import Comparison, Constant
from conceptpubsub.filters.typecheck import check_comparison

_ENDS = frozenset(["", ")", "AND", "OR", "and", "or"])
_TEN = [10**k for k in range(32)]
_MOST_DIGITS = 30
_UNSEEN = object()
_BOOLEANS = {"TRUE": True, "true": True, "FALSE": False, "false": False}


class Measure(NamedTuple):
    """What numbers beside a name mean: ``(n / 10**k) -> (n * times + 10**k * plus) / (10**k * over)``."""

    ref: Ref
    kind: str
    of: Dimension | str | None
    suffix: str
    times: int
    plus: int
    over: int


def common_atom(reader: Reader, op: str) -> Comparison | None:
    """The comparison of a name with a constant that stands here whole, or None where anything is unusual."""
    tokens, at = reader.tokens, reader.at
    place = at + 3 if tokens[at + 2] == "-" else at + 2
    constant, after = tokens[place], tokens[place + 1]
    if not constant:
        return None
    if after in _ENDS:
        unit, end = "", place + 1
    elif tokens[place + 2] in _ENDS:
        unit, end = after, place + 2
    else:
        return None
    if constant[0] in DIGITS:
        made = _measured(reader.scope, tokens[at], unit, constant, place - at == 3)
    elif unit or place - at == 3:
        return None
    elif constant[0] == "'":
        made = _text(reader.scope, tokens[at], constant)
    else:
        made = _boolean(reader.scope, tokens[at], constant) if op in ("=", "<>") else None
    if made is None:
        return None
    reader.at = end
    return Comparison(op, made[0], Constant(made[1], made[2], place), at + 1)


def _measured(scope: Scope, name: str, unit: str, number: str, negative: bool) -> tuple[Ref, Lit, str] | None:
    measure = scope.measures.get((name, unit), _UNSEEN)
    if measure is _UNSEEN:
        measure = scope.remember(scope.measures, (name, unit), measure_of(scope, name, unit))
    whole, _, part = number.partition(".")
    digits = whole + part
    if measure is None or len(digits) > _MOST_DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    ref, kind, of, suffix, times, plus, over = measure
    count = -int(digits) if negative else int(digits)
    ten = _TEN[len(part)]
    bottom = over * ten
    top = count * times + plus * ten if plus else count * times
    if bottom == 1:
        lit = Lit(kind, top, of)
    else:
        value = Fraction(top, bottom)
        lit = Lit(kind, value if value.denominator != 1 else value.numerator, of)
    return ref, lit, f"-{number}{suffix}" if negative else number + suffix


def measure_of(scope: Scope, name: str, unit: str) -> Measure | None:
    """How numbers in a unit are read beside a name; None where that is no affine map, or an error."""
    if word_of(name) in RESERVED or word_of(unit) in RESERVED or word_of(unit) in TESTS:
        return None
    if unit and not (unit[0].isalpha() or (unit[0] == "[" and unit[-1] == "]" and unit[1:-1].strip())):
        return None
    text = unit[1:-1].strip() if unit[:1] == "[" else unit
    try:
        ref = scope.ref(name)
        context = {"currency" if isinstance(scope.unit(text), str) else "unit": text} if text else {}
        plan = scope.plan(ref, context)
        sample = scope.constant(1, context, ref)
        check_comparison("<", ref, Constant(sample, "", 0), (0, 0))
    except (Meaningless, ConceptPubSubError):
        return None
    if plan.moves or (plan.whole is None and plan.unit is not None):
        return None
    suffix = f" [{text}]" if unit[:1] == "[" else f" {text}" if text else ""
    return Measure(ref, sample.kind, sample.of, suffix, *(plan.whole or (1, 0, 1)))


def _text(scope: Scope, name: str, token: str) -> tuple[Ref, Lit, str] | None:
    ref = scope.refs.get(name)
    if ref is None or len(token) < 2 or ref.type not in (None, "text"):
        return None
    if ref.concept is not None and (ref.type is None or ref.concept.default_context):
        return None
    return ref, Lit("text", text_of(token)), token


def _boolean(scope: Scope, name: str, token: str) -> tuple[Ref, Lit, str] | None:
    ref = scope.refs.get(name)
    value = _BOOLEANS.get(token)
    if ref is None or value is None or ref.type not in (None, "bool"):
        return None
    return ref, Lit("bool", value), "TRUE" if value else "FALSE"
