"""OWL reasoning by HermiT, through owlready2, in a process that is ended when its time is up.

Rule 1  The reasoner gets the logical triples only: no imports to follow, no annotations to stumble over.
Rule 2  At the time limit the process and its Java end; nothing stays behind, not even a temporary file.
Rule 3  What comes back is relations between names, which enter the closure like stated ones.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from conceptpubsub.errors import OntologyError, ReasonerError
from conceptpubsub.model.owl_axioms import Axioms
from conceptpubsub.model.rdf_terms import (
    BUILT_IN,
    CPS,
    DATATYPE,
    IMPORTS,
    OWL,
    QUDT,
    RDFS,
    SKOS,
    SUBCLASS,
    TYPE,
    XSD,
    Literal,
    Term,
    Triple,
    is_blank,
)

WORKER = Path(__file__).with_name("owl_worker.py")
NEEDS_JAVA = (
    "reasoning needs Java 8 or newer, and there is no 'java' on the PATH: "
    "on Debian and Ubuntu run 'sudo apt install default-jre-headless', or load with reason=False"
)
_ANNOTATIONS = {RDFS + name for name in ("label", "comment", "seeAlso", "isDefinedBy")} | {
    OWL + name for name in ("versionInfo", "versionIRI", "priorVersion", "deprecated", "backwardCompatibleWith")
}
_VOCABULARY = (CPS + "QuantityKind", CPS + "ValueType", CPS + "Aspect")
_NOT_LOGICAL = (CPS, SKOS, QUDT, "http://purl.org/dc/", "http://schema.org/", "https://schema.org/")
_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def infer(triples: Iterable[Triple], time_limit: float) -> Axioms:
    """What HermiT finds: supers, equivalences, and names that nothing can be."""
    if shutil.which("java") is None:
        raise ReasonerError(NEEDS_JAVA, reason="java")
    with tempfile.TemporaryDirectory(prefix="conceptpubsub-") as folder:
        source, target = Path(folder, "in.nt"), Path(folder, "out.json")
        source.write_text("".join(n_triples(triples)), encoding="utf-8")
        _run([sys.executable, "-P", str(WORKER), str(source), str(target)], folder, time_limit)
        found = json.loads(target.read_text(encoding="utf-8"))
    if found.get("inconsistent"):
        raise OntologyError(
            "HermiT finds the ontology inconsistent: some individual belongs to classes that exclude each other"
        )
    if "error" in found:
        raise ReasonerError(f"HermiT failed: {found['error']}", reason="java")
    axioms = Axioms()
    for lower, upper in found["above"]:
        axioms.below(lower, upper)
    axioms.empty.update(iri for iri in found["empty"] if not iri.startswith(BUILT_IN))
    return axioms


def n_triples(triples: Iterable[Triple]) -> Iterator[str]:
    """The logical triples as N-Triples lines, and a declaration for each named class, which HermiT insists on.

    A triple whose IRI cannot be written is left out: that loses inferences and never adds one.

    >>> for line in n_triples([("urn:a", SUBCLASS, "_:b"), ("urn:a", RDFS + "label", Literal("A", "en", None))]):
    ...     print(line.strip())
    <urn:a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> _:bb .
    <urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#Class> .
    """
    named: set[str] = set()
    datatypes: set[str] = set()
    for subject, predicate, value in triples:
        if predicate == IMPORTS or predicate in _ANNOTATIONS or predicate.startswith(_NOT_LOGICAL):
            continue
        if predicate == TYPE and value in _VOCABULARY:
            continue
        written = [_written(subject), _written(predicate), _written(value)]
        if None not in written:
            yield f"{written[0]} {written[1]} {written[2]} .\n"
            if predicate in (SUBCLASS, OWL + "equivalentClass", OWL + "disjointWith"):
                named.update(end for end in (subject, value) if isinstance(end, str) and not is_blank(end))
            if predicate == TYPE and value == DATATYPE:
                datatypes.add(subject)
    for name in sorted(named - datatypes):
        yield f"<{name}> <{TYPE}> <{OWL}Class> .\n"


def _written(term: Term) -> str | None:
    if isinstance(term, Literal):
        text = "".join(_ESCAPES.get(c, c) for c in term.text)
        if term.language:
            return f'"{text}"@{term.language}'
        return f'"{text}"^^<{term.datatype or XSD + "string"}>'
    if term.startswith("_:"):
        return "_:b" + "".join(c if c.isascii() and c.isalnum() else f"x{ord(c):x}x" for c in term[2:])
    return f"<{term}>" if _IRI.match(term) else None


def _run(command: list[str], folder: str, time_limit: float) -> None:
    """Run to the end or to the time limit; either way the whole process group is gone afterwards."""
    environment = {**os.environ, "TMPDIR": folder, "TEMP": folder, "TMP": folder}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=time_limit)
    except subprocess.TimeoutExpired:
        raise ReasonerError(
            f"HermiT did not finish within {time_limit:g} s: raise time_limit, or load with reason=False",
            reason="time",
            time_limit=time_limit,
        ) from None
    finally:
        _end(process)
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise ReasonerError(f"the reasoner failed: {last[0][:500]}", reason="failed")


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    if process.stderr is not None:
        process.stderr.close()
