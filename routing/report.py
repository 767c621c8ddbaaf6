"""The report of an experiment: one HTML page that opens offline, with the figures inside it and nothing fetched.

The page itself is ``report.html`` beside this file; here the outcomes become the JSON it draws.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conceptpubsub.routing.experiment import Outcome
from conceptpubsub.routing.layout import radial
from conceptpubsub.routing.scenario import Scenario

_PAGE = Path(__file__).with_name("report.html")
_MARK = "/*DATA*/null"


def page(scenario: Scenario, outcomes: Sequence[Outcome]) -> str:
    """The page as text."""
    text = json.dumps(facts(scenario, outcomes), separators=(",", ":"), allow_nan=False)
    return _PAGE.read_text("utf-8").replace(_MARK, text.replace("<", "\\u003c"))


def facts(scenario: Scenario, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What the page draws: the network once, and for each outcome its figures, table sizes and traffic."""
    network, people = scenario.network, scenario.population
    number = {broker: place for place, broker in enumerate(network.brokers)}
    places = radial(network)
    return {
        "title": scenario.title,
        "description": scenario.description,
        "about": {
            "brokers": len(network),
            "subscribers": people.subscribers,
            "publishers": people.publishers,
            "events": scenario.plan.events,
            "locality": people.locality,
            "churn": people.churn,
            "roaming": people.roaming,
            "faults": len(scenario.faults),
            "ontology": _ontology(scenario),
            "seed": scenario.seed,
        },
        "brokers": [[broker, *places[broker]] for broker in network.brokers],
        "links": [[number[link.a], number[link.b]] for link in network.links],
        "filters": [said.text for said in scenario.subscriptions],
        "outcomes": [_outcome(outcome, scenario) for outcome in outcomes],
    }


def _ontology(scenario: Scenario) -> str | None:
    return None if scenario.ontology is None else f"{len(scenario.ontology)} concepts"


def _outcome(outcome: Outcome, scenario: Scenario) -> dict[str, Any]:
    final, settled = outcome.final, outcome.settled
    traffic = final.traffic
    return {
        **outcome.row(),
        "broker_tables": [settled.tables.get(broker, 0) for broker in scenario.network.brokers],
        "broker_local": [settled.local.get(broker, 0) for broker in scenario.network.brokers],
        "link_traffic": [
            [traffic.get((link.a, link.b), 0), traffic.get((link.b, link.a), 0)] for link in scenario.network.links
        ],
        "control": dict(final.control),
        "letters": dict(final.dead_letters),
    }
