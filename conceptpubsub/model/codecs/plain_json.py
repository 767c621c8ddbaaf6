"""Plain JSON: the shortest readable form of an event, and back without loss.

``{"concept": …, "id": …, "time": …, "source": …, "attributes": {…}}``; an attribute is

- text, a number or a Boolean as it is, where it has no context;
- ``{"value": 86, "unit": "degF"}`` with its aspects beside the value, ``"type"`` where JSON has no such type
  (instant, datetime, date, decimal, rational), ``"concept"`` where the object's concept is not the key;
- ``{"attributes": {…}}`` for a complex object.

Aspects that are named like one of those words stand in ``"context": {…}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from conceptpubsub.errors import CodecError, ConceptPubSubError
from conceptpubsub.model.codecs import literals
from conceptpubsub.model.codecs.strict_json import MAX_BYTES, parse, pointer, write
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import MAX_DEPTH, SemanticEvent, SemanticObject

Made = TypeVar("Made")
_WORDS = frozenset({"value", "attributes", "concept", "context", "type"})
_EVENT = frozenset({"concept", "id", "time", "source", "attributes"})


def to_json(event: SemanticEvent) -> str:
    """An event as one line of JSON.

    >>> to_json(SemanticEvent("Reading", {"Temperature": SemanticObject("Temperature", 86, {"unit": "degF"})}, id="1"))
    '{"concept":"Reading","id":"1","attributes":{"Temperature":{"value":86,"unit":"degF"}}}'
    """
    head = {"concept": event.concept, "id": event.id, "time": event.time and str(event.time), "source": event.source}
    tree: dict[str, Any] = {word: value for word, value in head.items() if value is not None}
    tree["attributes"] = {key: _write_object(key, under) for key, under in event.attributes.items()}
    text = write(tree)
    if "\\ud" in text:
        parse(text, max_bytes=len(text))  # names the place of a lone surrogate
    return text


def from_json(text: str | bytes, *, max_bytes: int = MAX_BYTES) -> SemanticEvent:
    """Read an event back; a CodecError says what is wrong at which place.

    >>> from_json('{"concept": "Reading", "attributes": {"Temperature": {"value": 86, "unit": "degF"}}}')["Temperature"]
    SemanticObject(concept='Temperature', value=86, context=Context(unit='degF'))
    """
    return event_of(parse(text, max_bytes))


def event_of(parsed: Any) -> SemanticEvent:
    """The event that a JSON text means, once it is parsed."""
    tree = members(parsed, "", _EVENT)
    time = text_member(tree, "time", "")
    return build(
        "",
        lambda: SemanticEvent(
            text_member(tree, "concept", "", needed=True),
            _read_attributes(tree.get("attributes", {}), "/attributes"),
            time=None if time is None else build("/time", lambda: Instant.parse(time)),
            id=text_member(tree, "id", ""),
            source=text_member(tree, "source", ""),
        ),
    )


def write_scalar(value: Any) -> Any:
    """A value alone, where no key stands beside it: native, or ``{"value": …, "type": …}``."""
    if literals.is_native(value):
        return value
    kind, text = literals.typed(value)
    return {"value": text, "type": kind}


def read_scalar(tree: Any, place: str) -> Any:
    """What ``write_scalar`` wrote."""
    if isinstance(tree, dict):
        named = members(tree, place, frozenset({"value", "type"}))
        return build(place, lambda: literals.read(named.get("type", ""), named.get("value", "")))
    if isinstance(tree, list):
        raise CodecError(f"at {place}: a list; an attribute holds one value: write one event a value", place=place)
    return tree


def members(tree: Any, place: str, known: frozenset[str] | None = None) -> dict[str, Any]:
    """The members of a JSON object, or a CodecError that names the stranger."""
    if not isinstance(tree, dict):
        raise CodecError(f"at {place or 'the top'}: a JSON object is needed, not {_kind(tree)}", place=place)
    if known is not None:
        for key in tree:
            if key not in known:
                raise CodecError(
                    f"at {pointer(place, key[:80])}: unknown; known are {', '.join(sorted(known))}",
                    place=pointer(place, key),
                )
    return tree


def text_member(tree: Mapping[str, Any], key: str, place: str, needed: bool = False) -> str | None:
    """A member that is text or absent."""
    found = tree.get(key)
    if (found is None and needed) or not isinstance(found, str | None):
        raise CodecError(f"at {pointer(place, key)}: text is needed, not {_kind(found)}", place=pointer(place, key))
    return found


def check_depth(place: str, levels: int) -> None:
    """A CodecError before the nesting of objects could exhaust the stack; the model sets the same limit."""
    if levels > MAX_DEPTH + 1:
        raise CodecError(f"at {place[:80]}…: objects nested deeper than {MAX_DEPTH}", place=place)


def build(place: str, make: Callable[[], Made]) -> Made:
    """What ``make`` makes; the model's own errors gain the place."""
    try:
        return make()
    except CodecError:
        raise
    except (ConceptPubSubError, RecursionError) as error:
        raise CodecError(f"at {place or 'the top'}: {error}", place=place) from error


def _kind(tree: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a Boolean", type(None): "null"}
    return names.get(type(tree), "a number")


def _write_object(key: str, under: SemanticObject) -> Any:
    if not under.is_complex and not under.context and under.concept == key and literals.is_native(under.value):
        return under.value
    tree: dict[str, Any]
    if under.is_complex:
        tree = {"attributes": {name: _write_object(name, inner) for name, inner in under.value.items()}}
    else:
        scalar = write_scalar(under.value)
        tree = scalar if isinstance(scalar, dict) else {"value": scalar}
    if under.concept != key:
        tree["concept"] = under.concept
    for aspect, value in under.context.items():
        beside = tree.setdefault("context", {}) if aspect in _WORDS else tree
        beside[aspect] = write_scalar(value)
    return tree


def _read_attributes(tree: Any, place: str) -> dict[str, Any]:
    check_depth(place, place.count("/") // 2)
    return {key: _read_object(key, value, pointer(place, key)) for key, value in members(tree, place).items()}


def _read_object(key: str, tree: Any, place: str) -> Any:
    if not isinstance(tree, dict):
        return read_scalar(tree, place)
    if ("value" in tree) == ("attributes" in tree):
        raise CodecError(f"at {place}: an attribute has either 'value' or 'attributes'", place=place)
    value: Any
    if "attributes" in tree:
        value = _read_attributes(tree["attributes"], pointer(place, "attributes"))
    elif tree.get("type") is not None:
        value = read_scalar({"value": tree["value"], "type": tree["type"]}, place)
    elif isinstance(tree["value"], dict):
        raise CodecError(
            f"at {place}/value: an object; what holds attributes says 'attributes'", place=place + "/value"
        )
    else:
        value = read_scalar(tree["value"], pointer(place, "value"))
    aspects = {aspect: found for aspect, found in tree.items() if aspect not in _WORDS}
    aspects |= members(tree.get("context") or {}, pointer(place, "context"))
    concept = text_member(tree, "concept", place) or key
    return build(place, lambda: SemanticObject(concept, value, read_context(aspects, place)))


def read_context(aspects: Mapping[str, Any], place: str) -> Context:
    """The context that a JSON object of aspects means."""
    return Context({aspect: read_scalar(value, pointer(place, aspect)) for aspect, value in aspects.items()})
