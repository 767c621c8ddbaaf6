"""The common atoms, read in one step: most of what a hundred thousand subscriptions say.

``name op constant``, ``name [NOT] BETWEEN constant AND constant`` and ``name [NOT] IN (constants)``. A shortcut and
nothing else: it gives what the parser would give, or None, and then the parser does it (and finds what is wrong, if
anything is). What a number beside a name means is worked out once for each name and unit, as an affine map over
integers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from conceptpubsub.converters import Dimension
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters.lexer import COMPARISONS, DIGITS, RESERVED, TESTS, is_name, is_text, text_of, word_of
from conceptpubsub.filters.normal import Lit, Ref
from conceptpubsub.filters.reader import Reader
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.syntax import Between, Comparison, Constant, Inverse, Member
from conceptpubsub.filters.typecheck import check_comparison

_WORDS = frozenset(["BETWEEN", "between", "IN", "in", "NOT", "not"])
_ENDS = frozenset(["", ")", "AND", "OR", "and", "or"])
_AND = frozenset(["AND", "and"])
_ITEM_ENDS = frozenset([",", ")"])
_TEN = [10**k for k in range(32)]
_MOST_DIGITS = 30
_BOOLEANS = {"TRUE": True, "true": True, "FALSE": False, "false": False}
_UNSEEN = object()


class Measure(NamedTuple):
    """What numbers beside a name mean: ``(n / 10**k) -> (n * times + 10**k * plus) / (10**k * over)``."""

    ref: Ref
    kind: str
    of: Dimension | str | None
    suffix: str
    times: int
    plus: int
    over: int


def common_atom(reader: Reader) -> Comparison | Between | Member | Inverse | None:
    """The atom that begins with the name that stands here, or None where anything is unusual."""
    tokens, at = reader.tokens, reader.at
    op = COMPARISONS.get(tokens[at + 1])
    if op is not None:
        found = _constant(reader, at + 2, _ENDS)
        if found is None:
            return None
        ref, constant, end = found
        if op not in ("=", "<>") and _unordered(ref, constant):
            return None
        reader.at = end
        return Comparison(op, ref, constant, at + 1)
    if tokens[at + 1] not in _WORDS:
        return None
    place = at + 1
    negated = tokens[place] in ("NOT", "not")
    place += negated
    word = tokens[place]
    made: Between | Member | None = None
    if word in ("BETWEEN", "between"):
        made = _between(reader, place)
    elif word in ("IN", "in") and tokens[place + 1] == "(":
        made = _member(reader, place)
    return Inverse(made, place) if negated and made is not None else made


def _between(reader: Reader, place: int) -> Between | None:
    low = _constant(reader, place + 1, _AND)
    high = None if low is None else _constant(reader, low[2] + 1, _ENDS)
    if low is None or high is None or _unordered(low[0], low[1]) or _unordered(high[0], high[1]):
        return None
    reader.at = high[2]
    return Between(low[0], low[1], high[1], place)


def _unordered(ref: Ref, constant: Constant) -> bool:
    return constant.lit.kind == "bool" or ref.type == "concept"


def _member(reader: Reader, place: int) -> Member | None:
    items: list[Constant] = []
    end = place + 1
    while reader.tokens[end] != ")" or not items:
        found = _constant(reader, end + 1, _ITEM_ENDS)
        if found is None:
            return None
        ref, item, end = found
        items.append(item)
    reader.at = end + 1
    return Member(ref, tuple(items), place)


def _constant(reader: Reader, at: int, ends: frozenset[str]) -> tuple[Ref, Constant, int] | None:
    """The name that stands here, the constant at a token, and where it ends; it must end in one of some tokens."""
    tokens = reader.tokens
    place = at + 1 if tokens[at] == "-" else at
    constant, after = tokens[place], tokens[place + 1]
    if not constant:
        return None
    if after in ends:
        unit, end = "", place + 1
    elif tokens[place + 2] in ends:
        unit, end = after, place + 2
    else:
        return None
    name = tokens[reader.at]
    if constant[0] in DIGITS:
        made = _measured(reader.scope, name, unit, constant, place != at)
    elif unit or place != at:
        return None
    elif is_text(constant):
        made = _text(reader.scope, name, constant)
    else:
        made = _boolean(reader.scope, name, constant)
    return None if made is None else (made[0], Constant(made[1], made[2], place), end)


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
    quotient, rest = divmod(top, bottom)
    lit = Lit(kind, Fraction(top, bottom) if rest else quotient, of)
    return ref, lit, f"-{number}{suffix}" if negative else number + suffix


def measure_of(scope: Scope, name: str, unit: str) -> Measure | None:
    """How numbers in a unit are read beside a name; None where that is no affine map, or an error."""
    if not is_name(name) or word_of(name) in RESERVED or word_of(unit) in RESERVED or word_of(unit) in TESTS:
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
    if ref is None:
        return None
    if ref.type == "text" or (ref.type is None and ref.concept is None):
        if ref.concept is not None and ref.concept.default_context:
            return None
        return ref, Lit("text", text_of(token)), token
    lit = scope.texts.get((name, token))
    return None if lit is None else (ref, lit, token)


def _boolean(scope: Scope, name: str, token: str) -> tuple[Ref, Lit, str] | None:
    ref = scope.refs.get(name)
    value = _BOOLEANS.get(token)
    if ref is None or value is None or ref.type not in (None, "bool"):
        return None
    return ref, Lit("bool", value), "TRUE" if value else "FALSE"
