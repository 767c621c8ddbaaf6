"""Filters as formulas, under each filter's own semantics: the union over the bindings.

Everything that a question needs lives in one `Encoder`: the attributes as variables, the rates of currencies, and what
must hold of any event at all (``sides``).
"""

from __future__ import annotations

from typing import Any

import z3

from conceptpubsub.filters.normal import Lit, literal
from conceptpubsub.relations import domains
from conceptpubsub.relations.bindings import Binding, bindings
from conceptpubsub.relations.compiled import Compiled
from conceptpubsub.relations.keyspace import KeySpace, as_object
from conceptpubsub.relations.kinds import Kind
from conceptpubsub.relations.slots import Signature
from conceptpubsub.relations.smt_attributes import Attribute
from conceptpubsub.relations.smt_cases import BOOL, INSTANT, NUMBER, OBJECT, TEXT, Case, Sort
from conceptpubsub.relations.smt_formula import Environment, Formula, Held
from conceptpubsub.relations.smt_logic import as_real, conj, implies, neg
from conceptpubsub.relations.smt_session import Session
from conceptpubsub.relations.smt_survey import Survey
from conceptpubsub.relations.smt_texts import FixedText


class Encoder:
    """One question's variables and formulas."""

    def __init__(self, session: Session, space: KeySpace, survey: Survey, by_domains: bool) -> None:
        self.session = session
        self.space = space
        self.survey = survey
        self.sides: list[Any] = []
        self.attributes: dict[str, Attribute] = {}
        bound: dict[str, set[str]] = {key: {key} for key in space.open}
        for ref, keys in space.keys.items():
            for key in keys:
                bound.setdefault(key.name, set()).add(ref)
        kinds = {key: slot.kind for key, slot in space.open.items()}
        kinds.update((name, key.kind) for name, key in space.all.items())
        for name, kind in kinds.items():
            made = Attribute(session, name, kind, survey, frozenset(bound[name]), by_domains)
            self.attributes[name] = made
            self.sides += made.sides
        self.rates = {code: z3.Real("r|" + code, session.context) for code in survey.currencies}
        self.sides.append(self.rates[survey.currencies[0]] == 1)
        self.sides += [rate > 0 for rate in self.rates.values()]
        for child, parents in space.inner.items():
            for parent in parents:
                self.sides.append(implies(self.attributes[child].present, self._is_object(parent)))

    def _is_object(self, name: str) -> Any:
        held = self.attributes[name]
        if as_object(held.kind) == domains.ABSENT:
            return neg(held.present)
        return self.session.any_of(case.guard for case in held.cases if case.sort is OBJECT)

    @property
    def exact(self) -> bool:
        """Whether every model is an event."""
        return all(attribute.exact for attribute in self.attributes.values())

    @property
    def strange(self) -> list[Any]:
        """Where an attribute is a quantity that the filters do not name, and products make that matter."""
        return [a.strange for a in self.attributes.values() if a.strange is not None]

    # ---------------------------------------------------------------- filters

    def filter(self, of: Compiled, present: Signature | None) -> Any:
        """Whether a filter matches: some binding makes it true."""
        if of.strict:
            present = of.signature if present is None else present
        two_valued = of.filter.semantics == "default"
        made: list[Any] = []
        for binding in bindings(of, self.space, present):
            environment = self._environment(of, binding)
            frame = self._frame(environment, binding, present)
            formula = Formula(self.session, environment, self.lit, two_valued, of.filter.scope.ontology)
            made.append(conj(*frame, formula.normal(of.filter.normal)))
        return self.session.any_of(made)

    def _environment(self, of: Compiled, binding: Binding) -> dict[str, Held]:
        defaults = of.filter.scope.defaults
        made: dict[str, Held] = {}
        for key, slot in of.signature.slots.items():
            name = key
            if key in binding:
                chosen = binding[key]
                if chosen is None:
                    default = defaults.get(key)
                    cases = () if default is None else (self.lit(literal(default)),)
                    made[key] = Held(self.session.false(), cases)
                    continue
                name = chosen.name
            attribute = self.attributes[name]
            held = Held(attribute.present, attribute.cases)
            if key in self.space.open and attribute.kind != slot.kind:
                held = self._viewed(held, slot.kind)
            if key in defaults and key not in binding:
                stand_in = self.lit(literal(defaults[key]))
                held = Held(held.present, (*held.cases, stand_in._replace(guard=neg(held.present))))
            made[key] = held
        return made

    def _viewed(self, held: Held, kind: Kind) -> Held:
        """What a filter sees that declares a type where the other filter does not: the rest is missing."""
        cases: list[Case] = []
        for case in held.cases:
            if case.sort is NUMBER and kind.universe.part(domains.NUMBER):
                whole = kind.grid(domains.NUMBER) is not None
                cases.append(case._replace(guard=conj(case.guard, z3.IsInt(as_real(case.value)))) if whole else case)
            elif (case.sort.name in ("quantity", "money") and kind.bare and not kind.grids) or (
                case.sort in (TEXT, BOOL, INSTANT) and case.sort.name[0] in kind.universe.parts
            ):
                cases.append(case)
        return Held(self.session.any_of(case.guard for case in cases), tuple(cases))

    def _frame(self, environment: Environment, binding: Binding, present: Signature | None) -> list[Any]:
        frame: list[Any] = []
        for name, key in binding.items():
            if key is None:
                frame += [neg(self.attributes[absent.name].present) for absent in self.space.keys[name]]
            else:
                frame.append(self.attributes[key.name].present)
        for name in present.slots if present is not None else ():
            if name in self.space.open:
                frame.append(environment[name].present if name in environment else self.attributes[name].present)
        return frame

    # ---------------------------------------------------------------- values

    def lit(self, lit: Lit) -> Case:
        """A constant as a case that always holds."""
        true, session = self.session.true(), self.session
        match lit.kind:
            case "number":
                return Case(true, NUMBER, session.number(lit.value))
            case "quantity":
                return Case(true, Sort("quantity", lit.of), session.real(lit.value))
            case "money":
                below = str(lit.of).startswith("1/")
                code, star, price = str(lit.of).removeprefix("1/").partition("*")
                amount = session.real(lit.value)
                amount = amount / self.rates[code] if below else amount * self.rates[code]
                return Case(true, Sort("money", (star + price, -1 if below else 1)), amount)
            case "bool":
                return Case(true, BOOL, z3.BoolVal(lit.value, session.context))
            case "instant":
                return Case(true, INSTANT, session.real(lit.value.ns) / 1_000_000_000)
            case _:
                return Case(true, TEXT, FixedText(session, lit.value))
