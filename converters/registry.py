"""The registry of converters: what leads from one context to another, embedded or registered.

Rule 1  Embedded converters follow from the ontology alone: units, scale, instants, labels. Registered ones (currency
        rates, code lists, open aspects) are told the time of the event.
Rule 2  Registration replaces the tables as a whole and raises ``revision``: readers in other threads see the old or
        the new registry, never half of one, and caches above know when to forget.
Rule 3  ``canonical``, ``problem`` and ``rate`` never raise on data; ``convert`` always says why it cannot.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from conceptpubsub.converters import delivery, plugins, reading
from conceptpubsub.converters.canonical import Canonical, Problem
from conceptpubsub.converters.conversion import EMBEDDED, converted, delivered, merged, moves
from conceptpubsub.converters.pairs import Pair, pair
from conceptpubsub.converters.plans import Plan, plan_for
from conceptpubsub.converters.rates import LOOK_BACK, rates_of
from conceptpubsub.converters.registered import Registered, walk
from conceptpubsub.errors import ConceptPubSubError, ConverterFailed, InvalidValue, NoConversion
from conceptpubsub.model.context import EMPTY, Context
from conceptpubsub.model.instants import Instant
from conceptpubsub.model.objects import SemanticEvent, SemanticObject
from conceptpubsub.model.values import Exact, exact, simplest, to_float

if TYPE_CHECKING:
    from conceptpubsub.model.ontology import Ontology

_KEPT = 16384
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Converters:
    """Converters between contexts.

    >>> conv = Converters.default()
    >>> conv.affine("degF", "degC")
    (Fraction(5, 9), Fraction(-160, 9))
    >>> conv.convert(SemanticObject("Temperature", 86, Context(unit="degF")), Context(unit="degC")).value
    30
    """

    def __init__(self, ontology: Ontology | None = None, *, use_plugins: bool = False) -> None:
        self.ontology = ontology
        self.revision = 0
        self._entries: dict[str, tuple[Registered, ...]] = {}
        self._awaiting_plugins = use_plugins
        self._start()

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._plans: dict[tuple[Any, Context], Plan] = {}
        self._pairs: dict[tuple[str, str], Pair] = {}

    @classmethod
    def default(cls, ontology: Ontology | None = None) -> Converters:
        """Units, scale, instants and labels; and what installed packages bring, when first asked for."""
        return cls(ontology, use_plugins=True)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_plans", "_pairs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def __repr__(self) -> str:
        listed = ", ".join(f"{aspect} x{len(entries)}" for aspect, entries in self._entries.items())
        return f"<Converters {listed or 'embedded only'}>"

    # --- registration -------------------------------------------------------------------------------------------

    def register(
        self,
        aspect: str,
        converter: Any,
        *,
        source: Any = None,
        target: Any = None,
        pivot: str | None = None,
        look_back: int = LOOK_BACK,
        timezone: str = "UTC",
    ) -> Converters:
        """Add a converter for an aspect; the newest is asked first. Returns this registry.

        For ``currency``: a mapping of rates, a ``RateTable``, an object such as ``CurrencyConverter``, or a function
        (source, target, at) that gives the rate; ``pivot``, ``look_back`` (days) and ``timezone`` are for tables.
        For ``scheme``: a ``CodeList``. For any aspect: ``f(value, source, target)``, told ``at`` and ``concept`` if it
        has such parameters, and asked only for ``source`` and ``target`` where those are given.

        >>> conv = Converters().register("currency", {"USD": 1.25}, pivot="EUR")
        >>> conv.rate("USD", "EUR")
        Fraction(4, 5)
        """
        if not isinstance(aspect, str) or not aspect:
            raise InvalidValue("an aspect is named by text", value=repr(aspect)[:80])
        if aspect in ("unit", "scale"):
            raise InvalidValue(f"{aspect} is embedded: it follows from the unit definitions", value=aspect)
        if aspect == "currency":
            converter = rates_of(converter, pivot, look_back, timezone)
        elif not callable(converter) and not callable(getattr(converter, "convert", None)):
            raise InvalidValue("a converter is callable or has a method convert(value, source, target)", value=aspect)
        entry = Registered(aspect, converter, source, target)
        with self._lock:
            self._entries = {**self._entries, aspect: (*self._entries.get(aspect, ()), entry)}
            self._plans = {}
            self.revision += 1
        return self

    def converter(self, aspect: str, **options: Any) -> Callable[[_Function], _Function]:
        """``register`` as a decorator.

        >>> conv = Converters()
        >>> @conv.converter("case", source="lower", target="upper")
        ... def raise_case(value, source, target):
        ...     return value.upper()
        >>> obj = SemanticObject("Name", "ada", Context(case="lower"))
        >>> conv.convert(obj, Context(case="upper")).value
        'ADA'
        """

        def register(function: _Function) -> _Function:
            self.register(aspect, function, **options)
            return function

        return register

    def registered(self, aspect: str) -> tuple[Registered, ...]:
        """What is registered for an aspect, oldest first."""
        if self._awaiting_plugins:
            self._load_plugins()
        return self._entries.get(aspect, ())

    @property
    def aspects(self) -> tuple[str, ...]:
        """Every aspect that can be converted, embedded or registered."""
        if self._awaiting_plugins:
            self._load_plugins()
        return tuple(sorted({*EMBEDDED, *self._entries}))

    @property
    def digest(self) -> str:
        """A name for the content, equal in every process that registered the same things in the same order."""
        text = [self.ontology.digest if self.ontology is not None else ""]
        for aspect in self.aspects:
            for entry in self.registered(aspect):
                text.append(f"{aspect}|{entry}|{getattr(entry.converter, 'digest', '')}")
        return hashlib.sha256("\n".join(text).encode()).hexdigest()

    def _load_plugins(self) -> None:
        with self._lock:
            if not self._awaiting_plugins:
                return
            for aspect, converter in plugins.installed():
                try:
                    self.register(aspect, converter)
                except ConceptPubSubError as error:
                    plugins.warn(aspect, error)
            self._awaiting_plugins = False

    # --- units --------------------------------------------------------------------------------------------------

    def affine(self, source_unit: str, target_unit: str) -> tuple[Exact, Exact]:
        """The exact (factor, offset) with target = source * factor + offset."""
        found = self._pair(source_unit, target_unit)
        if found.factor is None:
            raise NoConversion(
                f"{source_unit} to {target_unit} is logarithmic, not affine; use convert()",
                source=source_unit,
                target=target_unit,
            )
        return found.factor, found.offset

    def convert_value(self, value: float, source_unit: str, target_unit: str) -> float:
        """A float from unit to unit, quickly: whole-number conversions are exact, others within two roundings.

        >>> Converters().convert_value(86.0, "degF", "degC")
        30.0
        """
        found = self._pairs.get((source_unit, target_unit)) or self._pair(source_unit, target_unit)
        if found.floats is None:
            return to_float(found.exact(exact(value)))
        factor, offset, divisor = found.floats
        return (value * factor + offset) / divisor

    def convert_array(self, values: Any, source_unit: str, target_unit: str) -> Any:
        """A NumPy array, Arrow array or Arrow chunked array from unit to unit; nulls stay null.

        >>> import numpy as np
        >>> Converters().convert_array(np.array([32.0, 86.0]), "degF", "degC").tolist()
        [0.0, 30.0]
        """
        from conceptpubsub.converters import arrays

        found = self._pair(source_unit, target_unit)
        if type(values).__module__.startswith("pyarrow"):
            return arrays.convert_arrow(values, found)
        return arrays.convert_numpy(values, found)

    def _pair(self, source: str, target: str) -> Pair:
        found = self._pairs.get((source, target))
        if found is None:
            found = pair(source, target)
            if len(self._pairs) >= _KEPT:
                self._pairs = {}
            self._pairs[source, target] = found
        return found

    # --- registered aspects -------------------------------------------------------------------------------------

    def rate(self, source: str, target: str, at: Instant | None = None) -> Exact | None:
        """Units of target for one unit of source as of a time; None where none is known or its source fails."""
        if source == target:
            return 1
        try:
            return self.strict_rate(source, target, at)
        except ConverterFailed:
            return None

    def strict_rate(self, source: str, target: str, at: Instant | None) -> Exact | None:
        """As ``rate``, but a source of rates that fails is a ``ConverterFailed``."""
        source, _, per = source.partition("*")
        target, _, other = target.partition("*")
        if per != other:  # a price per kilogram against one per metre
            return None
        if source == target:
            return 1
        for entry in reversed(self.registered("currency")):
            try:
                found = entry.converter.rate(source, target, at)
            except NoConversion:
                continue
            except Exception as error:
                raise ConverterFailed(
                    f"the currency converter {entry.name} failed from {source} to {target}: {error!s:.200}",
                    aspect="currency",
                    converter=entry.name,
                    source=source,
                    target=target,
                ) from error
            if found is not None:
                return simplest(found)
        return None

    def walk(self, aspect: str, value: Any, source: Any, target: Any, at: Instant | None, concept: Any) -> Any:
        """A value through the registered converters of an aspect; None where no path leads there."""
        return walk(self.registered(aspect), value, source, target, at, concept)

    # --- values and objects -------------------------------------------------------------------------------------

    def concept(self, name: str) -> Any:
        """The concept of that name in the ontology, or None."""
        return None if self.ontology is None else self.ontology.find(name)

    def plan(self, concept: Any, context: Mapping[str, Any]) -> Plan:
        """How values of a concept in a context are read; worked out once."""
        own = context if type(context) is Context else Context(context)
        plans = self._plans
        found = plans.get((concept, own))
        if found is None:
            found = plan_for(concept, own, lambda whole: moves(self, concept, whole))
            if len(plans) >= _KEPT:
                plans.clear()
            plans[concept, own] = found
        return found

    def canonical(
        self, concept: Any, value: Any, context: Mapping[str, Any] = EMPTY, at: Instant | None = None
    ) -> Canonical | None:
        """What a value means, in the form that all engines compute with; None where it counts as missing.

        >>> conv = Converters()
        >>> conv.canonical(None, 86, Context(unit="degF")) == conv.canonical(None, 30, Context(unit="degC"))
        True
        """
        made = reading.read(self, self.plan(concept, context), value, at)
        return None if isinstance(made, Problem) else made

    def problem(
        self, concept: Any, value: Any, context: Mapping[str, Any] = EMPTY, at: Instant | None = None
    ) -> str | None:
        """Why ``canonical`` is None, as a sentence; None where it is not."""
        made = reading.read(self, self.plan(concept, context), value, at)
        return made.sentence if isinstance(made, Problem) else None

    def convert(self, obj: Any, target: Mapping[Any, Any], at: Any = None, *, exact: bool = False) -> Any:
        """The object in another context; an object or event with parts, part by part as ``deliver`` does.

        Numbers are computed exactly and delivered as an int where they are whole and the input was no float, else as
        the nearest float; ``exact=True`` keeps the rational.
        """
        moment = None if at is None else Instant.of(at)
        if isinstance(obj, SemanticEvent):
            return delivery.deliver_event(self, obj, target, moment, exact)
        if not isinstance(obj, SemanticObject):
            raise InvalidValue(f"a SemanticObject is converted, not {type(obj).__name__}", value=repr(obj)[:80])
        if obj.is_complex:
            made = delivery.deliver_attributes(self, obj.value, target, moment, exact)
            return obj if made is None else SemanticObject(obj.concept, made, obj.context)
        concept = None if self.ontology is None else self.ontology[obj.concept]
        wanted = target if type(target) is Context else Context(delivery.wanted_for(self, obj.concept, target))
        value = converted(self, concept, obj.value, obj.context, wanted, moment)
        return SemanticObject(obj.concept, delivered(value, obj.value, exact), merged(obj.context, wanted))

    def deliver(
        self, event: SemanticEvent, context: Mapping[Any, Any], at: Any = None, *, exact: bool = False
    ) -> SemanticEvent:
        """The event as a subscriber wants it: the context applies where it fits, the rest is delivered as it came."""
        return delivery.deliver_event(self, event, context, None if at is None else Instant.of(at), exact)

    def check_delivery(self, context: Mapping[Any, Any]) -> None:
        """Raise where a delivery context could never apply: unknown unit, aspect, zone or concept, or a wrong kind."""
        delivery.check(self, context)

    def equivalent(self, a: Any, b: Any, at: Any = None) -> bool:
        """Whether two objects or events mean the same.

        >>> a = SemanticObject("Distance", 3850, Context(unit="mile", scale=1))
        >>> Converters().equivalent(a, SemanticObject("Distance", 3.85, Context(unit="mile", scale=1000)))
        True
        """
        return reading.equivalent(self, a, b, None if at is None else Instant.of(at))
