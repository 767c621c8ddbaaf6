"""The tests that may follow a value: IS NULL, IN, ISA, and the tests of text."""

from __future__ import annotations

from typing import Any

from conceptpubsub.filters import lexer
from conceptpubsub.filters.lexer import DIGITS, RESERVED, is_name, is_text, text_of, word_of
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.operands import settle
from conceptpubsub.filters.patterns import check_pattern
from conceptpubsub.filters.reader import Reader
from conceptpubsub.filters.syntax import Below, Constant, Inverse, Member, Null, Pattern
from conceptpubsub.filters.typecheck import check_comparison, check_isa, check_text


def predicate(reader: Reader, word: str, term: Any, at: int, left: int) -> Any:
    """The test that the word at ``at`` begins, on a term that ends at ``left``; the reader stands behind the word."""
    if word == "IS":
        return _null(reader, term, at)
    if word == "IN":
        return _member(reader, term, at, left)
    if word == "ISA":
        return _below(reader, term, at, left)
    return _pattern(reader, word, settle(term, None, reader.scope), at, left)


def _null(reader: Reader, term: Any, at: int) -> Null | Inverse:
    negated = word_of(reader.tokens[reader.at]) == "NOT"
    reader.at += negated
    if word_of(reader.tokens[reader.at]) != "NULL":
        reader.expected("NULL")
    reader.at += 1
    if not isinstance(term, Ref):
        raise lexer.fail(reader.text, at, "IS NULL asks about a name, not about a value")
    return Inverse(Null(term, at), at) if negated else Null(term, at)


def _member(reader: Reader, term: Any, at: int, left: int) -> Member:
    if reader.tokens[reader.at] != "(":
        reader.expected("an opening parenthesis after IN")
    items: list[Constant] = []
    while True:
        reader.at += 1
        items.append(_item(reader, term))
        if reader.tokens[reader.at] == ")":
            break
        if reader.tokens[reader.at] != ",":
            reader.expected("a comma or a closing parenthesis")
    reader.at += 1
    term = settle(term, items[0], reader.scope)
    seen: set[tuple[str, Any]] = set()
    for item in items:
        sort = (item.lit.kind, item.lit.of)
        if sort not in seen:  # one constant of a sort stands for all
            seen.add(sort)
            check_comparison("=", term, item, (left, item.at))
    return Member(term, tuple(items), at)


def _item(reader: Reader, term: Any) -> Constant:
    token = reader.tokens[reader.at]
    sign = token if token in ("+", "-") and token else ""
    reader.at += bool(sign)
    token = reader.tokens[reader.at]
    word = word_of(token)
    if token and token[0] in DIGITS:
        raw = reader.number()
    elif sign:
        reader.expected("a number")
    elif is_text(token):
        raw = reader.quoted()
    elif word in ("TRUE", "FALSE"):
        raw = reader.truth(word)
    elif reader.is_instant(word):
        raw = reader.instant(word)
    else:
        reader.expected("a constant")
    made = settle(raw.negated() if sign == "-" else raw, term, reader.scope)
    assert isinstance(made, Constant)
    return made


def _below(reader: Reader, term: Any, at: int, left: int) -> Below:
    token = reader.tokens[reader.at]
    if not isinstance(term, Ref):
        raise lexer.fail(reader.text, at, "ISA asks about a name or EVENT, not about a value")
    check_isa(term, left)
    if is_text(token):
        name = text_of(token)
    elif is_name(token) and word_of(token) not in RESERVED:
        name = token[1:-1].replace('""', '"') if token[0] == '"' else token[1:-1] if token[0] == "<" else token
    else:
        reader.expected("a concept after ISA")
    concept = reader.scope.named(name) if reader.scope.ontology is not None else None
    reader.at += 1
    return Below(term, concept, concept.representative if concept is not None else name, token, at)


def _pattern(reader: Reader, word: str, term: Any, at: int, left: int) -> Pattern:
    if word in ("STARTS", "ENDS"):
        if word_of(reader.tokens[reader.at]) != "WITH":
            reader.expected(f"WITH after {word}")
        reader.at += 1
        word += " WITH"
    place = reader.at
    token = reader.tokens[place]
    if not is_text(token):
        reader.expected(f"a text in quotes after {word}")
    text, escape = text_of(token), None
    reader.at += 1
    if word == "LIKE" and word_of(reader.tokens[reader.at]) == "ESCAPE":
        reader.at += 1
        token = reader.tokens[reader.at]
        escape = text_of(token) if is_text(token) else ""
        if len(escape) != 1:
            raise lexer.fail(reader.text, reader.at, "ESCAPE takes one character in quotes")
        reader.at += 1
    check_pattern(word, text, escape, reader.text, place)
    check_text(word, term, left)
    return Pattern(word, term, text, escape, at)
