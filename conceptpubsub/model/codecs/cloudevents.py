"""CloudEvents 1.0 in JSON, with a JSON-LD payload: what other systems send and receive.

Rule 1  ``from_cloudevent(to_cloudevent(e)) == e`` for every event with an id and a source, which CloudEvents demand.
Rule 2  Our payloads name their schema; any other JSON-LD payload is read for what it says, SOSA observations included.
Rule 3  Extension attributes of the envelope are allowed and ignored, as the specification asks.
"""

from __future__ import annotations

import re
from typing import Any

from conceptpubsub.errors import CodecError
from conceptpubsub.model.codecs.jsonld import NAMES, read_node, write_node
from conceptpubsub.model.codecs.jsonld_foreign import read_foreign
from conceptpubsub.model.codecs.plain_json import build, members, text_member
from conceptpubsub.model.codecs.strict_json import MAX_BYTES, parse, write
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent

SCHEMA = "https://w3id.org/conceptpubsub/event/1"
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;.*)?\Z", re.IGNORECASE)


def to_cloudevent(event: SemanticEvent, *, vocabulary: str = NAMES) -> str:
    """An event as a CloudEvent; short names are read below ``vocabulary`` by those who expand them.

    >>> to_cloudevent(SemanticEvent("Ping", {"Load": 0.5}, id="1", source="/pump/7"))[:90]
    '{"specversion":"1.0","id":"1","source":"/pump/7","type":"Ping","datacontenttype":"applicat'
    """
    for word, value in (("id", event.id), ("source", event.source)):
        if not value:
            raise CodecError(f"a CloudEvent needs the {word} of the event: event.replace({word}=…)", place=f"/{word}")
    tree: dict[str, Any] = {"specversion": "1.0", "id": event.id, "source": event.source, "type": event.concept}
    if event.time is not None:
        tree["time"] = event.time.isoformat()
        if not tree["time"].endswith("Z"):
            raise CodecError(f"the time {tree['time']} lies outside the years 1 to 9999", place="/time")
    tree |= {"datacontenttype": "application/ld+json", "dataschema": SCHEMA, "data": write_node(event, vocabulary)}
    text = write(tree)
    if "\\ud" in text:
        parse(text, max_bytes=len(text))  # names the place of a lone surrogate
    return text


def from_cloudevent(text: str | bytes, *, max_bytes: int = MAX_BYTES) -> SemanticEvent:
    """Read a CloudEvent; ``type`` is the concept unless the payload names a better one.

    >>> from_cloudevent('{"specversion": "1.0", "id": "1", "source": "/room/2", "type": "reading", "data": {'
    ...     '"@type": "sosa:Observation", "sosa:observedProperty": {"@id": "http://example.org/Temperature"},'
    ...     '"sosa:hasResult": {"qudt:numericValue": 22.5, "qudt:unit": {"@id": "unit:DEG_C"}}}}').attributes
    mappingproxy({'http://example.org/Temperature': SemanticObject(concept='http://example.org/Temperature',
        value=22.5, context=Context(unit='http://qudt.org/vocab/unit/DEG_C'))})
    """
    tree = members(parse(text, max_bytes), "")
    if tree.get("specversion") != "1.0":
        raise CodecError('at /specversion: "1.0" is needed: this is no CloudEvent 1.0', place="/specversion")
    head = {word: text_member(tree, word, "", needed=True) for word in ("id", "source", "type")}
    for word, value in head.items():
        if not value:
            raise CodecError(f"at /{word}: may not be empty", place=f"/{word}")
    content = text_member(tree, "datacontenttype", "") or "application/json"
    if "data_base64" in tree or not _JSON.match(content):
        raise CodecError(f"at /data: the payload is {content[:80]!r}; JSON-LD or JSON is read", place="/data")
    stamp = text_member(tree, "time", "")
    when = None if stamp is None else build("/time", lambda: Instant.parse(stamp))
    data = {} if tree.get("data") is None else tree["data"]
    if tree.get("dataschema") == SCHEMA:
        concept, attributes = read_node(data, "/data")
    else:
        concept, attributes, observed = read_foreign(data, "/data")
        when = observed or when
    return build(
        "",
        lambda: SemanticEvent(concept or head["type"], attributes, time=when, id=head["id"], source=head["source"]),
    )
