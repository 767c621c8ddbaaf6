"""Scenario files: a network, its clients, what they say, and what breaks, in TOML.

A scenario is read once, checked completely, and immutable after. Every mistake is a NetworkError that names the place.
``docs/routing.md`` describes the format; ``samples/scenarios`` holds examples.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from conceptpubsub.errors import ConceptPubSubError, NetworkError, hint, near
from conceptpubsub.model import Context, Ontology
from conceptpubsub.routing import fields as field
from conceptpubsub.routing.network import Network
from conceptpubsub.routing.strategies import STRATEGIES
from conceptpubsub.routing.templates import Variable, read_variable

MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class Said:
    """A template of a subscription or an advertisement."""

    text: str
    weight: float = 1.0
    semantics: str = "sql"
    context: Context | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """A template of an event; each attribute is there with the probability ``density``."""

    concept: str
    attributes: Mapping[str, Any]
    weight: float = 1.0
    source: str | None = None
    density: float = 1.0


@dataclass(frozen=True, slots=True)
class Population:
    """Who takes part: how many, where, and how they move.

    ``locality`` is the share of interest in a client's own region; ``churn`` the share of subscriptions replaced, and
    ``roaming`` the share of clients that move, while events are published.
    """

    subscribers: int = 100
    publishers: int = 10
    regions: int = 4
    locality: float = 0.5
    churn: float = 0.0
    roaming: float = 0.0
    border: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A link or broker that is down for a while; times in seconds after the first event."""

    down: float
    up: float
    link: tuple[str, str] | None = None
    broker: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: which strategies, with and without advertisements, over which numbers of subscriptions."""

    strategies: tuple[str, ...] = tuple(STRATEGIES)
    advertisements: tuple[bool, ...] = (False, True)
    comparison: tuple[str, ...] = ("semantic",)
    subscriptions: tuple[int, ...] = (100, 200, 400)
    events: int = 200
    rate: float = 100.0
    excess: float = 0.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a simulation needs.

    >>> scenario = Scenario.read({
    ...     "network": {"kind": "star", "brokers": 3},
    ...     "variables": {"level": [10, 20]},
    ...     "subscriptions": [{"text": "t > {level}"}],
    ...     "events": [{"concept": "Reading", "attributes": {"t": "{level}"}}],
    ... })
    >>> scenario.network, scenario.subscriptions[0].text
    (<Network of 3 brokers>, 't > {level}')
    """

    title: str
    description: str
    seed: int
    ontology: Ontology | None
    network: Network
    plan: Plan
    population: Population
    variables: Mapping[str, Variable]
    subscriptions: tuple[Said, ...]
    advertisements: tuple[Said, ...]
    events: tuple[Happening, ...]
    faults: tuple[Fault, ...]

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a scenario file; an ontology named in it is bundled, or a file beside it."""
        file = Path(path)
        if not file.is_file():
            near_by = near(file.name, [other.name for other in file.parent.glob("*.toml")])
            raise NetworkError(f"there is no scenario file {file}.{hint(near_by)}", path=str(file))
        try:
            tree = tomllib.loads(file.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise NetworkError(f"{file}: not TOML: {error}", path=str(file)) from error
        try:
            return cls.read(_inherited(tree, file), file.parent)
        except NetworkError as error:
            raise NetworkError(f"{file}: {error}", path=str(file)) from error

    @classmethod
    def read(cls, tree: Mapping[str, Any], beside: Path | None = None) -> Scenario:
        """A scenario from the tree that a TOML file holds."""
        known = {"title", "description", "seed", "ontology", "network", "run", "clients", "variables"}
        known |= {"subscriptions", "advertisements", "events", "faults"}
        for key in tree:
            if key not in known:
                raise NetworkError(f"no part of a scenario is '{key}'.{hint(near(key, known))}", part=key)
        network = Network.read(field.table(tree.get("network", {}), "network"))
        made = cls(
            title=str(tree.get("title", "A broker network")),
            description=str(tree.get("description", "")).strip(),
            seed=field.number(tree.get("seed", 1), "seed"),
            ontology=_ontology(tree.get("ontology"), beside),
            network=network,
            plan=_plan(field.table(tree.get("run", {}), "run")),
            population=_population(field.table(tree.get("clients", {}), "clients")),
            variables={
                name: read_variable(name, spec)
                for name, spec in field.table(tree.get("variables", {}), "variables").items()
            },
            subscriptions=tuple(_said(row, "subscriptions") for row in field.rows(tree, "subscriptions")),
            advertisements=tuple(_said(row, "advertisements") for row in field.rows(tree, "advertisements")),
            events=tuple(_happening(row) for row in field.rows(tree, "events")),
            faults=tuple(_fault(row, network) for row in field.rows(tree, "faults")),
        )
        if not made.subscriptions or not made.events:
            raise NetworkError("a scenario has at least one [[subscriptions]] and one [[events]]")
        for part, rows in (("subscriptions", made.subscriptions), ("events", made.events)):
            if not any(row.weight for row in rows):
                raise NetworkError(f"{part}: one of the weights is above 0, or nothing can be drawn")
        return made

    def resized(self, subscriptions: Sequence[int] | None = None, events: int | None = None) -> Scenario:
        """The same scenario with other numbers of subscriptions or events."""
        plan = {each.name: getattr(self.plan, each.name) for each in fields(Plan)}
        if subscriptions:
            plan["subscriptions"] = tuple(sorted(set(subscriptions)))
        if events is not None:
            plan["events"] = events
        return replace(self, plan=_plan(plan))


def _inherited(tree: dict[str, Any], file: Path) -> dict[str, Any]:
    """A scenario that is ``like`` another takes over what it does not say itself, table by table."""
    named = tree.pop("like", None)
    if named is None:
        return tree
    try:
        base = tomllib.loads((file.parent / str(named)).read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise NetworkError(f"like: {error}") from error
    if "like" in base:
        raise NetworkError(f"like: {named} is itself like another")
    merged = {**base, **tree}
    for key, value in base.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            merged[key] = {**value, **tree[key]}
    return merged


def _ontology(named: Any, beside: Path | None) -> Ontology | None:
    if named is None:
        return None
    try:
        if beside is not None and (file := beside / str(named)).is_file():
            return Ontology.load(file)
        return Ontology.bundled(str(named))
    except (ConceptPubSubError, OSError) as error:
        raise NetworkError(f"ontology: {error}") from error


def _plan(given: Mapping[str, Any]) -> Plan:
    for name in ("strategies", "advertisements", "comparison", "subscriptions"):
        if name in given and not isinstance(given[name], list | tuple):
            raise NetworkError(f"run.{name}: a list is needed: {name} = [{field.shown(given[name])}]", field=name)
    plan = field.made(Plan, given, "run")
    for name in plan.strategies:
        if name not in STRATEGIES:
            raise NetworkError(f"run.strategies: no strategy '{name}'.{hint(near(str(name), STRATEGIES))}")
    for name in plan.comparison:
        if name not in ("semantic", "syntactic"):
            raise NetworkError(f"run.comparison: '{name}' is neither semantic nor syntactic")
    counts = (*plan.subscriptions, plan.events)
    if not plan.subscriptions or not all(type(n) is int and 0 <= n <= MOST for n in counts):
        raise NetworkError(f"run: subscriptions and events are whole numbers up to {MOST}")
    if not all(isinstance(flag, bool) for flag in plan.advertisements) or not plan.advertisements:
        raise NetworkError("run.advertisements: a list of true and false")
    field.within(plan.rate, 1e-9, 1e9, "run.rate")
    field.within(plan.excess, 0.0, 1e9, "run.excess")
    return plan


def _population(given: Mapping[str, Any]) -> Population:
    people = field.made(Population, given, "clients")
    for name in ("subscribers", "publishers", "regions"):
        number = field.number(getattr(people, name), f"clients.{name}")
        if not 1 <= number <= MOST:
            raise NetworkError(f"clients.{name}: 1 to {MOST}, not {number}")
    for name in ("locality", "churn", "roaming"):
        field.within(getattr(people, name), 0.0, 1.0, f"clients.{name}")
    if not isinstance(people.border, bool):
        raise NetworkError(f"clients.border: true or false, not {field.shown(people.border)}")
    return people


def _said(row: Mapping[str, Any], part: str) -> Said:
    given = dict(row)
    context = given.pop("context", None)
    if context is not None:
        given["context"] = Context(field.table(context, f"{part}.context"))
    made = field.made(Said, given, part)
    if not isinstance(made.text, str):
        raise NetworkError(f"{part}: 'text' is the text of a filter")
    field.within(made.weight, 0.0, 1e9, f"{part}.weight")
    return made


def _happening(row: Mapping[str, Any]) -> Happening:
    made = field.made(Happening, row, "events")
    field.table(made.attributes, "events.attributes")
    field.within(made.weight, 0.0, 1e9, "events.weight")
    field.within(made.density, 0.0, 1.0, "events.density")
    return made


def _fault(row: Mapping[str, Any], network: Network) -> Fault:
    given = dict(row)
    if isinstance(given.get("link"), list) and len(given["link"]) == 2:
        given["link"] = network.link(*map(str, given["link"])) and tuple(map(str, given["link"]))
    made = field.made(Fault, given, "faults")
    if (made.link is None) == (made.broker is None):
        raise NetworkError("faults: either 'link' = [a, b] or 'broker' = name")
    if made.broker is not None:
        network.known(made.broker)
    field.within(made.down, 0.0, 1e9, "faults.down")
    field.within(made.up, made.down, 1e9, "faults.up")
    return made
