"""JSON, read strictly: bounded, exact, and every complaint names its place by a JSON pointer.

Rule 1  A number keeps its meaning: a float only where the float's shortest decimal is what was written.
Rule 2  NaN, Infinity, absurd numbers, duplicate keys, lone surrogates, and trailing text are refused.
Rule 3  Input is at most ``max_bytes`` long; nesting that would exhaust the stack is an error, not a crash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from conceptpubsub.errors import CodecError, ConceptPubSubError
from conceptpubsub.model.values import exact_decimal

MAX_BYTES = 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Refused:
    """Stands in the tree for what may not be there, until its place is known."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def parse(text: str | bytes, max_bytes: int = MAX_BYTES) -> Any:
    """The value that a JSON text means, or a CodecError with ``place`` (a JSON pointer) or ``line`` and ``column``.

    >>> parse('{"a": [1, 0.5, 12345678901234567890]}')
    {'a': [1, 0.5, 12345678901234567890]}
    >>> parse('{"a": {"b": NaN}}')
    Traceback (most recent call last):
    conceptpubsub.errors.CodecError: at /a/b: NaN is not JSON; leave the attribute out where a value is missing
    """
    if not isinstance(text, str | bytes | bytearray | memoryview):
        raise CodecError(f"JSON is read from text or bytes, not {type(text).__name__}", place="")
    if len(text) > max_bytes:
        raise CodecError(f"a document of {len(text)} bytes; at most {max_bytes} are read", place="", limit=max_bytes)
    refused: list[_Refused] = []
    try:
        decoded = text if isinstance(text, str) else str(bytes(text), "utf-8")
        tree = _decoder(refused).decode(decoded.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise CodecError(
            f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            place="",
            line=error.lineno,
            column=error.colno,
        ) from None
    except UnicodeDecodeError as error:
        raise CodecError(f"not UTF-8: byte {error.start} cannot be read", place="", offset=error.start) from None
    except RecursionError:
        raise CodecError("nested too deeply", place="") from None
    if refused:
        place, first = next(_find(tree, ""), ("", refused[0]))
        raise CodecError(f"at {place or 'the top'}: {first.reason}", place=place)
    return tree


def write(tree: Any) -> str:
    """Compact JSON of a tree of dicts, lists, text, Booleans, ints and floats; always ASCII."""
    return json.dumps(tree, separators=(",", ":"), allow_nan=False)


def pointer(place: str, key: str | int) -> str:
    """The place of a member below another place.

    >>> pointer("/a", "b/c~d")
    '/a/b~1c~0d'
    """
    return f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _decoder(refused: list[_Refused]) -> json.JSONDecoder:
    def refuse(reason: str) -> _Refused:
        refused.append(_Refused(reason))
        return refused[-1]

    def number(text: str) -> Any:
        try:
            value = exact_decimal(text)
        except ConceptPubSubError as error:
            return refuse(str(error))
        return value

    def integer(text: str) -> Any:
        return int(text) if len(text) < 4000 else number(text)

    def real(text: str) -> Any:
        nearest = float(text)
        if repr(nearest) == text:
            return nearest
        value = number(text)
        finite = not isinstance(value, _Refused) and abs(nearest) != float("inf")
        return nearest if finite and exact_decimal(repr(nearest)) == value else value

    def constant(name: str) -> _Refused:
        return refuse(f"{name} is not JSON; leave the attribute out where a value is missing")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    made[key] = refuse("the key stands here twice")
                seen.add(key)
        for key, value in pairs:
            if not key.isascii() and _SURROGATE.search(key):
                made[key] = refuse("half a character (a lone surrogate) in a key")
            elif type(value) is str and not value.isascii() and _SURROGATE.search(value):
                made[key] = refuse("half a character (a lone surrogate) in a text")
        return made

    return json.JSONDecoder(
        parse_int=integer, parse_float=real, parse_constant=constant, object_pairs_hook=members, strict=True
    )


def _find(tree: Any, place: str) -> Iterator[tuple[str, _Refused]]:
    if isinstance(tree, _Refused):
        yield place, tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from _find(value, pointer(place, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _find(value, pointer(place, index))
