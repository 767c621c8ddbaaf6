"""Context: the aspects in which a value stands. Immutable, hashable, open to new aspects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conceptpubsub.errors import InvalidValue
from conceptpubsub.model.values import Exact, decimal_text, exact

AspectValue = str | int | bool | Exact


class Context(Mapping[str, Any]):
    """An immutable mapping from aspect to value: unit, scale, currency, language, timezone, scheme, …

    >>> Context(unit="mile", scale=1000)["scale"]
    1000
    >>> Context(unit="km") == Context({"unit": "km"})
    True
    """

    __slots__ = ("_hash", "_items", "_key")
    _items: dict[str, Any]
    _key: tuple[tuple[str, Any, bool], ...]
    _hash: int

    def __init__(self, aspects: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        if not isinstance(aspects, Mapping | None):
            raise InvalidValue(
                f"a context is a mapping from aspect to value, such as Context(unit='km'), not {aspects!r:.80}",
                value=repr(aspects)[:200],
            )
        items: dict[str, Any] = {}
        for aspect, value in {**(aspects or {}), **more}.items():
            if not isinstance(aspect, str) or not aspect:
                raise InvalidValue(f"an aspect is named by text, not {aspect!r}", value=repr(aspect)[:200])
            if value is None:
                continue
            items[aspect] = value if isinstance(value, str | bool) else exact(value)
        ordered = dict(sorted(items.items()))
        object.__setattr__(self, "_items", ordered)
        key = tuple((aspect, value, value is True or value is False) for aspect, value in ordered.items())
        object.__setattr__(self, "_key", key)  # True == 1 to Python, not to us
        object.__setattr__(self, "_hash", hash(key))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Context is immutable; use merged()")

    def __getitem__(self, aspect: str) -> Any:
        return self._items[aspect]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Context):
            return self._key == other._key
        return NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, (dict(self._items),)

    def __repr__(self) -> str:
        return f"Context({', '.join(f'{k}={_show(v)}' for k, v in self._items.items())})"

    def merged(self, over: Mapping[str, Any]) -> Context:
        """This context with the aspects of another laid over it; None takes an aspect away.

        >>> Context(unit="mile", scale=1000).merged({"unit": "km", "scale": None})
        Context(unit='km')
        """
        return Context({**self._items, **over}) if over else self


def _show(value: Any) -> str:
    return repr(value) if isinstance(value, str | bool) else decimal_text(value)


EMPTY = Context()
