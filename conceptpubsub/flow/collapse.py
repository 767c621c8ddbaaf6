"""Collapse: a history folded into a keyed state by rules of pattern, condition and replacement.

A rule names the columns it replaces and with what; the first rule whose condition holds is applied, and a rule that
replaces nothing is allowed. Conditions are filters over the event's attributes and the state's columns together, so
columns have names of their own: none may be that of an attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conceptpubsub.errors import FlowError
from conceptpubsub.filters import Filter, arithmetic
from conceptpubsub.flow.expressions import Attribute, Expr, attributes, parse
from conceptpubsub.flow.functions import Failed, Function
from conceptpubsub.flow.transforms import Rate, compute

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """When the condition holds, each named column is replaced; the others stay.

    >>> rule = Rule.of({"when": "price > maxP", "set": {"maxP": "price", "curP": "price"}}, ("maxP", "curP"), "here")
    >>> sorted(rule.replaces)
    ['curP', 'maxP']
    """

    condition: Filter | None
    replaces: Mapping[str, Expr]

    @classmethod
    def of(cls, given: Mapping[str, Any], columns: Sequence[str], place: str) -> Rule:
        """Read ``{"when": condition, "set": {column: expression}}``; without ``when`` the rule always applies."""
        unknown = set(given) - {"when", "set"}
        if unknown or not isinstance(given.get("set", {}), Mapping):
            raise FlowError(f"{place}: a rule is {{'when': condition, 'set': {{column: expression}}}}", arc=place)
        replaces = {str(column): parse(text, place) for column, text in given.get("set", {}).items()}
        for column in replaces:
            if column not in columns:
                raise FlowError(f"{place}: no column '{column}' in the state ({', '.join(columns)})", arc=place)
        when = given.get("when")
        return cls(None if when is None else Filter.parse(str(when)), replaces)


@dataclass(frozen=True, slots=True)
class CollapseRule:
    """The key attribute, the state's columns with their initial values, and the rules in order."""

    key: str
    columns: tuple[str, ...]
    initial: Row
    rules: tuple[Rule, ...]
    functions: Mapping[str, Function] = field(default_factory=dict, compare=False)

    def apply(self, event: Mapping[str, Any], row: Row, rate: Rate = arithmetic.no_rate) -> Row:
        """The row of the event's key after the event; raises `Failed` where no rule fits."""
        values = {**event, **{c: v for c, v in zip(self.columns, row, strict=True) if v is not None}}
        for rule in self.rules:
            if rule.condition is None or rule.condition.matches(as_event(values)):
                made = {c: compute(e, values, self.functions, rate) for c, e in rule.replaces.items()}
                return tuple(made.get(c, v) for c, v in zip(self.columns, row, strict=True))
        raise Failed("no rule of the collapse fits the event")

    def parameters(self) -> tuple[str, ...]:
        """The attributes of events, beside the key, that the rules read."""
        read: dict[str, None] = {}
        for rule in self.rules:
            for expr in rule.replaces.values():
                read.update(dict.fromkeys(sorted(attributes(expr))))
            if rule.condition is not None:
                read.update(dict.fromkeys(ref.path[0] for ref in rule.condition.references))
        return tuple(name for name in read if name not in self.columns and name != self.key)

    @property
    def replacement_form(self) -> bool:
        """Whether every replacement is a bare event attribute: the form the paper's estimators need."""
        plain = set(self.parameters())
        return all(
            isinstance(expr, Attribute) and expr.name in plain for rule in self.rules for expr in rule.replaces.values()
        )


def as_event(values: Mapping[str, Any]) -> dict[str, Any]:
    """Canonical values as a plain event for a filter."""
    from conceptpubsub.flow.events import uncanonical

    return {name: uncanonical(name, value) for name, value in values.items()}


class State:
    """A keyed relation, kept up to date event by event."""

    def __init__(self, rule: CollapseRule) -> None:
        self.rule = rule
        self.rows: dict[Any, Row] = {}

    def row(self, key: Any) -> Row:
        """The row of a key; the initial one where no event has come yet."""
        return self.rows.get(key, self.rule.initial)

    def update(self, event: Mapping[str, Any], rate: Rate = arithmetic.no_rate) -> tuple[Any, Row, Row]:
        """Fold in one event; gives the key and the row before and after."""
        key = event.get(self.rule.key)
        if key is None:
            raise Failed(f"the event has no {self.rule.key}, the key of the state")
        before = self.row(key)
        after = self.rule.apply(event, before, rate)
        if after != before:
            self.rows[key] = after
        return key, before, after

    def snapshot(self) -> dict[Any, Row]:
        """The rows as they are now."""
        return dict(self.rows)
