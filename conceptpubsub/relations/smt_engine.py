"""The engine behind the domains: questions as formulas, answers as models, models as events.

The same three questions as `conceptpubsub.relations.domain_engine`, complete by themselves: arithmetic between
attributes, products, several currencies, LIKE and regular expressions, any Boolean structure without a normal form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from conceptpubsub.model import SemanticEvent
from conceptpubsub.relations.compiled import Compiled
from conceptpubsub.relations.events import Named, all_of
from conceptpubsub.relations.examples import paths
from conceptpubsub.relations.keyspace import KeySpace, keyspace
from conceptpubsub.relations.outcome import Budget, GaveUp
from conceptpubsub.relations.slots import signature
from conceptpubsub.relations.smt_attributes import rational
from conceptpubsub.relations.smt_encoder import Encoder
from conceptpubsub.relations.smt_logic import neg
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

    def __init__(self, one: Compiled, other: Compiled, spell: bool, by_domains: bool, budget: Budget | None) -> None:
        self.ontology = one.filter.scope.ontology
        self.space: KeySpace = keyspace(one.signature, other.signature, one.tested | other.tested, spell)
        self.encoder = Encoder(session().begin(budget), self.space, survey(one, other), by_domains)
        self.present = None
        if one.total:
            self.present = signature(frozenset([*one.signature.slots.values(), *other.signature.slots.values()]))

    def answer(self, *formulas: Any) -> Model | None:
        """A model of the formulas, or None where there is none.

        A quantity that the filters do not name, in a product, is first left out; only if nothing is found without is it
        let in, as something of which nothing is known, so that a proof is a proof.
        """
        asserted = [*self.encoder.sides, *formulas]
        strange = [neg(guard) for guard in self.encoder.strange]
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


def covers(outer: Compiled, inner: Compiled, by_domains: bool = True, budget: Budget | None = None) -> bool:
    """Whether the outer filter matches all that the inner one does."""
    return uncovered(outer, inner, by_domains, budget) is None


def uncovered(
    outer: Compiled,
    inner: Compiled,
    by_domains: bool = True,
    budget: Budget | None = None,
    rates: Mapping[str, Fraction] | None = None,
) -> Model | None:
    """What only the inner filter matches, or None where the outer covers it; at certain rates, or at any."""
    question = Question(outer, inner, False, by_domains, budget)
    known, session = question.encoder.rates, question.encoder.session
    fixed = [known[code] == session.real(rate) for code, rate in (rates or {}).items() if code in known]
    return question.answer(question.matches(inner), neg(question.matches(outer)), *fixed)


def overlaps(one: Compiled, other: Compiled, by_domains: bool = True, budget: Budget | None = None) -> bool:
    """Whether some event matches both filters."""
    question = Question(one, other, True, by_domains, budget)
    return question.answer(question.matches(one), question.matches(other)) is not None


def satisfiable(of: Compiled, by_domains: bool = True, budget: Budget | None = None) -> bool:
    """Whether some event matches a filter."""
    question = Question(of, of, False, by_domains, budget)
    return question.answer(question.matches(of)) is not None
