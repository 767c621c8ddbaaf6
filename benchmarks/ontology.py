"""What an ontology costs: compiled once, reopened from the cache, and asked on the hot path.

The load is a generated ontology of 60,000 triples (10,000 classes, labels, definitions, units, disjointness). Beside
ours stands what one would write instead: rdflib, parsed anew by each process and asked for ``transitive_objects``.
Each figure of loading is the CPU time of a fresh process, its imports included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.calibrate import show
from benchmarks.report import arguments, cpu_seconds, duration, plot, print_table
from conceptpubsub.model import Ontology

TRIPLES = 60_000
_LOAD = """
import sys, time
from conceptpubsub.model import Ontology
imported = time.process_time()
onto = Ontology.load(sys.argv[1])
assert onto["C7"].is_a("C0")
print(time.process_time() - imported, time.process_time(), "rdflib" in sys.modules)
"""
_RDFLIB = """
import sys, time
import rdflib
imported = time.process_time()
graph = rdflib.Graph().parse(sys.argv[1])
print(time.process_time() - imported, time.process_time(), True)
"""
_HEAD = """@prefix : <http://example.org/big#> .
@prefix cps: <https://w3id.org/conceptpubsub/core#> .
@prefix kind: <https://w3id.org/conceptpubsub/kind#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""


def generate(triples: int, seed: int = 1) -> str:
    """Turtle of about so many triples: a tree with some second parents, 5.8 triples a class."""
    random = Random(seed)
    kinds = ("Length", "Mass", "Temperature", "Speed", "Pressure")
    lines = [_HEAD]
    for i in range(triples * 10 // 58):
        above = [f":C{i // 8}"] if i else []
        if i > 100 and random.random() < 0.2:
            above.append(f":C{random.randrange(i // 8)}")
        parts = [f':C{i} a owl:Class ; rdfs:label "concept {i}"@en , "Begriff {i}"@de']
        parts.append(f'skos:definition "The concept of number {i}, one of many in a large ontology."@en')
        if above:
            parts.append("rdfs:subClassOf " + " , ".join(above))
        if 1 <= i <= 7:
            parts.append(f"cps:quantityKind kind:{kinds[i % 5]}")
        if i % 8 == 1:
            parts.append(f"owl:disjointWith :C{i + 1}")
        elif random.random() < 0.6:
            parts.append(f'skos:notation "N{i}"')
        lines.append(" ; ".join(parts) + " .\n")
    return "".join(lines)


def fresh(code: str, path: Path, cache: Path) -> tuple[float, float, str]:
    """(CPU seconds of loading, of the whole process, whether rdflib was imported), in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CPS_CACHE": str(cache)},
    )
    load, whole, imported = done.stdout.split()
    return float(load), float(whole), imported


def loading(path: Path, cache: Path, repeats: int) -> list[tuple[str, float, float, str]]:
    """(what, seconds of loading, seconds of the process, rdflib imported)."""
    compiled = fresh(_LOAD, path, cache)
    reopened = min(fresh(_LOAD, path, cache) for _ in range(repeats))
    parsed = min(fresh(_RDFLIB, path, cache) for _ in range(max(1, repeats // 2)))
    return [
        ("rdflib, parse only (in every process)", *parsed),
        ("ours, first time: parse, close, compile, cache", *compiled),
        ("ours, reopened from the cache", *reopened),
    ]


def asking(path: Path, number: int) -> list[tuple[str, float]]:
    """(what, seconds) of one question on the hot path."""
    import rdflib
    from rdflib.namespace import RDFS

    onto = Ontology.load(path)
    names = onto.names()
    low, high, other = onto[f"C{len(names) - 1}"], onto["C0"], onto["C2"]
    graph = rdflib.Graph().parse(path)
    space = rdflib.Namespace("http://example.org/big#")
    bottom, top = space[low.name], space["C0"]
    work: list[tuple[str, Callable[[], Any], int]] = [
        ("find by short name", lambda: onto.find(low.name), number),
        ("find by IRI", lambda: onto.find(low.iri), number),
        ("is_a, yes", lambda: low.is_a(high), number),
        ("is_a, no", lambda: high.is_a(low), number),
        ("mask >> index & 1", lambda: high.mask >> low.index & 1, number),
        ("disjoint_with", lambda: low.disjoint_with(other), number // 10),
        ("an unknown name with its near names", lambda: onto.near("Cx99"), 2),
        ("rdflib, top in transitive_objects", lambda: top in graph.transitive_objects(bottom, RDFS.subClassOf), 100),
    ]
    return [(name, cpu_seconds(action, 5, count)) for name, action, count in work]


def main() -> None:
    """Print both tables."""
    quick = arguments(__doc__ or "").quick
    show(quick)
    triples = TRIPLES // 6 if quick else TRIPLES
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder, "big.ttl"), Path(folder, "cache")
        path.write_text(generate(triples), encoding="utf-8")
        rows = loading(path, cache, 2 if quick else 6)
        print_table(
            f"An ontology of {triples:,} triples, {path.stat().st_size / 1e6:.1f} MB of Turtle (CPU time)",
            ("how", "load", "whole process", "imports rdflib"),
            [(name, duration(load), duration(whole), imported) for name, load, whole, imported in rows],
        )
        questions = asking(path, 2_000 if quick else 50_000)
        print_table("A question", ("question", "CPU time"), [(name, duration(seconds)) for name, seconds in questions])

    def bars(axes: Any) -> None:
        axes.barh([row[0] for row in rows], [row[2] for row in rows])
        axes.set_xlabel("CPU seconds of a fresh process")
        axes.set_title(f"Opening an ontology of {triples:,} triples")

    plot("ontology", bars)


if __name__ == "__main__":
    main()
