"""Tests of text as regular expressions of z3: equality, order, LIKE and MATCHES alike.

Every test of a text against a constant is a regular language, so any Boolean combination of them is one membership,
which z3 decides by derivatives. A MATCHES pattern is read with Python's own parser and translated where RE2 means the
same by it; else `GaveUp`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import z3

from conceptpubsub.filters.patterns import ANY, ONE, like_pieces
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.smt_session import Session

LARGEST = 0x2FFFF  # of z3's characters
_FOREIGN = re.compile(r"\\[pPQEzZCAaBbGXRNULKhHvVx0-9]|\[\[:|\(\?[^:P)imsU-]|\(\?P[^<]|\(\?[a-zA-Z-]*U|\{,")
_MOST_REPEATS = 64
_CATEGORIES = {
    "DIGIT": [(48, 57)],
    "SPACE": [(9, 10), (12, 13), (32, 32)],
    "WORD": [(48, 57), (65, 90), (95, 95), (97, 122)],
}


class Test(NamedTuple):
    """A test of text: an order (=, <, <=, >, >=), ``in``, or a test of the normal form."""

    op: str
    pattern: str | tuple[str, ...]


def escaped(text: str) -> str:
    """A text as z3 spells it."""
    if any(ord(char) > LARGEST for char in text):
        raise GaveUp("a character that z3 has not")
    return "".join(c if " " <= c <= "~" and c != "\\" else f"\\u{{{ord(c):x}}}" for c in text)


def unescaped(text: str) -> str:
    """A text of a z3 model as it is."""
    return re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda found: chr(int(found[1], 16)), text)


class Languages:
    """Regular expressions in one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sort = z3.ReSort(z3.StringSort(session.context))
        self.every = z3.Full(self.sort)
        self.none = z3.Empty(self.sort)
        self.one = z3.AllChar(self.sort)

    def of(self, test: Test) -> Any:
        """The language of the texts that pass a test."""
        return self.session.remembered(("language", test), lambda: self._of(test))

    def _of(self, test: Test) -> Any:
        op, pattern = test
        if isinstance(pattern, tuple):
            return self.either([self.text(value) for value in pattern])
        match op:
            case "=":
                return self.text(pattern)
            case "<":
                return self.below(pattern)
            case "<=":
                return self.either([self.below(pattern), self.text(pattern)])
            case ">":
                return z3.Complement(self.either([self.below(pattern), self.text(pattern)]))
            case ">=":
                return z3.Complement(self.below(pattern))
            case "starts":
                return self.chain([self.text(pattern), self.every])
            case "ends":
                return self.chain([self.every, self.text(pattern)])
            case "contains":
                return self.chain([self.every, self.text(pattern), self.every])
            case "within":
                return self.within(pattern)
            case "like":
                return self.like(pattern)
            case _:
                return _Translation(self).whole(pattern)

    def text(self, text: str) -> Any:
        """One text."""
        return z3.Re(z3.StringVal(escaped(text), self.session.context))

    def either(self, parts: Sequence[Any]) -> Any:
        """The union."""
        return self.none if not parts else parts[0] if len(parts) == 1 else z3.Union(*parts)

    def chain(self, parts: Sequence[Any]) -> Any:
        """One after the other."""
        return self.text("") if not parts else parts[0] if len(parts) == 1 else z3.Concat(*parts)

    def span(self, low: int, high: int) -> Any:
        """One character between two code points, both included."""
        if low > min(high, LARGEST):
            return self.none
        ends = [z3.StringVal(f"\\u{{{code:x}}}", self.session.context) for code in (low, min(high, LARGEST))]
        return z3.Range(*ends)

    def below(self, text: str) -> Any:
        """The texts before one, in code point order."""
        made = self.none
        for char in reversed(text):
            lower = [self.chain([self.span(0, ord(char) - 1), self.every])] if ord(char) else []
            made = self.either([self.text(""), *lower, self.chain([self.text(char), made])])
        return made

    def within(self, text: str) -> Any:
        """The parts of a text."""
        if len(text) > 40:
            raise GaveUp("a long text for WITHIN")
        parts = {text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)}
        return self.either([self.text(part) for part in sorted(parts)])

    def like(self, pattern: str) -> Any:
        """The texts that fit a LIKE pattern in its canonical spelling."""
        parts: list[Any] = []
        literal = ""
        for piece in like_pieces(pattern, "\\") or []:
            if piece is not ANY and piece is not ONE:
                literal += piece
                continue
            parts += [self.text(literal)] * bool(literal) + [self.every if piece is ANY else self.one]
            literal = ""
        return self.chain(parts + [self.text(literal)] * bool(literal))


