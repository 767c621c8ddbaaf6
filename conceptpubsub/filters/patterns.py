"""Tests of text: LIKE with its escape, and regular expressions in linear time (RE2).

A LIKE pattern's canonical spelling escapes with a backslash; it is matched piece by piece between its %. RE2 has no
backreferences and no catastrophic patterns; a pattern is bounded in length and memory.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from conceptpubsub.filters import lexer

MAX_PATTERN = 10_000
_MAX_MEMORY = 8 << 20
ANY, ONE = object(), object()
_SHAPES = {(False, False): "equals", (False, True): "starts", (True, False): "ends", (True, True): "contains"}


def like_pieces(pattern: str, escape: str | None) -> list[Any] | None:
    """Characters and the wildcards ANY (%) and ONE (_); None where the escape dangles."""
    pieces: list[Any] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if escape is not None and char == escape:
            index += 1
            if index == len(pattern):
                return None
            pieces.append(pattern[index])
        elif char == "%":
            if not pieces or pieces[-1] is not ANY:
                pieces.append(ANY)
        elif char == "_":
            pieces.append(ONE)
        else:
            pieces.append(char)
        index += 1
    return pieces


def ordered_wildcards(pieces: list[Any]) -> list[Any]:
    """The same pattern with every run of wildcards in one order: ``%_%`` is ``_%``."""
    made: list[Any] = []
    pending = False
    for piece in pieces:
        if piece is ANY:
            pending = True
            continue
        if pending and piece is not ONE:
            made.append(ANY)
            pending = False
        made.append(piece)
    return [*made, ANY] if pending else made


def like_canonical(pieces: list[Any]) -> str:
    """The pattern with a backslash as the escape character."""
    return "".join("%" if p is ANY else "_" if p is ONE else "\\" + p if p in "%_\\" else p for p in pieces)


def like_shape(pattern: str, escape: str | None) -> tuple[str, str]:
    """The simplest test that a LIKE comes down to: equals, starts, ends, contains, or like itself.

    >>> like_shape("bl%", None), like_shape("%a!%%", "!"), like_shape("a_c", None)
    (('starts', 'bl'), ('contains', 'a%'), ('like', 'a_c'))
    """
    core = pattern.strip("%")
    if escape is None and "_" not in pattern and "%" not in core:  # the common case, in one step
        open_ends = (pattern.startswith("%"), pattern.endswith("%"))
        return _SHAPES[open_ends] if core or not pattern else "starts", core
    pieces = ordered_wildcards(like_pieces(pattern, escape) or [])
    if ONE not in pieces:
        count = pieces.count(ANY)
        text = "".join(p for p in pieces if p is not ANY)
        if count == 0:
            return "equals", text
        if count == 1 and pieces[-1] is ANY:
            return "starts", text
        if count == 1 and pieces[0] is ANY:
            return "ends", text
        if count == 2 and pieces[0] is ANY and pieces[-1] is ANY:
            return "contains", text
    return "like", like_canonical(pieces)


class Like(NamedTuple):
    """A LIKE pattern cut at its %: what must stand first, then somewhere in this order, then last."""

    first: _Piece
    middle: tuple[_Piece, ...]
    last: _Piece | None


class _Piece(NamedTuple):
    """A stretch of characters and single wildcards; ``regex`` where it has any."""

    length: int
    text: str
    regex: re.Pattern[str] | None

    def stands_at(self, value: str, start: int) -> bool:
        if self.regex is None:
            return value.startswith(self.text, start)
        return self.regex.match(value, start) is not None

    def found(self, value: str, start: int) -> int:
        """Where it first stands at or after a place; -1 where it does not."""
        if self.regex is None:
            return value.find(self.text, start)
        found = self.regex.search(value, start)
        return -1 if found is None else found.start()


def like_match(value: str, canonical: str) -> bool:
    """Whether a whole text fits a LIKE pattern: each piece at its first chance, without going back.

    >>> like_match("This is a test", "T_i% a %e_t")
    True
    """
    first, middle, last = compiled_like(canonical)
    if last is None:
        return len(value) == first.length and first.stands_at(value, 0)
    end = len(value) - last.length
    if end < first.length or not first.stands_at(value, 0) or not last.stands_at(value, end):
        return False
    at = first.length
    for piece in middle:
        at = piece.found(value, at)
        if at < 0:
            return False
        at += piece.length
    return at <= end


@lru_cache(maxsize=1024)
def compiled_like(canonical: str) -> Like:
    """A LIKE pattern, cut into pieces."""
    cut: list[list[Any]] = [[]]
    for piece in like_pieces(canonical, "\\") or []:
        if piece is ANY:
            cut.append([])
        else:
            cut[-1].append(piece)
    pieces = [_piece(chars) for chars in cut]
    return Like(pieces[0], tuple(pieces[1:-1]), pieces[-1] if len(pieces) > 1 else None)


def _piece(chars: list[Any]) -> _Piece:
    if ONE not in chars:
        return _Piece(len(chars), "".join(chars), None)
    regex = re.compile("(?s)" + "".join("." if char is ONE else re.escape(char) for char in chars))
    return _Piece(len(chars), "", regex)


@lru_cache(maxsize=1024)
def compiled_regex(pattern: str) -> Any:
    """A compiled MATCHES pattern; ``fullmatch`` decides."""
    return _compile(pattern)


def _engine() -> Any:
    import re2

    return re2


def _compile(pattern: str) -> Any:
    re2 = _engine()
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


def encodable(text: str) -> bool:
    """Whether RE2 can see the text: a lone surrogate has no UTF-8."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def text_test(op: str, value: str, pattern: str) -> bool:
    """Whether a text passes a test in its normal form."""
    match op:
        case "starts":
            return value.startswith(pattern)
        case "ends":
            return value.endswith(pattern)
        case "contains":
            return pattern in value
        case "within":
            return value in pattern
        case "like":
            return like_match(value, pattern)
        case "matches":
            return encodable(value) and compiled_regex(pattern).fullmatch(value) is not None
        case _:
            raise AssertionError(f"no test of text is named {op}")


def check_pattern(word: str, pattern: str, escape: str | None, text: str, at: int) -> None:
    """Refuse a pattern that means nothing, with its place."""
    if len(pattern) > MAX_PATTERN and word in ("LIKE", "MATCHES"):
        raise lexer.fail(text, at, f"a pattern of {len(pattern):,} characters; at most {MAX_PATTERN:,} are read")
    if not encodable(pattern):
        raise lexer.fail(text, at, "the pattern holds a lone surrogate, which is no character")
    if word == "LIKE" and escape is not None and like_pieces(pattern, escape) is None:
        raise lexer.fail(text, at, "the escape character at the end of the pattern escapes nothing")
    if word == "MATCHES":
        try:
            compiled_regex(pattern)
        except Exception as error:  # re2 raises its own class, which is not exported under a stable name
            reason = str(error.args[0] if error.args else error).strip("b'\"")
            raise lexer.fail(text, at, f"the regular expression cannot be used: {reason[:200]}") from None
