"""Proofs: z3 says that a rewritten path delivers what the original delivers, or this says what it could not prove.

Both paths run on one symbolic event. Proven is: they let the same events through (an event that a transform fails on
is let through by neither), and every attribute of what they deliver is there in both or in neither, and equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conceptpubsub.filters import Filter
from conceptpubsub.flow.normal_form import Path
from conceptpubsub.flow.schema import Schema
from conceptpubsub.flow.steps import Prepare, Steps

BUDGET_MS = 2_000


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known of one rewritten path: proven, refuted with a counterexample, or open with the reason."""

    path: str
    proven: bool
    reason: str = ""

    def __str__(self) -> str:
        return f"{'proven' if self.proven else 'NOT proven'}: {self.path}" + (
            f" ({self.reason})" if self.reason else ""
        )


def prove(original: Path, rewritten: Path, schema: Schema, budget_ms: int = BUDGET_MS) -> Proof:
    """Prove one path; never raises, always within the budget."""
    import z3

    from conceptpubsub.flow.symbols import Symbols, Unprovable

    symbols = Symbols()
    try:
        source = symbols.attributes(schema)
        one = _run(original.steps, source, symbols)
        two = _run(rewritten.steps, source, symbols)
        solver = z3.Solver(ctx=symbols.context)
        solver.set("timeout", budget_ms)
        solver.add([rate > 0 for rate in symbols.rates.values()])
        solver.add(z3.Not(_same(one, two, symbols)))
        answer = solver.check()
    except Unprovable as error:
        return Proof(str(rewritten), False, str(error))
    except z3.Z3Exception as error:
        return Proof(str(rewritten), False, f"z3: {error}")
    if answer == z3.unsat:
        return Proof(str(rewritten), True)
    if answer == z3.sat:
        return Proof(str(rewritten), False, f"they differ on {str(solver.model())[:300]}")
    return Proof(str(rewritten), False, f"z3 gave up: {solver.reason_unknown()}")


def _run(steps: Steps, source: dict[str, Any], symbols: Any) -> tuple[Any, dict[str, Any]]:
    """When an event comes through, and its attributes then."""
    import z3

    passes: list[Any] = [symbols.true]
    env = dict(source)
    for step in steps:
        if isinstance(step, Filter):
            passes.append(symbols.condition(step.tree, env, True))
            continue
        fails: list[Any] = []
        made = {name: symbols.expr(expr, env, step.functions, fails) for name, expr in step.outputs.items()}
        if isinstance(step, Prepare):
            env = {**env, **made}
        else:
            for check in step.checks:
                symbols.expr(check, env, step.functions, fails)
            env = made
        passes += [z3.Not(fail) for fail in fails]
    return z3.And(passes), env


def _same(one: tuple[Any, dict[str, Any]], two: tuple[Any, dict[str, Any]], symbols: Any) -> Any:
    import z3

    equal = []
    for name in {**one[1], **two[1]}:
        a, b = one[1].get(name), two[1].get(name)
        if a is None or b is None:
            if name.startswith("aux_"):
                continue
            return z3.Not(symbols.true)
        if not a.cases and not b.cases:
            continue
        x, y = symbols.merged(a), symbols.merged(b)
        if x.sort() != y.sort():
            return z3.Not(symbols.true)
        equal.append(z3.And(a.there == b.there, z3.Implies(a.there, x == y)))
    return z3.And(one[0] == two[0], z3.Implies(one[0], z3.And(equal) if equal else symbols.true))