class _Translation:
    """One MATCHES pattern, from Python's parse tree."""

    def __init__(self, languages: Languages) -> None:
        self.to = languages

    def whole(self, pattern: str) -> Any:
        if _FOREIGN.search(pattern):
            raise GaveUp("a regular expression outside the common part of RE2 and z3")
        try:
            tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
        except (re.error, RecursionError, OverflowError):
            raise GaveUp("a regular expression outside the common part of RE2 and z3") from None
        items, flags = list(tree), tree.state.flags
        if not flags & re.MULTILINE:  # the whole text must match anyway
            if items and str(items[0][1]) == "AT_BEGINNING":
                del items[0]
            if items and str(items[-1][1]) == "AT_END":
                del items[-1]
        return self.sequence(items, flags)

    def sequence(self, items: list[Any], flags: int) -> Any:
        return self.to.chain([self.item(item, flags) for item in items])

    def item(self, item: tuple[Any, Any], flags: int) -> Any:
        name, argument = str(item[0]), item[1]
        handler: Callable[[Any, int], Any] | None = getattr(self, f"_{name.lower()}", None)
        if handler is None:
            raise GaveUp("a regular expression outside the common part of RE2 and z3")
        return handler(argument, flags)

    def _literal(self, code: int, flags: int) -> Any:
        return self.to.either([self.to.text(char) for char in self.folded(code, flags)])

    def _not_literal(self, code: int, flags: int) -> Any:
        return z3.Intersect(self.to.one, z3.Complement(self._literal(code, flags)))

    def folded(self, code: int, flags: int) -> list[str]:
        char = chr(code)
        if not flags & re.IGNORECASE:
            return [char]
        if code >= 128:
            raise GaveUp("case folding beyond ASCII")
        more = {"k": "\u212a", "s": "\u017f"}.get(char.lower(), "")
        return sorted({char.lower(), char.upper(), *more})

    def _any(self, _: None, flags: int) -> Any:
        if flags & re.DOTALL:
            return self.to.one
        return self.to.either([self.to.span(0, 9), self.to.span(11, LARGEST)])

    def _in(self, items: list[Any], flags: int) -> Any:
        negated = bool(items) and str(items[0][0]) == "NEGATE"
        found = self.to.either([self.item(item, flags) for item in items[negated:]])
        return z3.Intersect(self.to.one, z3.Complement(found)) if negated else found

    def _range(self, ends: tuple[int, int], flags: int) -> Any:
        if not flags & re.IGNORECASE:
            return self.to.span(*ends)
        if ends[1] >= 128:
            raise GaveUp("case folding beyond ASCII")
        return self.to.either([self._literal(code, flags) for code in range(ends[0], ends[1] + 1)])

    def _category(self, name: Any, flags: int) -> Any:
        word = str(name).removeprefix("CATEGORY_")
        found = self.to.either([self.to.span(*span) for span in _CATEGORIES[word.removeprefix("NOT_")]])
        return z3.Intersect(self.to.one, z3.Complement(found)) if word.startswith("NOT_") else found

    def _branch(self, argument: tuple[Any, list[Any]], flags: int) -> Any:
        return self.to.either([self.sequence(list(part), flags) for part in argument[1]])

    def _subpattern(self, argument: tuple[Any, int, int, Any], flags: int) -> Any:
        _, added, removed, inner = argument
        return self.sequence(list(inner), (flags | added) & ~removed)

    def _max_repeat(self, argument: tuple[int, Any, Any], flags: int) -> Any:
        least, most, inner = argument
        once = self.sequence(list(inner), flags)
        unbounded = str(most) == "MAXREPEAT"
        if least > _MOST_REPEATS or (not unbounded and most > _MOST_REPEATS):
            raise GaveUp("a regular expression with many repeats")
        if unbounded:
            return self.to.chain([*[once] * least, z3.Star(once)])
        return self.to.text("") if most == 0 else z3.Loop(once, least, most)

    _min_repeat = _max_repeat

    def _at(self, place: Any, flags: int) -> Any:
        raise GaveUp("an anchor inside a regular expression")
