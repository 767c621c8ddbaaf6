"""How many filters are parsed and normalised a second, beside what lark would do.

A hundred thousand subscriptions are loaded at a time; that must not wait for the parser. Every constant of a load is
distinct, so that nothing is gained by remembering whole filters. Beside ours stands a LALR grammar of the same subset
in lark, once making its tree only, once with constants made exact and converted to base units (our own converter), but
without names resolved, types checked or a normal form. All figures are filters per second of CPU time on one core.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lark import Lark, Transformer, v_args

from benchmarks.calibrate import show
from benchmarks.report import arguments, cpu_seconds, duration, plot, print_table
from conceptpubsub.converters import resolve
from conceptpubsub.filters import Filter
from conceptpubsub.filters.parser import parse
from conceptpubsub.model import Ontology

GRAMMAR = r"""
?start: disjunction
?disjunction: conjunction (_OR conjunction)*
?conjunction: inversion (_AND inversion)*
?inversion: _NOT inversion -> inverse | test
?test: sum
    | sum COMPARISON sum -> compare
    | sum _BETWEEN sum _AND sum -> between
    | sum _IN "(" constant ("," constant)* ")" -> member
    | sum _LIKE STRING -> like
    | sum _IS _NULL -> null
?sum: product (SIGN product)*
?product: value (FACTOR value)*
?value: constant | NAME -> ref | SIGN value -> signed | "(" disjunction ")"
constant: NUMBER [UNIT | NAME] -> number | STRING -> text | TRUE -> true | FALSE -> false
_AND.2: /AND\b/i
_OR.2: /OR\b/i
_NOT.2: /NOT\b/i
_BETWEEN.2: /BETWEEN\b/i
_IN.2: /IN\b/i
_LIKE.2: /LIKE\b/i
_IS.2: /IS\b/i
_NULL.2: /NULL\b/i
TRUE.2: /TRUE\b/i
FALSE.2: /FALSE\b/i
COMPARISON: "<>" | "<=" | ">=" | "<" | ">" | "="
SIGN: "+" | "-"
FACTOR: "*" | "/"
NAME: /[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*/
NUMBER: /\d+(\.\d+)?/
UNIT: /\[[^\]]*\]/
STRING: /'(?:[^']|'')*'/
%import common.WS
%ignore WS
"""


@v_args(inline=True)
class Constants(Transformer[Any, Any]):
    """Exact constants in base units; the rest of the tree as lark makes it."""

    def number(self, number: str, unit: str | None) -> Any:
        value = Fraction(number)
        return value if unit is None else resolve(unit.strip("[]")).to_base(value)

    def text(self, text: str) -> str:
        return text[1:-1].replace("''", "'")


def lark_parser(transformer: Any = None) -> Lark:
    """The LALR parser of the subset."""
    return Lark(GRAMMAR, parser="lalr", transformer=transformer, maybe_placeholders=True)


class Load:
    """Texts of one kind."""

    def __init__(self, name: str, seed: int = 1) -> None:
        self.name = name
        self.rng = random.Random(seed)

    def number(self) -> str:
        return f"{self.rng.randrange(10**7) / 1000:.3f}"

    def units(self) -> str:
        """Five conditions with units, as vehicles' subscribers write them."""
        fields = [("InTemperature", "degF"), ("OutTemperature", "degC"), ("Odometer", "mile"), ("TripDistance", "km")]
        fields += [("GroundSpeed", "[km/h]"), ("TyrePressure", "psi"), ("TripDuration", "min"), ("Payload", "lb")]
        chosen = self.rng.sample(fields, 5)
        return " AND ".join(f"{n} {self.rng.choice(['<', '>', '<=', '>='])} {self.number()} {u}" for n, u in chosen)

    def plain(self) -> str:
        """Five conditions without units or ontology, as in the forwarding papers."""
        rng = self.rng
        return (
            f"int_{rng.randrange(99)} = {rng.randrange(10**7)} AND str_{rng.randrange(99)} = 'w{rng.randrange(10**7)}' "
            f"AND int_{rng.randrange(99)} < {rng.randrange(10**7)} AND bool_{rng.randrange(99)} = TRUE "
            f"AND str_{rng.randrange(99)} > 'w{rng.randrange(10**7)}'"
        )

    def boolean(self) -> str:
        """Six conditions with OR, NOT, BETWEEN, IN and LIKE."""
        return (
            f"(InTemperature > {self.number()} degF OR OutTemperature < {self.number()} degC) "
            f"AND Odometer BETWEEN {self.number()} km AND {self.number()} mile "
            f"AND NOT TyrePressure < {self.number()} psi AND LicensePlate LIKE 'B-{self.rng.randrange(10**7)}%' "
            f"AND Payload IN ({self.number()} lb, {self.number()} kg)"
        )

    def arithmetic(self) -> str:
        """Two conditions over computed values."""
        return (
            f"Odometer / TripDuration > {self.number()} [km/h] "
            f"AND InTemperature - OutTemperature < {self.number()} delta_degC"
        )

    def texts(self, count: int) -> list[str]:
        made: Callable[[], str] = getattr(self, self.name.partition(",")[0])
        return [made() for _ in range(count)]


LOADS = (("units", True), ("units, no ontology", False), ("plain", False), ("boolean", True), ("arithmetic", True))


def rate(texts: list[str], action: Callable[[str], Any], repeats: int) -> float:
    """Texts per CPU-second."""

    def work() -> None:
        for text in texts:
            action(text)

    return len(texts) / cpu_seconds(work, repeats)


def main() -> None:
    """Print the table and draw it."""
    quick = arguments(__doc__ or "").quick
    count, repeats = (400, 2) if quick else (4000, 5)
    show(quick)
    vehicles = Ontology.bundled("vehicles")
    tree_only, converting = lark_parser(), lark_parser(Constants())
    rows: list[tuple[Any, ...]] = []
    for name, with_ontology in LOADS:
        texts = Load(name).texts(count)
        scope: dict[str, Any] = {"ontology": vehicles} if with_ontology else {}
        shared = Filter.parse(texts[0], **scope).scope
        figures = [
            rate(texts, lambda text, scope=scope: Filter.parse(text, **scope).normal, repeats),  # type: ignore[misc]
            rate(texts, lambda text, shared=shared: parse(text, shared), repeats),  # type: ignore[misc]
            rate(texts, tree_only.parse, repeats),
            rate(texts, converting.parse, repeats),
        ]
        rows.append((name, *figures))
    header = ("load", "ours, parsed and normalised", "ours, parsed", "lark, tree only", "lark, constants exact")
    print_table("Filters per second of CPU time", header, [(row[0], *(f"{n:,.0f}" for n in row[1:])) for row in rows])
    hundred = 100_000 / rows[0][1]
    print(f"\n100,000 subscriptions of five conditions with units: {duration(hundred)} of CPU time")
    plot("parsing", lambda axes: draw(axes, rows, header[1:]))


def draw(axes: Any, rows: list[Any], labels: tuple[str, ...]) -> None:
    """Bars by load."""
    width = 0.8 / len(labels)
    for place, label in enumerate(labels):
        axes.bar([i + place * width for i in range(len(rows))], [row[place + 1] for row in rows], width, label=label)
    axes.set_xticks([i + 0.3 for i in range(len(rows))], [row[0] for row in rows], rotation=15)
    axes.set_ylabel("filters per CPU-second")
    axes.legend()


if __name__ == "__main__":
    main()
