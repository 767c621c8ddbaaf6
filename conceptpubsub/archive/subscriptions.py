"""Subscriptions over an archive: who asks (id), for what (filter), in which context, under which semantics.

Rule 1  Ids are text and unique; their order decides nothing but the order of equal things.
Rule 2  A filter that cannot be read, or a context that could never apply, is an error before the first event is.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conceptpubsub.errors import ArchiveError, ConceptPubSubError, hint, near
from conceptpubsub.model.context import EMPTY, Context

if TYPE_CHECKING:
    from conceptpubsub.converters import Converters
    from conceptpubsub.filters import Filter
    from conceptpubsub.model.ontology import Ontology

_FIELDS = ("id", "filter", "context", "semantics", "types", "defaults")


@dataclass(frozen=True, slots=True)
class Subscription:
    """One subscriber: ``context`` is one `Context` for all attributes or ``{concept: Context}``.

    >>> Subscription("ada", "Temperature > 25 degC", Context(unit="kelvin")).semantics
    'sql'
    """

    id: str
    filter: str | Filter
    context: Mapping[Any, Any] = EMPTY
    semantics: str = "sql"
    types: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def parsed(self, ontology: Ontology | None, converters: Converters) -> Filter:
        """The filter in the scope of an archive; one that was parsed already keeps its own."""
        from conceptpubsub.filters import Filter

        if isinstance(self.filter, Filter):
            return self.filter
        return Filter.parse(
            self.filter,
            ontology=ontology,
            converters=converters,
            semantics=self.semantics,
            types=self.types,
            defaults=self.defaults,
        )

    @property
    def digest(self) -> str:
        """A name for what is asked; equal in every process."""
        asked = self.filter if isinstance(self.filter, str) else f"{self.filter} {self.filter.digest}"
        wanted = sorted((str(key), repr(value)) for key, value in self.context.items())
        parts = (
            self.id,
            asked,
            wanted,
            self.semantics,
            sorted(self.types.items()),
            sorted(map(repr, self.defaults.items())),
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def subscriptions_of(given: Any) -> tuple[Subscription, ...]:
    """Subscriptions from a file, from ``{id: filter text}``, or from objects, tuples and mappings.

    >>> [one.id for one in subscriptions_of({"warm": "t > 20", "hot": "t > 30"})]
    ['warm', 'hot']
    """
    if isinstance(given, str | PathLike):
        found = tuple(read_subscriptions(given))
    elif isinstance(given, Mapping):
        found = tuple(Subscription(str(key), asked) for key, asked in given.items())
    else:
        found = tuple(_one(item, f"subscription {place + 1}") for place, item in enumerate(given))
    if not found:
        raise ArchiveError("no subscriptions: there is nothing to match the events against")
    seen: set[str] = set()
    for one in found:
        if one.id in seen:
            raise ArchiveError(f"two subscriptions have the id {one.id!r}; an id is given once", id=one.id)
        seen.add(one.id)
    return found


def read_subscriptions(path: str | PathLike[str]) -> list[Subscription]:
    """The subscriptions of a TOML file (``[[subscription]]``) or of JSON lines; an error names the place."""
    file = Path(path)
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ArchiveError(f"{file}: not UTF-8: byte {error.start} cannot be read", path=str(file)) from None
    if file.suffix.lower() == ".toml":
        return _from_toml(text, file)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                tree = json.loads(line)
            except ValueError as error:
                raise ArchiveError(f"{file}, line {number}: not JSON: {error}", path=str(file), line=number) from None
            found.append(_one(tree, f"{file}, line {number}"))
    return found


def _from_toml(text: str, file: Path) -> list[Subscription]:
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ArchiveError(f"{file}: not TOML: {error}", path=str(file)) from None
    listed = tree.get("subscription", [])
    if not isinstance(listed, list) or tree.keys() - {"subscription"}:
        raise ArchiveError(
            f"{file}: a subscriptions file holds [[subscription]] tables and nothing else", path=str(file)
        )
    return [_one(item, f"{file}, subscription {place + 1}") for place, item in enumerate(listed)]


def _one(item: Any, place: str) -> Subscription:
    if isinstance(item, Subscription):
        return item
    if isinstance(item, tuple) and 2 <= len(item) <= 4:
        return Subscription(str(item[0]), *item[1:])
    if not isinstance(item, Mapping):
        raise ArchiveError(f"{place}: a subscription is a table with id and filter, not {item!r:.80}")
    for key in item:
        if key not in _FIELDS:
            raise ArchiveError(f"{place}: unknown field {key!r}.{hint(near(str(key), _FIELDS))}", field=key)
    if not isinstance(item.get("id"), str) or not item["id"]:
        raise ArchiveError(f"{place}: the id is text and not empty, not {item.get('id')!r:.80}")
    if "filter" not in item:
        raise ArchiveError(f"{place}: {item['id']} has no filter")
    wanted = item.get("context") or {}
    if not isinstance(wanted, Mapping):
        raise ArchiveError(f"{place}: the context is a table of aspects, or one for each concept, not {wanted!r:.80}")
    by_concept = any(isinstance(value, Mapping) for value in wanted.values())
    try:
        context = {key: Context(value) for key, value in wanted.items()} if by_concept else Context(wanted)
    except ConceptPubSubError as error:
        raise ArchiveError(f"{place}: {error}") from error
    rest = {key: item[key] for key in ("semantics", "types", "defaults") if key in item}
    for key in rest.keys() - {"semantics"}:
        if not isinstance(rest[key], Mapping):
            raise ArchiveError(f"{place}: {key} are a table of names, not {rest[key]!r:.80}")
    if not isinstance(rest.get("semantics", ""), str):
        raise ArchiveError(f"{place}: semantics is text, not {rest['semantics']!r:.80}")
    return Subscription(item["id"], item["filter"], context, **rest)


def check(subscriptions: Sequence[Subscription], ontology: Ontology | None, converters: Converters) -> list[Filter]:
    """Every subscription's filter, parsed; an error names the subscription at fault."""
    made = []
    for one in subscriptions:
        try:
            made.append(one.parsed(ontology, converters))
            if one.context:
                converters.check_delivery(one.context)
        except ConceptPubSubError as error:
            raise ArchiveError(f"subscription {one.id!r}: {error}", id=one.id) from error
    return made


def currencies(subscriptions: Iterable[Subscription], filters: Iterable[Filter]) -> tuple[str, ...]:
    """The currencies that anyone speaks of: where a rate is missing, somebody should know."""
    from conceptpubsub.filters.syntax import Comparison, Constant, children

    found: set[str] = set()
    for one in subscriptions:
        contexts = [one.context, *(value for value in one.context.values() if isinstance(value, Mapping))]
        found.update(str(context["currency"]) for context in contexts if isinstance(context.get("currency"), str))
    work: list[Any] = [asked.tree for asked in filters]
    while work:
        node = work.pop()
        kind = type(node)
        if kind is Constant:
            if node.lit.kind == "money":
                found.add(str(node.lit.of).partition("*")[0])
        elif kind is Comparison:
            work += (node.left, node.right)
        else:
            work.extend(children(node))
    return tuple(sorted(found))
