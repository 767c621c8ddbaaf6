"""Every error of the package, one class a mistake.

The law of this file: an error names the thing, the place and the way out; its facts are fields; it pickles;
it is also a fitting builtin, so that ``except ValueError`` keeps working for people who do not know us.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def near(name: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The known names that a mistyped one most resembles, best first.

    >>> near("Temprature", ["Temperature", "Pressure"])
    ('Temperature',)
    """
    name = name[:200]
    lowered: dict[str, str] = {}
    for candidate in known:
        lowered.setdefault(candidate.lower(), candidate)
    found = difflib.get_close_matches(name.lower(), lowered, n=most, cutoff=0.6)
    return tuple(lowered[hit] for hit in found)


def hint(names: Iterable[str]) -> str:
    """The sentence that offers near names, or nothing."""
    listed = [f"'{name}'" for name in names]
    if not listed:
        return ""
    return f" Did you mean {' or '.join(listed)}?"


def _rebuild(cls: type[ConceptPubSubError], message: str, facts: dict[str, Any]) -> ConceptPubSubError:
    return cls(message, **facts)


class ConceptPubSubError(Exception):
    """Base of every error here. ``facts`` are also attributes of the error.

    >>> UnknownConcept("no concept 'Temprature'", name="Temprature", near=("Temperature",)).name
    'Temprature'
    """

    facts: dict[str, Any]

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(f"{type(self).__name__} has no fact '{name}'")

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.facts)


class InvalidValue(ConceptPubSubError, ValueError):
    """A value that no event or filter may hold: NaN, infinity, a list, an absurd literal."""


class LimitExceeded(ConceptPubSubError, ValueError):
    """Input larger or deeper than the limits allow."""


class UnknownConcept(ConceptPubSubError, KeyError):
    """A name that the ontology does not hold."""


class UnknownUnit(ConceptPubSubError, ValueError):
    """A unit that neither pint nor our definitions know."""


class UnknownAspect(ConceptPubSubError, KeyError):
    """An aspect of context for which no converter is registered."""


class NoConversion(ConceptPubSubError, ValueError):
    """No path between two contexts; lists what is registered."""


class ConverterFailed(ConceptPubSubError, ValueError):
    """A registered converter raised; the original is the cause."""


class OntologyError(ConceptPubSubError, ValueError):
    """An ontology file that cannot be read, or says impossible things."""


class ReasonerError(ConceptPubSubError, RuntimeError):
    """The OWL reasoner is missing, failed, or ran out of time."""


class InvalidEvent(ConceptPubSubError, ValueError):
    """An event that does not validate; ``problems`` lists each fault."""


class CodecError(ConceptPubSubError, ValueError):
    """Bytes or text that are not an event in the expected form."""


class FilterError(ConceptPubSubError, ValueError):
    """A filter that cannot be used as asked."""


class FilterSyntaxError(FilterError):
    """Filter text that does not parse; carries ``line``, ``column`` and a caret in the message."""


class FilterTypeError(FilterError, TypeError):
    """Filter text that parses but cannot mean anything: kilograms against a temperature."""


class MissingAttribute(ConceptPubSubError, KeyError):
    """Under ``total`` semantics, an event that lacks a reference the filter names."""


class IncompatibleFilters(FilterError):
    """A relation between filters that have no common ground: two ontologies, total against others."""


class Undecided(ConceptPubSubError, RuntimeError):
    """A decision procedure gave up within its budget, and the caller asked for a certain answer."""


class DuplicateKey(ConceptPubSubError, KeyError):
    """A key that the matcher already holds."""


class UnknownKey(ConceptPubSubError, KeyError):
    """A key that the matcher does not hold."""


class UnsupportedSemantics(ConceptPubSubError, ValueError):
    """An engine that does not have the semantics asked of it."""


class NetworkError(ConceptPubSubError, ValueError):
    """A broker network that is not a tree, or a name that is not in it."""


class MessageError(ConceptPubSubError, ValueError):
    """A broker message that is malformed or comes from a stranger."""


class FlowError(ConceptPubSubError, ValueError):
    """A flow graph that is cyclic or whose schemas do not fit; names the arc."""


class ArchiveError(ConceptPubSubError, ValueError):
    """An archive that cannot be read or written."""


class HubError(ConceptPubSubError, RuntimeError):
    """A hub used in a way it cannot be: closed, without a store, from the wrong event loop."""


class QueueFull(HubError):
    """A subscription whose bounded queue overflowed, under the policy ``error``."""
