"""The engine behind the domains: questions as formulas, answers as models, models as events.

The same three questions as `conceptpubsub.relations.domain_engine`, complete by themselves: arithmetic between
attributes, products, several currencies, LIKE and regular expressions, any Boolean structure without a normal form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import z3

from conceptpubsub.model import SemanticEvent
from conceptpubsub.relations.compiled import Compiled
from conceptpubsub.relations.events import Named, all_of
from conceptpubsub.relations.examples import paths
from conceptpubsub.relations.keyspace import KeySpace, keyspace
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import signature
from conceptpubsub.relations.smt_attributes import rational
from conceptpubsub.relations.smt_encoder import Encoder
from conceptpubsub.relations.smt_session import session
from conceptpubsub.relations.smt_survey import survey


class Model:
    """What the solver found: an event in the making."""

    def __init__(self, question: Question, found: Any) -> None:
        self.question = question
        self.found = found

    def events(self) -> Iterator[SemanticEvent | dict[str, Any]]:
        """The event, with money in each currency that the filters name; `GaveUp` where the model says too little."""
        for code, rate in self.question.encoder.rates.items():
            yield self._event(code, rational(self.found.eval(rate, model_completion=True)))

    def _event(self, code: str, rate: Fraction) -> SemanticEvent | dict[str, Any]:
        encoder, space = self.question.encoder, self.question.space
        drafted: list[tuple[tuple[str, ...], Any]] = []
        parts: list[tuple[Any, Any]] = []
        for name, attribute in encoder.attributes.items():
            value = attribute.read(self.found, code, rate)
            slot = space.open.get(name)
            if slot is None:
                drafted.append((space.all[name].path, value))
            elif slot.ref.event:
                parts.append((slot.ref, value))
            else:
                path = paths(slot)[0]
                drafted.append(((*path[:-1], str(value)) if isinstance(value, Named) and slot.steps else path, value))
        draft = all_of(drafted, self.question.ontology)
        for ref, value in parts:
            draft.part(ref, value)
        return draft.event()


class Question:
    """A formula over two filters."""

    def __init__(self, one: Compiled, other: Compiled, spell: bool, by_domains: bool) -> None:
        self.ontology = one.filter.scope.ontology
        self.space: KeySpace = keyspace(one.signature, other.signature, one.tested | other.tested, spell)
        self.encoder = Encoder(session(), self.space, survey(one, other), by_domains)
        self.present = None
        if one.total:
            self.present = signature(frozenset([*one.signature.slots.values(), *other.signature.slots.values()]))

    def answer(self, *formulas: Any) -> Model | None:
        """A model of the formulas, or None where there is none.

        A quantity that the filters do not name, in a product, is first left out; only if nothing is found without is it
        let in, as something of which nothing is known, so that a proof is a proof.
        """
        asserted = [*self.encoder.sides, *formulas]
        strange = [z3.Not(guard) for guard in self.encoder.strange]
        found = self.encoder.session.check([*asserted, *strange])
        if found is not None:
            if not self.encoder.exact:
                raise GaveUp("tests of text")
            return Model(self, found)
        if strange and self.encoder.session.check(asserted) is not None:
            raise GaveUp("a product of quantities that the filters do not name")
        return None

    def matches(self, of: Compiled) -> Any:
        """The formula of a filter."""
        return self.encoder.filter(of, self.present)


def uncovered(
    outer: Compiled, inner: Compiled, by_domains: bool = True, rates: Mapping[str, Fraction] | None = None
) -> Model | None:
    """What only the inner filter matches, or None where the outer covers it; at certain rates, or at any."""
    question = Question(outer, inner, False, by_domains)
    encoder = question.encoder
    fixed = [
        encoder.rates[code] == encoder.session.real(rate)
        for code, rate in (rates or {}).items()
        if code in encoder.rates
    ]
    return question.answer(question.matches(inner), z3.Not(question.matches(outer)), *fixed)


def common(one: Compiled, other: Compiled, by_domains: bool = True) -> Model | None:
    """What both filters match."""
    question = Question(one, other, True, by_domains)
    return question.answer(question.matches(one), question.matches(other))


def example(of: Compiled, by_domains: bool = True) -> Model | None:
    """What a filter matches."""
    question = Question(of, of, False, by_domains)
    return question.answer(question.matches(of))
