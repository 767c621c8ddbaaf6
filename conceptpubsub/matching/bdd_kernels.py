"""Evaluation of shared BDDs over arrays of nodes, compiled.

Node 0 is false, node 1 true. The nodes of the *base* are sorted by level, deepest first, and ``levels[v]`` begins those
labelled with variable v; so a level is one loop with one truth value, and an undefined level is one fill. What came
later (the *tail*) only has children before parents.

The interpreter lock is held while a kernel runs, so the array of values is used by one call at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conceptpubsub.matching.jit import kernel

LACKING, FINE, LOOK_AGAIN = 0, 1, 2
"""What an event says of a reference."""


@kernel
def eval_bdd(levels: Any, label: Any, low: Any, high: Any, base: int, count: int, alpha: Any, value: Any) -> None:
    """EvalBDD (the paper's figure 3): the value of every node under a total assignment; 2 counts as false."""
    value[0] = 0
    value[1] = 1
    for v in range(len(levels) - 2, -1, -1):
        children = high if alpha[v] == 1 else low
        for i in range(levels[v + 1], levels[v]):
            value[i] = value[children[i]]
    for i in range(base, count):
        value[i] = value[high[i]] if alpha[label[i]] == 1 else value[low[i]]


@kernel
def mv_eval_bdd(levels: Any, label: Any, low: Any, high: Any, base: int, count: int, alpha: Any, value: Any) -> None:
    """MVEvalBDD (figure 5): an undefined variable makes its nodes undefined, without a look at their children.

    ITE* is undefined where either child is, as the paper has it.
    """
    value[0] = 0
    value[1] = 1
    for v in range(len(levels) - 2, -1, -1):
        a = alpha[v]
        if a == 2:
            value[levels[v + 1] : levels[v]] = 2
            continue
        chosen, other = (high, low) if a == 1 else (low, high)
        for i in range(levels[v + 1], levels[v]):
            value[i] = value[chosen[i]] | (value[other[i]] & 2)
    for i in range(base, count):
        a = alpha[label[i]]
        if a == 2:
            value[i] = 2
        else:
            x, y = value[low[i]], value[high[i]]
            value[i] = ((y if a == 1 else x) | x & 2) | y & 2


@kernel
def adequate(names: Any, starts: Any, members: Any, flags: Any, verdicts: Any) -> int:
    """For each group of filters with the same names, whether an event binds them all; how many filters that makes."""
    total = 0
    for g in range(len(starts) - 1):
        verdict = 1
        for n in range(starts[g], starts[g + 1]):
            flag = flags[names[n]]
            if flag == 0:
                verdict = 0
                break
            if flag == 2:
                verdict = 2
        verdicts[g] = verdict
        if verdict:
            total += members[g + 1] - members[g]
    return total


@kernel
def gather(members: Any, roots: Any, slots: Any, verdicts: Any, value: Any) -> Any:
    """The slots that match by the values of their roots, and those to be looked at again."""
    found = np.empty(len(roots), np.int64)
    again = np.empty(len(roots), np.int64)
    n = m = 0
    for g in range(len(members) - 1):
        if verdicts[g] == 1:
            for f in range(members[g], members[g + 1]):
                if value[roots[f]] == 1 and slots[f] >= 0:
                    found[n] = slots[f]
                    n += 1
        elif verdicts[g] == 2:
            for f in range(members[g], members[g + 1]):
                if slots[f] >= 0:
                    again[m] = slots[f]
                    m += 1
    return found[:n].copy(), again[:m].copy()


@kernel
def walk(members: Any, roots: Any, slots: Any, verdicts: Any, label: Any, low: Any, high: Any, alpha: Any) -> Any:
    """As `gather`, from each root down: for events that few filters are adequate for."""
    found = np.empty(len(roots), np.int64)
    again = np.empty(len(roots), np.int64)
    n = m = 0
    for g in range(len(members) - 1):
        if verdicts[g] == 1:
            for f in range(members[g], members[g + 1]):
                i = roots[f]
                while i > 1:
                    i = high[i] if alpha[label[i]] == 1 else low[i]
                if i == 1 and slots[f] >= 0:
                    found[n] = slots[f]
                    n += 1
        elif verdicts[g] == 2:
            for f in range(members[g], members[g + 1]):
                if slots[f] >= 0:
                    again[m] = slots[f]
                    m += 1
    return found[:n].copy(), again[:m].copy()


@kernel
def match(
    levels: Any, label: Any, low: Any, high: Any, base: int, count: int, value: Any, names: Any, starts: Any,
    members: Any, roots: Any, slots: Any, flags: Any, alpha: Any, verdicts: Any, method: int,
) -> Any:  # fmt: skip
    """The slots that match, and those to be looked at again.

    method 0: whichever of the two is less work; 1: EvalBDD or, with undefined variables, MVEvalBDD; 2: from the roots.
    ``method + 4`` takes MVEvalBDD for a sweep.
    """
    several_valued = method >= 4
    method &= 3
    total = adequate(names, starts, members, flags, verdicts)
    if method == 2 or (method == 0 and total * 16 < count):
        return walk(members, roots, slots, verdicts, label, low, high, alpha)
    if several_valued:
        mv_eval_bdd(levels, label, low, high, base, count, alpha, value)
    else:
        eval_bdd(levels, label, low, high, base, count, alpha, value)
    return gather(members, roots, slots, verdicts, value)


@kernel
def reachable(low: Any, high: Any, count: int, kept: Any) -> None:
    """Mark all nodes below the marked ones."""
    for i in range(count - 1, 1, -1):
        if kept[i]:
            kept[low[i]] = True
            kept[high[i]] = True
