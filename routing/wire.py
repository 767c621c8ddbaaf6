"""Messages as bytes and back: one line of JSON, then one line for each event the message carries.

Rule 1  ``decode(encode(m)) == m`` for every message; the version stands in each.
Rule 2  Whatever arrives, the answer is a message or a MessageError: sizes, counts and names are bounded first.
Rule 3  A filter travels as text with its semantics and declarations, and the digest of its ontology; a receiver that
        does not hold that ontology refuses it rather than guess what the names mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from conceptpubsub.converters import Converters
from conceptpubsub.errors import ConceptPubSubError, MessageError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, Ontology, SemanticEvent
from conceptpubsub.model.codecs.plain_json import from_json, read_context, to_json, write_scalar
from conceptpubsub.model.codecs.strict_json import parse, write
from conceptpubsub.routing import messages as m

VERSION = 1
MAX_BYTES = 16 << 20
MAX_ITEMS = 100_000
MAX_NAME = 1024
KEPT_FILTERS = 65_536

NAMES: dict[type, str] = {
    m.Subscribe: "subscribe", m.Unsubscribe: "unsubscribe", m.Advertise: "advertise", m.Unadvertise: "unadvertise",
    m.Publish: "publish", m.Attach: "attach", m.Attached: "attached", m.Detach: "detach", m.Leave: "leave",
    m.Left: "left",
    m.Deliver: "deliver", m.Problem: "problem", m.Handover: "handover", m.Replay: "replay",
    m.LinkUp: "link-up", m.LinkDown: "link-down",
}  # fmt: skip
TYPES: dict[str, Any] = {name: made for made, name in NAMES.items()}


class Wire:
    """Writes and reads messages for those who share its ontologies.

    >>> wire = Wire()
    >>> wire.encode(m.Unsubscribe("s1"))
    b'{"v":1,"type":"unsubscribe","key":"s1"}'
    >>> wire.decode(b'{"v":1,"type":"subscribe","key":"s1","filter":{"text":"x > 5"}}').filter
    Filter.parse('x > 5')
    """

    def __init__(self, ontologies: Iterable[Ontology] = (), converters: Converters | None = None) -> None:
        self._ontologies = {ontology.digest: ontology for ontology in ontologies}
        self._converters = converters
        self._filters: dict[str, Filter] = {}

    def encode(self, message: m.Message) -> bytes:
        """The message as bytes."""
        lines: list[str] = []
        head: dict[str, Any] = {"v": VERSION, "type": NAMES[type(message)]}
        for field in fields(message):
            value = getattr(message, field.name)
            written = self._write(value, lines)
            if written is not None:
                head[field.name] = written
        data = "\n".join([write(head), *lines]).encode()
        if len(data) > MAX_BYTES:
            raise MessageError(f"a message of {len(data)} bytes; at most {MAX_BYTES} are sent", size=len(data))
        return data

    def decode(self, data: bytes) -> m.Message:
        """The message that bytes mean; a MessageError says what is wrong with them."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise MessageError(f"a message is bytes, not {type(data).__name__}")
        if len(data) > MAX_BYTES:
            raise MessageError(f"a message of {len(data)} bytes; at most {MAX_BYTES} are read", size=len(data))
        first, *rest = bytes(data).split(b"\n")
        try:
            return self._read(parse(first, MAX_BYTES), iter(rest))
        except MessageError:
            raise
        except ConceptPubSubError as error:
            raise MessageError(f"a malformed message: {error}", cause=str(error)) from error

    # ------------------------------------------------------------------ writing

    def _write(self, value: Any, lines: list[str]) -> Any:
        match value:
            case Filter():
                return _write_filter(value)
            case SemanticEvent():
                lines.append(to_json(value))
                return None
            case Context():
                return {"aspects": _aspects(value)}
            case tuple():
                return [self._item(item, lines) for item in value]
            case None | str() | bool() | int():
                return value
            case _:  # a context for each concept
                return {"concepts": {concept: _aspects(Context(under)) for concept, under in value.items()}}

    def _item(self, item: Any, lines: list[str]) -> Any:
        match item:
            case m.Publish(publisher, sequence, event):
                lines.append(to_json(event))
                return [publisher, sequence]
            case m.Subscribe(key, filter, context):
                return [key, _write_filter(filter), self._write(context, lines)]
            case m.Advertise(key, filter):
                return [key, _write_filter(filter)]
            case _:
                return list(item)

    # ------------------------------------------------------------------ reading

    def _read(self, head: Any, lines: Iterator[bytes]) -> m.Message:
        if not isinstance(head, dict) or head.get("v") != VERSION:
            raise MessageError(f"not a message of version {VERSION}", version=VERSION)
        kind = head.pop("type", None)
        made = TYPES.get(kind) if isinstance(kind, str) else None
        if made is None:
            raise MessageError(f"no message is a {str(kind)[:80]!r}; known are {', '.join(TYPES)}")
        head.pop("v")
        values: dict[str, Any] = {}
        for field in fields(made):
            if field.name in head or field.name == "event":
                values[field.name] = self._field(field.name, head.pop(field.name, None), made, lines)
        if head:
            raise MessageError(f"'{kind}' has no field {next(iter(head))[:80]!r}", kind=kind)
        if next(lines, None) is not None:
            raise MessageError(f"'{kind}' is followed by lines that do not belong to it", kind=kind)
        try:
            return made(**values)  # type: ignore[no-any-return]
        except TypeError:
            missing = [field.name for field in fields(made) if field.name not in values]
            raise MessageError(f"'{kind}' lacks {', '.join(missing)}", kind=kind) from None

    def _field(self, name: str, value: Any, made: type, lines: Iterator[bytes]) -> Any:
        match name:
            case "filter":
                return self._filter(value)
            case "event":
                return _event(lines)
            case "context":
                return _read_context(value)
            case "sequence" | "epoch" | "published":
                return _count(value, name)
            case "known" | "last":
                return _flag(value, name)
            case "subscriptions":
                return _items(
                    value,
                    name,
                    3,
                    lambda row: m.Subscribe(_name(row[0], name), self._filter(row[1]), _read_context(row[2])),
                )
            case "advertisements":
                return _items(value, name, 2, lambda row: m.Advertise(_name(row[0], name), self._filter(row[1])))
            case "events":
                return _items(
                    value, name, 2, lambda row: m.Publish(_name(row[0], name), _count(row[1], name), _event(lines))
                )
            case "trail" | "received":
                return _items(value, name, 2, lambda row: (_name(row[0], name), _count(row[1], name)))
            case "reason":
                return _name(value, name, MAX_BYTES)
            case _:
                return _name(value, name)

    def _filter(self, tree: Any) -> Filter:
        if not isinstance(tree, dict):
            raise MessageError("a filter is a JSON object with its text", field="filter")
        memo = write(tree)
        known = self._filters.get(memo)
        if known is None:
            if len(self._filters) >= KEPT_FILTERS:
                self._filters.clear()
            known = self._filters[memo] = self._parsed(tree)
        return known

    def _parsed(self, tree: dict[str, Any]) -> Filter:
        strange = set(tree) - {"text", "semantics", "types", "defaults", "ontology"}
        if strange:
            raise MessageError(f"a filter has no field {min(strange)[:80]!r}", field="filter")
        digest = tree.get("ontology")
        ontology = None if digest is None else self._ontologies.get(digest) if isinstance(digest, str) else None
        if digest is not None and ontology is None:
            raise MessageError(f"no ontology {str(digest)[:16]} is held here", ontology=str(digest)[:128])
        types = tree.get("types")
        if types is not None and not isinstance(types, dict):
            raise MessageError("the types of a filter are a JSON object", field="types")
        defaults = tree.get("defaults")
        return Filter.parse(
            _name(tree.get("text"), "text", MAX_BYTES),
            ontology=ontology,
            converters=self._converters,
            semantics=_name(tree.get("semantics", "sql"), "semantics"),
            types={name: _name(kind, "types") for name, kind in types.items()} if types else None,
            defaults=None if defaults is None else dict(from_json(_name(defaults, "defaults", MAX_BYTES)).attributes),
        )


