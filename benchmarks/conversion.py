"""What a conversion costs: one value, a million values, and finding out what a unit text means.

Beside ours stand what one would write instead: pint's ``Quantity.to`` for a value, a bare NumPy multiply-add for a
column. All figures are CPU time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pint
import pyarrow as pa

from benchmarks.calibrate import show
from benchmarks.report import arguments, cpu_seconds, duration, plot, print_table
from conceptpubsub.converters import Converters, resolve
from conceptpubsub.converters.atoms import atom
from conceptpubsub.converters.units import _resolved
from conceptpubsub.model import Context, SemanticEvent, SemanticObject

_START = """
import time
from conceptpubsub.converters import resolve
started = time.process_time()
resolve("mile/h")
print(time.process_time() - started)
"""


def scalars(conv: Converters, number: int) -> list[tuple[str, float]]:
    """(what, seconds) of one value at a time."""
    registry: Any = pint.UnitRegistry()
    rational: Any = pint.UnitRegistry(non_int_type=Fraction)
    warm, whole = registry.Quantity(86.5, "degF"), rational.Quantity(Fraction(173, 2), "degF")
    parsed = registry.Quantity(12.5, "mile/hour")
    context, target = Context(unit="degF"), Context(unit="degC")
    simple, decimal = SemanticObject("T", 86, context), SemanticObject("T", 86.5, context)
    event = SemanticEvent("E", {"T": decimal, "D": SemanticObject("D", 5, Context(unit="km")), "N": 7})
    work: list[tuple[str, Callable[[], Any]]] = [
        ("convert_value, float degF to degC", lambda: conv.convert_value(86.5, "degF", "degC")),
        ("convert_value, float mile/h to km/h", lambda: conv.convert_value(12.5, "mile/h", "km/h")),
        ("canonical, exact, an int in degF", lambda: conv.canonical(None, 86, context)),
        ("canonical, exact, a float in degF", lambda: conv.canonical(None, 86.5, context)),
        ("convert, exact, object with an int", lambda: conv.convert(simple, target)),
        ("convert, exact, object with a float", lambda: conv.convert(decimal, target)),
        ("deliver, event of three attributes", lambda: conv.deliver(event, target)),
        ("pint Quantity.to, float degF to degC", lambda: warm.to("degC")),
        ("pint Quantity.to, float mile/h to km/h", lambda: parsed.to("km/hour")),
        ("pint Quantity.to, Fraction registry", lambda: whole.to("degC")),
        ("pint, parse '86.5 mile/hour' and .to", lambda: registry("86.5 mile/hour").to("km/hour")),
    ]
    return [(name, cpu_seconds(action, 5, number)) for name, action in work]


def columns(conv: Converters, size: int, repeats: int) -> list[tuple[str, float]]:
    """(what, seconds) of a whole column."""
    values = np.random.default_rng(1).normal(70.0, 15.0, size)
    arrow = pa.array(values)
    gaps = pa.array(values, mask=np.arange(size) % 10 == 0)
    factor, offset = (float(number) for number in conv.affine("degF", "degC"))
    quantity = pint.UnitRegistry().Quantity(values, "degF")
    work: list[tuple[str, Callable[[], Any]]] = [
        ("bare NumPy, values * factor + offset", lambda: values * factor + offset),
        ("convert_array, NumPy", lambda: conv.convert_array(values, "degF", "degC")),
        ("convert_array, Arrow", lambda: conv.convert_array(arrow, "degF", "degC")),
        ("convert_array, Arrow with nulls", lambda: conv.convert_array(gaps, "degF", "degC")),
        ("convert_array, NumPy, mile to km", lambda: conv.convert_array(values, "mile", "km")),
        ("convert_array, NumPy, dBm to W", lambda: conv.convert_array(values, "dBm", "W")),
        ("pint Quantity.to over NumPy", lambda: quantity.to("degC")),
    ]
    return [(name, cpu_seconds(action, repeats)) for name, action in work]


def resolving(number: int) -> list[tuple[str, float]]:
    """(what, seconds) of finding out what a unit text means."""
    started = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)

    def cold(text: str) -> Callable[[], Any]:
        def action() -> Any:
            _resolved.cache_clear()
            atom.cache_clear()
            return resolve(text)

        return action

    found = [("first unit of a process (loads pint)", float(started.stdout))]
    for text in ("mile/h", "ucum:[mi_i]/h", "unit:MI-PER-HR", "unece:HM"):
        found.append((f"cold, {text}", cpu_seconds(cold(text), 5, max(1, number // 1000))))
    found.append(("warm, mile/h", cpu_seconds(lambda: resolve("mile/h"), 5, number)))
    registry: Any = pint.UnitRegistry()
    found.append(
        (
            "pint parse_units, mile/hour (its cache warm)",
            cpu_seconds(lambda: registry.parse_units("mile/hour"), 5, number),
        )
    )
    return found


def main() -> None:
    """Print the three tables."""
    quick = arguments(__doc__ or "").quick
    number, size = (2_000, 1_000_000) if quick else (20_000, 1_000_000)
    show(quick)
    conv = Converters()
    one = scalars(conv, number)
    slowest = dict(one)["pint Quantity.to, float degF to degC"]
    rows = [(name, duration(seconds), f"{slowest / seconds:.1f}x") for name, seconds in one]
    print_table("One value", ("conversion", "CPU time", "against pint's .to"), rows)
    many = columns(conv, size, 5 if quick else 15)
    bare = many[0][1]
    print_table(
        f"A column of {size:,} values",
        ("conversion", "CPU time", "times bare NumPy"),
        [(name, duration(seconds), f"{seconds / bare:.2f}") for name, seconds in many],
    )
    print_table("What a unit text means", ("text", "CPU time"), [(name, duration(t)) for name, t in resolving(number)])

    def draw(axes: Any) -> None:
        axes.barh([name for name, _ in one], [seconds * 1e6 for _, seconds in one])
        axes.set_xscale("log")
        axes.set_xlabel("CPU time of one conversion, µs")
        axes.invert_yaxis()

    plot("conversion", draw)


if __name__ == "__main__":
    main()
