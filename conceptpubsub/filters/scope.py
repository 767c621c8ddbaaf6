"""The scope a filter is read in: what its names, units and constants mean.

One scope serves every filter of the same ontology, converters and declarations; what it has looked up once, it
remembers, so that a hundred thousand subscriptions resolve each name and unit once. A constant means what the same
value would mean in an event (`Converters.canonical`), except that no declared range rejects it: ``FuelLevel < 101`` is
a filter, though 101 is no fuel level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from conceptpubsub.converters import Converters, Money, Quantity, Unit, is_currency, resolve
from conceptpubsub.converters.canonical import Problem
from conceptpubsub.converters.plans import Plan
from conceptpubsub.converters.units import applied
from conceptpubsub.errors import ConceptPubSubError, FilterError, UnknownConcept, hint, near
from conceptpubsub.filters.normal import Lit, Ref, literal
from conceptpubsub.model import EMPTY, Concept, Context, Exact, Instant, Ontology, SemanticObject, exact

SEMANTICS = ("sql", "strict", "total", "default")
TYPES = {"int": "int", "real": "number", "text": "text", "bool": "bool", "instant": "instant"}
EVENT_PARTS = {"time": "instant", "source": "text", "id": "text"}
MAX_STEPS = 32
_REMEMBERED = 65_536
_STEP = re.compile(r"""[^\W\d][\w$]*|\$[\w$]*|"((?:[^"]|"")*)"|<([^>]*)>""")
_PLAIN_PATH = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)*\Z")
V = TypeVar("V")


