"""Relations between filters: decisions a second, what reaches the solver, and the covering forest at scale.

Beside ours stands what one would do instead: ask z3 about every pair, and compare a new filter with all that are there.
``--long`` also runs the differential test: domain algebra, z3 and brute force on tens of thousands of random pairs.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.calibrate import show
from benchmarks.report import arguments, cpu_seconds, duration, plot, print_table
from conceptpubsub import relations
from conceptpubsub.errors import Undecided
from conceptpubsub.filters import Filter
from conceptpubsub.model import Ontology
from conceptpubsub.relations.compiled import compiled
from conceptpubsub.relations.forest import CoveringForest

TYPES = {"price": "real", "temp": "real", "quantity": "int", "year": "int", "symbol": "text", "region": "text"}
REGIONS = ("de", "de-he", "de-he-da", "de-by", "at", "at-w", "fr", "us", "us-ca", "us-ca-sf", "us-ny")


def subscription(rng: random.Random, atoms: int = 4) -> str:
    """A conjunction as subscribers write it."""
    parts: list[str] = []
    for name in rng.sample(sorted(TYPES), rng.randint(1, atoms)):
        low = rng.randrange(100)
        match name:
            case "price" | "temp":
                parts.append(rng.choice((f"{name} > {low}", f"{name} BETWEEN {low} AND {low + rng.randrange(1, 40)}")))
            case "quantity" | "year":
                parts.append(rng.choice((f"{name} = {low}", f"{name} >= {low}", f"{name} <> {low}")))
            case "symbol":
                parts.append(f"symbol = 'S{rng.randrange(50)}'")
            case _:
                region = rng.choice(REGIONS)
                parts.append(f"region STARTS WITH '{region}'" if rng.random() < 0.5 else f"region = '{region}'")
    return " AND ".join(parts)


def concept_subscription(rng: random.Random) -> str:
    """A conjunction over concepts of the vehicles ontology, some above others."""
    names = rng.sample(("Temperature", "InTemperature", "OutTemperature", "Odometer", "Distance"), rng.randint(1, 2))
    return " AND ".join(
        f"{name} > {rng.randrange(60)} degC" if "Temp" in name else f"{name} > {rng.randrange(900)} km"
        for name in names
    )


def boolean_subscription(rng: random.Random) -> str:
    """Conjunctions with an alternative and a negation inside."""
    return f"({subscription(rng, 2)}) AND ({subscription(rng, 1)} OR NOT ({subscription(rng, 1)}))"


def decisions(quick: bool) -> None:
    """How many pairs a second, by load."""
    rng = random.Random(1)
    vehicles = Ontology.bundled("vehicles")
    loads: dict[str, tuple[Callable[[], str], dict[str, Any]]] = {
        "conjunctions, declared types": (lambda: subscription(rng), {"types": TYPES}),
        "conjunctions, undeclared": (lambda: subscription(rng), {}),
        "conjunctions, strict": (lambda: subscription(rng), {"types": TYPES, "semantics": "strict"}),
        "with alternatives and negations": (lambda: boolean_subscription(rng), {"types": TYPES}),
        "concepts above concepts": (lambda: concept_subscription(rng), {"ontology": vehicles}),
    }
    rows: list[Sequence[Any]] = []
    for name, (text, scope) in loads.items():
        filters = [Filter.parse(text(), **scope) for _ in range(300)]
        compile_time = cpu_seconds(lambda made=filters: [_recompiled(f) for f in made], 1) / len(filters)
        pairs = [(rng.choice(filters), rng.choice(filters)) for _ in range(5_000 if quick else 30_000)]
        ours = _each(pairs, lambda f, g: relations.covers(f, g), 2)
        meet = _each(pairs[:5000], lambda f, g: relations.overlaps(f, g), 2)
        solver = _each(pairs[: 60 if quick else 300], lambda f, g: relations.covers(f, g, engine="z3"), 1)
        rows.append((name, f"{1 / ours:,.0f}", f"{1 / meet:,.0f}", f"{1 / solver:,.0f}", duration(compile_time)))
    header = ("load", "covers/s", "overlaps/s", "covers/s, z3 alone", "compile a filter")
    print_table("Decisions on the domain path (CPU time)", header, rows)


def _recompiled(f: Filter) -> None:
    f._compiled = None
    compiled(f)


def _each(pairs: Sequence[tuple[Filter, Filter]], ask: Callable[[Filter, Filter], Any], repeats: int) -> float:
    def all_pairs() -> None:
        for f, g in pairs:
            ask(f, g)

    return cpu_seconds(all_pairs, repeats) / len(pairs)


def reaching_z3(quick: bool) -> None:
    """On random filters over every operator: what the domain path decides, and what the rest costs."""
    from tests.unit.relations.drawing import SIMPLE, pairs
    from tests.worlds import NAMES

    rows: list[Sequence[Any]] = []
    for kind, features in (("without arithmetic", SIMPLE), ("every operator", None)):
        for name in NAMES:
            drawn = list(pairs(name, 100 if quick else 400, 7, *([] if features is None else [features])))
            relations.reset_statistics()
            started = time.process_time()
            for pair in drawn:
                relations.covers(pair.one, pair.other)
            seconds = time.process_time() - started
            counted = relations.statistics()
            by_domains, solved = counted.get("domain", 0), counted.get("z3", 0)
            safe = counted.get("safe answer", 0)
            spent = (counted.get("z3 microseconds", 0) + counted.get("text microseconds", 0)) / 1e6
            each = spent / max(1, solved + safe)
            rows.append(
                (f"{name}, {kind}", len(drawn), f"{by_domains / len(drawn):.1%}", f"{solved / len(drawn):.1%}",
                 f"{safe / len(drawn):.1%}", duration(each), duration(seconds / len(drawn)))
            )  # fmt: skip
    header = ("world", "pairs", "domains", "z3", "given up", "z3 checks, wall", "a pair, CPU")
    print_table("Share of random pairs that reach z3", header, rows)


def nested(rng: random.Random, number: int) -> str:
    """Mostly nested: a few wide filters, and ranges inside ranges inside them."""
    symbol = rng.randrange(50)
    width = 2 ** rng.randrange(1, 14)
    low = rng.randrange(0, 20_000, width)
    return f"symbol = 'S{symbol}' AND price BETWEEN {low} AND {low + width}"


def unrelated(rng: random.Random, number: int) -> str:
    """Mostly unrelated: two to four attributes, narrow ranges, many values."""
    low, quantity = rng.randrange(100_000), rng.randrange(10_000)
    parts = [f"symbol = 'S{rng.randrange(2000)}'", f"price BETWEEN {low} AND {low + rng.randrange(1, 50)}"]
    parts += [f"quantity = {quantity}"] * rng.randrange(2) + [f"region = '{rng.choice(REGIONS)}'"] * rng.randrange(2)
    return " AND ".join(parts)


def measured(rng: random.Random, number: int) -> str:
    """Over concepts: a temperature and a distance in narrow ranges, some with a part or a kind of event."""
    warm, far = rng.randrange(90), rng.randrange(900_000)
    parts = [f"InTemperature BETWEEN {warm} degC AND {warm + 1} degC", f"Odometer BETWEEN {far} km AND {far + 5} km"]
    parts += [f"PartFailure ISA {rng.choice(('Engine', 'Brake', 'Clutch'))}"] * rng.randrange(2)
    return " AND ".join(parts + ["EVENT ISA VehicleStatus"] * rng.randrange(2))


def opposed(rng: random.Random, number: int) -> str:
    """Open ranges, none of which covers another: one bound rises as the other falls."""
    return f"price > {number} AND temp > {100_000 - number}"


def watched(rng: random.Random, number: int) -> str:
    """Lists of texts."""
    symbols = ", ".join(f"'S{rng.randrange(5000)}'" for _ in range(5))
    return f"symbol IN ({symbols}) AND price > {rng.randrange(1000)}"


def optional(rng: random.Random, number: int) -> str:
    """Alternatives and a negation."""
    low = rng.randrange(10_000)
    either = f"symbol = 'S{rng.randrange(2000)}' OR symbol = 'S{rng.randrange(2000)}' AND NOT quantity = 5"
    return f"({either}) AND price BETWEEN {low} AND {low + 20}"


def sparse(rng: random.Random, number: int) -> str:
    """Three of fifty attributes, in open ranges."""
    return " AND ".join(f"a{i} > {rng.randrange(1000)}" for i in rng.sample(range(50), 3))


def worded(rng: random.Random, number: int) -> str:
    """A word in a text and nothing else: what is not indexed, so that all others are looked at."""
    return f"region CONTAINS '{rng.randrange(26**4):x}'"


def multiplied(rng: random.Random, number: int) -> str:
    """Products, which only the solver decides."""
    low = rng.randrange(10_000)
    return f"price * quantity BETWEEN {low} AND {low + 5} AND symbol = 'S{rng.randrange(50)}'"


def forests(quick: bool) -> None:
    """Insert and remove at scale."""
    large = (2_000, 10_000) if quick else (10_000, 100_000)
    typed: dict[str, Any] = {"types": TYPES}
    loads: list[tuple[str, Callable[[random.Random, int], str], dict[str, Any], Sequence[int]]] = [
        ("mostly nested", nested, typed, large),
        ("mostly unrelated", unrelated, typed, large),
        ("the same, strict", unrelated, {**typed, "semantics": "strict"}, large[:1]),
        ("over concepts", measured, {"ontology": Ontology.bundled("vehicles")}, large),
        ("opposed open ranges", opposed, typed, large[:1]),
        ("lists of texts", watched, typed, large[:1]),
        ("alternatives", optional, {**typed, "semantics": "default"}, large[:1]),
        ("three of fifty attributes", sparse, {}, large[:1]),
        ("a word in a text", worded, typed, (500,)),
        ("products", multiplied, typed, (500,)),
    ]
    rows: list[Sequence[Any]] = []
    drawn: dict[str, list[tuple[int, float, float]]] = {}
    for name, make, scope, sizes in loads:
        for size in sizes:
            rng = random.Random(size)
            filters = [Filter.parse(make(rng, i), **scope) for i in range(size)]
            forest = CoveringForest()
            insert = _timed(filters, lambda i, f, into=forest: into.insert(i, f))
            roots = len(forest.roots())
            probe = filters[:: max(1, size // 2000)]
            alike = min(size, 200 if make is multiplied else 2000)
            scan = _scanned(filters[:alike], filters[-2:]) * size / alike
            find = cpu_seconds(lambda some=probe, of=forest: [of.cover_of(f) for f in some], 1) / len(probe)
            gone = rng.sample(range(size), size // 2)
            remove = _timed(gone, lambda _, key, of=forest: of.remove(key))
            drawn.setdefault(name, []).append((size, insert, remove))
            rows.append((name, f"{size:,}", f"{roots:,}", duration(insert), duration(remove), duration(find),
                         duration(scan)))  # fmt: skip
    header = ("load", "filters", "roots", "insert", "remove", "find a cover", "compare with all")
    print_table("The covering forest (CPU time, mean)", header, rows)

    def draw(axes: Any) -> None:
        for name, points in drawn.items():
            if len(points) > 1:
                sizes = [size for size, _, _ in points]
                axes.plot(sizes, [insert * 1e6 for _, insert, _ in points], "o-", label=f"insert, {name}")
                axes.plot(sizes, [remove * 1e6 for _, _, remove in points], "s--", label=f"remove, {name}")
        axes.set(xscale="log", xlabel="filters", ylabel="µs", title="Covering forest")
        axes.legend()

    plot("relations_forest", draw)


def _timed(items: Sequence[Any], action: Callable[[int, Any], Any]) -> float:
    started = time.process_time()
    for i, item in enumerate(items):
        action(i, item)
    return (time.process_time() - started) / len(items)


def _scanned(filters: Sequence[Filter], new: Sequence[Filter]) -> float:
    """What it costs to compare one filter with all of them, both ways."""
    started = time.process_time()
    for g in new:
        for f in filters:
            relations.covers(f, g)
            relations.covers(g, f)
    return (time.process_time() - started) / len(new)


def differential(count: int, seed: int) -> None:
    """The engines and brute force on that many pairs; prints every disagreement, and how many there were."""
    from tests.unit.relations.brute import judged
    from tests.unit.relations.drawing import pairs
    from tests.worlds import NAMES

    rows: list[Sequence[Any]] = []
    for name in NAMES:
        tally = dict.fromkeys(("pairs", "decisions", "by both", "shown", "wrong"), 0)
        for number, pair in enumerate(pairs(name, count // len(NAMES), seed)):
            tally["pairs"] += 1
            judge = judged(pair.one, pair.other, number, 40)
            shown = {
                "covers": None if judge.against_covers is None else (False, judge.against_covers),
                "overlaps": None if judge.for_overlap is None else (True, judge.for_overlap),
                "satisfiable": None if judge.for_first is None else (True, judge.for_first),
            }
            for question, event in shown.items():
                found = [_answer(question, pair.one, pair.other, engine) for engine in ("domain", "z3")]
                tally["decisions"] += 1
                tally["by both"] += None not in found
                tally["shown"] += event is not None
                if set(found) == {True, False} or (event is not None and (not event[0]) in found):
                    tally["wrong"] += 1
                    print(f"{question}: domains {found[0]}, z3 {found[1]}, shown {event}")
                    print(f"    {pair.one!r}\n    {pair.other!r}")
        rows.append((name, *tally.values()))
    header = ("world", "pairs", "decisions", "decided by both engines", "settled by an event", "disagreements")
    print_table("Domain algebra, z3 and brute force", header, rows)


def _answer(question: str, f: Filter, g: Filter, engine: Any) -> bool | None:
    try:
        if question == "satisfiable":
            return relations.satisfiable(f, engine=engine)
        return bool(getattr(relations, question)(f, g, engine=engine))
    except Undecided:
        return None


def main() -> None:
    """Print the tables."""

    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--long", type=int, nargs="?", const=40_000, default=0, help="also compare so many pairs")
        parser.add_argument("--seed", type=int, default=99, help="which pairs those are")

    args = arguments(__doc__ or "", more)
    show(args.quick)
    decisions(args.quick)
    reaching_z3(args.quick)
    forests(args.quick)
    if args.long:
        differential(args.long, args.seed)


if __name__ == "__main__":
    main()
