"""The registry of converters: composes aspects, normalises values, converts objects."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from conceptpubsub.converters.canonical import Canonical, Money, Problem, Quantity
from conceptpubsub.converters.plans import Plan, instant, is_instant, is_number, plan_for
from conceptpubsub.converters.units import resolve
from conceptpubsub.errors import NoConversion
from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticObject
from conceptpubsub.model.values import Exact, simplest

_KEPT = 16384


class Converters:
    """Converters between contexts.

    >>> Converters.default().affine("degF", "degC")
    (Fraction(5, 9), Fraction(-160, 9))
    """

    def __init__(self, ontology: Any = None) -> None:
        self.ontology = ontology
        self.revision = 0
        self._rates: tuple[Any, ...] = ()
        self._lock = threading.RLock()
        self._plans: dict[tuple[Any, Context], Plan] = {}

    @classmethod
    def default(cls, ontology: Any = None) -> Converters:
        """The converters that follow from the ontology alone: units, scale, instants, labels."""
        return cls(ontology)

    def __getstate__(self) -> dict[str, Any]:
        return {"ontology": self.ontology, "revision": self.revision, "_rates": self._rates}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["ontology"])  # type: ignore[misc]
        self.revision, self._rates = state["revision"], state["_rates"]

    def register(self, aspect: str, converter: Any) -> None:
        """Add a converter for an aspect."""
        with self._lock:
            self._rates += (converter,)
            self.revision += 1

    def affine(self, source_unit: str, target_unit: str) -> tuple[Exact, Exact]:
        """The exact (factor, offset) with target = source * factor + offset."""
        source, target = resolve(source_unit), resolve(target_unit)
        if not source.dimension.comparable(target.dimension):
            raise NoConversion(
                f"{source_unit} does not convert to {target_unit}", source=source_unit, target=target_unit
            )
        factor = Fraction(source.factor) / target.factor
        return simplest(factor), simplest(Fraction(source.offset - target.offset) / target.factor)

    def rate(self, source: str, target: str, at: Instant | None = None) -> Exact | None:
        """Units of target for one unit of source; None where no rate is known."""
        if source == target:
            return 1
        for rates in self._rates:
            found = rates(source, target, at)
            if found is not None:
                return simplest(Fraction(found))
        return None

    def canonical(
        self, concept: Any, value: Any, context: Mapping[str, Any] = EMPTY, at: Instant | None = None
    ) -> Canonical | None:
        """The canonical value, or None where the value counts as missing."""
        read = self._read(concept, value, context, at)
        return None if isinstance(read, Problem) else read

    def problem(
        self, concept: Any, value: Any, context: Mapping[str, Any] = EMPTY, at: Instant | None = None
    ) -> str | None:
        """Why ``canonical`` is None, as a sentence."""
        read = self._read(concept, value, context, at)
        return read.sentence if isinstance(read, Problem) else None

    def _plan(self, concept: Any, context: Mapping[str, Any]) -> Plan:
        own = context if isinstance(context, Context) else Context(context)
        plan = self._plans.get((concept, own))
        if plan is None:
            plan = plan_for(concept, own)
            if len(self._plans) >= _KEPT:
                self._plans.clear()
            self._plans[(concept, own)] = plan
        return plan

    def _read(self, concept: Any, value: Any, context: Mapping[str, Any], at: Instant | None) -> Canonical | Problem:
        plan = self._plan(concept, context)
        if plan.problem is not None:
            return plan.problem
        kind = plan.value_type
        if value is None:
            return Problem("no value")
        if isinstance(value, Mapping):
            return Problem("a complex object has no single value")
        if kind == "instant" or (kind is None and is_instant(value)):
            return instant(value, plan.context.get("timezone"))
        if kind in ("real", "int") or (kind is None and is_number(value)):
            return plan.number(value) if is_number(value) else Problem(f"{value!r} is not a number")
        if kind == "bool" or (kind is None and isinstance(value, bool)):
            return value if isinstance(value, bool) else Problem(f"{value!r} is not a Boolean")
        if not isinstance(value, str):
            return Problem(f"{value!r} is not text")
        if concept is not None and concept.values is not None and value not in concept.values and kind != "concept":
            return Problem(f"{value!r} is not one of the values of {concept.name}")
        if kind == "concept":
            found = concept.ontology.find(value)
            return Problem(f"no concept {value!r}") if found is None else concept.ontology[found.representative].iri
        return value

    def convert(self, obj: SemanticObject, target: Mapping[str, Any], at: Instant | None = None) -> SemanticObject:
        """The object in another context."""
        concept = None if self.ontology is None else self.ontology.find(obj.concept)
        read = self._read(concept, obj.value, obj.context, at)
        if isinstance(read, Problem):
            raise NoConversion(read.sentence)
        wanted = self._plan(concept, obj.context.merged(target))
        if isinstance(read, Quantity) and wanted.unit is not None and read.dimension.comparable(wanted.unit.dimension):
            made: Exact = wanted.unit.from_base(read.value)
        elif isinstance(read, Money) and wanted.currency is not None:
            rate = self.rate(read.currency, wanted.currency, at)
            if rate is None:
                raise NoConversion(f"no rate from {read.currency} to {wanted.currency}")
            made = read.value * rate
        else:
            raise NoConversion(f"no conversion from {obj.context!r} to {target!r}")
        return SemanticObject(obj.concept, simplest(Fraction(made) / wanted.scale), obj.context.merged(target))

    def equivalent(self, a: SemanticObject, b: SemanticObject, at: Instant | None = None) -> bool:
        """Whether two objects mean the same."""
        concept = None if self.ontology is None else self.ontology.find(a.concept)
        return self.canonical(concept, a.value, a.context, at) == self.canonical(concept, b.value, b.context, at)
