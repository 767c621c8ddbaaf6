"""The heart of the suite: whatever clients do, every strategy delivers what one central evaluator would.

Hypothesis draws a topology, a world of filters and events under all semantics, a strategy, and interleavings in which
messages are still on their way while the next thing happens. `tests.unit.routing.oracle` judges at each moment of rest.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from conceptpubsub.filters import Filter
from conceptpubsub.model import SemanticEvent
from conceptpubsub.routing import Network, Simulation
from conceptpubsub.routing.clients import Client, as_event
from conceptpubsub.routing.strategies import STRATEGIES
from tests.generators import FEATURES, Generator
from tests.unit.routing.oracle import Oracle
from tests.worlds import NAMES, world

SHAPES = {
    "line": lambda brokers, seed: Network.line(brokers, latency=0.01),
    "star": lambda brokers, seed: Network.star(brokers, latency=0.01, bandwidth=20_000.0),
    "kary": lambda brokers, seed: Network.kary(brokers, 3, latency=0.01),
    "tree": lambda brokers, seed: Network.tree(brokers, seed, latency=0.01),
}
PLAIN = frozenset(["between", "in", "null", "units", "isa", "event"])
QUICK = FEATURES - {"arithmetic", "pairs", "compound", "matches", "like"}
"""Without what the relations hand to a solver, which takes its time; the long tests have it all."""
MOST_CLIENTS = 5


class RoutingMachine(RuleBasedStateMachine):
    """Clients come, subscribe, publish, roam and leave, in any order."""

    oracle: Oracle
    make: Generator
    features = QUICK

    @initialize(
        shape=st.sampled_from(sorted(SHAPES)),
        brokers=st.integers(1, 7),
        seed=st.integers(0, 1000),
        name=st.sampled_from(NAMES),
        strategy=st.sampled_from([*STRATEGIES, "imperfect"]),
        advertisements=st.booleans(),
        comparison=st.sampled_from(["semantic", "semantic", "syntactic"]),
        simple_filters=st.booleans(),
        encode=st.booleans(),
        sharing=st.booleans(),
        clients=st.integers(1, 3),
    )
    def begin(
        self,
        shape: str,
        brokers: int,
        seed: int,
        name: str,
        strategy: str,
        advertisements: bool,
        comparison: str,
        simple_filters: bool,
        encode: bool,
        sharing: bool,
        clients: int,
    ) -> None:
        network = SHAPES[shape](brokers, seed)
        chosen = world(name)
        options: dict[str, Any] = {"excess": 0.5} if strategy == "imperfect" else {}
        self.make = Generator(random.Random(seed), chosen, None, PLAIN if simple_filters else self.features, 3)
        self.oracle = Oracle(
            Simulation(
                network,
                "merging" if strategy == "imperfect" else strategy,
                advertisements=advertisements,
                comparison=comparison,
                encode=encode,
                sharing=sharing,
                ontologies=[chosen.ontology] if chosen.ontology is not None else [],
                **options,
            )
        )
        for number in range(clients):
            client = self.oracle.client(self.pick(seed + number, network.brokers))
            if advertisements:
                self.oracle.advertise(client, Filter.parse("", **chosen.scope("sql", defaults=False)))
            self.oracle.subscribe(client, self.seeded(seed + number).filter())
        self.oracle.rest()

    # ------------------------------------------------------------------ who and what

    def present(self) -> list[Client]:
        return [client for client in self.oracle.sim.clients.values() if not client.leaving]

    def pick(self, number: int, options: Any) -> Any:
        options = list(options)
        return options[number % len(options)]

    def seeded(self, seed: int) -> Generator:
        self.make.rng.seed(seed)
        return self.make

    def wanted(self, make: Generator) -> SemanticEvent:
        """An event that somebody wants, if one is easily found: those nobody wants prove little."""
        promises = [promise for held in self.oracle.subscriptions.values() for promise in held.values()]
        for _ in range(12):
            event = as_event(make.event())
            if any(promise.matches(event) for promise in promises):
                break
        return event

    numbers = st.integers(0, 1000)

    # ------------------------------------------------------------------ rules

    @precondition(lambda self: len(self.present()) < MOST_CLIENTS)
    @rule(broker=numbers)
    def arrive(self, broker: int) -> None:
        self.oracle.client(self.pick(broker, self.oracle.sim.network.brokers))

    @precondition(lambda self: self.present())
    @rule(client=numbers, seed=numbers)
    def subscribe(self, client: int, seed: int) -> None:
        self.oracle.subscribe(self.pick(client, self.present()), self.seeded(seed).filter())

    @precondition(lambda self: self.present())
    @rule(client=numbers, seed=numbers)
    def advertise(self, client: int, seed: int) -> None:
        self.oracle.advertise(self.pick(client, self.present()), self.seeded(seed).filter())

    @precondition(lambda self: self.present() and self.oracle.sim.advertisements)
    @rule(client=numbers)
    def advertise_all(self, client: int) -> None:
        scope = self.make.world.scope("sql", defaults=False)
        self.oracle.advertise(self.pick(client, self.present()), Filter.parse("", **scope))

    @precondition(lambda self: any(self.oracle.subscriptions[c.name] for c in self.present()))
    @rule(client=numbers, which=numbers)
    def unsubscribe(self, client: int, which: int) -> None:
        chosen = self.pick(client, (c for c in self.present() if self.oracle.subscriptions[c.name]))
        self.oracle.unsubscribe(chosen, self.pick(which, self.oracle.subscriptions[chosen.name]))

    @precondition(lambda self: any(self.oracle.advertisements[c.name] for c in self.present()))
    @rule(client=numbers, which=numbers)
    def unadvertise(self, client: int, which: int) -> None:
        chosen = self.pick(client, (c for c in self.present() if self.oracle.advertisements[c.name]))
        self.oracle.unadvertise(chosen, self.pick(which, self.oracle.advertisements[chosen.name]))

    @precondition(lambda self: self.present())
    @rule(client=numbers, seeds=st.lists(numbers, min_size=1, max_size=4))
    def publish(self, client: int, seeds: list[int]) -> None:
        publisher = self.pick(client, self.present())
        for seed in seeds:
            self.oracle.publish(publisher, self.wanted(self.seeded(seed)))

    @precondition(lambda self: self.present())
    @rule(client=numbers, broker=numbers)
    def roam(self, client: int, broker: int) -> None:
        self.oracle.roam(self.pick(client, self.present()), self.pick(broker, self.oracle.sim.network.brokers))

    @precondition(lambda self: len(self.present()) > 1)
    @rule(client=numbers)
    def leave(self, client: int) -> None:
        self.oracle.leave(self.pick(client, self.present()))

    @rule(steps=st.integers(1, 5))
    def wait(self, steps: int) -> None:
        """Let some of what is on its way arrive."""
        self.oracle.sim.run(until=self.oracle.sim.now + steps * 0.01)

    @rule()
    def rest(self) -> None:
        self.oracle.rest()

    def teardown(self) -> None:
        if hasattr(self, "oracle"):
            self.heal()
            self.oracle.rest()
            self.oracle.check_tables()
            self.oracle.check_empty()

    def heal(self) -> None:
        """Nothing breaks here."""


class FaultyMachine(RoutingMachine):
    """The same, while links and brokers fail and come back."""

    @precondition(lambda self: len(self.oracle.sim.network.brokers) > 1)
    @rule(link=RoutingMachine.numbers)
    def break_link(self, link: int) -> None:
        chosen = self.pick(link, self.oracle.sim.network.links)
        self.oracle.fault(chosen, lambda: self.oracle.sim.link_down(chosen.a, chosen.b))

    @rule(broker=RoutingMachine.numbers)
    def crash(self, broker: int) -> None:
        chosen = self.pick(broker, self.oracle.sim.network.brokers)
        self.oracle.fault(chosen, lambda: self.oracle.sim.crash(chosen))

    @precondition(lambda self: self.oracle.broken)
    @rule(which=RoutingMachine.numbers)
    def repair(self, which: int) -> None:
        self._repair(self.pick(which, sorted(self.oracle.broken, key=str)))

    @precondition(lambda self: self.oracle.broken)
    @rule()
    def heal_and_rest(self) -> None:
        self.heal()
        self.oracle.rest()
        self.oracle.check_tables()

    def heal(self) -> None:
        for what in sorted(self.oracle.broken, key=str):
            self._repair(what)

    def _repair(self, what: Any) -> None:
        sim = self.oracle.sim
        if isinstance(what, str):
            self.oracle.repair(what, lambda: sim.restart(what))
        else:
            self.oracle.repair(what, lambda: sim.link_up(what.a, what.b))


COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
}
RoutingMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, **COMMON)
FaultyMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, **COMMON)
TestRouting = RoutingMachine.TestCase
TestFaults = FaultyMachine.TestCase


class LongRouting(RoutingMachine):
    """More of it."""

    features = FEATURES


class LongFaults(FaultyMachine):
    """More of it."""

    features = FEATURES


LongRouting.TestCase.settings = settings(max_examples=800, stateful_step_count=40, **COMMON)
LongFaults.TestCase.settings = settings(max_examples=800, stateful_step_count=50, **COMMON)
TestRoutingLong = pytest.mark.long(LongRouting.TestCase)
TestFaultsLong = pytest.mark.long(LongFaults.TestCase)