def _write_filter(filter: Filter) -> dict[str, Any]:
    scope = filter.scope
    tree: dict[str, Any] = {"text": str(filter)}
    if scope.semantics != "sql":
        tree["semantics"] = scope.semantics
    if scope.types:
        tree["types"] = {name: {"number": "real"}.get(kind, kind) for name, kind in scope.types.items()}
    if scope.given_defaults:
        tree["defaults"] = to_json(SemanticEvent("Defaults", scope.given_defaults))
    if scope.ontology is not None:
        tree["ontology"] = scope.ontology.digest
    return tree


def _aspects(context: Context) -> dict[str, Any]:
    return {aspect: write_scalar(value) for aspect, value in context.items()}


def _read_context(tree: Any) -> m.DeliveryContext:
    match tree:
        case None:
            return None
        case {"aspects": dict(aspects), **more} if not more:
            return read_context(aspects, "/context/aspects")
        case {"concepts": dict(concepts), **more} if not more and all(isinstance(c, dict) for c in concepts.values()):
            return {concept: read_context(under, f"/context/{concept[:80]}") for concept, under in concepts.items()}
        case _:
            raise MessageError("a context is {'aspects': {…}} or {'concepts': {concept: {…}}}", field="context")


def _event(lines: Iterator[bytes]) -> SemanticEvent:
    line = next(lines, None)
    if line is None:
        raise MessageError("the message lacks its event", field="event")
    return from_json(line, max_bytes=MAX_BYTES)


def _items(value: Any, name: str, width: int, make: Callable[[list[Any]], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise MessageError(f"'{name}' is a list of at most {MAX_ITEMS} rows", field=name)
    if not all(isinstance(row, list) and len(row) == width for row in value):
        raise MessageError(f"each row of '{name}' has {width} fields", field=name)
    return tuple(make(row) for row in value)


def _name(value: Any, name: str, longest: int = MAX_NAME) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise MessageError(f"'{name}' is text of at most {longest} characters", field=name)
    return value


def _count(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise MessageError(f"'{name}' is a whole number from 0 to 2**63 - 1", field=name)
    return value


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise MessageError(f"'{name}' is true or false", field=name)
    return value