class Meaningless(Exception):
    """What a name, unit or constant does not mean; the parser adds the place."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts


class Scope:
    """Names, types, units and constants, resolved and remembered."""

    def __init__(
        self,
        ontology: Ontology | None = None,
        converters: Converters | None = None,
        semantics: str = "sql",
        types: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        if semantics not in SEMANTICS:
            offered = hint(near(str(semantics), SEMANTICS)) or f" Choose one of {', '.join(SEMANTICS)}."
            raise FilterError(f"no semantics {semantics!r}.{offered}", semantics=semantics)
        self.ontology = ontology
        self.given_converters = converters
        self.converters = Converters.default(ontology) if converters is None else converters
        self.semantics = semantics
        self.given_types = dict(types or {})
        self.types = {name: _declared(name, kind) for name, kind in self.given_types.items()}
        self.refs: dict[str, Ref] = {}
        self.units: dict[str, Unit | str] = {}
        self.measures: dict[tuple[str, str], Any] = {}
        self.texts: dict[tuple[str, str], Lit] = {}
        self.plans: dict[tuple[Any, ...], Plan] = {}
        self.revision = self.converters.revision
        self.defaults: dict[str, Any] = {}
        self.given_defaults = dict(defaults or {})
        if self.given_defaults and semantics != "default":
            raise FilterError(
                f"defaults are part of the semantics 'default', not of '{semantics}'", semantics=semantics
            )
        for name, value in self.given_defaults.items():
            self._declare_default(name, value)

    def _declare_default(self, name: str, value: Any) -> None:
        try:
            ref = self.ref(name if _PLAIN_PATH.match(name) else '"' + name.replace('"', '""') + '"')
        except Meaningless as error:
            raise FilterError(f"the default for '{name}': {error}", **error.facts) from None
        context = value.context if isinstance(value, SemanticObject) else EMPTY
        plain = value.value if isinstance(value, SemanticObject) else value
        canonical = self.canonical(ref, plain, context, None)
        if canonical is None:
            problem = self.converters.problem(ref.concept, plain, context, None) or "it is not of the declared type"
            raise FilterError(f"the default for '{name}' cannot be used: {problem}", name=name)
        self.defaults[ref.key] = canonical

    # ------------------------------------------------------------------ names

    def ref(self, token: str) -> Ref:
        """The reference that a name or dotted path means."""
        found = self.refs.get(token)
        return self.remember(self.refs, token, self._resolve(token)) if found is None else found

    def fresh(self) -> Scope:
        """This scope; what it remembers of constants is forgotten where converters have been registered since."""
        if self.revision != self.converters.revision:
            self.revision = self.converters.revision
            for known in (self.measures, self.texts, self.plans):
                known.clear()
        return self

    def remember(self, known: dict[Any, V], key: Any, value: V) -> V:
        """Keep what was looked up; a stream of ever new names must not fill the memory."""
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = value
        return value

    def _resolve(self, token: str) -> Ref:
        names = [_unquoted(step) for step in _STEP.finditer(token)]
        if names[0] == "EVENT" and not token.startswith(('"', "<")):
            return self._event_ref(token, names)
        if len(names) > MAX_STEPS:
            raise Meaningless(f"a path of {len(names)} steps; at most {MAX_STEPS} are followed")
        if self.ontology is None:
            kind = self.types.get(".".join(names)) or self.types.get(token)
            return Ref(tuple(names), (), kind, shown=token)
        steps = tuple(self.named(name) for name in names)
        last = steps[-1]
        kind = {"real": "number"}.get(last.value_type or "", last.value_type)
        dimension = None
        if last.canonical_unit is not None:
            dimension = self._kind_unit(last).dimension
            kind = kind or "number"
        return Ref(tuple(step.representative for step in steps), steps, kind, dimension, shown=token)

    def _event_ref(self, token: str, names: list[str]) -> Ref:
        if len(names) == 1:
            return Ref(("EVENT",), (), "concept", shown="EVENT", event=True)
        if len(names) == 2 and names[1] in EVENT_PARTS:
            return Ref(tuple(names), (), EVENT_PARTS[names[1]], shown=token, event=True)
        offered = hint(near(names[1], EVENT_PARTS)) or " There are EVENT.time, EVENT.source and EVENT.id."
        raise Meaningless(f"an event has no part '{'.'.join(names[1:])[:200]}'.{offered}", name=token[:200])

    def _kind_unit(self, concept: Concept) -> Unit:
        try:
            return resolve(concept.canonical_unit or "")
        except ConceptPubSubError as error:
            raise Meaningless(f"the ontology gives {concept.name} a unit that is none: {error}") from error

    def named(self, name: str) -> Concept:
        """The concept of that name, or an error that offers near ones."""
        assert self.ontology is not None
        try:
            return self.ontology[name]
        except UnknownConcept as error:
            raise Meaningless(str(error), **error.facts) from None

    # ------------------------------------------------------------------ constants

    def unit(self, text: str) -> Unit | str:
        """A unit, or the code of a currency."""
        found = self.units.get(text)
        if found is not None:
            return found
        if len(text) == 3 and is_currency(text):
            return self.remember(self.units, text, text)
        try:
            return self.remember(self.units, text, resolve(text))
        except ConceptPubSubError as error:
            raise Meaningless(str(error), **error.facts) from None

    def constant(self, value: Any, context: Mapping[str, Any], beside: Ref | None) -> Lit:
        """The canonical constant for a value in its context, beside the reference it is compared with."""
        if isinstance(value, bool):
            return Lit("bool", value)
        if isinstance(value, Instant):
            return Lit("instant", value)
        if isinstance(value, str):
            return self._text(value, Context(context), beside)
        return self._number(exact(value), context, beside)

    def plan(self, ref: Ref | None, context: Mapping[str, Any]) -> Plan:
        """How numbers in a context are read beside a reference: as in events, but within no declared range."""
        concept = None if ref is None else ref.concept
        key = (concept, *context.items())
        found = self.plans.get(key)
        if found is not None:
            return found
        plan = self.converters.plan(concept, Context(context))
        if plan.problem is not None:
            raise Meaningless(plan.problem.sentence)
        return self.remember(self.plans, key, replace(plan, checked=False) if plan.checked else plan)

    def _number(self, value: Exact, context: Mapping[str, Any], beside: Ref | None) -> Lit:
        plan = self.plan(beside, context)
        if plan.moves:  # through registered converters
            return self._converted(value, Context(context), None if beside is None else beside.concept)
        if plan.whole is not None and plan.currency is None and plan.dimension is not None:
            return Lit("quantity", applied(plan.whole, value), plan.dimension)
        made = plan.number(value)
        if isinstance(made, Problem):
            raise Meaningless(made.sentence)
        return literal(made)

    def _converted(self, value: Any, context: Context, concept: Concept | None) -> Lit:
        made = self.converters.canonical(concept, value, context, None)
        if made is None:
            problem = self.converters.problem(concept, value, context, None)
            raise Meaningless(problem or f"{value!r:.80} has no meaning here")
        return literal(made)

    def _text(self, value: str, context: Context, beside: Ref | None) -> Lit:
        concept = None if beside is None else beside.concept
        if beside is not None and concept is None:
            if beside.type == "instant":
                return Lit("instant", Instant.parse(value, context.get("timezone")))
            if beside.type == "concept" and self.ontology is not None:
                return Lit("text", self.ontology[self.named(value).representative].iri)
        if concept is None and not context:
            return Lit("text", value)
        if concept is not None and concept.values is not None and value not in concept.values and not context:
            return Lit("text", value)  # not among the declared values, which is no fault in a constant
        try:
            return self._converted(value, context, concept)
        except Meaningless as error:
            if self.ontology is None or concept is None or concept.value_type != "concept" or value in self.ontology:
                raise
            offered = self.ontology.near(value)
            raise Meaningless(f"{error}.{hint(offered)}", name=value[:200], near=offered) from None

    # ------------------------------------------------------------------ values of events

    def canonical(self, ref: Ref, value: Any, context: Context, at: Instant | None) -> Any:
        """What an event's value under a reference means; None where it counts as missing."""
        concept = ref.concept
        if concept is None and ref.type == "instant" and isinstance(value, str):
            return _instant(value, context)
        found = self.converters.canonical(concept, value, context, at)
        if concept is None and ref.type is not None and not _fits(found, ref.type):
            return None
        return found


def _instant(value: str, context: Context) -> Instant | None:
    """Text under a name declared to be an instant is read as one, as it is under a concept of instants."""
    try:
        return Instant.parse(value, context.get("timezone"))
    except ConceptPubSubError:
        return None


def _fits(value: Any, kind: str) -> bool:
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    if kind == "int":
        return isinstance(value, int)
    if kind == "number":  # with or without a unit
        return hasattr(value, "denominator") or isinstance(value, Quantity | Money)
    return isinstance(value, str if kind == "text" else Instant)


def _declared(name: str, kind: str) -> str:
    if kind not in TYPES:
        offered = hint(near(str(kind), TYPES)) or f" Choose one of {', '.join(TYPES)}."
        raise FilterError(f"'{name}' is declared as {kind!r}, which is no type.{offered}", name=name, type=kind)
    return TYPES[kind]


def _unquoted(step: re.Match[str]) -> str:
    quoted, iri = step.groups()
    if quoted is not None:
        return str(quoted).replace('""', '"')
    return step[0] if iri is None else str(iri)
