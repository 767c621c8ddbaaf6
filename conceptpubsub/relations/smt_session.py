"""z3, one context a thread: variables and formulas are made once, a solver is used again and again, budgets are kept.

Rule 1  Nothing of z3 leaves the thread that made it, and nothing of it is ever stored in a filter.
Rule 2  Every check has a budget of work (z3's resource count, the same on every machine), time and memory. What exceeds
        it is `GaveUp`.
Rule 3  A session that has grown old is thrown away as a whole: that is how z3 gives memory back.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import z3

from conceptpubsub.relations.outcome import STATISTICS, GaveUp

_OLD_AGE = 20_000
_KEPT_FORMULAS = 2048


@dataclass(frozen=True, slots=True)
class Budget:
    """What one check may cost."""

    milliseconds: int = 1000
    work: int = 4_000_000
    megabytes: int = 512


_DEFAULT = Budget()
_local = threading.local()


class Session:
    """One thread's context and solver."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.solver = z3.Solver(ctx=self.context)
        self.formulas: OrderedDict[Any, Any] = OrderedDict()
        self.made = 0
        self.budget: Budget | None = None

    # ---------------------------------------------------------------- terms

    def remembered(self, key: Any, make: Callable[[], Any]) -> Any:
        """A formula by its key, made on first use."""
        found = self.formulas.get(key)
        if found is None:
            found = self.formulas[key] = make()
            self.made += 1
            if len(self.formulas) > _KEPT_FORMULAS:
                self.formulas.popitem(last=False)
        else:
            self.formulas.move_to_end(key)
        return found

    def true(self) -> Any:
        """The constant true."""
        return z3.BoolVal(True, self.context)

    def false(self) -> Any:
        """The constant false."""
        return z3.BoolVal(False, self.context)

    def all_of(self, parts: Iterable[Any]) -> Any:
        """AND of formulas; of none, true."""
        listed = list(parts)
        return self.true() if not listed else listed[0] if len(listed) == 1 else z3.And(listed)

    def any_of(self, parts: Iterable[Any]) -> Any:
        """OR of formulas; of none, false."""
        listed = list(parts)
        return self.false() if not listed else listed[0] if len(listed) == 1 else z3.Or(listed)

    def real(self, value: Any) -> Any:
        """A rational constant."""
        return z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    # ---------------------------------------------------------------- checks

    def check(self, assertions: Iterable[Any], what: str = "z3") -> Any | None:
        """A model, or None where there is none; `GaveUp` beyond the budget."""
        budget = self.budget or _DEFAULT
        solver = self.solver
        solver.set("timeout", budget.milliseconds)
        solver.set("rlimit", budget.work)
        solver.set("max_memory", budget.megabytes)
        started = time.perf_counter_ns()
        solver.push()
        try:
            solver.add(*assertions)
            answer = solver.check()
            if answer == z3.sat:
                return solver.model()
            if answer == z3.unsat:
                return None
            raise GaveUp(f"budget of z3 ({solver.reason_unknown()})"[:80])
        except z3.Z3Exception as error:
            _local.session = None
            raise GaveUp(f"z3: {error!s:.60}") from None
        finally:
            STATISTICS.count(f"{what} checks")
            STATISTICS.count(f"{what} microseconds", (time.perf_counter_ns() - started) // 1000)
            if getattr(_local, "session", None) is self:
                solver.pop()


def session() -> Session:
    """This thread's session."""
    found: Session | None = getattr(_local, "session", None)
    if found is None or found.made > _OLD_AGE:
        found = _local.session = Session()
    return found
