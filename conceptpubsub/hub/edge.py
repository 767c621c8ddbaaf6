"""The edge: what a publisher hands over becomes a valid event, or a list of what is wrong with it.

Most events look like those before them. A *shape* is what an event has apart from its values: its concept, and the
key, concept, context and Python type of each attribute. What holds for every event of a shape is found out once; the
values are then judged by comparisons. Whatever those do not settle is judged by ``model.validation``, whose sentences
are the ones reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from conceptpubsub.converters import Converters
from conceptpubsub.converters.plans import Plan
from conceptpubsub.errors import InvalidEvent
from conceptpubsub.filters.events import PARTS
from conceptpubsub.model.objects import SemanticEvent
from conceptpubsub.model.ontology import Ontology
from conceptpubsub.model.validation import validate
from conceptpubsub.model.values import exact, to_float

Shape = int
_KEPT = 4096
_UNSEEN: Any = object()


def entered(event: Any, concept: str) -> SemanticEvent:
    """A SemanticEvent as it is; a mapping, in which @concept, @time, @id and @source speak of the event, as one.

    >>> entered({"price": 3, "@id": "7"}, "Event").id
    '7'
    """
    if isinstance(event, SemanticEvent):
        return event
    if not isinstance(event, Mapping):
        raise InvalidEvent(f"an event is a SemanticEvent or a mapping from names to values, not {type(event).__name__}")
    attributes = {key: value for key, value in event.items() if key not in PARTS}
    own = {part[1:]: event[part] for part in PARTS if part in event}
    return SemanticEvent(own.pop("concept", None) or concept, attributes, **own)


class Shapes:
    """Numbers the shapes of events; a number never means two shapes.

    >>> shapes = Shapes()
    >>> [shapes.of(SemanticEvent("Ping", {"Load": load})) for load in (0.5, 0.7, 1)]
    [0, 0, 1]
    """

    def __init__(self) -> None:
        self._next = itertools.count()
        self._known: dict[tuple[Any, ...], Shape] = {}

    def of(self, event: SemanticEvent) -> Shape:
        """The number of the event's shape."""
        whole = (
            event.concept,
            *[(key, held.concept, held.context, type(held.value)) for key, held in event.attributes.items()],
        )
        found = self._known.get(whole)
        if found is None:
            if len(self._known) >= _KEPT:
                self._known = {}
            found = self._known[whole] = next(self._next)
        return found


class Check(NamedTuple):
    """One attribute's values: numbers strictly between two floats, or one of some texts, are valid."""

    key: str
    low: float
    high: float
    values: set[str] | None
    """Texts that are valid; of concepts, those that were found to be so."""


class Edge:
    """Judges events by an ontology; without one, what could be made is valid."""

    def __init__(self, ontology: Ontology | None, converters: Converters) -> None:
        self.ontology, self.converters, self.shapes = ontology, converters, Shapes()
        self._known: tuple[int, dict[Shape, Any]] = (converters.revision, {})
        """The revision of the converters, and the checks made under it; replaced together."""

    def problems(self, event: SemanticEvent, shape: Shape) -> tuple[str, ...]:
        """What is wrong with the event, a sentence each."""
        if self.ontology is None:
            return ()
        revision, known = self._known
        if revision != self.converters.revision or len(known) > _KEPT:
            _, known = self._known = (self.converters.revision, {})
        checks = known.get(shape, _UNSEEN)
        if type(checks) is tuple:
            attributes = event.attributes
            for key, low, high, values in checks:
                value = attributes[key].value
                if not (low < value < high if values is None else value in values):
                    break
            else:
                return ()
        found = validate(event, self.ontology, problem=self.converters.problem)
        if checks is _UNSEEN and not found:
            known[shape] = self._find_checks(event)
        elif checks and not found:
            self._learn(event, checks)
        return found

    def _learn(self, event: SemanticEvent, checks: tuple[Check, ...]) -> None:
        """The concepts that a valid event names are valid again."""
        for key, _, _, values in checks:
            if values is not None and len(values) < _KEPT:
                values.add(event.attributes[key].value)

    def _find_checks(self, event: SemanticEvent) -> tuple[Check, ...] | None:
        """Comparisons that settle the values of a valid event's shape; None where some attribute has none."""
        assert self.ontology is not None
        checks = []
        for key, held in event.attributes.items():
            concept = self.ontology.find(key)
            plan = self.converters.plan(concept, held.context)
            kind = type(held.value)
            if held.is_complex or plan.moves or plan.problem is not None or concept is None:
                return None
            if kind in (int, float):
                limits = number_limits(plan, whole=kind is int)
                if limits is None:
                    return None
                checks.append(Check(key, *limits, None))
            elif kind is str and plan.value_type in ("text", None):
                if concept.values is not None:
                    checks.append(Check(key, 0.0, 0.0, set(concept.values)))
            elif kind is str and plan.value_type == "concept":
                checks.append(Check(key, 0.0, 0.0, {held.value}))
            elif kind is not bool or plan.value_type != "bool":
                return None
        return tuple(checks)


def number_limits(plan: Plan, whole: bool) -> tuple[float, float] | None:
    """Floats strictly between which every number is valid under a plan; None where numbers need a closer look.

    ``whole`` says that the numbers are integers.
    """
    concept = plan.concept
    if plan.value_type not in ("real", "int", None) or (plan.unit is not None and plan.whole is None):
        return None
    if plan.value_type == "int" and not (whole and plan.whole in (None, (1, 0, 1))):
        return None
    low, high = float("-inf"), float("inf")
    if plan.checked and concept is not None:
        if plan.currency is not None:
            return None
        low = low if concept.minimum is None else _in_own_unit(plan, concept.minimum)
        high = high if concept.maximum is None else _in_own_unit(plan, concept.maximum)
    return low, high


def _in_own_unit(plan: Plan, limit: Any) -> float:
    """A limit, declared in the canonical unit, in the unit and scale in which the values stand."""
    base = limit if plan.canonical_unit is None else plan.canonical_unit.to_base(exact(limit))
    if plan.whole is None:
        return to_float(base)
    factor, offset, divisor = plan.whole
    return to_float((Fraction(base) * divisor - offset) / factor) if factor > 0 else float("nan")
