"""Templates of a scenario: texts and values with variables in braces, drawn anew for each use.

``{level}`` is a value of the variable ``level``; the same name in one template is the same value. ``{level:b}`` is
another draw, ``{level+5}`` the same one plus 5 (of the unit in which the variable counts). A variable is

- a list of texts and numbers, or ``{choose = […], skew = 1.0}``: the first of them more often; with ``own = true`` each
  publisher has one for good;
- ``{low = 0, high = 40, step = 5, units = {degC = [1, 0], degF = [1.8, 32]}}``: a number, said in one of the units
  (factor and offset from the count); without units a bare number;
- ``{region = true}``: the region of a broker, ``R1``, ``R2``, …
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

from conceptpubsub.errors import ConceptPubSubError, NetworkError, hint, near
from conceptpubsub.model import Context, SemanticObject, decimal_text, exact
from conceptpubsub.model.values import simplest, to_float

_PLACE = re.compile(r"\{([A-Za-z_]\w*)(?::(\w+))?([+-]\d+(?:\.\d+)?)?\}")


class Drawn(NamedTuple):
    """A value drawn: a count with the unit it is said in, or something that is only itself."""

    value: Any
    unit: str | None = None
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def plus(self, more: str | None) -> Any:
        """The plain value, shifted."""
        if not isinstance(self.value, Fraction):
            return self.value
        moved = self.value + Fraction(more or 0)
        return simplest(moved * self.factor + self.offset)

    def text(self, more: str | None) -> str:
        """The value as a filter's text has it."""
        value = self.plus(more)
        number = value if isinstance(value, str) else decimal_text(exact(value))
        if self.unit is None:
            return number
        return f"{number} {self.unit}" if self.unit.isidentifier() else f"{number} [{self.unit}]"

    def object(self, key: str, more: str | None) -> Any:
        """The value as an event has it."""
        value = self.plus(more)
        if isinstance(value, Fraction):
            value = to_float(value)
        return SemanticObject(key, value, Context(unit=self.unit)) if self.unit else value


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name in braces may stand for."""

    name: str
    options: tuple[Drawn, ...] = ()
    weights: tuple[float, ...] = ()
    low: Fraction = Fraction(0)
    step: Fraction = Fraction(1)
    steps: int = 0
    units: tuple[Drawn, ...] = ()
    region: bool = False
    own: bool = False

    def draw(self, rng: random.Random, region: str) -> Drawn:
        """A value."""
        if self.region:
            return Drawn(region)
        if self.options:
            return rng.choices(self.options, cum_weights=self.weights)[0]
        count = self.low + rng.randint(0, self.steps) * self.step
        return rng.choice(self.units)._replace(value=count) if self.units else Drawn(count)


def read_variable(name: str, given: Any) -> Variable:
    """A variable as a scenario file describes it.

    >>> hot = read_variable("hot", {"low": 30, "high": 30, "units": {"degC": [1, 0], "degF": [1.8, 32]}})
    >>> sorted({hot.draw(random.Random(seed), "R1").text(None) for seed in range(9)})
    ['30 degC', '86 degF']
    """
    try:
        if isinstance(given, list):
            return _choice(name, given)
        match dict(given):
            case {"region": True, **more} if not more:
                return Variable(name, region=True)
            case {"choose": list(options), **more} if set(more) <= {"skew", "own"}:
                return _choice(name, options, float(more.get("skew", 0.0)), more.get("own") is True)
            case {"low": low, "high": high, **more} if set(more) <= {"step", "units"}:
                return _range(name, low, high, more.get("step", 1), more.get("units", {}))
    except (TypeError, ValueError, AttributeError, ZeroDivisionError, ConceptPubSubError) as error:
        raise NetworkError(f"variables.{name}: {error}", name=name) from None
    raise NetworkError(
        f"variables.{name}: a list, or a table with 'choose', with 'low' and 'high', or with 'region'", name=name
    )


def _choice(name: str, options: list[Any], skew: float = 0.0, own: bool = False) -> Variable:
    if not options:
        raise ValueError("nothing to choose from")
    drawn = tuple(Drawn(option if isinstance(option, str | bool) else Fraction(exact(option))) for option in options)
    weights = tuple(accumulate(1.0 / (place + 1) ** skew for place in range(len(options))))
    return Variable(name, drawn, weights, own=own)


def _range(name: str, low: Any, high: Any, step: Any, units: Mapping[str, Any]) -> Variable:
    start, width, stride = Fraction(exact(low)), Fraction(exact(high)) - Fraction(exact(low)), Fraction(exact(step))
    if width < 0 or stride <= 0:
        raise ValueError("'low' is at most 'high', and 'step' above 0")
    said = tuple(
        Drawn(Fraction(0), unit, Fraction(exact(factor)), Fraction(exact(offset)))
        for unit, (factor, offset) in units.items()
    )
    return Variable(name, low=start, step=stride, steps=int(width / stride), units=said)


class Draws:
    """The draws of one use of a template."""

    def __init__(
        self,
        variables: Mapping[str, Variable],
        rng: random.Random,
        region: str,
        own: Mapping[str, Drawn] | None = None,
    ) -> None:
        self._variables = variables
        self._rng = rng
        self._region = region
        self._drawn: dict[tuple[str, str | None], Drawn] = {(name, None): drawn for name, drawn in (own or {}).items()}

    def of(self, name: str, tag: str | None) -> Drawn:
        """The value of a variable in this use."""
        found = self._drawn.get((name, tag))
        if found is None:
            variable = self._variables.get(name)
            if variable is None:
                raise NetworkError(f"no variable '{name}'.{hint(near(name, self._variables))}", name=name)
            found = self._drawn[name, tag] = variable.draw(self._rng, self._region)
        return found

    def text(self, template: str) -> str:
        """A template with its variables filled in; other braces stay as they are."""
        return _PLACE.sub(lambda place: self.of(place[1], place[2]).text(place[3]), template)

    def value(self, key: str, template: Any) -> Any:
        """The value of an attribute: of a template that is one variable the value itself, else text."""
        if not isinstance(template, str):
            return template
        whole = _PLACE.fullmatch(template)
        if whole is None:
            return self.text(template)
        return self.of(whole[1], whole[2]).object(key, whole[3])
