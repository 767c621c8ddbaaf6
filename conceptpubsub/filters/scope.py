"""The scope a filter is read in: what its names, units and constants mean.

One scope serves every filter of the same ontology, converters and declarations; what it has looked up once, it
remembers, so that a hundred thousand subscriptions resolve each name and unit once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from conceptpubsub.converters import Converters, Money, Quantity, Unit, is_currency, resolve
from conceptpubsub.errors import ConceptPubSubError, FilterError, UnknownConcept, hint, near
from conceptpubsub.filters.normal import Lit, Ref, literal
from conceptpubsub.model import EMPTY, Context, SemanticObject, exact
from conceptpubsub.model.ontology import Concept, Ontology

SEMANTICS = ("sql", "strict", "total", "default")
TYPES = {"int": "int", "real": "number", "text": "text", "bool": "bool", "instant": "instant"}
EVENT_PARTS = {"time": "instant", "source": "text", "id": "text"}
_STEP = re.compile(r"""[^\W\d][\w$]*|\$[\w$]*|"((?:[^"]|"")*)"|<([^>]*)>""")


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
        self.converters = Converters.default(ontology) if converters is None else converters
        self.semantics = semantics
        self.types = {name: _declared(name, kind) for name, kind in (types or {}).items()}
        self.refs: dict[str, Ref] = {}
        self.units: dict[str, Unit | str] = {}
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
            ref = self.ref(name if _STEP.match(name) else '"' + name.replace('"', '""') + '"')
        except Meaningless as error:
            raise FilterError(f"the default for '{name}': {error}", **error.facts) from None
        context = value.context if isinstance(value, SemanticObject) else EMPTY
        plain = value.value if isinstance(value, SemanticObject) else value
        canonical = self.canonical(ref, plain, context, None)
        if canonical is None:
            reason = (
                self.converters.problem(self.concept(ref), plain, context, None) or "it is not of the declared type"
            )
            raise FilterError(f"the default for '{name}' cannot be used: {reason}", name=name)
        self.defaults[ref.key] = canonical

    # ------------------------------------------------------------------ names

    def ref(self, token: str) -> Ref:
        """The reference that a name or dotted path means."""
        found = self.refs.get(token)
        if found is None:
            found = self.refs[token] = self._resolve(token)
        return found

    def _resolve(self, token: str) -> Ref:
        names = [_unquoted(step) for step in _STEP.finditer(token)]
        if names[0] == "EVENT" and not token.startswith(('"', "<")):
            return self._event_ref(token, names)
        if len(names) > 32:
            raise Meaningless(f"a path of {len(names)} steps; at most 32 are followed")
        if self.ontology is None:
            kind = self.types.get(".".join(names)) or self.types.get(token)
            return Ref(tuple(names), (), kind, shown=token)
        steps = tuple(self.named(name) for name in names)
        last = steps[-1]
        path = tuple(step.representative for step in steps)
        kind = {"real": "number"}.get(last.value_type or "", last.value_type)
        dimension = None
        if last.canonical_unit is not None:
            dimension = self._kind_unit(last).dimension
            kind = kind or "number"
        return Ref(path, steps, kind, dimension, shown=token)

    def _event_ref(self, token: str, names: list[str]) -> Ref:
        if len(names) == 1:
            return Ref(("EVENT",), (), "concept", shown="EVENT", event=True)
        if len(names) == 2 and names[1] in EVENT_PARTS:
            return Ref(tuple(names), (), EVENT_PARTS[names[1]], shown=token, event=True)
        offered = hint(near(names[1], EVENT_PARTS)) or " There are EVENT.time, EVENT.source and EVENT.id."
        raise Meaningless(f"an event has no part '{'.'.join(names[1:])}'.{offered}", name=token)

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

    def concept(self, ref: Ref) -> Concept | None:
        """The concept that a reference ends at."""
        return ref.steps[-1] if ref.steps else None

    # ------------------------------------------------------------------ constants

    def unit(self, text: str) -> Unit | str:
        """A unit, or the code of a currency."""
        found = self.units.get(text)
        if found is None:
            if len(text) == 3 and is_currency(text):
                found = text
            else:
                try:
                    found = resolve(text)
                except ConceptPubSubError as error:
                    raise Meaningless(str(error), **error.facts) from None
            self.units[text] = found
        return found

    def constant(self, value: Any, context: Mapping[str, Any], beside: Ref | None) -> Lit:
        """The canonical constant for a value in its context, beside the reference it is compared with."""
        if isinstance(value, bool):
            return Lit("bool", value)
        concept = self.concept(beside) if beside is not None and not beside.event else None
        if isinstance(value, str):
            return self._text(value, Context(context), beside, concept)
        if not isinstance(value, int | float) and not hasattr(value, "denominator"):
            return literal(value)
        aspects = dict(context)
        default = concept.default_context if concept is not None else EMPTY
        if "unit" not in aspects and "currency" not in aspects:
            aspects = {**default, **aspects}
        elif "scale" not in aspects and aspects.get("unit") == default.get("unit") and "scale" in default:
            aspects["scale"] = 1
        number = exact(value) * aspects.get("scale", 1)
        if "currency" in aspects:
            return literal(Money(exact(number), str(aspects["currency"])))
        unit_text = aspects.get("unit") or (concept.canonical_unit if concept is not None else None)
        if unit_text is None:
            return Lit("number", exact(number))
        unit = self.unit(str(unit_text))
        if isinstance(unit, str):
            return literal(Money(exact(number), unit))
        return Lit("quantity", unit.to_base(exact(number)), unit.dimension)

    def _text(self, value: str, context: Context, beside: Ref | None, concept: Concept | None) -> Lit:
        if beside is not None and beside.event and beside.type == "instant":
            concept = None
            from conceptpubsub.model import Instant

            return Lit("instant", Instant.parse(value, context.get("timezone")))
        if concept is None:
            if not context:
                return Lit("text", value)
            return literal(self.converters.canonical(None, value, context, None) or value)
        canonical = self.converters.canonical(concept, value, context, None)
        if canonical is None:
            reason = self.converters.problem(concept, value, context, None)
            raise Meaningless(reason or f"{value!r} is no value of {concept.name}")
        return literal(canonical)

    # ------------------------------------------------------------------ values of events

    def canonical(self, ref: Ref, value: Any, context: Context, at: Any) -> Any:
        """What an event's value under a reference means; None where it counts as missing."""
        concept = self.concept(ref)
        found = self.converters.canonical(concept, value, context, at)
        if concept is None and ref.type is not None and not _fits(found, ref.type):
            return None
        return found


def _fits(value: Any, kind: str) -> bool:
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    if kind == "number":
        return hasattr(value, "denominator") or isinstance(value, Quantity | Money)
    if kind == "text":
        return isinstance(value, str)
    return type(value).__name__ == "Instant"


def _declared(name: str, kind: str) -> str:
    if kind not in TYPES:
        offered = hint(near(str(kind), TYPES)) or f" Choose one of {', '.join(TYPES)}."
        raise FilterError(f"'{name}' is declared as {kind!r}, which is no type.{offered}", name=name, type=kind)
    return TYPES[kind]


def _unquoted(step: re.Match[str]) -> str:
    quoted, iri = step.groups()
    if quoted is not None:
        return quoted.replace('""', '"')
    return iri if iri is not None else step[0]
