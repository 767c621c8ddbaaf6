"""z3, one context a thread: variables and formulas are made once, a solver is used again and again, budgets are kept.

Rule 1  Nothing of z3 leaves the thread that made it, and nothing of it is ever stored in a filter.
Rule 2  The checks of a decision share a budget of time; each has one of work (z3's resource count, the same on every
        machine) and memory. What exceeds it is `GaveUp`.
Rule 3  A session that has grown old is thrown away as a whole: that is how z3 gives memory back.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import z3

from conceptpubsub.relations.outcome import STATISTICS, Budget, GaveUp
from conceptpubsub.relations.smt_logic import conj, disj

_OLD_AGE = 20_000
_KEPT_FORMULAS = 2048


_DEFAULT = Budget()
_local = threading.local()


class Session:
    """One thread's context and solver."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.solver = z3.Solver(ctx=self.context)
        self.formulas: OrderedDict[Any, Any] = OrderedDict()
        self.made = 0
        self.budget = _DEFAULT
        self.deadline = 0.0

    def begin(self, budget: Budget | None) -> Session:
        """Start a decision: its checks share one budget of time."""
        self.budget = budget or _DEFAULT
        self.deadline = time.monotonic() + self.budget.milliseconds / 1000
        return self

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
        return self.true() if not listed else conj(*listed)

    def any_of(self, parts: Iterable[Any]) -> Any:
        """OR of formulas; of none, false."""
        listed = list(parts)
        return self.false() if not listed else disj(*listed)

    def number(self, value: Any) -> Any:
        """A constant: an integer where it is one."""
        return z3.IntVal(value.numerator, self.context) if value.denominator == 1 else self.real(value)

    def real(self, value: Any) -> Any:
        """A rational constant."""
        return z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    # ---------------------------------------------------------------- checks

    def check(self, assertions: Iterable[Any], what: str = "z3") -> Any | None:
        """A model, or None where there is none; `GaveUp` beyond the budget."""
        solver = self.solver
        left = int((self.deadline - time.monotonic()) * 1000)
        if left <= 0:
            raise GaveUp("budget of z3 (time)")
        solver.set("timeout", left)
        solver.set("rlimit", self.budget.work)
        solver.set("max_memory", self.budget.megabytes)
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
