"""Registered converters: what a user brings for an aspect, and how a path is found through it.

Rule 1  A converter is a callable ``f(value, source, target)`` or an object with such a ``convert`` method. It is told
        the event's time and the concept if it has parameters named ``at`` and ``concept``.
Rule 2  None, or a ``NoConversion``, means "not mine": the next converter is asked, the newest first.
Rule 3  Any other exception becomes ``ConverterFailed``, with the original as its cause.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conceptpubsub.errors import ConverterFailed, NoConversion
from conceptpubsub.model.instants import Instant

MAX_HOPS = 4
_EXTRAS = ("at", "concept")


@dataclass(frozen=True, slots=True)
class Registered:
    """One converter of an aspect; ``source`` and ``target`` of None stand for any."""

    aspect: str
    converter: Any
    source: Any = None
    target: Any = None

    @property
    def name(self) -> str:
        """How listings call it."""
        given = getattr(self.converter, "name", None) or getattr(self.converter, "__qualname__", None)
        return given if isinstance(given, str) else type(self.converter).__name__

    @property
    def function(self) -> Callable[..., Any]:
        """What is called with (value, source, target)."""
        method = getattr(self.converter, "convert", None)
        return method if callable(method) else self.converter  # type: ignore[no-any-return]

    def hops(self, source: Any) -> Iterable[Any]:
        """The contexts that this converter is known to reach from another."""
        schemes: Sequence[Any] = getattr(self.converter, "schemes", ())
        if source in schemes:
            return [scheme for scheme in schemes if scheme != source]
        return [self.target] if self.source == source and self.target is not None else []

    def serves(self, source: Any, target: Any) -> bool:
        """Whether it may be asked for this pair."""
        schemes = getattr(self.converter, "schemes", None)
        if schemes is not None:
            return source in schemes and target in schemes
        return self.source in (None, source) and self.target in (None, target)

    def call(self, value: Any, source: Any, target: Any, at: Instant | None, concept: Any) -> Any:
        """The converted value, or None where it has no answer."""
        told = {"at": at, "concept": concept}
        try:
            return self.function(value, source, target, **{name: told[name] for name in extras(self.function)})
        except NoConversion:
            return None
        except Exception as error:
            raise ConverterFailed(
                f"the {self.aspect} converter {self.name} failed on {value!r:.80} from {source!r:.40} to "
                f"{target!r:.40}: {type(error).__name__}: {error!s:.200}",
                aspect=self.aspect,
                converter=self.name,
                source=source,
                target=target,
            ) from error

    def __str__(self) -> str:
        schemes = getattr(self.converter, "schemes", None)
        if schemes is not None:
            return f"{self.name} ({' <-> '.join(map(str, schemes))})"
        if self.source is None and self.target is None:
            return self.name
        return f"{self.name} ({self.source or 'any'} -> {self.target or 'any'})"


def extras(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which of ``at`` and ``concept`` a converter wants to be told."""
    try:
        return _extras(function)
    except TypeError:  # an unhashable callable: look each time
        return _extras.__wrapped__(function)


@lru_cache(maxsize=1024)
def _extras(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return _EXTRAS
    return tuple(name for name in _EXTRAS if name in parameters)


def walk(
    registered: Sequence[Registered], value: Any, source: Any, target: Any, at: Instant | None, concept: Any
) -> Any:
    """The value taken from source to target, directly or through a few converters; None without a path."""
    for entry in reversed(registered):
        if entry.serves(source, target):
            made = entry.call(value, source, target, at, concept)
            if made is not None:
                return made
    for path in _paths(registered, source, target):
        made = value
        for entry, start, stop in path:
            made = entry.call(made, start, stop, at, concept)
            if made is None:
                break
        else:
            return made
    return None


def _paths(registered: Sequence[Registered], source: Any, target: Any) -> Iterable[list[tuple[Registered, Any, Any]]]:
    """Paths of two and more steps, shortest first, each context visited once."""
    queue: deque[tuple[Any, list[tuple[Registered, Any, Any]]]] = deque([(source, [])])
    seen = {source}
    while queue:
        here, path = queue.popleft()
        if len(path) >= MAX_HOPS:
            continue
        for entry in reversed(registered):
            for there in entry.hops(here):
                step = [*path, (entry, here, there)]
                if there == target and len(step) > 1:
                    yield step
                elif there not in seen and there != target:
                    seen.add(there)
                    queue.append((there, step))


def listing(registered: Sequence[Registered]) -> str:
    """What is registered, for an error message."""
    shown = [str(entry) for entry in registered[:12]]
    more = f" and {len(registered) - 12} more" if len(registered) > 12 else ""
    return f"registered: {', '.join(shown)}{more}" if shown else "nothing is registered"
