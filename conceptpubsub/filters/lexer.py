"""Filter text to tokens, in one pass of one regular expression, in linear time.

Tokens are plain strings; where each stands is worked out only when somebody asks, which is when something is wrong.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from conceptpubsub.errors import FilterSyntaxError, LimitExceeded
from conceptpubsub.filters.syntax import MAX_TEXT

RESERVED = frozenset(["AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "IS", "NULL", "ESCAPE", "TRUE", "FALSE"])
TESTS = frozenset(["IN", "LIKE", "BETWEEN", "CONTAINS", "WITHIN", "STARTS", "ENDS", "MATCHES", "ISA", "IS"])
COMPARISONS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
DIGITS = frozenset("0123456789.")
_STEP = r"""(?:[^\W\d][\w$]*+|\$[\w$]*+|"[^"]*+(?:""[^"]*+)*+"|<[A-Za-z][\w+.\-]*+:[^\s<>"{}|^`\\]*+>)"""
_TOKEN = re.compile(
    rf"""\s*+(
      [A-Za-z_][A-Za-z0-9_]*+(?![.\w$])                 # these four are found below too; here they are found sooner
    | [0-9]++(?:\.[0-9]++)?(?![.\w$])
    | [<>]=?+(?=\ )
    | [(),=+*/](?!=)
    | '[^']*+(?:''[^']*+)*+'                            # text
    | (?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?[\w$]*+   # a number, with whatever is glued to it
    | {_STEP}(?:\.{_STEP})*+                            # a name or a dotted path
    | <=|>=|<>|!=|==
    | \[[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+\]         # a unit in brackets
    | \{{(?:[^{{}}']|'[^']*+(?:''[^']*+)*+')*+\}}       # a context in braces
    | [°%‰µ][^\W\d]*+                                   # a unit that does not begin with a letter
    | \S
    )""",
    re.VERBOSE,
)


class Place(NamedTuple):
    """Line and column, both from one, and the offset and length of the token."""

    line: int
    column: int
    offset: int
    length: int


def word_of(token: str) -> str:
    """A token as a keyword: case does not matter, but only ASCII letters make keywords."""
    return token.upper() if token.isascii() else token


def is_name(token: str) -> bool:
    """Whether a token is a name, a dotted path, a quoted name or an IRI; it may still be a reserved word."""
    first = token[:1]
    return first.isalpha() or first == "_" or first == "$" or (first in '"<' and len(token) > 2)


def is_text(token: str) -> bool:
    """Whether a token is a text constant."""
    return token[:1] == "'" and len(token) > 1


def text_of(token: str) -> str:
    """The text that a text constant holds."""
    return token[1:-1].replace("''", "'")


def tokens(text: str) -> list[str]:
    """The tokens of a filter.

    >>> tokens("Temp >= 86 degF AND x='it''s'")
    ['Temp', '>=', '86', 'degF', 'AND', 'x', '=', "'it''s'"]
    """
    if len(text) > MAX_TEXT:
        raise LimitExceeded(
            f"the filter has {len(text):,} characters; at most {MAX_TEXT:,} are read", length=len(text), limit=MAX_TEXT
        )
    return _TOKEN.findall(text.rstrip())  # blanks at the end would be tried from each of them


def position(text: str, at: int) -> Place:
    """Where token number ``at`` stands; past the last one, the end of the text."""
    stripped = text.rstrip()
    offset, length = len(stripped), 1
    for number, found in enumerate(_TOKEN.finditer(stripped)):
        if number == at:
            offset, length = found.start(1), len(found[1])
            break
    line = text.count("\n", 0, offset) + 1
    return Place(line, offset - text.rfind("\n", 0, offset), offset, length)


def pointed(text: str, at: int, message: str) -> tuple[str, Place]:
    """The message with its line, column and a caret below the token it speaks of."""
    place = position(text, at)
    start = text.rfind("\n", 0, place.offset) + 1
    end = text.find("\n", place.offset)
    line = text[start : len(text) if end < 0 else end]
    left = max(0, place.offset - start - 50)
    shown = line[left : left + 100].replace("\t", " ")
    marks = "^" * max(1, min(place.length, len(shown) - (place.offset - start - left)))
    caret = " " * (place.offset - start - left) + marks
    return f"{message}\n  line {place.line}, column {place.column}:\n  {shown}\n  {caret}", place


def fail(text: str, at: int, message: str, **facts: object) -> FilterSyntaxError:
    """A syntax error at a token."""
    shown, place = pointed(text, at, message)
    return FilterSyntaxError(shown, reason=message, line=place.line, column=place.column, text=text[:1000], **facts)
