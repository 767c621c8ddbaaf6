"""A cursor over the tokens of a filter: constants, names, and what to say when something else was expected."""

from __future__ import annotations

from typing import Any, NoReturn

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters import lexer
from conceptpubsub.filters.lexer import RESERVED, TESTS, is_text, text_of, word_of
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.operands import Raw, number_of, read_braces
from conceptpubsub.filters.scope import Meaningless, Scope
from conceptpubsub.filters.spelling import aspect_text, quoted
from conceptpubsub.model import Instant

_BARE_UNITS = "°%‰µ"
_SENTINELS = ("",) * 6


class Reader:
    """The tokens of a text and a place among them."""

    __slots__ = ("at", "scope", "text", "tokens")

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.tokens = lexer.tokens(text)
        self.tokens.extend(_SENTINELS)
        self.at = 0

    def number(self) -> Raw:
        """A number, with its unit or currency and its braces."""
        at, token = self.at, self.tokens[self.at]
        value = number_of(token, self.text, at)
        self.at += 1
        context: dict[str, Any] = {}
        shown = token
        after = self.tokens[self.at]
        if after[:1] == "[" and len(after) > 1:
            unit = after[1:-1].strip()
            if not unit:
                raise lexer.fail(self.text, self.at, "a unit is missing between the brackets")
            context, shown = self._unit(unit), f"{token} [{unit}]"
        elif after and after[0] in _BARE_UNITS:
            context, shown = self._unit(after), f"{token} [{after}]"
        elif after[:1].isalpha() and word_of(after) not in RESERVED and word_of(after) not in TESTS:
            context, shown = self._unit(after), f"{token} {after}"
        return self._braced(value, context, shown, at)

    def _unit(self, unit: str) -> dict[str, Any]:
        found = self.scope.unit(unit)
        self.at += 1
        return {"currency": found} if isinstance(found, str) else {"unit": unit}

    def quoted(self) -> Raw:
        """A text constant."""
        at, token = self.at, self.tokens[self.at]
        self.at += 1
        return self._braced(text_of(token), {}, token, at)

    def truth(self, word: str) -> Raw:
        """TRUE or FALSE."""
        self.at += 1
        return Raw(word == "TRUE", {}, word, self.at - 1)

    def _braced(self, value: Any, context: dict[str, Any], shown: str, at: int) -> Raw:
        extra = self._braces()
        if extra:
            twice = context.keys() & extra.keys()
            if twice:
                raise lexer.fail(
                    self.text, self.at - 1, f"the {min(twice)} is given twice, before the braces and in them"
                )
            context = {**context, **extra}
            shown += " {" + ", ".join(f"{aspect}: {aspect_text(given)}" for aspect, given in extra.items()) + "}"
        return Raw(value, context, shown, at)

    def _braces(self) -> dict[str, Any]:
        after = self.tokens[self.at]
        if after[:1] != "{":
            return {}
        self.at += 1
        return read_braces(after, self.text, self.at - 1, self.scope.converters)

    def is_instant(self, word: str) -> bool:
        """Whether TIMESTAMP or DATE begins a constant here: they are names like others elsewhere."""
        return word in ("TIMESTAMP", "DATE") and is_text(self.tokens[self.at + 1])

    def instant(self, word: str) -> Raw:
        """``TIMESTAMP '2026-11-18T05:00Z'``, or ``DATE '2026-11-18'``: the midnight it begins with, in UTC."""
        at, token = self.at, self.tokens[self.at + 1]
        self.at += 2
        zone = self._braces().get("timezone", "UTC" if word == "DATE" else None)
        try:
            instant = Instant.parse(text_of(token), None if zone is None else str(zone))
        except ConceptPubSubError as error:
            raise Meaningless(str(error), at=at + 1) from None
        return Raw(instant, {}, f"TIMESTAMP {token if zone is None else quoted(instant.isoformat())}", at)

    def name(self, token: str) -> Ref:
        """A reference."""
        ref = self.scope.ref(token)
        self.at += 1
        return ref

    def expected(self, what: str) -> NoReturn:
        """Say what should have stood here."""
        token = self.tokens[self.at]
        if not token:
            raise lexer.fail(self.text, self.at, f"the filter ends where {what} is expected")
        if token in "'\"":
            kind = "name" if token == '"' else "text"
            raise lexer.fail(self.text, self.at, f"a {kind} that is never closed: add the missing {token}")
        if token in "[{":
            raise lexer.fail(self.text, self.at, f"'{token}' is never closed")
        hint = " (a reserved word; write it in double quotes to use it as a name)" if word_of(token) in RESERVED else ""
        hint = " (equality is a single =)" if token == "==" else hint
        shown = token[:60] if token.isprintable() else repr(token[:60])[1:-1]
        raise lexer.fail(self.text, self.at, f"{what} is expected, not '{shown}'{hint}", token=token[:200])
