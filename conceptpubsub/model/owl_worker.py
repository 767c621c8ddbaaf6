"""The process in which HermiT runs: N-Triples in, inferred relations between names out, as JSON.

It is run as a script, so that whoever started it can end it together with its Java at any moment. It imports nothing
of this package, opens no connection, and uses a world of its own.
"""

from __future__ import annotations

import json
import sys
from typing import Any

JAVA_MEGABYTES = 1500
_NOTHING = "http://www.w3.org/2002/07/owl#Nothing"


def main(source: str, target: str) -> None:
    """Classify the ontology in ``source`` and write what was found to ``target``."""
    import owlready2
    from owlready2 import reasoning
    from owlready2.base import OwlReadyInconsistentOntologyError, OwlReadyJavaError

    reasoning.JAVA_MEMORY = JAVA_MEGABYTES
    world = owlready2.World()
    ontology = world.get_ontology("http://conceptpubsub.invalid/reasoning#")
    with open(source, "rb") as stream:
        ontology.load(fileobj=stream, format="ntriples")
    found: dict[str, Any]
    try:
        reasoning.sync_reasoner_hermit([ontology], debug=0, ignore_unsupported_datatypes=True)
        found = _relations(world)
    except OwlReadyInconsistentOntologyError:
        found = {"inconsistent": True}
    except OwlReadyJavaError as error:
        found = {"error": str(error)[-2000:]}
    with open(target, "w", encoding="utf-8") as out:
        json.dump(found, out)


def _relations(world: Any) -> dict[str, Any]:
    """Every named pair in the stated and the inferred hierarchy, read from the quads and not from Python classes."""
    from owlready2 import base

    above: list[list[str]] = []
    empty: list[str] = []

    def name(number: int) -> str | None:
        return world._unabbreviate(number) if number > 0 else None

    for predicate, both in (
        (base.rdfs_subclassof, False),
        (base.rdfs_subpropertyof, False),
        (base.owl_equivalentclass, True),
        (base.owl_equivalentproperty, True),
        (base.rdf_type, False),
    ):
        for subject, _, value in world._get_obj_triples_spo_spo(None, predicate, None):
            lower, upper = name(subject), name(value)
            if lower is None or upper is None:
                continue
            if upper == _NOTHING:
                empty.append(lower)
                continue
            above.append([lower, upper])
            if both:
                above.append([upper, lower])
    return {"above": above, "empty": empty}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
