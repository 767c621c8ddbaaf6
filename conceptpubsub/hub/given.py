"""What people hand to a hub by mistake, told at once: an error here, not a dead letter or a trace later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conceptpubsub.errors import InvalidEvent, InvalidValue
from conceptpubsub.filters import Filter
from conceptpubsub.hub.letters import Retry
from conceptpubsub.model.objects import SemanticEvent
from conceptpubsub.model.ontology import Ontology


def check_hub(ontology: Any, scope: Mapping[str, Any]) -> None:
    """An ontology, and a scope in which filters can be read.

    >>> check_hub("vehicles", {})
    Traceback (most recent call last):
    conceptpubsub.errors.InvalidValue: an ontology is Ontology.bundled('vehicles') or Ontology.load(…), not a str
    """
    if ontology is not None and not isinstance(ontology, Ontology):
        name = ontology if isinstance(ontology, str) else "vehicles"
        found = f"an ontology is Ontology.bundled({name!r}) or Ontology.load(…), not a {type(ontology).__name__}"
        raise InvalidValue(found, value=repr(ontology)[:80])
    Filter.parse("", ontology=ontology, **scope)


def check_subscription(callback: Any, context: Any, retry: Any) -> None:
    """A callback that can be called, a context that has aspects, a policy.

    >>> check_subscription(print, "kelvin", None)
    Traceback (most recent call last):
    conceptpubsub.errors.InvalidValue: a context maps aspects to values, as in Context(unit='kelvin'), not a str
    """
    if callback is not None and not callable(callback):
        raise InvalidValue(f"a callback is a function of one event, not a {type(callback).__name__}")
    if context is not None and not isinstance(context, Mapping):
        unit = context if isinstance(context, str) else "kelvin"
        found = f"a context maps aspects to values, as in Context(unit={unit!r}), not a {type(context).__name__}"
        raise InvalidValue(found)
    if retry is not None and not isinstance(retry, Retry):
        raise InvalidValue(f"a policy for retries is as in Retry(attempts=3), not a {type(retry).__name__}")


def check_batch(events: Any) -> None:
    """Many events, not one of them.

    >>> check_batch({"price": 3})
    Traceback (most recent call last):
    conceptpubsub.errors.InvalidEvent: publish_batch takes many events, and this is one (a dict): use publish
    """
    kind = type(events).__name__
    if isinstance(events, Mapping | SemanticEvent):
        raise InvalidEvent(f"publish_batch takes many events, and this is one (a {kind}): use publish")
    if kind == "DataFrame":
        raise InvalidEvent("publish_batch takes an Arrow table: pyarrow.Table.from_pandas(frame) makes one")
    if isinstance(events, str | bytes) or not isinstance(events, Iterable):
        raise InvalidEvent(f"publish_batch takes an iterable of events or an Arrow table, not a {kind}")
