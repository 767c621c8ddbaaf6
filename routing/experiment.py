"""Experiments: a scenario run with one strategy after the other, over growing numbers of subscriptions.

A run has three parts: advertisements and subscriptions are made and the network comes to rest; then events are
published while subscriptions are replaced, clients roam and things break; then the network comes to rest again.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from conceptpubsub.routing.metrics import Metrics
from conceptpubsub.routing.scenario import Fault, Scenario
from conceptpubsub.routing.simulation import Simulation
from conceptpubsub.routing.workload import Workload

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a scenario.

    >>> Case("covering", True, "semantic", 100).label
    'covering + advertisements'
    """

    strategy: str
    advertisements: bool
    comparison: str
    subscriptions: int
    excess: float = 0.0

    @property
    def label(self) -> str:
        """What distinguishes this run from others of the same size."""
        parts = [self.strategy]
        if self.comparison != "semantic":
            parts.append(f"({self.comparison})")
        if self.excess:
            parts.append(f"(excess {self.excess:g})")
        if self.advertisements:
            parts.append("+ advertisements")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: figures when the subscriptions stood, and at the end; the CPU time it took."""

    case: Case
    settled: Metrics
    final: Metrics
    seconds: float

    def row(self) -> dict[str, Any]:
        """The figures that strategies are compared by."""
        settled, final = self.settled, self.final
        return {
            "label": self.case.label,
            "strategy": self.case.strategy,
            "advertisements": self.case.advertisements,
            "comparison": self.case.comparison,
            "subscriptions": self.case.subscriptions,
            "tables": settled.table_entries,
            "table_most": max(settled.tables.values(), default=0),
            "ad_tables": sum(settled.advertisements.values()),
            "setup_control": settled.control_messages,
            "churn_control": final.control_messages - settled.control_messages,
            "published": final.published,
            "delivered": final.delivered,
            "forwarded": final.forwarded,
            "wasted": final.wasted,
            "lost": final.lost,
            "hops": final.hops_mean,
            "latency": final.latency_mean,
            "bytes": final.bytes,
            "checks": final.relation_checks,
            "check_seconds": final.relations_seconds,
            "dead_letters": sum(final.dead_letters.values()),
            "seconds": self.seconds,
        }


def cases(scenario: Scenario, strategies: Iterable[str] | None = None) -> Iterator[Case]:
    """The runs that a scenario asks for, or those of some strategies."""
    plan = scenario.plan
    for count in plan.subscriptions:
        for name in plan.strategies if strategies is None else strategies:
            for comparison in plan.comparison if name not in ("flooding", "simple") else plan.comparison[:1]:
                for advertisements in plan.advertisements:
                    yield Case(name, advertisements, comparison, count)
                    if name == "merging" and plan.excess and comparison == "semantic":
                        yield Case(name, advertisements, comparison, count, plan.excess)


def run_case(scenario: Scenario, workload: Workload, case: Case, progress: Progress | None = None) -> Outcome:
    """Run one case; the workload may be shared between the cases of a scenario."""
    with _rare_collections():
        return _run_case(scenario, workload, case, progress or (lambda part, done: None))


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let the garbage collector look less often: tables are large, stay, and hold few cycles."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _run_case(scenario: Scenario, workload: Workload, case: Case, report: Progress) -> Outcome:
    started = time.process_time()
    options: dict[str, Any] = {"excess": case.excess} if case.excess else {}
    sim = Simulation(
        scenario.network,
        case.strategy,
        advertisements=case.advertisements,
        comparison=case.comparison,
        seed=scenario.seed,
        sharing=True,
        record=False,
        **options,
    )
    publishers = [sim.client(publisher.broker, f"P{n + 1}") for n, publisher in enumerate(workload.publishers)]
    subscribers = [sim.client(broker, f"S{n + 1}") for n, broker in enumerate(workload.subscribers)]
    if case.advertisements:
        for number, filter in workload.advertisements():
            publishers[number].advertise(filter)
    sim.run()
    wishes = workload.wishes(case.subscriptions)
    names = []
    for number, wish in enumerate(wishes):
        names.append(subscribers[wish.subscriber].subscribe(wish.filter, wish.context))
        if number % 1000 == 999:
            sim.run()
            report("subscriptions", (number + 1) / len(wishes))
    sim.run()
    settled = sim.metrics
    plan, start = scenario.plan, sim.now
    length = plan.events / plan.rate
    for share, old, wish in workload.replacements(case.subscriptions):
        client = subscribers[wish.subscriber]
        sim.at(start + share * length, lambda c=client, n=names[old], w=wish: _replace(c, n, w))  # type: ignore[misc]
    for share, who, broker in workload.moves():
        sim.at(start + share * length, lambda c=subscribers[who], b=broker: c.roam(b))  # type: ignore[misc]
    for fault in scenario.faults:
        _schedule(sim, fault, start)
    for number, (by, event) in enumerate(workload.events(plan.events)):
        sim.run(until=start + number / plan.rate)
        publishers[by].publish(event)
        if number % 1000 == 999:
            report("events", (number + 1) / plan.events)
    sim.run()
    report("events", 1.0)
    return Outcome(case, settled, sim.metrics, time.process_time() - started)


def _replace(client: Any, name: str, wish: Any) -> None:
    client.unsubscribe(name)
    client.subscribe(wish.filter, wish.context)


def _schedule(sim: Simulation, fault: Fault, start: float) -> None:
    if fault.link is not None:
        a, b = fault.link
        sim.at(start + fault.down, lambda: sim.link_down(a, b))
        sim.at(start + fault.up, lambda: sim.link_up(a, b))
    elif fault.broker is not None:
        broker = fault.broker
        sim.at(start + fault.down, lambda: sim.crash(broker))
        sim.at(start + fault.up, lambda: sim.restart(broker))
