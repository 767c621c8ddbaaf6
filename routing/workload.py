"""The workload of a scenario: who sits where and says what when. The same for every strategy.

Rule 1  Everything is drawn from the scenario's seed before anything runs, so strategies differ in nothing else.
Rule 2  The first n subscriptions of a longer run are the n of a shorter one.
Rule 3  The network falls into regions of neighbouring brokers. A publisher speaks of its own; a subscriber asks for its
        own with the probability ``locality``, else for any.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from conceptpubsub.errors import ConceptPubSubError, NetworkError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, SemanticEvent
from conceptpubsub.routing.scenario import Happening, Said, Scenario
from conceptpubsub.routing.templates import Drawn, Draws

Weighted = TypeVar("Weighted", Said, Happening)


@dataclass(frozen=True, slots=True)
class Wish:
    """A subscription to be made: by which subscriber, of what, in which context."""

    subscriber: int
    filter: Filter
    context: Context | None


@dataclass(frozen=True, slots=True)
class Publisher:
    """Where a publisher sits, and what it has for good."""

    broker: str
    own: dict[str, Drawn]


class Workload:
    """Draws of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._filters: dict[tuple[str, str], Filter] = {}
        self._concepts: set[str] = set()
        network, people = scenario.network, scenario.population
        order = sorted(network.brokers, key=network.position)
        regions = min(people.regions, len(order))
        self.region = {broker: f"R{place * regions // len(order) + 1}" for place, broker in enumerate(order)}
        self.regions = tuple(dict.fromkeys(self.region.values()))
        rng = self._rng("places")
        seats = network.border() if people.border else network.brokers
        self.subscribers = [rng.choice(seats) for _ in range(people.subscribers)]
        self.publishers = [
            Publisher(
                rng.choice(seats),
                {name: v.draw(rng, "") for name, v in scenario.variables.items() if v.own},
            )
            for _ in range(people.publishers)
        ]

    def _rng(self, purpose: str) -> random.Random:
        return random.Random(f"{self.scenario.seed} {purpose}")

    @cached_property
    def _wishing(self) -> tuple[random.Random, list[Wish]]:
        return self._rng("subscriptions"), []

    def wishes(self, count: int) -> Sequence[Wish]:
        """The first subscriptions."""
        rng, made = self._wishing
        while len(made) < count:
            made.append(self._wish(rng))
        return made[:count]

    def _wish(self, rng: random.Random) -> Wish:
        subscriber = rng.randrange(len(self.subscribers))
        home = self.region[self.subscribers[subscriber]]
        region = home if rng.random() < self.scenario.population.locality else rng.choice(self.regions)
        said = _weighted(rng, self.scenario.subscriptions)
        text = Draws(self.scenario.variables, rng, region).text(said.text)
        return Wish(subscriber, self.filter(text, said.semantics), said.context)

    def check(self) -> None:
        """Draw each template once, so that a wrong word in one is found before anything runs."""
        region, rng = self.regions[0], self._rng("check")
        own = self.publishers[0].own
        for said in self.scenario.subscriptions:
            self.filter(Draws(self.scenario.variables, rng, region).text(said.text), said.semantics)
        for said in self.scenario.advertisements:
            self.filter(Draws(self.scenario.variables, rng, region, own).text(said.text), said.semantics)
        for kind in self.scenario.events:
            self._made(kind, rng, self.publishers[0], 0)

    def advertisements(self) -> list[tuple[int, Filter]]:
        """What each publisher says that it will publish."""
        rng, made = self._rng("advertisements"), []
        for number, publisher in enumerate(self.publishers):
            for said in self.scenario.advertisements:
                draws = Draws(self.scenario.variables, rng, self.region[publisher.broker], publisher.own)
                made.append((number, self.filter(draws.text(said.text), said.semantics)))
        return made

    def events(self, count: int) -> list[tuple[int, SemanticEvent]]:
        """Events and their publishers, in order."""
        rng = self._rng("events")
        return [self._event(rng, rng.randrange(len(self.publishers)), number) for number in range(count)]

    def _event(self, rng: random.Random, by: int, number: int) -> tuple[int, SemanticEvent]:
        return by, self._made(_weighted(rng, self.scenario.events), rng, self.publishers[by], number)

    def _made(self, kind: Happening, rng: random.Random, publisher: Publisher, number: int) -> SemanticEvent:
        draws = Draws(self.scenario.variables, rng, self.region[publisher.broker], publisher.own)
        attributes = {}
        for template, value in kind.attributes.items():
            key = self._concept(draws.text(template))
            if kind.density >= 1.0 or rng.random() < kind.density:
                attributes[key] = draws.value(key, value)
        source = None if kind.source is None else draws.text(kind.source)
        return SemanticEvent(self._concept(draws.text(kind.concept)), attributes, id=str(number), source=source)

    def _concept(self, name: str) -> str:
        """A name that events use; with an ontology, one that it knows."""
        if name not in self._concepts:
            if self.scenario.ontology is not None:
                try:
                    self.scenario.ontology[name]
                except ConceptPubSubError as error:
                    raise NetworkError(f"events: {error}", name=name) from error
            self._concepts.add(name)
        return name

    def replacements(self, count: int) -> list[tuple[float, int, Wish]]:
        """Which of the first subscriptions are replaced, by what, and when (as a share of the run)."""
        rng = self._rng("churn")
        churned = rng.sample(range(count), round(count * self.scenario.population.churn))
        made = []
        for old in churned:
            wish = self._wish(rng)
            made.append((rng.random(), old, Wish(self.wishes(count)[old].subscriber, wish.filter, wish.context)))
        return sorted(made, key=lambda item: item[:2])

    def moves(self) -> list[tuple[float, int, str]]:
        """Which subscribers move, where to, and when (as a share of the run)."""
        rng, people = self._rng("roaming"), self.scenario.population
        moving = rng.sample(range(people.subscribers), round(people.subscribers * people.roaming))
        return sorted((rng.random(), who, rng.choice(self.scenario.network.brokers)) for who in moving)

    def filter(self, text: str, semantics: str) -> Filter:
        """The filter of a text; equal texts are one filter."""
        known = self._filters.get((text, semantics))
        if known is None:
            try:
                known = Filter.parse(text, ontology=self.scenario.ontology, semantics=semantics)
            except ConceptPubSubError as error:
                raise NetworkError(f"the filter {text!r:.200}: {error}", text=text) from error
            self._filters[text, semantics] = known
        return known


def _weighted(rng: random.Random, options: Sequence[Weighted]) -> Weighted:
    if len(options) == 1:
        return options[0]
    return rng.choices(options, [option.weight for option in options])[0]
